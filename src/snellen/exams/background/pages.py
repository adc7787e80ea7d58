"""What does a coder see, and what is done when it is sent back?

Pages in their own order for each coder, by requests and replies that know nothing of a server.
Nothing that a coder is to judge by themselves is ever in a page: no name, no lesson, no
correlation, no gap.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jinja2

from snellen.errors import BadSetting, SnellenError
from snellen.exams.background import agreement
from snellen.exams.background.annotations import (
    SEEN,
    SURE,
    Annotation,
    Annotations,
    coder_called,
    ratings,
)
from snellen.exams.background.assessor import LEVELS
from snellen.exams.background.panels import panels
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.exams.background.models import Model

OFFERED = tuple(reversed(LEVELS))
"""Levels as they are offered: the first is key 1."""
MEANING = {
    "invariant": "scenery hardly changes its mind",
    "borderline": "it does, but mildly or only far away",
    "not invariant": "scenery changes its mind",
}
STATIC = {
    "/style.css": ("annotating.css", "text/css"),
    "/script.js": ("annotating.js", "text/javascript"),
}


@dataclass(frozen=True)
class Asked:
    """A request, read."""

    path: str
    query: Mapping[str, Sequence[str]]
    form: Mapping[str, Sequence[str]] | None
    """None: only looked at."""
    session: str
    """What the browser says it was told to call itself."""

    def field(self, name: str) -> str:
        """Return a field of the form, or nothing."""
        return ((self.form or {}).get(name) or [""])[0]


@dataclass(frozen=True)
class Reply:
    """What is sent back."""

    body: bytes = b""
    status: HTTPStatus = HTTPStatus.OK
    kind: str = "text/html"
    headers: Mapping[str, str] = field(default_factory=dict)
    session: str = ""
    """What the browser is to call itself from now on; empty: as before."""


class Pages:
    """All pages, and what is done when they are sent back; may be used from several threads."""

    def __init__(self, models: Sequence[Model], kept: Annotations, coders: int) -> None:
        self.models = {model.key: model for model in models}
        self.kept = kept
        self.coders = coders
        self.token = secrets.token_urlsafe(12)
        """Opens the page of kappas."""
        self._secret = secrets.token_bytes(32)
        self._who: dict[str, str] = {}
        self._shown: dict[tuple[str, str], float] = {}
        self._drawing = threading.Lock()
        self._drawn: dict[str, list[dict[str, str]]] = {}
        self._ahead = ThreadPoolExecutor(1)

    def close(self) -> None:
        """Draw nothing ahead any more."""
        self._ahead.shutdown(cancel_futures=True)

    def reply(self, asked: Asked) -> Reply:
        """Answer a request, whatever it is."""
        try:
            if asked.form is None:
                return self._looked(asked)
            if not hmac.compare_digest(asked.field("token").encode(), self._stamp(asked.session)):
                return self._told(
                    "This page is too old to be sent: go back to the start, and on from there. "
                    "Nothing that was saved is lost.",
                    HTTPStatus.FORBIDDEN,
                )
            return self._sent(asked)
        except BadSetting as error:
            return self._told(str(error), HTTPStatus.UNPROCESSABLE_ENTITY)
        except SnellenError as error:
            return self._told(str(error), HTTPStatus.INTERNAL_SERVER_ERROR)

    # --- what is looked at ---

    def _looked(self, asked: Asked) -> Reply:
        coder = self._who.get(asked.session, "")
        if asked.path in STATIC:
            name, kind = STATIC[asked.path]
            return Reply(_resource(name).encode(), kind=kind)
        if asked.path == "/kappas":
            return self._kappas(asked, coder)
        if asked.path == "/":
            return self._next(asked, coder) if coder else self._start(asked)
        place = _place(asked.path)
        if place is None:
            return self._told("There is no such page.", HTTPStatus.NOT_FOUND)
        if not coder:
            return _gone_to("/")
        return self._model(asked, coder, place)

    def _start(self, asked: Asked, complaint: str = "", name: str = "") -> Reply:
        session = asked.session or secrets.token_urlsafe(18)
        status = HTTPStatus.UNPROCESSABLE_ENTITY if complaint else HTTPStatus.OK
        reply = self._page(
            "start",
            status,
            token=self._stamp(session).decode(),
            complaint=complaint,
            name=name,
            count=len(self.models),
        )
        return replace(reply, session="" if asked.session else session)

    def _model(self, asked: Asked, coder: str, place: int, complaint: str = "") -> Reply:
        order, said = self._order(coder), self.kept.of(coder)
        reached = _reached(order, said)
        if not 1 <= place <= min(reached, len(order)):
            return _gone_to("/")
        key = order[place - 1]
        if not complaint:
            self._shown[coder, key] = time.monotonic()
        shown = self._pictures(key)
        for following in order[place : place + 1]:
            self._ahead.submit(self._pictures, following)
        before = said.get(key, [])
        last = before[-1] if before else None
        chosen: dict[str, Any] = {
            "level": LEVELS[last.level] if last else "",
            "sure": str(last.sure) if last else "",
            "seen": last.seen if last else (),
        }
        if complaint:
            chosen = {name: asked.field(name) for name in ("level", "sure")}
            chosen["seen"] = tuple((asked.form or {}).get("seen", ()))
        return self._page(
            "model",
            HTTPStatus.UNPROCESSABLE_ENTITY if complaint else HTTPStatus.OK,
            token=self._stamp(asked.session).decode(),
            coder=coder,
            place=place,
            count=len(order),
            done=sum(k in said for k in order),
            earlier=len(before),
            chosen=chosen,
            complaint=complaint,
            again=bool(asked.query.get("again")),
            panels=shown,
            offered=[(level, MEANING[level]) for level in OFFERED],
            sure=list(SURE),
            seen=SEEN,
        )

    def _next(self, asked: Asked, coder: str) -> Reply:
        """Go to the first model that this coder has said nothing of, or to the end."""
        order = self._order(coder)
        reached = _reached(order, self.kept.of(coder))
        if reached <= len(order):
            return _gone_to(f"/model/{reached}{'?again=1' if asked.query.get('again') else ''}")
        token = self._stamp(asked.session).decode()
        return self._page("done", coder=coder, count=len(order), token=token)

    def _kappas(self, asked: Asked, coder: str) -> Reply:
        """Show how well coders agree, to whoever cannot be swayed by it any more."""
        told = (asked.query.get("token") or [""])[0]
        finished = coder and _reached(self._order(coder), self.kept.of(coder)) > len(self.models)
        if not finished and not hmac.compare_digest(told.encode(), self.token.encode()):
            return self._told(
                "How well coders agree is shown to those who have seen all models, and by the "
                "address that was printed when this began.",
                HTTPStatus.FORBIDDEN,
            )
        begun = {name: self.kept.of(name) for name in self.kept.coders()}
        answered = [one for said in begun.values() for several in said.values() for one in several]
        names, rated, table = ratings(answered, list(self.models))
        return self._page(
            "kappas",
            progress={n: sum(key in self.models for key in said) for n, said in begun.items()},
            count=len(self.models),
            rated=len(rated),
            kappas=_agreement(names, table),
        )

    # --- what is sent ---

    def _sent(self, asked: Asked) -> Reply:
        if asked.path == "/begin":
            return self._begin(asked)
        coder = self._who.get(asked.session, "")
        if not coder:
            return _gone_to("/")
        if asked.path == "/leave":
            self._who.pop(asked.session, None)
            return _gone_to("/")
        place = _place(asked.path)
        if place is None:
            return self._told("There is no such page.", HTTPStatus.NOT_FOUND)
        return self._answered(asked, coder, place)

    def _begin(self, asked: Asked) -> Reply:
        name = asked.field("name")
        try:
            coder = coder_called(name)
        except BadSetting as error:
            return self._start(asked, f"{error}.", name)
        if not self.kept.enrol(coder, self.coders):
            return self._start(
                asked,
                f"{self.coders} coders have begun already: {', '.join(self.kept.coders())}. Give "
                "one of these names to go on with it; more coders are let in by --coders.",
                name,
            )
        session = secrets.token_urlsafe(18)
        self._who[session] = coder
        return replace(_gone_to("/"), session=session)

    def _answered(self, asked: Asked, coder: str, place: int) -> Reply:
        order = self._order(coder)
        if not 1 <= place <= min(_reached(order, self.kept.of(coder)), len(order)):
            return _gone_to("/")
        level, sure, earlier = (asked.field(name) for name in ("level", "sure", "earlier"))
        seen = (asked.form or {}).get("seen", ())
        if level not in LEVELS or sure not in map(str, SURE):
            return self._model(
                asked, coder, place, "Choose one of the three, and say how sure you are."
            )
        if not earlier.isdecimal() or any(name not in SEEN for name in seen):
            return self._told("That is no answer to this page.", HTTPStatus.BAD_REQUEST)
        key = order[place - 1]
        shown = self._shown.get((coder, key), time.monotonic())
        answer = Annotation(
            coder,
            key,
            LEVELS.index(level),
            int(sure),
            tuple(name for name in SEEN if name in seen),
            round(time.monotonic() - shown, 1),
            datetime.now(UTC).isoformat(timespec="seconds"),
        )
        if not self.kept.add(answer, int(earlier[:9])):
            return _gone_to("/?again=1")
        self._shown.pop((coder, key), None)
        return _gone_to("/")

    # --- what these are made of ---

    def _order(self, coder: str) -> list[str]:
        """Return all models in the coder's own order, which lasts while others come in."""
        return sorted(self.models, key=lambda key: Seed("annotating", coder, key).number())

    def _pictures(self, key: str) -> list[dict[str, str]]:
        with self._drawing:
            if key not in self._drawn:
                self._drawn[key] = panels(self.models[key].matrices())
            return self._drawn[key]

    def _stamp(self, session: str) -> bytes:
        """Return what a form of this session carries, which no other page can know."""
        return hmac.new(self._secret, session.encode(), hashlib.sha256).hexdigest().encode()

    def _told(self, text: str, status: HTTPStatus) -> Reply:
        return self._page("told", status, text=text)

    def _page(self, page: str, status: HTTPStatus = HTTPStatus.OK, /, **said: Any) -> Reply:
        return Reply(_template().render(page=page, **said).encode(), status)


def _place(path: str) -> int | None:
    head, _, number = path.rpartition("/")
    return int(number) if head == "/model" and number.isdecimal() and len(number) < 9 else None


def _reached(order: Sequence[str], said: Mapping[str, Any]) -> int:
    """Return the place of the first model that nothing was said of, from 1; beyond: all were."""
    return next((i for i, key in enumerate(order, 1) if key not in said), len(order) + 1)


def _gone_to(path: str) -> Reply:
    return Reply(status=HTTPStatus.SEE_OTHER, headers={"Location": path})


def _agreement(names: Sequence[str], table: Any) -> list[tuple[str, str]]:
    """Return kappas in words, once two coders have rated two models."""
    if len(names) < 2 or len(table) < 2:
        return []
    plain, weighted = agreement.pairwise(table), agreement.pairwise(table, weights="linear")
    rows = [
        (f"{names[a]} and {names[b]}", f"{plain[a, b]:.2f}; weighted {weighted[a, b]:.2f}")
        for a, b in plain
    ]
    together = agreement.with_interval(agreement.fleiss, table)
    return [*rows, ("all of them (Fleiss)", f"{together:.2f}")]


@cache
def _template() -> jinja2.Template:
    made = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)  # fmt: skip
    return made.from_string(_resource("annotating.html"))


@cache
def _resource(name: str) -> str:
    return (files("snellen.exams.background") / name).read_text("utf-8")
