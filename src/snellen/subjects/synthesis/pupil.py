"""A subject that finds a rule in a handful of pictures, by pixels alone, and says it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.core import Ability, Answers
from snellen.errors import Unable
from snellen.images.outlines import parse
from snellen.seeds import Seed
from snellen.subjects.synthesis.learning import Belief, learn, tell
from snellen.subjects.synthesis.words import drawn, reasons, told

if TYPE_CHECKING:
    from snellen.core import Indices, Lesson, Sheet
    from snellen.images.outlines import Scene

MOST = 120
"""Pictures that are learned from, equally many of each category; more only take longer."""
VERSION = 2
"""Raised when the same pictures lead to other rules."""


def load() -> Synthesis:
    """Write the shortest rules that tell pictures of outlines apart, and answer by them."""
    return Synthesis()


@dataclass(frozen=True, eq=False)
class Synthesis:
    """A pupil that answers by the rules it writes, those before its first lesson none."""

    name: ClassVar[str] = "synthesis"
    gives: ClassVar[frozenset[Ability]] = frozenset({"choice", "scores", "study"})
    fingerprint: ClassVar[str] = f"synthesis-{VERSION}"

    seen: tuple[tuple[Scene, int], ...] = field(default=(), repr=False)
    """What was in the pictures of its lessons, and their categories."""
    choices: tuple[str, ...] = ()

    @property
    def untaught(self) -> bool:
        """Without a lesson it has no rule."""
        return not self.choices

    def study(self, lesson: Lesson) -> Synthesis:
        """Take the pictures apart and remember them with those before."""
        chosen = _some(lesson)
        fresh = zip((parse(lesson.images[i]) for i in chosen), lesson.labels[chosen], strict=True)
        made = tuple((scene, int(label)) for scene, label in fresh)
        return replace(self, seen=(*self.seen, *made), choices=lesson.choices)

    def answer(self, sheet: Sheet) -> Answers:
        """Answer by the rules; say them, and what tipped the scales for each picture."""
        if not self.choices:
            raise Unable("subject 'synthesis' was asked before it was taught")
        scenes = [parse(image) for image in sheet.images]
        likely = np.stack([belief.probability(scenes) for belief in self.beliefs], axis=1)
        if len(self.beliefs) == 1:  # of two categories, the one is what the other is not
            likely = np.concatenate([1 - likely, likely], axis=1)
        scores = np.log(np.clip(likely, 1e-6, 1.0))
        return Answers(
            scores.argmax(axis=1), scores, self._account(scenes, sheet), note=self.program
        )

    @cached_property
    def beliefs(self) -> tuple[Belief, ...]:
        """What it takes to be the rules: of each category against the others."""
        scenes, labels = [scene for scene, _ in self.seen], [label for _, label in self.seen]
        numbers = tell(scenes)
        if len(self.choices) == 2:
            return (learn(numbers, labels),)
        places = range(len(self.choices))
        return tuple(learn(numbers, [label == place for label in labels]) for place in places)

    @property
    def program(self) -> str:
        """The rules in words and in code."""
        if len(self.choices) == 2:
            return told(self.beliefs[0], self.choices)
        parts = [
            f"{choice}\n{told(belief, (f'not {choice}', choice))}"
            for choice, belief in zip(self.choices, self.beliefs, strict=True)
        ]
        return "\n".join(parts)

    def _account(self, scenes: list[Scene], sheet: Sheet) -> dict[str, np.ndarray]:
        """Volunteer a reason and a drawing for each picture, where there are two categories."""
        if len(self.choices) != 2:
            return {}
        return {
            "reason": np.array(reasons(self.beliefs[0], scenes, self.choices)),
            "drawn": np.stack([drawn(s, i) for s, i in zip(scenes, sheet.images, strict=True)]),
        }


def _some(lesson: Lesson) -> Indices:
    """Choose the pictures to learn from, equally many of each category where there are more."""
    order = Seed("synthesis", lesson.seed).shuffled(len(lesson))
    most = max(MOST // len(lesson.choices), 3)
    kept = [order[lesson.labels[order] == label][:most] for label in range(len(lesson.choices))]
    return np.sort(np.concatenate(kept))
