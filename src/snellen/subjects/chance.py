"""The subject that every other one must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.core import Ability, Answers

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.core import Lesson, Practice, Sheet, Turn

_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Chance:
    """Guess, the same way each time for the same stimulus; play by lot."""

    name: ClassVar[str] = "chance"
    gives: ClassVar[frozenset[Ability]] = frozenset({"choice", "scores", "study", "act"})

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
        scores = self._lots(sheet.ids(), len(sheet.choices))
        return Answers(scores.argmax(axis=1), scores)

    def practise(self, practice: Practice) -> Chance:  # noqa: ARG002
        """Learn nothing."""
        return self

    def act(self, turn: Turn) -> Answers:
        """Let the dice decide which of the valid actions to take."""
        lots = self._lots(turn.dice, turn.actions)
        scores = np.where(turn.valid, lots, -1.0)
        return Answers(scores.argmax(axis=1), scores)

    def _lots(self, keys: npt.NDArray[np.uint64], count: int) -> npt.NDArray[np.float64]:
        """Draw a number from 0 to 1 for each key and place: the same each time."""
        places = np.arange(1, count + 1, dtype=np.uint64)
        start = keys[:, None] + np.uint64(self.seed)
        return np.asarray(_scrambled(_scrambled(start) ^ _scrambled(places)) / 2.0**64)


def _scrambled(
    x: np.ndarray[tuple[int, ...], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Turn numbers into numbers that look random (splitmix64)."""
    x = x * _MIX
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
