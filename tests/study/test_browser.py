"""A real browser takes each study, as people's browsers do: large and small, by keys, without
scripts, with a reload in the middle. SNELLEN_SHOTS=FOLDER keeps pictures of every page."""

import os
from itertools import count
from pathlib import Path

import pytest

from snellen.study import entries
from snellen.study.design import read
from snellen.study.store import Store
from study_files import write_study

CHROMIUM = Path("/usr/bin/chromium")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {
    "viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "is_mobile": True,
    "has_touch": True,
}  # fmt: skip
STUDIES = {
    "reasoning": ({"problems": "1", "repeats": 3}, ["each = 1"]),
    "laconic": (
        {"per_class": 1, "reductions": "combined"},
        ["each = 2", "rest = 1"],
    ),
    "abstraction": (
        {"transformations": "mirrored,moved", "levels": "0", "repeats": 2, "tests": "20"},
        ["each = 1"],
    ),
}


@pytest.fixture(scope="module")
def chromium():
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("Chromium is not installed (Debian's package chromium)")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def sqlite(tmp_path):
    made = Store(f"sqlite:///{tmp_path}/study.db")
    yield made
    made.close()


def study_of(exam, folder):
    settings, changes = STUDIES[exam]
    return read(write_study(folder, exam, settings, *changes))


class Tab:
    """A page of a browser that complains when anything goes wrong."""

    def __init__(self, context, name):
        self.page, self.name, self.shots = context.new_page(), name, count(1)
        self.faults = []
        self.page.on("console", lambda m: self.faults.append(m.text) if m.type == "error" else 0)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("requestfailed", self._failed)

    def _failed(self, request):
        if "ERR_ABORTED" not in request.failure:  # as when one clicks before all is there
            self.faults.append(f"{request.url}: {request.failure}")

    @property
    def kind(self):
        if self.page.query_selector("output"):
            return "end"
        return "question" if self.page.query_selector("button[name=choice]") else "other"

    def look(self, what):
        folder = os.environ.get("SNELLEN_SHOTS")
        if folder:
            name = f"{self.name}-{next(self.shots):02d}-{what}.png"
            self.page.screenshot(path=Path(folder, name), full_page=True)
        wide = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, "nothing lies beyond the edge"

    def come_in(self, link):
        self.page.goto(link)
        self.look("consent")
        self.page.check("input[name=agree]")
        self.page.click("button.main")

    def click_through(self, pick, shots=4):
        """Answer everything by clicks; return how many answers it took."""
        for answered in range(400):
            if answered < shots or self.kind == "end":
                self.look(self.kind)
            if self.kind == "end":
                return answered
            if self.kind == "question":
                buttons = self.page.query_selector_all("button[name=choice]")
                pick(buttons, answered).click()
            else:
                self.page.click("button.main")
        raise AssertionError("no end of the study")


def first_or_more(buttons, answered):
    """Ask for more three times, then name something."""
    return buttons[-1] if len(buttons) > 3 and answered % 4 else buttons[answered % 2]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("exam", STUDIES)
def test_each_study_is_taken_from_consent_to_code(
    exam, size, chromium, tmp_path, sqlite, open_study
):
    link = open_study(study_of(exam, tmp_path), sqlite)
    with chromium.new_context(**size) as context:
        small = size is PHONE
        tab = Tab(context, f"{exam}-{'phone' if small else 'desktop'}")
        tab.come_in(link + ("/?language=es" if small else "/"))
        tab.click_through(first_or_more)
        code = tab.page.inner_text("output")
        assert tab.faults == []
    (entry,) = sqlite.read(entries.entries)
    assert entry.completion == code
    assert entry.language == ("es" if small else "en")
    said = [r for r in entry.replies if r.choice is not None]
    assert all(r.dropped is not None and 0 <= r.seconds < 30 for r in said)  # the page's clock


def test_by_keys_alone(chromium, tmp_path, sqlite, open_study):
    link = open_study(study_of("reasoning", tmp_path), sqlite)
    with chromium.new_context(**DESKTOP) as context:
        tab = Tab(context, "keys")
        page = tab.page
        page.goto(link)
        while not page.evaluate("document.activeElement.name === 'agree'"):
            page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        for _ in range(3):  # begin, ready, seen the examples: the button has the focus
            page.wait_for_function("document.activeElement.classList.contains('main')")
            with page.expect_navigation():
                page.keyboard.press("Enter")
        said = []
        for key, choice in (("1", 0), ("2", 1), ("f", 0), ("j", 1), ("J", 1)):
            page.wait_for_function("document.getElementById('asked').complete")
            with page.expect_navigation():
                page.keyboard.press(key)
            said.append(choice)
        page.keyboard.press("x")  # means nothing
        while not page.evaluate("document.activeElement.value === '1'"):
            page.keyboard.press("Tab")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert tab.faults == []
    (entry,) = sqlite.read(entries.entries)
    assert [r.choice for r in entry.replies if r.choice is not None] == [*said, 1]


def test_without_scripts_all_works_and_the_server_keeps_the_time(
    chromium, tmp_path, sqlite, open_study
):
    link = open_study(study_of("reasoning", tmp_path), sqlite)
    with chromium.new_context(**PHONE, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(link)
        page.check("input[name=agree]")
        page.click("button.main")
        while not page.query_selector("output"):
            buttons = page.query_selector_all("button")
            buttons[-1].click()
        assert page.inner_text("output")
    (entry,) = sqlite.read(entries.entries)
    assert entry.ended is not None
    said = [r for r in entry.replies if r.choice is not None]
    assert all(r.dropped is None and 0 < r.seconds < 30 for r in said)


def test_reload_back_and_a_second_tab_in_the_middle(chromium, tmp_path, sqlite, open_study):
    link = open_study(study_of("reasoning", tmp_path), sqlite)
    with chromium.new_context(**DESKTOP) as context:
        tab = Tab(context, "tabs")
        tab.come_in(link)
        while tab.kind != "question":
            tab.page.click("button.main")
        shown = picture(tab)
        tab.page.reload()
        assert picture(tab) == shown
        other = Tab(context, "tabs-other")
        other.page.goto(link)  # the second tab is led to the same page
        assert picture(other) == shown
        tab.page.click("button[value='0']")
        now = picture(tab)
        assert now != shown
        other.page.click("button[value='1']")  # answers what was answered before
        assert picture(other) == now
        tab.page.go_back()
        assert picture(tab) == now
        tab.page.dblclick("button[value='1']")
        tab.page.wait_for_function(f"!document.querySelector('#asked[src=\"{now}\"]')")
        tab.page.wait_for_load_state("networkidle")
        (entry,) = sqlite.read(entries.entries)
        assert [r.choice for r in entry.replies if r.choice is not None] in ([0, 1], [0, 1, 1])
        assert tab.faults == []


def picture(tab):
    return tab.page.get_attribute("#asked", "src")


def test_nothing_moves_while_pictures_come(chromium, tmp_path, sqlite, open_study):
    """The layout's shift, by the browser's own account, with pictures that come late."""
    link = open_study(study_of("reasoning", tmp_path), sqlite)
    observe = """() => { window.shift = 0; new PerformanceObserver((list) => {
        for (const e of list.getEntries()) window.shift += e.value;
    }).observe({type: "layout-shift", buffered: true}); }"""
    with chromium.new_context(**PHONE) as context:
        tab = Tab(context, "shift")

        def late(route):
            tab.page.wait_for_timeout(150)
            route.continue_()

        tab.come_in(link)
        while tab.kind != "question":
            tab.page.click("button.main")
        tab.page.route("**/picture/*", late)
        for _ in range(2):
            tab.page.reload()
            tab.page.evaluate(observe)
            tab.page.wait_for_timeout(300)
            assert tab.page.evaluate("window.shift") == 0
            tab.page.click("button[value='0']")
        tab.page.wait_for_load_state("networkidle")
        tab.page.unroute_all(behavior="wait")


def test_a_screen_reader_is_told_what_there_is(chromium, tmp_path, sqlite, open_study):
    link = open_study(study_of("reasoning", tmp_path), sqlite)
    with chromium.new_context(**DESKTOP) as context:
        tab = Tab(context, "reader")
        tab.come_in(link)
        while tab.kind != "question":
            tab.page.click("button.main")
        page = tab.page
        assert page.get_attribute("html", "lang") == "en"
        assert page.get_by_role("group", name="Your answer").get_by_role("button").count() == 2
        assert page.get_by_role("img", name="The picture that is asked about").count() == 1
        assert page.get_by_role("img", name="Example: +").count() == 1
        assert page.get_by_role("heading", level=1).count() == 1
        page.get_by_role("button", name="+").click()
        assert page.get_by_role("status").inner_text().startswith(("Yes: it was", "No: it was"))
        unnamed = "[...document.images].filter((i) => i.getAttribute('alt') === null).length"
        assert page.evaluate(unnamed) == 0
