"""Nearest neighbour in pixels: what looking gets without learning."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from snellen.core import Ability, Answers
from snellen.images.nearest import distances

if TYPE_CHECKING:
    from snellen.core import Lesson, Sheet


@dataclass(frozen=True, eq=False)
class Nearest:
    """Answer as the nearest clean original does, or as the nearest picture of the lesson."""

    gives: ClassVar[frozenset[Ability]] = frozenset({"choice", "scores", "study"})

    to: Literal["originals", "lesson"] = "originals"
    """What it remembers: the lesson's key where there is one, or every picture."""
    memory: tuple[tuple[Any, Any], ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """Say so when it is not the usual one."""
        return "nearest" if self.to == "originals" else "nearest-to-lesson"

    @property
    def untaught(self) -> bool:
        """Without a lesson there is nothing to be near to."""
        return not self.memory

    @property
    def fingerprint(self) -> str:
        """Only what it remembers matters."""
        return f"nearest-1-{self.to}"

    def study(self, lesson: Lesson) -> Nearest:
        """Remember the pictures."""
        if self.to == "originals" and lesson.key is not None:
            return replace(self, memory=((lesson.key, np.arange(len(lesson.key))),))
        return replace(self, memory=(*self.memory, (lesson.images, lesson.labels)))

    def answer(self, sheet: Sheet) -> Answers:
        """Score each choice by how near the nearest picture of it is."""
        images, labels = (np.concatenate(column) for column in zip(*self.memory, strict=True))
        apart = distances(sheet.images, images)
        scores = np.full((len(sheet), len(sheet.choices)), -np.float32(1e9))
        for choice in np.unique(labels):
            scores[:, choice] = -apart[:, labels == choice].min(axis=1)
        return Answers(scores.argmax(axis=1), scores)
