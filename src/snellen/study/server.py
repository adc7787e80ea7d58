"""What does a browser get? Pages that need no script, one form each.

A reply is posted and answered with the way to the present page, so reloading asks nothing
twice; each form carries the number of its page, so that an old tab cannot answer a new one.
Pictures have names that say nothing, and are given only to whoever has them on their page.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

import numpy as np
from anyio import to_thread
from PIL import Image

from snellen.errors import extra

with extra("study", "the study server"):
    import jinja2
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

from snellen.digests import digest
from snellen.study import words
from snellen.study.guards import Bucket, Headed, TooMuch, form, hashed, new_token, same, signed
from snellen.study.hall import Hall, Refused, Unknown
from snellen.study.quality import overview
from snellen.study.walk import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from starlette.requests import Request

    from snellen.study.design import Design
    from snellen.study.store import Store
    from snellen.study.walk import Page, Shown
    from snellen.study.words import Words

Answer: TypeAlias = Callable[["Request"], Awaitable["Response"]]

COOKIE, DESK_COOKIE = "snellen", "snellen-desk"
CONTROL = "control"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
KEYS = "123456789abcdeghiklmnopqrstuvwxyz"
"""On the keyboard, for each answer in turn, unless its name is a key; F and J are for two."""
FEW = 3
"""So many choices stand as the exam has them, side by side; more of them alphabetically."""
CRISP = 1
"""Pictures of so many channels are line drawings, enlarged with hard edges."""
LONGEST_ANSWER = 86_400.0
PICTURE_HEADERS = {"Cache-Control": "private, max-age=86400, immutable"}


@dataclass(eq=False)
class House:
    """A study that is open to visitors."""

    hall: Hall
    public: str = ""
    """Where it is found from outside, behind a proxy; empty: on this machine only."""
    newcomers: Bucket = field(default_factory=lambda: Bucket(rate=20, most=600))
    strangers: Bucket = field(default_factory=lambda: Bucket(rate=1, most=20))
    """Attempts at the experimenter's desk."""

    @property
    def design(self) -> Design:
        """What was put down."""
        return self.hall.design

    @cached_property
    def words(self) -> Mapping[str, Words]:
        """What people read, by language."""
        return words.of_study(self.design)

    @cached_property
    def prefix(self) -> str:
        """The path below which everything lies."""
        return urlsplit(self.public).path.rstrip("/")

    @property
    def desk_key(self) -> str:
        """What opens the experimenter's page."""
        return signed(self.hall.secret, "desk")

    @property
    def control_key(self) -> str:
        """What marks a participant as one of the control group."""
        return signed(self.hall.secret, "party", CONTROL)[:16]

    def links(self, base: str) -> dict[str, str]:
        """Return the links that are handed out."""
        return {
            "participants": f"{base}/",
            "control group": f"{base}/?group={self.control_key}",
            "experimenter": f"{base}/desk/{self.desk_key}",
        }

    async def welcome(self, request: Request) -> Response:
        """Ask for consent, or show the way to where one is."""
        token = request.cookies.get(COOKIE, "")
        if token and await self._known(token):
            return self._to("page")
        token = token if len(token) == len(new_token()) else new_token()
        return self._consent(request, token)

    async def consent(self, request: Request) -> Response:
        """Enter somebody who agrees."""
        token, fields = request.cookies.get(COOKIE, ""), await form(request)
        if not token or not self._checked(token, fields):
            return self._consent(request, new_token())
        if "agree" not in fields:
            return self._consent(request, token, complaint="consent_missing", fields=fields)
        told = self._words(fields.get("language", ""))
        if not self.newcomers.take():
            return self._say(told, "busy", 429)
        party = CONTROL if same(fields.get("group", ""), self.control_key) else ""
        text = f"{self.design.consent.version}-{digest(self._consent_text(told))[:12]}"
        if not await self.hall.enrol(hashed(token), told.code, party, text):
            return self._say(told, "full", 200)
        return self._to("page")

    async def page(self, request: Request) -> Response:
        """Show where a participant is."""
        token = request.cookies.get(COOKIE, "")
        entry, number, page = await self.hall.page(hashed(token))
        told = self._words(entry.language)
        if self.hall.late(entry):
            return self._say(told, "late", 200, hours=f"{self.design.sessions.resume_hours:g}")
        return self._render(
            page.kind,
            told,
            number=number,
            page=page,
            entry=entry,
            check=self._check(token),
            **_arranged(page, told),
        )

    async def reply(self, request: Request) -> Response:
        """Take what was replied, and show the way on."""
        token, fields = request.cookies.get(COOKIE, ""), await form(request)
        if not self._checked(token, fields):
            raise Refused
        number, choice = _whole(fields.get("number")), _whole(fields.get("choice"))
        if number is None or ("choice" in fields and choice is None):
            raise Refused
        await self.hall.reply(hashed(token), number, _reply(choice, fields))
        return self._to("page")

    async def picture(self, request: Request) -> Response:
        """Hand out a picture of the present page."""
        token = hashed(request.cookies.get(COOKIE, ""))
        shown = await self.hall.picture(token, request.path_params["name"])
        if shown is None:
            raise HTTPException(404)
        data = await to_thread.run_sync(as_png, shown.image)
        return Response(data, media_type="image/png", headers=PICTURE_HEADERS)

    async def leave(self, request: Request) -> Response:
        """Ask whether somebody really wants to withdraw, or let them."""
        token = request.cookies.get(COOKIE, "")
        entry, _, _ = await self.hall.page(hashed(token))
        told = self._words(entry.language)
        if request.method == "GET":
            return self._render("withdraw", told, check=self._check(token), entry=entry)
        if not self._checked(token, await form(request)):
            raise Refused
        await self.hall.withdraw(hashed(token))
        response = self._say(told, "withdrawn", 200)
        response.delete_cookie(COOKIE, path=f"{self.prefix}/")
        return response

    async def sign_in(self, request: Request) -> Response:
        """Let the experimenter in who has the key, and take it out of the address."""
        if not self.strangers.take():
            return self._say(self._words(""), "busy", 429)
        if not same(request.path_params["key"], self.desk_key):
            raise HTTPException(404)
        response = self._to("desk")
        self._set(response, DESK_COOKIE, self.desk_key)
        return response

    async def desk(self, request: Request) -> Response:
        """Show the experimenter how far the study is."""
        if not same(request.cookies.get(DESK_COOKIE, ""), self.desk_key):
            raise HTTPException(404)
        found = await to_thread.run_sync(overview, self.design, self.hall.store)
        told = self._words("")
        return self._render("desk", told, overview=found, links=self.links(self._base(request)))

    async def health(self, _: Request) -> Response:
        """Say that the server is up, for whoever watches over it."""
        return PlainTextResponse("ok\n")

    async def lost(self, request: Request, _: Exception) -> Response:
        """Say that there is nothing at an address, or nobody with that token."""
        return self._say(self._asked_words(request), "lost", 404)

    async def refused(self, request: Request, _: Exception) -> Response:
        """Say that a form was not taken, and how to go on."""
        return self._say(self._asked_words(request), "refused", 400, back=True)

    async def unsuited(self, request: Request, error: Exception) -> Response:
        """Answer to what HTTP itself does not allow."""
        status = error.status_code if isinstance(error, HTTPException) else 400
        headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
        name = "lost" if status == 404 else "refused"
        response = self._say(self._asked_words(request), name, status)
        response.headers.update(headers)
        return response

    async def broken(self, request: Request, _: Exception) -> Response:
        """Say that it was our fault."""
        return self._say(self._asked_words(request), "broken", 500, back=True)

    async def _known(self, token: str) -> bool:
        try:
            await self.hall.page(hashed(token))
        except Unknown:
            return False
        return True

    def limited(self, answer: Answer) -> Answer:
        """Let each participant ask only so much in a time."""

        async def guarded(request: Request) -> Response:
            token = request.cookies.get(COOKIE, "")
            async with self.hall.visited(hashed(token)) as visitor:
                language, fine = visitor.entry.language, visitor.bucket.take()
            if not fine:
                return self._say(self._words(language), "busy", 429)
            return await answer(request)

        return guarded

    def _consent(
        self,
        request: Request,
        token: str,
        complaint: str = "",
        fields: Mapping[str, str] | None = None,
    ) -> Response:
        asked = {**request.query_params, **(fields or {})}
        told = self._words(asked.get("language", ""))
        group = asked.get("group", "")
        if group and not same(group, self.control_key):
            group = ""
        response = self._render(
            "consent",
            told,
            status=400 if complaint else 200,
            check=self._check(token),
            text=self._consent_text(told),
            group=group,
            complaint=complaint,
            languages=self.words.values(),
        )
        self._set(response, COOKIE, token)
        return response

    def _consent_text(self, told: Words) -> str:
        about = self.design.about
        own = self.design.consent.text.get(told.code)
        return own or told("consent", minutes=about.minutes, contact=about.contact)

    def _render(self, name: str, told: Words, status: int = 200, **values: Any) -> HTMLResponse:
        text = (
            _templates()
            .get_template(f"{name}.html")
            .render(words=told, title=self.design.about.title, at=self.prefix, **values)
        )
        return HTMLResponse(text, status)

    def _say(
        self, told: Words, name: str, status: int, *, back: bool = False, **values: Any
    ) -> HTMLResponse:
        """Show a page that says one thing."""
        return self._render(
            "message",
            told,
            status,
            heading=told(f"{name}_title"),
            text=told(name, **values),
            back=back,
        )

    def _to(self, place: str) -> Response:
        return RedirectResponse(f"{self.prefix}/{place}", 303)

    def _set(self, response: Response, name: str, value: str) -> None:
        response.set_cookie(
            name,
            value,
            max_age=int(3600 * self.design.sessions.resume_hours) + 86_400,
            path=f"{self.prefix}/",
            secure=self.public.startswith("https:"),
            httponly=True,
            samesite="lax",
        )

    def _words(self, language: str) -> Words:
        return self.words.get(language) or next(iter(self.words.values()))

    def _asked_words(self, request: Request) -> Words:
        """Guess the language of whoever is not known: from the address, else the usual one."""
        return self._words(request.query_params.get("language", ""))

    def _check(self, token: str) -> str:
        return signed(self.hall.secret, "form", token)

    def _checked(self, token: str, fields: Mapping[str, str]) -> bool:
        return bool(token) and same(fields.get("check", ""), self._check(token))

    def _base(self, request: Request) -> str:
        return self.public.rstrip("/") or str(request.base_url).rstrip("/")


def make_app(design: Design, store: Store, public: str = "", **options: Any) -> Starlette:
    """Return the study as an ASGI application."""
    house = House(Hall(design, store, **options), public)
    assert house.words  # read now, so that a fault in them is told before anybody comes
    limited = house.limited
    inner = [
        Route("/", house.welcome, methods=["GET"]),
        Route("/consent", house.consent, methods=["POST"]),
        Route("/page", limited(house.page), methods=["GET"]),
        Route("/page", limited(house.reply), methods=["POST"]),
        Route("/picture/{name}", limited(house.picture), methods=["GET"]),
        Route("/withdraw", limited(house.leave), methods=["GET", "POST"]),
        Route("/desk/{key}", house.sign_in, methods=["GET"]),
        Route("/desk", house.desk, methods=["GET"]),
        Route("/health", house.health, methods=["GET"]),
        Mount("/static", StaticFiles(directory=str(files("snellen.study") / "static"))),
    ]
    hosts = [*LOOPBACK, *([urlsplit(public).hostname or ""] if public else [])]
    app = Starlette(
        routes=[Mount(house.prefix, routes=inner)] if house.prefix else inner,
        middleware=[
            Middleware(Headed),
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
        ],
        exception_handlers={
            Unknown: house.lost,
            Refused: house.refused,
            TooMuch: house.refused,
            HTTPException: house.unsuited,
            Exception: house.broken,
        },
    )
    app.state.house = house
    return app


def as_png(image: npt.NDArray[Any]) -> bytes:
    """Encode a picture, (height, width, 1 or 3), as browsers want it."""
    if image.dtype != np.uint8:  # by the convention of core.Images, 1 is white
        image = np.rint(np.clip(image, 0, 1) * 255).astype(np.uint8)
    held = io.BytesIO()
    flat = image[..., 0] if image.shape[-1] == 1 else image
    Image.fromarray(np.ascontiguousarray(flat)).save(held, "PNG", compress_level=1)
    return held.getvalue()


def _reply(choice: int | None, fields: Mapping[str, str]) -> Reply:
    """Read a reply; times that no page of ours sends count as none."""
    try:
        seconds = float(fields.get("seconds", ""))
    except ValueError:
        return Reply(choice)
    dropped = _whole(fields.get("dropped"))
    if not 0 <= seconds <= LONGEST_ANSWER or dropped is None:
        return Reply(choice)
    return Reply(choice, seconds, dropped)


def _alphabetical(text: str) -> tuple[int, str]:
    """Order numbers by size, and letters whatever accents they bear."""
    parts = unicodedata.normalize("NFD", text.casefold())
    plain = "".join(part for part in parts if not unicodedata.combining(part))
    return (int(text), "") if text.isdecimal() else (0, plain)


def _whole(text: str | None) -> int | None:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 6:
        return None
    return int(text)


def _arranged(page: Page, told: Words) -> dict[str, Any]:
    """Arrange what a picture page shows: buttons, and what is known by category."""
    offered, instead = _buttons(page, told)
    by_value = {button["value"]: button for button in offered}
    known: dict[int, list[tuple[int, Shown]]] = {value: [] for value in sorted(by_value)}
    for place, shown in enumerate(page.board):
        if shown.choice is not None:
            known[shown.choice].append((place, shown))
    return {
        "offered": offered,
        "instead": instead,
        "truth": by_value[page.told[1]]["text"] if page.told else "",
        "shelves": [(by_value[v], held) for v, held in known.items() if held or len(known) == 2],
        "newest": page.board[-1] if page.told and page.board else None,
        "crisp": page.picture is not None and page.picture.image.shape[-1] == CRISP,
    }


def _buttons(page: Page, told: Words) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the buttons for choices and for what may be replied instead, with their keys."""
    pictures = {shown.choice: shown for shown in page.key}
    made: list[dict[str, Any]] = [
        {"value": n, "name": name, "text": told.say(name), "picture": pictures.get(n)}
        for n, name in enumerate([*page.choices, *page.instead])
    ]
    offered, instead = made[: len(page.choices)], made[len(page.choices) :]
    if len(offered) > FEW and not page.key:
        offered.sort(key=lambda button: _alphabetical(button["text"]))
    names = [button["text"].lower() for button in offered]
    own = all(len(name) == 1 and name.isalnum() for name in names) and len(set(names)) == len(names)
    keys = names if own else [*KEYS][: len(offered)]
    keys += [key for key in KEYS if key not in keys]
    for place, button in enumerate([*offered, *instead]):
        button["key"] = keys[place] if place < len(keys) else ""
    return offered, instead


@cache
def _templates() -> jinja2.Environment:
    """Load the templates once."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("snellen.study", "pages"),
        autoescape=True,
        auto_reload=False,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["paragraphs"] = lambda text: [p for p in text.strip().split("\n\n") if p]
    return made
