"""The published synthesizer on Z3: a drawing program for each category, by its own pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.core import Ability, Answers
from snellen.errors import Unable, extra
from snellen.subjects.synthesis.readings import Reading, read
from snellen.subjects.synthesis.solver import score, synthesize

if TYPE_CHECKING:
    from snellen.core import Lesson, Sheet
    from snellen.images.svrt.parsings import Parsing
    from snellen.subjects.synthesis.programs import Program

WORST = -1e6
"""The score of a picture that a program cannot draw."""
COIN = 1e-3
"""What settles a tie, up or down by the stimulus: a tie counts as half right in the paper."""
MOST_SHAPES = 8
"""Pictures with more shapes are not learned from: no check about them would end in time."""
MOST_EXAMPLES = 20


def load(
    *,
    reading: Reading = "corrected",
    seconds: float = 5.0,
    total: float = 60.0,
    nonlinear: int = 3,
    name: str = "",
) -> Published:
    """Synthesize a drawing program for each category with Z3 (Ellis et al. 2015; slow)."""
    with extra("synthesis", "the synthesizer on Z3"):
        import z3  # noqa: F401 — said now rather than in the middle of a run
    return Published(name or f"z3-{reading}", reading, seconds, total, nonlinear)


@dataclass(frozen=True, eq=False)
class Published:
    """A pupil that draws: each category's pictures by the cheapest program that Z3 finds."""

    gives: ClassVar[frozenset[Ability]] = frozenset({"choice", "scores", "study"})

    name: str
    reading: Reading
    seconds: float
    """The limit of a check."""
    total: float
    """The limit of all checks for one category."""
    nonlinear: int
    """The most shapes for which programs of two lengths or an angle are tried."""
    seen: tuple[tuple[Parsing, int], ...] = ()
    choices: tuple[str, ...] = ()

    @property
    def untaught(self) -> bool:
        """Without a lesson it has no program."""
        return not self.choices

    @property
    def fingerprint(self) -> str:
        """All that its programs depend on, but for the machine's speed."""
        return f"z3-1-{self.reading}-{self.seconds:g}-{self.total:g}-{self.nonlinear}"

    def study(self, lesson: Lesson) -> Published:
        """Read the first pictures of each category and remember them."""
        counts = [0] * len(lesson.choices)
        fresh = []
        for image, label in zip(lesson.images, lesson.labels, strict=True):
            counts[label] += 1
            if counts[label] <= MOST_EXAMPLES:
                fresh.append((read(image, self.reading), int(label)))
        return replace(self, seen=(*self.seen, *fresh), choices=lesson.choices)

    def answer(self, sheet: Sheet) -> Answers:
        """Choose the category whose program draws a picture most cheaply."""
        if not self.choices:
            raise Unable(f"subject {self.name!r} was asked before it was taught")
        pictures = [read(image, self.reading) for image in sheet.images]
        scores = np.array(
            [[self._score(program, picture) for program in self.programs] for picture in pictures]
        ).reshape(len(sheet), len(self.choices))
        places = np.arange(len(self.choices))
        tossed = scores + COIN * (sheet.ids()[:, None] % len(self.choices) == places)
        return Answers(tossed.argmax(axis=1), tossed, note=self.account)

    @cached_property
    def programs(self) -> tuple[Program, ...]:
        """The cheapest program found for each category."""
        return tuple(
            synthesize(
                [p for p, label in self.seen if label == place and _fits(p)] or [_nothing()],
                seconds=self.seconds,
                total=self.total,
                nonlinear=self.nonlinear,
            )
            for place in range(len(self.choices))
        )

    @property
    def account(self) -> str:
        """The programs, with their costs and whether all was tried in time."""
        told = []
        for choice, program in zip(self.choices, self.programs, strict=True):
            end = "complete" if program.complete else f"{program.timeouts} checks out of time"
            body = "; ".join(program.lines) or "no program"
            told.append(f"{choice}: {body}\n   {program.cost:.1f} bits, {end}")
        return "\n".join(told)

    def _score(self, program: Program, picture: Parsing) -> float:
        if not program.draws or not _fits(picture):
            return WORST
        found = score(program, picture, seconds=self.seconds)
        return found if math.isfinite(found) else WORST


def _fits(picture: Parsing) -> bool:
    return 0 < len(picture.shapes) <= MOST_SHAPES


def _nothing() -> Parsing:
    """Return what stands for a category of which nothing can be learned: a shape in a corner."""
    from snellen.images.svrt.parsings import Parsing, Shape

    return Parsing((Shape(0, 0, 1, 1.0),))
