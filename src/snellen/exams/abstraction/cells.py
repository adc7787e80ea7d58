"""What is shown and asked in one cell, and how are the answers counted?

A cell says which shapes are shown transformed, in which ways, and what is asked;
both the exam's own design and the paper's tables are lists of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.core import Lesson, Sheet
from snellen.exams.abstraction.shapes import render
from snellen.exams.abstraction.transformations import NONE
from snellen.images.nearest import distances
from snellen.seeds import Seed

if TYPE_CHECKING:
    from snellen.core import Answers, Images, Indices
    from snellen.exams.abstraction.shapes import Shapes
    from snellen.exams.abstraction.transformations import Transformation

ORIGINAL, KNOWN, NEW = "original", "known", "new"
"""An outcome that changes nothing, one that was shown in the lesson, one that was not."""


@dataclass(frozen=True)
class Block:
    """Some questions of a sheet: how many, and with which outcomes how often."""

    count: int
    transformation: Transformation
    weights: tuple[int, ...]


@dataclass(frozen=True)
class Cell:
    """One lesson and one sheet."""

    transformation: Transformation
    seen: tuple[int, ...]
    """The shapes that are shown transformed."""
    taught: tuple[int, ...]
    """How often each outcome comes in the lesson."""
    keep_originals: bool
    """Whether seen shapes are shown untransformed too, half and half."""
    samples: int
    views: int
    lesson_noise: float
    sheet_noise: float
    blocks: tuple[Block, ...]
    lesson_seed: tuple[str | float, ...]
    sheet_seed: tuple[str | float, ...]

    def lesson(self, shapes: Shapes) -> Lesson:
        """Draw what is taught: as many of each shape, in an order of no meaning."""
        seed = Seed("lesson", *self.lesson_seed)
        which = _balanced(self.samples, len(shapes.names), seed)
        changed = np.isin(which, self.seen)
        if self.keep_originals:
            changed &= _every_other(which)
        pictures = np.empty((self.samples, *shapes.key().shape[1:], 1), np.float32)
        for part, transformation, weights in (
            (~changed, NONE, NONE.weights),
            (changed, self.transformation, self.taught),
        ):
            if part.any():
                outcomes = seed.picks(int(part.sum()), weights)
                pictures[part] = render(
                    shapes, transformation, which[part], outcomes, self.lesson_noise, seed,
                    testing=False,
                )  # fmt: skip
        pupil = Seed("pupil", *self.lesson_seed).number()
        return Lesson(pictures, which, shapes.names, self.views, pupil, key_pictures(shapes))

    def sheet(self, shapes: Shapes) -> Sheet:
        """Draw what is asked."""
        seed = Seed("sheet", *self.sheet_seed)
        parts = [self._block(block, shapes, seed) for block in self.blocks if block.count]
        which, outcomes, kinds, pictures = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        return Sheet(
            pictures,
            shapes.names,
            which,
            given={"outcome": outcomes, "kind": kinds, "seen": np.isin(which, self.seen)},
            prompt="Which shape is this?",
        )

    def _block(
        self, block: Block, shapes: Shapes, seed: Seed
    ) -> tuple[Indices, Indices, np.ndarray[Any, Any], Images]:
        which = _balanced(block.count, len(shapes.names), seed)
        outcomes = seed.picks(block.count, block.weights)
        pictures = render(
            shapes, block.transformation, which, outcomes, self.sheet_noise, seed, testing=True
        )
        kinds = np.array([self._kind(block, place) for place in range(len(block.weights))])
        return which, outcomes, kinds[outcomes], pictures

    def _kind(self, block: Block, outcome: int) -> str:
        if outcome == block.transformation.identity:
            return ORIGINAL
        return KNOWN if self.taught[outcome] else NEW


def tally(sheet: Sheet, answers: Answers, shapes: Shapes, seen: tuple[int, ...]) -> dict[str, Any]:
    """Count, by kind of outcome and by shape, what was asked, right, and right by mere likeness.

    Likeness is the nearest of the clean originals: what looking without abstracting gets.
    """
    assert sheet.truth is not None
    likeness = distances(sheet.images, key_pictures(shapes)).argmin(axis=1) == sheet.truth
    counts: dict[str, Any] = {"asked": {}, "right": {}, "alike": {}, "seen": list(seen)}
    for kind in np.unique(sheet.given["kind"]):
        of_kind = sheet.given["kind"] == kind
        for name, picked in (("asked", of_kind), ("right", answers.right), ("alike", likeness)):
            hits = sheet.truth[of_kind & picked]
            counts[name][str(kind)] = np.bincount(hits, minlength=len(shapes.names)).tolist()
    return counts


def key_pictures(shapes: Shapes) -> Images:
    """Return the clean originals as subjects see pictures."""
    return (shapes.key().astype(np.float32) / np.float32(9))[..., None]


def _balanced(count: int, classes: int, seed: Seed) -> Indices:
    """Return each class equally often, as nearly as `count` allows, shuffled."""
    return (np.arange(count) % classes)[seed.shuffled(count)]


def _every_other(which: Indices) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Mark every second occurrence of each class."""
    marked = np.zeros(len(which), bool)
    for shape in np.unique(which):
        marked[np.flatnonzero(which == shape)[::2]] = True
    return marked
