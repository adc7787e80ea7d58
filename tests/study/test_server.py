"""What browsers are told and what they may send: nobody answers twice, or for somebody else."""

import asyncio
import html
import random
import re
import string
from contextlib import asynccontextmanager
from functools import partial

import httpx
import pytest

from snellen.study import entries, guards
from snellen.study.design import read
from snellen.study.server import COOKIE, _buttons, make_app
from snellen.study.store import Store
from snellen.study.walk import Page
from snellen.study.words import spoken
from study_files import write_study

HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
PICTURE = re.compile(r'src="(/picture/[^"]+)"')
HERE = "http://127.0.0.1"


@pytest.fixture
def sqlite(tmp_path):
    made = Store(f"sqlite:///{tmp_path}/study.db")
    yield made
    made.close()


@asynccontextmanager
async def browser(app, **options):
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=HERE, **options) as client:
        yield client


def run(work):
    return asyncio.run(work)


def fields(page):
    return {name: html.unescape(value) for name, value in HIDDEN.findall(page.text)}


async def come_in(client, **more):
    page = await client.get("/")
    sent = fields(page) | {"agree": "yes"} | more
    return await client.post("/consent", data=sent, follow_redirects=True)


async def go_on(client, page, **more):
    return await client.post("/page", data=fields(page) | more, follow_redirects=True)


async def to_a_question(client):
    page = await come_in(client)
    while 'name="choice"' not in page.text:
        page = await go_on(client, page)
    return page


def stored(store):
    return store.read(entries.entries)


def test_a_session_from_consent_to_code_and_the_code_comes_last(tiny, sqlite):
    async def story():
        async with browser(make_app(tiny, sqlite)) as client:
            page = await come_in(client)
            while "<output" not in page.text:
                more = {"choice": "1"} if 'name="choice"' in page.text else {}
                page = await go_on(client, page, **more)
            again = await client.get("/", follow_redirects=True)
            return page.text, again.text

    page, again = run(story())
    (entry,) = stored(sqlite)
    assert entry.ended is not None
    assert entry.completion in page
    assert entry.code in page
    assert again == page
    assert sqlite.read(entries.counts).sat.keys() == {t.item.key for t in entry.tasks}


def test_consent_is_asked_for_and_nothing_is_stored_before(tiny, sqlite):
    async def story():
        async with browser(make_app(tiny, sqlite)) as client:
            page = await client.get("/")
            refused = await client.post("/consent", data=fields(page))
            return page, refused

    page, refused = run(story())
    assert "A. Lab &lt;lab@example.org&gt;" in page.text  # as text, not as a tag
    assert refused.status_code == 400
    assert "tick the box" in refused.text
    assert stored(sqlite) == []


def test_reload_back_and_a_second_tab_answer_nothing_twice(tiny, sqlite):
    async def story():
        async with browser(make_app(tiny, sqlite)) as client:
            page = await to_a_question(client)
            count = len(stored(sqlite)[0].replies)
            reloaded = await client.get("/page")
            assert reloaded.text == page.text
            sent = [client.post("/page", data=fields(page) | {"choice": str(n % 2)})
                    for n in range(8)]  # fmt: skip
            answers = await asyncio.gather(*sent)
            assert {a.status_code for a in answers} == {303}
            assert len(stored(sqlite)[0].replies) == count + 1
            now = await client.get("/page")
            late = await go_on(client, page, choice="0")  # from a tab that was left open
            assert late.text == now.text
            assert len(stored(sqlite)[0].replies) == count + 1

    run(story())


def test_whoever_was_forgotten_is_led_back_to_their_page(tiny, sqlite):
    async def story():
        app = make_app(tiny, sqlite)
        async with browser(app) as client:
            page = await to_a_question(client)
            page = await go_on(client, page, choice="0")
            app = make_app(tiny, sqlite)  # as after a restart
            async with browser(app, cookies=client.cookies) as later:
                assert (await later.get("/page")).text == page.text
                for source in PICTURE.findall(page.text):
                    assert (await later.get(source)).status_code == 200

    run(story())


def test_of_many_visitors_only_some_are_remembered_and_all_get_on(tiny, sqlite):
    async def story():
        app = make_app(tiny, sqlite, kept=2)
        async with browser(app) as a, browser(app) as b, browser(app) as c:
            pages = [await to_a_question(client) for client in (a, b, c)]
            for _ in range(3):
                pages = [
                    await go_on(client, page, choice="0")
                    for client, page in zip((a, b, c), pages, strict=True)
                ]
            assert len(app.state.house.hall._visitors) <= 2

    run(story())
    assert len({len(e.replies) for e in stored(sqlite)}) == 1


@pytest.mark.parametrize(
    "forged",
    [
        {"choice": "2"}, {"choice": "-1"}, {"choice": ""}, {"choice": "١"}, {"choice": "1e0"},
        {"choice": "99999999999"}, {"number": "x"}, {"check": "0" * 40}, {"check": ""}, {},
    ],
)  # fmt: skip
def test_a_forged_answer_is_refused_and_changes_nothing(tiny, sqlite, forged):
    async def story():
        async with browser(make_app(tiny, sqlite)) as client:
            page = await to_a_question(client)
            before = stored(sqlite)
            answer = await client.post("/page", data=fields(page) | forged)
            assert answer.status_code == 400
            assert stored(sqlite) == before
            assert (await client.get("/page")).text == page.text

    run(story())


@pytest.mark.parametrize("number", ["0", "7", "999999"])
def test_an_answer_out_of_order_is_let_go(tiny, sqlite, number):
    async def story():
        async with browser(make_app(tiny, sqlite)) as client:
            page = await to_a_question(client)
            before = stored(sqlite)
            answer = await go_on(client, page, choice="1", number=number)
            assert answer.text == page.text
            assert stored(sqlite) == before

    run(story())


def test_nobody_gets_anybody_elses_page_form_or_pictures(tiny, sqlite):
    async def story():
        app = make_app(tiny, sqlite)
        async with browser(app) as mine, browser(app) as theirs, browser(app) as nobody:
            own, other = await to_a_question(mine), await to_a_question(theirs)
            assert fields(own)["check"] != fields(other)["check"]
            crossed = await mine.post("/page", data=fields(other) | {"choice": "0"})
            assert crossed.status_code == 400
            sources = PICTURE.findall(other.text)
            assert sources
            for source in sources:
                assert (await theirs.get(source)).status_code == 200
                assert (await mine.get(source)).status_code == 404
                assert (await nobody.get(source)).status_code == 404
            for place in ("/page", "/withdraw", "/picture/x"):
                assert (await nobody.get(place)).status_code == 404
            nobody.cookies.set(COOKIE, "made up")
            assert (await nobody.get("/page")).status_code == 404

    run(story())


@pytest.mark.parametrize(
    "name",
    ["../study.db", "..%2f..%2fetc%2fpasswd", "%2e%2e/tables.py", "a" * 9999, "%00", "'--"],
)
def test_a_path_in_a_pictures_name_leads_nowhere(tiny, sqlite, name):
    async def story():
        async with browser(make_app(tiny, sqlite)) as client:
            await to_a_question(client)
            for place in ("/picture/", "/static/"):
                answer = await client.get(place + name)
                assert answer.status_code in (400, 404)

    run(story())


def test_html_in_words_and_fields_is_escaped(tmp_path, sqlite):
    evil = "<script>alert(1)</script>"
    design = read(write_study(
        tmp_path, "reasoning", {"problems": "1"}, "each = 1",
        f'title = "{evil}"',
    ))  # fmt: skip

    async def story():
        async with browser(make_app(design, sqlite)) as client:
            page = await client.get("/", params={"language": evil, "group": evil})
            sent = fields(page) | {"language": evil, "group": evil, "agree": "yes"}
            inside = await client.post("/consent", data=sent, follow_redirects=True)
            return page.text + inside.text

    text = run(story())
    assert evil not in text
    assert "&lt;script&gt;" in text
    assert stored(sqlite)[0].language == "en"


def test_the_right_answer_leaves_the_server_only_after_one_was_given(tiny, sqlite):
    """Pages with the right answer + and − are the same but for names of pictures."""

    async def story():
        shapes = set()
        app = make_app(tiny, sqlite)
        for _ in range(6):
            async with browser(app) as client:
                page = await to_a_question(client)
                plain = re.sub(r'/picture/\w+|value="[0-9a-f]{40}"', "", page.text)
                shapes.add(re.sub(r'data-place="\d" data-choice="\d"', "", plain))
        return shapes

    (_,) = run(story())


def test_every_response_has_the_headers_of_safety_and_no_script_stands_in_a_page(tiny, sqlite):
    async def story():
        async with browser(make_app(tiny, sqlite)) as client:
            page = await to_a_question(client)
            places = ["/", "/page", "/withdraw", "/static/study.css", "/nowhere", "/health"]
            found = [await client.get(place) for place in [*places, *PICTURE.findall(page.text)]]
            return [page, *found]

    for response in run(story()):
        for name, value in guards.HEADERS.items():
            if name != "Cache-Control":
                assert response.headers[name] == value, response.url
        assert not re.search(r"<script(?! src=)|<style| style=| on\w+=", response.text)
        assert "http" not in re.sub(r'"http://www.w3.org/\S+"', "", response.text)
    assert "unsafe" not in guards.HEADERS["Content-Security-Policy"]


def test_cookies_are_for_the_server_alone_and_secure_behind_https(tiny, sqlite):
    async def cookie(public, base):
        transport = httpx.ASGITransport(make_app(tiny, sqlite, public))
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            return (await client.get("")).headers["set-cookie"].lower()

    local = run(cookie("", HERE))
    assert "httponly" in local
    assert "samesite=lax" in local
    assert "secure" not in local
    public = run(cookie("https://lab.example.org/seeing", "https://lab.example.org/seeing/"))
    assert "secure" in public
    assert "path=/seeing/" in public


def test_below_a_prefix_every_link_stays_below_it(tiny, sqlite):
    async def story():
        app = make_app(tiny, sqlite, "https://lab.example.org/seeing")
        transport = httpx.ASGITransport(app)
        base = "https://lab.example.org"
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            page = await client.get("/seeing/")
            sent = fields(page) | {"agree": "yes"}
            inside = await client.post("/seeing/consent", data=sent, follow_redirects=True)
            return page, inside

    for page in run(story()):
        assert page.status_code == 200
        places = re.findall(r'(?:href|src|action)="([^"]+)"', page.text)
        assert places
        assert all(place.startswith(("/seeing/", "#")) for place in places)


def test_another_host_is_refused(tiny, sqlite):
    async def story():
        async with browser(make_app(tiny, sqlite), headers={"host": "evil.example.org"}) as client:
            return (await client.get("/")).status_code

    assert run(story()) == 400


def test_withdrawing_deletes_and_lets_one_begin_anew(tiny, sqlite):
    async def story():
        async with browser(make_app(tiny, sqlite)) as client:
            await to_a_question(client)
            asked = await client.get("/withdraw")
            assert len(stored(sqlite)) == 1
            forged = await client.post("/withdraw", data={"check": "x"})
            assert forged.status_code == 400
            gone = await client.post("/withdraw", data=fields(asked))
            assert "Everything was deleted" in gone.text
            assert stored(sqlite) == []
            assert (await client.get("/page")).status_code == 404
            assert (await come_in(client)).status_code == 200

    run(story())
    assert len(stored(sqlite)) == 1


def test_a_session_that_was_left_too_long_is_over_but_kept(tiny, sqlite):
    moment = [1e9]

    async def story():
        app = make_app(tiny, sqlite, clock=lambda: moment[0])
        async with browser(app) as client:
            page = await to_a_question(client)
            moment[0] += 23 * 3600
            page = await go_on(client, page, choice="0")
            assert 'name="choice"' in page.text
            moment[0] += 2 * 3600
            late = await go_on(client, page, choice="0")
            assert "left for longer than 24 hours" in late.text

    run(story())
    replies = [reply for reply in stored(sqlite)[0].replies if reply.choice is not None]
    assert len(replies) == 1


def test_who_asks_too_much_is_told_to_wait(tiny, sqlite):
    async def story():
        app = make_app(tiny, sqlite)
        async with browser(app) as client:
            await come_in(client)
            (visitor,) = app.state.house.hall._visitors.values()
            visitor.bucket = guards.Bucket(rate=0, most=3)
            codes = [(await client.get("/page")).status_code for _ in range(5)]
            assert codes == [200, 200, 200, 429, 429]
        app.state.house.newcomers = guards.Bucket(rate=0, most=2)
        found = []
        for _ in range(3):
            async with browser(app) as client:
                found.append((await come_in(client)).status_code)
        assert found == [200, 200, 429]

    run(story())


def test_a_large_form_is_refused_unread(tiny, sqlite):
    async def story():
        async with browser(make_app(tiny, sqlite)) as client:
            page = await to_a_question(client)
            many = {f"a{n}": "" for n in range(99)}
            odd = [{"data": {"x": "y" * 9000}}, {"data": many}, {"json": {}}]
            odd += [{"files": {"a": b"b"}}, {"content": b"\xff\xfe=%ff"}]
            for more in odd:
                answer = await client.post("/page", **more)
                assert answer.status_code == 400
            assert (await client.get("/page")).text == page.text

    run(story())


def test_the_control_group_comes_by_its_link_only(tiny, sqlite):
    async def story():
        app = make_app(tiny, sqlite)
        key = app.state.house.control_key
        for group in (key, "control", ""):
            async with browser(app) as client:
                page = await client.get("/", params={"group": group, "language": "es"})
                assert "Antes de empezar" in page.text
                sent = fields(page) | {"agree": "yes"}
                inside = await client.post("/consent", data=sent, follow_redirects=True)
                assert "Qué hay que hacer" in inside.text

    run(story())
    assert [entry.party for entry in stored(sqlite)] == ["control", "", ""]
    assert {entry.language for entry in stored(sqlite)} == {"es"}


def test_the_experimenters_page_opens_with_its_key_alone(tiny, sqlite):
    async def story():
        app = make_app(tiny, sqlite)
        house = app.state.house
        async with browser(app) as client:
            await to_a_question(client)
            assert (await client.get("/desk")).status_code == 404
            assert (await client.get("/desk/" + "0" * 40)).status_code == 404
            found = await client.get(f"/desk/{house.desk_key}", follow_redirects=True)
            assert found.url.path == "/desk"
            assert "How far the study is" in found.text
            assert house.control_key in found.text
            assert house.desk_key not in found.text
        async with browser(app) as stranger:
            codes = [(await stranger.get(f"/desk/{n}")).status_code for n in range(30)]
            assert codes[-1] == 429

    run(story())


def test_when_the_store_fails_nothing_is_taken_for_answered(tiny, sqlite, monkeypatch):
    async def story():
        app = make_app(tiny, sqlite)
        async with browser(app) as client:
            page = await to_a_question(client)
            before = stored(sqlite)
            with monkeypatch.context() as broken:
                broken.setattr(entries, "note", lambda *_, **__: 1 / 0)
                answer = await client.post("/page", data=fields(page) | {"choice": "0"})
                assert answer.status_code == 500
                assert "What you answered before is safe" in answer.text
                assert "ZeroDivisionError" not in answer.text
            assert stored(sqlite) == before
            assert (await client.get("/page")).text == page.text
            await go_on(client, page, choice="0")
            assert len(stored(sqlite)[0].replies) == len(before[0].replies) + 1

    run(story())


METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "QUERY")
ODD = (
    *("", "0", "-1", "1e999", "nan", "%", "\x00", "é", "😀", "٣", "'", '"', "<b>", "{{7*7}}"),
    "a" * 300,
)


def test_no_request_however_odd_breaks_the_server(tiny, sqlite):
    """Every route that the application has, by every method, with odd parts everywhere."""
    app, rng = make_app(tiny, sqlite), random.Random(7)
    paths = [getattr(route, "path", "") or "/" for route in app.routes]
    assert len(paths) == 10
    names = ["check", "number", "choice", "seconds", "dropped", "agree", "language", "group", "é"]

    def odd():
        return (
            rng.choice(ODD)
            if rng.random() < 0.7
            else "".join(rng.choices(string.printable, k=rng.randrange(40)))
        )

    async def story():
        async with browser(app) as client:
            page = await to_a_question(client)
            real = fields(page)
            for n in range(1500):
                path = re.sub(r"\{\w+\}", lambda _: httpx.QueryParams({"a": odd()}).__str__()[2:],
                              rng.choice(paths))  # fmt: skip
                data = {name: odd() for name in rng.sample(names, rng.randrange(5))}
                if rng.random() < 0.5:
                    data = real | data
                more = rng.choice([{"data": data}, {"params": data}, {"content": odd().encode()},
                                   {"json": data}, {}])  # fmt: skip
                headers = {"cookie": f"{COOKIE}={rng.choice(string.printable[:62])}"}
                own = rng.random() < 0.6
                method = rng.choice(METHODS[:2] if rng.random() < 0.7 else METHODS)
                answer = await client.request(method, path, headers={} if own else headers, **more)
                assert answer.status_code < 500, (n, method, path, more, answer.text)
                if n % 200 == 0:
                    app.state.house.strangers.level = 20

    run(story())
    (entry,) = stored(sqlite)
    assert all(reply.choice in (None, 0, 1) for reply in entry.replies)


def test_whom_the_experimenter_deleted_can_answer_no_more(tiny, sqlite):
    async def story():
        async with browser(make_app(tiny, sqlite)) as client:
            page = await to_a_question(client)
            (entry,) = stored(sqlite)
            sqlite.write(partial(entries.withdraw, code=entry.code)).result()
            answer = await go_on(client, page, choice="0")
            assert answer.status_code == 404
            assert (await client.get("/page")).status_code == 404

    run(story())
    assert stored(sqlite) == []


def buttons(*choices, instead=(), key=()):
    offered, more = _buttons(
        Page("question", choices=choices, instead=instead, key=key), spoken("es")
    )
    return [(b["value"], b["text"], b["key"]) for b in [*offered, *more]]


def test_every_answer_has_a_key_of_its_own_and_many_stand_alphabetically():
    assert buttons("-", "+") == [(0, "-", "1"), (1, "+", "2")]
    assert [k for *_, k in buttons("7", "8", "9", instead=("more",))] == ["7", "8", "9", "1"]
    many = buttons("oso", "ave", "árbol", "zorro", instead=("more", "all"))
    assert many[:4] == [(2, "árbol", "1"), (1, "ave", "2"), (0, "oso", "3"), (3, "zorro", "4")]
    assert many[4:] == [(4, "more", "5"), (5, "all", "6")]
    numbers = buttons(*map(str, (10, 9, 2, 1)))
    assert [text for _, text, _ in numbers] == ["1", "2", "9", "10"]
    crowd = buttons(*(f"name {n}" for n in range(60)))
    keys = [key for *_, key in crowd if key]
    assert len(set(keys)) == len(keys) == 33
