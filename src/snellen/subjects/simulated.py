"""A person made of numbers: looks through a blur, slips now and then, takes its time.

For trying out studies and comparisons before real people are asked. It is no model
of anybody: what it knows is the blurred mean of what it was shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.ndimage import gaussian_filter

from snellen.core import HUMAN, Ability, Answers
from snellen.images.nearest import distances, floats
from snellen.seeds import Seed

if TYPE_CHECKING:
    from snellen.core import Images, Lesson, Sheet


@dataclass(frozen=True, eq=False)
class Simulated:
    """Compare through a blur with what was shown; slip at random; answer in human time."""

    gives: ClassVar[frozenset[Ability]] = HUMAN

    person: int = 1
    """Which person: each slips elsewhere."""
    blur: float = 1.5
    """Of its eyes, in pixels."""
    slips: float = 0.05
    """Share of answers that are given at random."""
    memory: Any = field(default=None, repr=False)
    """Of each choice: how many it saw, and their sum through its eyes."""

    @property
    def name(self) -> str:
        """Each person has a number."""
        return f"simulated-{self.person}"

    @property
    def fingerprint(self) -> str:
        """Who, and with which eyes."""
        return f"simulated-2-{self.person}-{self.blur}-{self.slips}"

    def study(self, lesson: Lesson) -> Simulated:
        """Remember the blurred mean of each choice, over all lessons."""
        shown = self._seen(lesson.images)
        memory = dict(self.memory or {})
        for choice in map(int, np.unique(lesson.labels)):
            count, total = memory.get(choice, (0, 0.0))
            own = shown[lesson.labels == choice]
            memory[choice] = count + len(own), total + own.sum(axis=0)
        return replace(self, memory=memory)

    def answer(self, sheet: Sheet) -> Answers:
        """Name what each picture is most like; guess when nothing was ever shown."""
        ids = sheet.ids()
        draws = [Seed(self.name, int(stimulus)).bits(3) / 2.0**64 for stimulus in ids]
        slip, guess, pace = np.array(draws).reshape(-1, 3).T
        guessed = (guess * len(sheet.choices)).astype(np.intp)
        named = guessed
        if self.memory:
            known = np.array(list(self.memory))
            means = np.stack([total / count for count, total in self.memory.values()])
            named = known[distances(self._seen(sheet.images), means).argmin(axis=1)]
        seconds = 0.4 + 0.5 * np.exp(2 * pace - 1)
        return Answers(np.where(slip < self.slips, guessed, named), seconds=seconds)

    def _seen(self, images: Images) -> Images:
        return np.asarray(gaussian_filter(floats(images), (0, self.blur, self.blur, 0)))
