"""Where is one person, and what do they see there?

A session is a generator of pages, as an exam's item is one of lessons and sheets: it yields a
page and is sent the reply to it. Nothing here knows of browsers or databases, and the same
items, seed and replies lead to the same page. So a session can be forgotten at any time and
is walked again, from what was stored, when its participant comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from snellen.core import Answers, Lesson, Sheet
from snellen.digests import digest
from snellen.errors import Unable
from snellen.seeds import Seed
from snellen.sitting import Sitting

if TYPE_CHECKING:
    from snellen.core import Exam, Indices, Item

ON_A_PAGE = 24
"""Pictures of a lesson that are shown at once."""
ON_DISPLAY = 40
"""What was taught stays in sight while questions are asked, up to so many pictures."""

Purpose: TypeAlias = Literal["asked", "gold", "again"]
Kind: TypeAlias = Literal["begin", "lesson", "question", "rest", "end"]


class Task(NamedTuple):
    """An item that a participant is to sit, and what for."""

    item: Item
    purpose: Purpose = "asked"


class Reply(NamedTuple):
    """What came back from a page."""

    choice: int | None = None
    """Place among the choices and what may be replied instead; None: read, go on."""
    seconds: float | None = None
    """By the page's clock where it has one, else from page to reply."""
    dropped: int | None = None
    """Frames that the browser left out meanwhile; None: nobody counted."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A picture under a name that says nothing of it."""

    name: str
    image: Any
    """(height, width, channels)."""
    choice: int | None = None
    """What is in it, where people are told."""


@dataclass(frozen=True, eq=False)
class Page:
    """All that there is to see at one time."""

    kind: Kind
    progress: float = 0.0
    """Share of the session that lies behind."""
    part: tuple[int, int] = (0, 0)
    """Which item this is, of how many."""
    picture: Shown | None = None
    """What is asked about."""
    ahead: Shown | None = None
    """What will be asked about next whatever is replied, for loading it early."""
    choices: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    prompt: str = ""
    board: Sequence[Shown] = ()
    """Pictures whose category is known."""
    key: Sequence[Shown] = ()
    """A clean picture of each choice."""
    told: tuple[int, int] | None = None
    """What was replied last, and the truth about it."""
    where: tuple[int, int, int] | None = None
    """Task, sheet and row of a question."""

    def takes(self, reply: Reply) -> bool:
        """Tell whether this page can be replied to so."""
        if self.kind == "question":
            offered = len(self.choices) + len(self.instead)
            return reply.choice is not None and 0 <= reply.choice < offered
        return reply.choice is None and self.kind != "end"

    @property
    def pictures(self) -> Iterator[Shown]:
        """Whatever may be fetched while this page is open."""
        yield from self.board
        yield from self.key
        yield from (one for one in (self.picture, self.ahead) if one is not None)


Pages: TypeAlias = Generator[Page, Reply, None]
Ended: TypeAlias = Callable[[int, Sitting], None]
"""Is handed the place of a task and its sitting when it is over."""


class Walk:
    """One person's session: the page that they are on, and how many lie behind."""

    def __init__(
        self,
        exam: Exam,
        tasks: Sequence[Task],
        seed: str,
        rest: int = 0,
        ended: Ended = lambda *_: None,
    ) -> None:
        self.done = 0
        """Tasks that are over."""
        self.number = 0
        """Replies that were taken: the name of the present page."""
        self._ended = ended
        self._pages = _session(exam, tasks, seed, rest, self._end)
        self.page = next(self._pages)

    def take(self, reply: Reply) -> None:
        """Go on to the next page."""
        if not self.page.takes(reply):
            raise ValueError(f"a page of kind {self.page.kind!r} does not take {reply}")
        self.page = self._pages.send(reply)
        self.number += 1

    def _end(self, place: int, sitting: Sitting) -> None:
        self.done += 1
        self._ended(place, sitting)


def order(seed: str, task: int, sheet: int, count: int) -> Indices:
    """Return the order in which the pictures of a sheet are asked about."""
    return Seed("order", seed, task, sheet).shuffled(count)


def _session(exam: Exam, tasks: Sequence[Task], seed: str, rest: int, ended: Ended) -> Pages:
    yield Page("begin")
    for place, task in enumerate(tasks):
        if rest and place and place % rest == 0:
            yield Page("rest", place / len(tasks), (place, len(tasks)))
        sitting = Sitting(exam, task.item)
        yield from _Stay(sitting, seed, place, len(tasks)).pages()
        ended(place, sitting)
    yield Page("end", 1.0)
    raise AssertionError("the last page takes no reply")


@dataclass
class _Stay:
    """One item on the way."""

    sitting: Sitting
    seed: str
    place: int
    of: int
    sheets: int = 0
    known: list[Shown] = field(default_factory=list)
    """What was taught so far."""
    key: Sequence[Shown] = ()
    last: int | None = None
    """What was replied to a sheet of a single picture, as long as its truth may follow."""
    told: tuple[int, int] | None = None

    def pages(self) -> Pages:
        """Show every lesson, ask every sheet."""
        while (step := self.sitting.step) is not None:
            if isinstance(step, Lesson):
                yield from self._teach(step)
                self.sitting.advance()
            elif isinstance(step, Sheet):
                self.sitting.advance((yield from self._ask(step)))
                self.sheets += 1
            else:
                raise Unable("games are not played by people yet; serve an exam of pictures")

    def _teach(self, lesson: Lesson) -> Pages:
        fresh = [
            Shown(self._name("lesson", len(self.known) + row), lesson.images[row], int(label))
            for row, label in enumerate(lesson.labels)
        ]
        if lesson.key is not None:
            self.key = [
                Shown(self._name("key", row), image, row) for row, image in enumerate(lesson.key)
            ]
        if self.last is not None and len(fresh) == 1:  # the truth: told on the next page
            self.told = (self.last, int(lesson.labels[0]))
        else:
            for start in range(0, len(fresh), ON_A_PAGE):
                page = self._page("lesson", 0.0)
                part = fresh[start : start + ON_A_PAGE]
                yield replace(page, board=part, choices=lesson.choices)
        self.known += fresh

    def _ask(self, sheet: Sheet) -> Generator[Page, Reply, Answers]:
        """Ask about one picture after the other; return the answers in the sheet's order."""
        choice = np.zeros(len(sheet), np.intp)
        seconds = np.full(len(sheet), np.nan)
        rows = order(self.seed, self.place, self.sheets, len(sheet))
        shown = [Shown(self._name(self.sheets, int(row)), sheet.images[row]) for row in rows]
        for n, row in enumerate(rows):
            page = replace(
                self._page("question", n / len(sheet)),
                picture=shown[n],
                ahead=shown[n + 1] if n + 1 < len(rows) else None,
                choices=sheet.choices,
                instead=sheet.instead,
                prompt=sheet.prompt,
                where=(self.place, self.sheets, int(row)),
            )
            reply = yield page
            assert reply.choice is not None
            choice[row] = reply.choice
            seconds[row] = np.nan if reply.seconds is None else reply.seconds
            self.told = None
        self.last = int(choice[0]) if len(sheet) == 1 else None
        return Answers(choice, seconds=seconds)

    def _page(self, kind: Kind, share: float) -> Page:
        """Return what all pages of an item have in common."""
        return Page(
            kind,
            (self.place + share) / self.of,
            (self.place + 1, self.of),
            board=self.known if len(self.known) <= ON_DISPLAY else (),
            key=self.key,
            told=self.told,
        )

    def _name(self, *where: str | int) -> str:
        return digest(self.seed, self.place, *where)
