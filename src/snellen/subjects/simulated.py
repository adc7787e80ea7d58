"""A person made of numbers: looks through a blur, slips now and then, takes its time.

For trying out studies and comparisons before real people are asked. It is no model
of anybody: what it knows is the blurred mean of what it was shown or, if it went to
school, the nine procedural things, as a small network does. Where it may ask to be shown
more, it does so until it is sure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.ndimage import gaussian_filter

from snellen.core import HUMAN, Ability, Answers
from snellen.images.nearest import distances, floats
from snellen.seeds import Seed
from snellen.stats import log_probabilities

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.core import Images, Lesson, Sheet

LOOKS = 10
"""At a picture that is shown bit by bit, more or less."""


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
    schooled: bool = False
    """Whether it knows the nine things (needs PyTorch)."""
    sure: float = 0.9
    """How probable a thing must seem for it to be named, where more may be asked for."""
    memory: Any = field(default=None, repr=False)
    """Of each choice: how many it saw, and their sum through its eyes."""

    @property
    def name(self) -> str:
        """Each person has a number."""
        return f"simulated-{self.person}"

    @property
    def fingerprint(self) -> str:
        """Who, and with which eyes."""
        own = f"{self.person}-{self.blur}-{self.slips}"
        return f"simulated-2-{own}" + self.schooled * f"-schooled-{self.sure}"

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
        named, sure = guessed, np.zeros(len(sheet))
        if self.memory:
            known = np.array(list(self.memory))
            means = np.stack([total / count for count, total in self.memory.values()])
            named = known[distances(self._seen(sheet.images), means).argmin(axis=1)]
            sure = np.ones(len(sheet))
        elif self.schooled:
            named, sure = _recognised(sheet)
        # Whoever may ask for more looks many times at one picture, and slips once in a while.
        slips = self.slips / LOOKS if sheet.instead else self.slips
        choice = np.where(slip < slips, guessed, named)
        if sheet.instead:
            more = len(sheet.choices) + (guess * len(sheet.instead)).astype(np.intp)
            choice = np.where((sure < self.sure) & (slip >= slips), more, choice)
        seconds = 0.4 + 0.5 * np.exp(2 * pace - 1)
        return Answers(choice, seconds=seconds)

    def _seen(self, images: Images) -> Images:
        return np.asarray(gaussian_filter(floats(images), (0, self.blur, self.blur, 0)))


def _recognised(sheet: Sheet) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Return what the tutored network sees, and how probable that seems to it."""
    from snellen.subjects.tutored import Tutored

    scores = Tutored().answer(replace(sheet.blind(), asks=frozenset({"choice", "scores"}))).scores
    assert scores is not None
    seems = np.exp(log_probabilities(scores))
    return seems.argmax(axis=1), seems.max(axis=1)
