"""The subject that every other one must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.core import Ability, Answers

if TYPE_CHECKING:
    from snellen.core import Lesson, Sheet

_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Chance:
    """Guess, the same way each time for the same stimulus."""

    name: ClassVar[str] = "chance"
    gives: ClassVar[frozenset[Ability]] = frozenset({"choice", "scores", "study"})

    seed: int = 0

    @property
    def fingerprint(self) -> str:
        """Only the seed matters."""
        return f"chance-1-{self.seed}"

    def study(self, lesson: Lesson) -> Chance:  # noqa: ARG002
        """Learn nothing."""
        return self

    def answer(self, sheet: Sheet) -> Answers:
        """Let the stimulus' own id decide."""
        places = np.arange(1, len(sheet.choices) + 1, dtype=np.uint64)
        start = sheet.ids()[:, None] + np.uint64(self.seed)
        scores = _scrambled(_scrambled(start) ^ _scrambled(places)) / 2.0**64
        return Answers(scores.argmax(axis=1), scores)


def _scrambled(
    x: np.ndarray[tuple[int, ...], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Turn numbers into numbers that look random (splitmix64)."""
    x = x * _MIX
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
