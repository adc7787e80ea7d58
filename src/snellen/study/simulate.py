"""How does a subject take the study? Through the pages that people see, by reading them.

Whatever a subject learns here stands in the HTML or in a picture, so a study that a model
passes with the same answers as an exam sat directly shows people what it shows models.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from PIL import Image

from snellen.core import Lesson, Sheet
from snellen.errors import SnellenError, extra

with extra("study", "simulating participants"):
    import httpx

if TYPE_CHECKING:
    from snellen.core import Subject

Pause: TypeAlias = Callable[[], Awaitable[None]]
PATIENCE = 60.0
MOST_PAGES = 100_000
ROLES = {"offered": "choices", "instead": "instead"}


@dataclass
class Seen:
    """What a page says, as far as a subject needs it."""

    kind: str = ""
    part: str = ""
    action: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[int, str] = field(default_factory=dict)
    """By the value that stands for it: on the page they may come in another order."""
    instead: dict[int, str] = field(default_factory=dict)
    prompt: str = ""
    asked: str = ""
    """Where the picture is that is asked about."""
    board: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Pictures whose category is told: by their place, where they are and what they show."""
    newest: int | None = None
    """The one that was told just now."""
    code: str = ""


class _Reader(HTMLParser):
    """Reads a page of ours."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen = Seen()
        self._into: dict[int, str] | None = None
        self._in_code = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of what an element says."""
        given = {name: value or "" for name, value in attrs}
        reading = getattr(self, f"_{tag}", None)
        if reading is not None:
            reading(given)

    def handle_data(self, data: str) -> None:
        """Read the code at the end."""
        if self._in_code:
            self.seen.code += data.strip()

    def handle_endtag(self, tag: str) -> None:
        """Leave the code."""
        if tag == "output":
            self._in_code = False

    def _body(self, given: dict[str, str]) -> None:
        self.seen.kind = given["class"]

    def _main(self, given: dict[str, str]) -> None:
        self.seen.part = given.get("data-part", "")

    def _form(self, given: dict[str, str]) -> None:
        self.seen.action = given["action"]

    def _input(self, given: dict[str, str]) -> None:
        self.seen.fields[given["name"]] = given.get("value", "")

    def _h1(self, given: dict[str, str]) -> None:
        self.seen.prompt = given.get("data-prompt", "")

    def _div(self, given: dict[str, str]) -> None:
        role = ROLES.get(given.get("class", "").partition(" ")[0])
        self._into = getattr(self.seen, role) if role else None

    def _button(self, given: dict[str, str]) -> None:
        if "data-name" in given and self._into is not None:
            self._into[int(given["value"])] = given["data-name"]

    def _img(self, given: dict[str, str]) -> None:
        if given.get("id") == "asked":
            self.seen.asked = given["src"]
        elif "data-place" in given:
            place = int(given["data-place"])
            self.seen.board[place] = given["src"], int(given["data-choice"])
            if "data-newest" in given:
                self.seen.newest = place

    def _output(self, _: dict[str, str]) -> None:
        self._in_code = True


@dataclass
class Participant:
    """A subject before a browser of its own."""

    client: httpx.AsyncClient
    subject: Subject
    pause: Pause | None = None
    """Taken before each answer, as people would."""
    pupil: Subject = field(init=False)
    part: str = ""
    taught: list[tuple[Any, int]] = field(default_factory=list)
    """Examples that were shown since the last question."""

    def __post_init__(self) -> None:
        self.pupil = self.subject

    async def attend(self, link: str) -> str:
        """Take part from the first page to the last; return the completion code."""
        seen = _Reader((await self._get(link)).text).seen
        for _ in range(MOST_PAGES):
            if seen.code:
                return seen.code
            if not seen.action:
                raise SnellenError(f"{self.subject.name} met a page with no way on, at {link}")
            fields = seen.fields | await self._thought(seen)
            seen = _Reader((await self._post(seen.action, fields)).text).seen
        raise SnellenError(f"{self.subject.name} found no end of the study")

    async def _thought(self, seen: Seen) -> dict[str, str]:
        """Return what to fill in."""
        if "language" in seen.fields:
            return {"agree": "yes"}
        if seen.part != self.part:  # every item finds the subject as it came
            self.part, self.pupil, self.taught = seen.part, self.subject, []
        if seen.kind == "lesson":
            for place in sorted(seen.board):
                await self._show(*seen.board[place])
        if seen.kind != "question":
            return {}
        if seen.newest is not None:
            await self._show(*seen.board[seen.newest])
        self._study(seen)
        if self.pause is not None:
            await self.pause()
        sheet = Sheet(
            (await self._picture(seen.asked))[None],
            _in_order(seen.choices),
            prompt=seen.prompt,
            instead=_in_order(seen.instead),
        )
        answers = self.pupil.answer(sheet)
        given = {"choice": str(int(answers.choice[0]))}
        if answers.seconds is not None:
            given |= {"seconds": repr(float(answers.seconds[0])), "dropped": "0"}
        return given

    def _study(self, seen: Seen) -> None:
        """Learn what was shown since the last question, all at once."""
        if self.taught:
            images, labels = zip(*self.taught, strict=True)
            choices = _in_order(seen.choices)
            lesson = Lesson(np.stack(images), np.array(labels, np.intp), choices)
            self.pupil, self.taught = self.pupil.study(lesson), []

    async def _show(self, place: str, label: int) -> None:
        self.taught.append((await self._picture(place), label))

    async def _picture(self, place: str) -> Any:
        with Image.open(io.BytesIO((await self._get(place)).content)) as image:
            array = np.asarray(image)
        return array[..., None] if array.ndim == 2 else array

    async def _get(self, place: str) -> httpx.Response:
        return _fine(await self.client.get(place, follow_redirects=True))

    async def _post(self, place: str, fields: dict[str, str]) -> httpx.Response:
        return _fine(await self.client.post(place, data=fields, follow_redirects=True))


async def simulate(
    link: str, subjects: Sequence[Subject], at_once: int = 8, pause: Pause | None = None
) -> list[str]:
    """Have subjects take part, so many at once; return their completion codes in order."""
    turn, host = asyncio.Semaphore(at_once), httpx.URL(link).copy_with(path="/", query=None)

    async def one(subject: Subject) -> str:
        async with turn, httpx.AsyncClient(base_url=host, timeout=PATIENCE) as client:
            return await Participant(client, subject, pause).attend(link)

    return list(await asyncio.gather(*[one(subject) for subject in subjects]))


def _in_order(named: dict[int, str]) -> tuple[str, ...]:
    return tuple(named[value] for value in sorted(named))


def _fine(response: httpx.Response) -> httpx.Response:
    if response.status_code != 200:
        raise SnellenError(
            f"{response.request.method} {response.url} was answered with {response.status_code}"
        )
    return response
