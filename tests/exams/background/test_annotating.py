"""People judge matrices on a page: by a real server and the library's own client."""

import http.client
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from click.testing import CliRunner

from snellen.cli import _Desk
from snellen.errors import BadSetting, LogError, SnellenError
from snellen.exams.background import annotating, panels
from snellen.exams.background.agreement import cohen, fleiss
from snellen.exams.background.annotating import HEADERS, LARGEST, background_annotate, serving
from snellen.exams.background.annotations import Annotation, Annotations, read
from snellen.exams.background.assessor import LEVELS
from snellen.exams.background.clouds import cloud
from snellen.exams.background.matrices import Kernel, variance_matrix
from snellen.exams.background.models import models
from snellen.exams.background.pages import Asked, Pages
from tests_repository import painted, run_of

CHROMIUM = Path("/usr/bin/chromium")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
LEANS = (0.0, 0.3, 0.6, 0.9)
ANSWER = {"level": "borderline", "sure": "4"}


class Browser:
    """Keeps a cookie and follows to where it is sent, as a browser does."""

    def __init__(self, port):
        self.port, self.cookie, self.path, self.text, self.status = port, "", "/", "", 0

    def ask(self, method, path, form=None, follow=True, **headers):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        said = {"Cookie": self.cookie} if self.cookie else {}
        body = None
        if form is not None:
            body = form if isinstance(form, bytes) else urlencode(form, doseq=True)
            said["Content-Type"] = "application/x-www-form-urlencoded"
        link.request(method, path, body, {**said, **headers})
        reply = link.getresponse()
        self.headers, self.status, self.path = reply.headers, reply.status, path
        self.text = reply.read().decode()
        link.close()
        if fresh := reply.headers.get("Set-Cookie"):
            self.cookie = fresh.partition(";")[0]
        if follow and self.status == HTTPStatus.SEE_OTHER:
            return self.ask("GET", reply.headers["Location"])
        return self

    def hidden(self, name):
        found = re.search(f'name="{name}" value="([^"]*)"', self.text)
        return unescape(found[1]) if found else ""

    def send(self, path, form, **how):
        return self.ask("POST", path, {"token": self.hidden("token"), **form}, **how)

    def begin(self, name):
        self.ask("GET", "/")
        return self.send("/begin", {"name": name})

    def answer(self, **form):
        return self.send(self.path.partition("?")[0],
                         {"earlier": self.hidden("earlier"), **ANSWER, **form})  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return models([painted(x, f"subject-{x}", correlation=0.777) for x in LEANS])


@pytest.fixture
def page(found, tmp_path, monkeypatch):
    """A server in a thread; matrices are drawn by nobody, as `panels` has tests of its own."""
    monkeypatch.setattr(type(found[0]), "matrices", lambda model: model)
    monkeypatch.setattr(
        "snellen.exams.background.pages.panels",
        lambda model: [{"title": "T", "note": "n", "image": "data:image/png;base64,AA=="}],
    )
    pages = Pages(found, Annotations(tmp_path / "annotations"), 3)
    with serving(pages, 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        server.pages = pages
        yield server
        server.shutdown()
        thread.join()
    pages.close()


@pytest.fixture
def browser(page):
    return Browser(page.server_port)


def answers(page):
    return read(page.pages.kept.folder)


def test_a_coder_goes_through_all_models_and_is_thanked(page, browser, found):
    browser.begin(" Ada ")
    assert browser.path == "/model/1"
    for place in range(1, len(found) + 1):
        assert f"<b>Model {place}</b> of {len(found)}" in browser.text
        assert f'value="{place - 1}" aria-label' in browser.text
        browser.answer(level=LEVELS[place % 3], seen=["speckles", "dark"])
    assert "Thank you" in browser.text
    said = answers(page)
    assert [one.level for one in said] == [1, 2, 0, 1]
    assert {one.coder for one in said} == {"ada"}
    assert {one.model for one in said} == {model.key for model in found}
    assert said[0].seen == ("dark", "speckles")
    assert said[0].sure == 4
    assert "Your name" in browser.send("/leave", {}).text
    assert all(one.seconds >= 0 and one.at.endswith("+00:00") for one in said)


def test_pages_do_not_tell_whom_they_are_about(page, browser, found):
    browser.begin("ada")
    told = browser.text
    for _ in found:
        browser.answer()
        told += browser.text
    for model in found:
        for secret in (model.name, model.key, model.found.subject, f"{model.gap:.2f}", "0.777"):
            assert secret not in told
    assert "plain" not in told


def test_each_coder_has_an_order_of_their_own_that_lasts(page, found):
    own = {name: page.pages._order(name) for name in ("ada", "bob", "cyd", "dan")}
    assert len({tuple(order) for order in own.values()}) > 1
    assert all(sorted(order) == sorted(m.key for m in found) for order in own.values())
    fewer = Pages(found[:-1], page.pages.kept, 3)
    assert fewer._order("ada") == [key for key in own["ada"] if key != found[-1].key]
    fewer.close()


def test_the_same_page_sent_twice_counts_once(page, browser):
    browser.begin("ada")
    form = {"token": browser.hidden("token"), "earlier": "0", **ANSWER}
    browser.ask("POST", "/model/1", form)
    assert browser.path == "/model/2"
    browser.ask("POST", "/model/1", {**form, "level": "invariant"})
    assert browser.path == "/model/2?again=1"
    assert "saved already" in browser.text
    assert [one.level for one in answers(page)] == [1]


def test_tabs_that_answer_at_once_are_one_coder(page, browser):
    browser.begin("ada")
    form = {"token": browser.hidden("token"), "earlier": "0", **ANSWER}

    def tab(level):
        other = Browser(page.server_port)
        other.cookie = browser.cookie
        return other.ask("POST", "/model/1", {**form, "level": level}).status

    with ThreadPoolExecutor(9) as pool:
        assert set(pool.map(tab, LEVELS * 3)) == {HTTPStatus.OK}
    assert len(answers(page)) == 1


def test_coders_at_once_do_not_mix(page, found):
    def work(name):
        mine = Browser(page.server_port).begin(name)
        for _ in found:
            mine.answer(level=LEVELS[ord(name[0]) % 3])
        return mine.text

    with ThreadPoolExecutor(3) as pool:
        assert all("Thank you" in text for text in pool.map(work, ("ada", "bob", "cyd")))
    said = answers(page)
    assert len(said) == 3 * len(found)
    assert {(one.coder, one.level) for one in said} == {
        (name, ord(name[0]) % 3) for name in ("ada", "bob", "cyd")
    }


def test_one_may_go_back_and_change_an_answer(page, browser):
    browser.begin("ada")
    browser.answer(seen=["bands"])
    assert 'href="/model/1"' in browser.text
    browser.ask("GET", "/model/1")
    assert re.search(r'value="borderline" required checked', browser.text)
    assert re.search(r'value="4" required checked', browser.text)
    assert re.search(r'value="bands" checked', browser.text)
    assert "Save the change" in browser.text
    browser.answer(level="invariant")
    assert browser.path == "/model/2"
    assert [one.level for one in answers(page)] == [1, 2]
    assert len(page.pages.kept.of("ada")) == 1


def test_one_cannot_skip_ahead(page, browser):
    browser.begin("ada")
    for path in ("/model/3", "/model/0", "/model/99999999"):
        assert browser.ask("GET", path).path == "/model/1"
    browser.send("/model/3", {"earlier": "0", **ANSWER})
    assert answers(page) == []


def test_the_same_name_goes_on_where_it_stopped_after_a_restart(page, browser, found):
    browser.begin("ada")
    browser.answer()
    again = Pages(found, Annotations(page.pages.kept.folder), 3)
    assert again.kept.enrol("ada", 3)
    assert again._next(Asked("/", {}, None, ""), "ada").headers["Location"] == "/model/2"
    again.close()
    other = Browser(page.server_port).begin("ADA")
    assert other.path == "/model/2"


@pytest.mark.parametrize("form", [{"level": ""}, {"level": "<b>"}, {"sure": "6"}, {"sure": ""}])
def test_half_an_answer_is_asked_for_again(page, browser, form):
    browser.begin("ada")
    browser.answer(seen=["speckles"], **form)
    assert browser.status == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "Choose one of the three" in browser.text
    assert 'value="speckles" checked' in browser.text
    assert "<b>&lt;" not in browser.text
    assert answers(page) == []


@pytest.mark.parametrize("form", [{"seen": ["<script>"]}, {"earlier": "-1"}, {"earlier": "x"}])
def test_what_the_page_never_offered_is_no_answer(page, browser, form):
    browser.begin("ada")
    assert browser.answer(**form).status == HTTPStatus.BAD_REQUEST
    assert answers(page) == []


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "../../evil", '"><b>', "a\r\nb: c", ""]
)
def test_evil_names_are_refused_and_shown_harmlessly(page, browser, name):
    browser.begin(name)
    assert browser.status == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "letters, digits" in browser.text
    assert "<script>alert" not in browser.text
    assert '"><b>' not in browser.text
    assert not list(page.pages.kept.folder.parent.rglob("*.csv"))


def test_one_coder_more_than_were_invited_is_told_who_has_begun(page):
    for name in ("ada", "bob", "cyd"):
        assert Browser(page.server_port).begin(name).path == "/model/1"
    late = Browser(page.server_port).begin("dan")
    assert late.status == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "ada, bob, cyd" in late.text
    assert page.pages.kept.coders() == ["ada", "bob", "cyd"]


def test_forms_from_elsewhere_are_refused(page, browser):
    browser.begin("ada")
    good = browser.hidden("token")
    for token in ("", "0" * 64, "ü", good[:-1]):
        form = {"token": token, "earlier": "0", **ANSWER}
        assert browser.ask("POST", "/model/1", form).status == HTTPStatus.FORBIDDEN
    stranger = Browser(page.server_port)
    stranger.ask("GET", "/")
    stranger.ask("POST", "/model/1", {"token": good, "earlier": "0", **ANSWER})
    assert stranger.status == HTTPStatus.FORBIDDEN
    assert answers(page) == []


def test_who_leaves_can_answer_no_more(page, browser):
    browser.begin("ada")
    token = browser.hidden("token")
    assert browser.send("/leave", {}).path == "/"
    assert "Your name" in browser.text
    assert "ada" not in browser.text
    browser.ask("POST", "/model/1", {"token": token, "earlier": "0", **ANSWER})
    assert answers(page) == []
    assert browser.ask("GET", "/model/1").path == "/"


def test_every_reply_carries_the_headers_that_guard_it(page, browser):
    browser.begin("ada")
    for method, path in (
        ("GET", "/"), ("GET", "/model/1"), ("GET", "/style.css"), ("GET", "/script.js"),
        ("GET", "/nothing"), ("GET", "/kappas"), ("HEAD", "/"), ("PUT", "/"),
    ):  # fmt: skip
        browser.ask(method, path, follow=False)
        assert all(browser.headers[name] == value for name, value in HEADERS.items()), path
    fresh = Browser(page.server_port)
    cookie = fresh.ask("GET", "/").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "style=" not in browser.text
    assert "onclick" not in browser.text


@pytest.mark.parametrize(
    ("method", "path", "form", "headers", "status"),
    [
        ("GET", "/etc/passwd", None, {}, HTTPStatus.NOT_FOUND),
        ("GET", "/../pages.py", None, {}, HTTPStatus.NOT_FOUND),
        ("GET", "/", None, {"Host": "evil.example"}, HTTPStatus.MISDIRECTED_REQUEST),
        ("GET", "/", None, {"Cookie": 'a="\\'}, HTTPStatus.OK),
        ("POST", "/begin", b"x" * (LARGEST + 1), {}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        ("POST", "/begin", b"name=%ff", {}, HTTPStatus.BAD_REQUEST),
        ("POST", "/begin", b"&".join([b"a=1"] * 50), {}, HTTPStatus.BAD_REQUEST),
        ("POST", "/begin", b"a", {"Content-Length": "-1"}, HTTPStatus.LENGTH_REQUIRED),
        ("DELETE", "/", None, {}, HTTPStatus.NOT_IMPLEMENTED),
    ],
)
def test_odd_requests_get_short_answers(browser, method, path, form, headers, status):
    assert browser.ask(method, path, form, **headers).status == status


def test_an_address_that_is_none_is_refused(page):
    with socket.create_connection(("127.0.0.1", page.server_port), timeout=30) as link:
        link.sendall(
            f"GET http://[ HTTP/1.0\r\nHost: localhost:{page.server_port}\r\n\r\n".encode()
        )
        assert b" 400 " in link.makefile("rb").readline()


def test_kappas_are_shown_to_those_who_have_finished(page, browser, found):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 3, (len(found), 2))
    table[0] = 0, 2
    for column, coder in enumerate(("ada", "bob")):
        for model, level in zip(found, table[:, column], strict=True):
            page.pages.kept.add(Annotation(coder, model.key, int(level), 3), 0)
    browser.begin("cyd")
    assert browser.ask("GET", "/kappas").status == HTTPStatus.FORBIDDEN
    assert browser.ask("GET", "/kappas?token=wrong").status == HTTPStatus.FORBIDDEN
    browser.ask("GET", f"/kappas?token={page.pages.token}")
    assert "ada</th><td>4 of 4" in browser.text
    assert "cyd</th><td>0 of 4" in browser.text
    assert f"{float(cohen(table)):.2f} [" in browser.text
    assert f"weighted {float(cohen(table, weights='linear')):.2f} [" in browser.text
    assert f"{float(fleiss(table)):.2f} [" in browser.text
    other = Browser(page.server_port).begin("ada")
    assert "Thank you" in other.text
    assert "over 4 models" in other.ask("GET", "/kappas").text


def test_there_are_no_kappas_of_one_coder(page, browser):
    browser.ask("GET", f"/kappas?token={page.pages.token}")
    assert "Nobody has begun" in browser.text
    assert "nothing to compare" in browser.text


def test_a_disk_that_is_full_is_told_and_loses_nothing(page, browser, monkeypatch):
    browser.begin("ada")
    browser.answer()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("snellen.exams.background.annotations.os.fsync", full)
    browser.answer()
    assert browser.status == HTTPStatus.INTERNAL_SERVER_ERROR
    assert "No space left" in browser.text
    assert "answered before is safe" in browser.text


def test_panels_are_on_one_scale_and_tell_where_nothing_is_known():
    d = np.array([[0.0, 0.2, 0.4]] * 9)
    still = variance_matrix(cloud(d, np.full_like(d, 0.3)), Kernel(6, 2, 8), side=16)
    moved = variance_matrix(cloud(d, np.array([[1.0, 0.0, 0.0]] * 9)), Kernel(6, 2, 8), side=16)
    dark, bright = panels._shaded(still, 0.5), panels._shaded(moved, 0.5)
    own, near = 16 - 1, 3  # bottom row: the own scenery; column of distance .2
    assert dark[own, near].max() < 110
    assert bright[own, near, 0] > 200 > bright[own, near, 2]
    assert dark[0, 15].min() > dark[own, near].max()  # nothing is near the far corner
    made = panels.panels(dict.fromkeys(panels.PANELS, still))
    assert [panel["title"] for panel in made][-1] == "Evidence"
    assert all(panel["image"].startswith("data:image/png;base64,") for panel in made)


def test_the_command_serves_until_it_is_stopped_and_says_what_to_do_next(tmp_path, monkeypatch):
    run = run_of(tmp_path / "july run", [painted(0.3)])

    def stopped(server, *_):
        raise KeyboardInterrupt

    monkeypatch.setattr(annotating._Server, "serve_forever", stopped)
    done = CliRunner().invoke(background_annotate, [str(run), "--port", "0"], obj=_Desk())
    assert done.exit_code == 0, done.output
    assert re.search(
        r"models to judge: 1; coders: 3; the page: http://127\.0\.0\.1:\d+/\n", done.output
    )
    assert "/kappas?token=" in done.output
    assert f"background-assessor '{run}' --levels '{run / 'annotations'}'" in done.output


def test_what_the_command_cannot_do_is_said(page, tmp_path):
    run = run_of(tmp_path / "run", [painted(0.3)])
    for arguments, error, said in (
        ([tmp_path / "none"], LogError, "no run folder"),
        ([run, "--coders", 4], BadSetting, "odd number"),
        ([run, "--port", page.server_port], SnellenError, "another one with --port"),
    ):
        done = CliRunner().invoke(background_annotate, [str(a) for a in arguments], obj=_Desk())
        assert isinstance(done.exception, error)
        assert said in str(done.exception)


@pytest.fixture(scope="module")
def chromium():
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("Chromium is not installed (Debian's package chromium)")
    with sync.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        yield made
        made.close()


def tab(chromium, page, name, **how):
    """Begin as a coder in a real browser, which keeps its complaints."""
    made = chromium.new_context(**how).new_page()
    made.faults = []
    made.on("console", lambda m: made.faults.append(m.text) if m.type == "error" else None)
    made.on("pageerror", lambda error: made.faults.append(str(error)))
    made.goto(f"http://localhost:{page.server_port}/")
    made.fill("#name", name)
    made.click("button")
    made.wait_for_url("**/model/1")
    return made


def test_keys_answer_and_go_back(page, chromium):
    shown = tab(chromium, page, "ada")
    for keys in ("2", "ArrowRight", "ArrowRight"):
        shown.keyboard.press(keys)
    with shown.expect_navigation():
        shown.keyboard.press("Enter")
    assert shown.url.endswith("/model/2")
    with shown.expect_navigation():
        shown.keyboard.press("b")
    assert shown.url.endswith("/model/1")
    assert shown.is_checked("input[value=borderline]")
    shown.keyboard.press("ArrowLeft")
    shown.keyboard.press("1")
    with shown.expect_navigation():
        shown.keyboard.press("Enter")
    assert [(one.level, one.sure) for one in answers(page)] == [(1, 4), (2, 3)]
    assert shown.faults == []


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_page_works_without_scripts_and_fits(page, chromium, found, width):
    how = {"viewport": {"width": width, "height": 800}, "java_script_enabled": False}
    shown = tab(chromium, page, "ada", **how)
    for _ in found:
        shown.check("input[value='not invariant']")
        shown.check("input[name=sure][value='5']")
        shown.check("input[value=bands]")
        assert shown.locator("main").bounding_box()["width"] <= width
        assert not shown.locator(".keys").is_visible()
        with shown.expect_navigation():
            shown.click("main button")
    assert "Thank you" in shown.inner_text("h1")
    assert [(one.level, one.sure, one.seen) for one in answers(page)] == [(0, 5, ("bands",))] * 4
    assert shown.faults == []


def test_nothing_sticks_out_of_a_narrow_page(page, chromium):
    shown = tab(
        chromium, page, "ada-with-a-very-long-name-123", viewport={"width": 320, "height": 700}
    )
    assert shown.evaluate("document.documentElement.scrollWidth") <= 320
