"""Which pictures can a picture be reduced to, and how do subjects see them?

A state is a rung on each ladder. Small pictures have fewer distinct states than rungs
(half a row cannot be cut off), so a state is known by the picture that it makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from PIL import Image

from snellen.images.entropy import quick
from snellen.images.reductions import CROP, sliced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.images.reductions import Picture, Way

State: TypeAlias = tuple[int, ...]
BICUBIC = Image.Resampling.BICUBIC


@dataclass(frozen=True, eq=False)
class Lattice:
    """All that one picture can be reduced to in the given ways."""

    original: Picture
    ways: Sequence[Way]
    side: int
    """Of the square that pictures are shown at."""
    neutral: int = 127

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pictures", {})
        object.__setattr__(self, "_bits", {})

    @cached_property
    def ladders(self) -> tuple[Sequence[Any], ...]:
        """The rungs of each way."""
        alone = len(self.ways) == 1
        return tuple(way.ladder(self.original.shape, alone) for way in self.ways)

    @property
    def start(self) -> State:
        """The picture as it is."""
        return (0,) * len(self.ways)

    def values(self, state: State) -> dict[str, Any]:
        """Say a state in words: each way's name and value."""
        return {
            way.name: ladder[rung]
            for way, ladder, rung in zip(self.ways, self.ladders, state, strict=True)
        }

    def picture(self, state: State) -> Picture:
        """Return the reduced picture at its small size: what entropy is measured of."""
        made = self._before_crop(state)
        for place, way in enumerate(self.ways):
            if way.name in CROP:
                made = way.apply(made, self.ladders[place][state[place]], self.neutral)
        return made

    def shown(self, state: State) -> Picture:
        """Return it as subjects see it: squashed to a square by bicubic interpolation."""
        small = self.picture(state)
        return squashed(small, self.side, self._kept(state, small.shape), self.neutral)

    def bits(self, state: State) -> int:
        """Return the quick entropy that the search goes by."""
        key = self.key(state)
        known: dict[Any, int] = self._bits  # type: ignore[attr-defined]
        if key not in known:
            known[key] = quick(self.picture(state))
        return known[key]

    def key(self, state: State) -> tuple[Any, ...]:
        """Name the picture that a state makes: states with equal keys look the same."""
        uncropped = tuple(
            rung for way, rung in zip(self.ways, state, strict=True) if way.name not in CROP
        )
        return (*uncropped, *self._kept(state, self._before_crop(state).shape))

    def step(self, state: State, way: int, rungs: int = 1) -> State | None:
        """Return the state so many rungs further in one way; None beyond the last one."""
        rung = state[way] + rungs
        if rung >= len(self.ladders[way]):
            return None
        made = (*state[:way], rung, *state[way + 1 :])
        top, bottom, left, right = self._kept(made, self._before_crop(made).shape)
        return made if top < bottom and left < right else None

    def edge(self, state: State, way: int) -> State | None:
        """Return the nearest state further on whose entropy is lower (definition of an edge)."""
        key, bits, rungs = self.key(state), self.bits(state), 1
        while (further := self.step(state, way, rungs)) is not None:
            if self.key(further) != key and self.bits(further) < bits:
                return further
            rungs += 1
        return None

    def steps(self, state: State) -> list[State]:
        """Return where one step leads in each of the ways."""
        edges = (self.edge(state, way) for way in range(len(state)))
        return [edge for edge in edges if edge is not None]

    def _before_crop(self, state: State) -> Picture:
        """Apply all ways but cropping; the last few results are kept."""
        rungs = tuple(
            rung for way, rung in zip(self.ways, state, strict=True) if way.name not in CROP
        )
        kept: dict[State, Picture] = self._pictures  # type: ignore[attr-defined]
        if rungs not in kept:
            made = self.original
            for way, ladder, rung in zip(self.ways, self.ladders, state, strict=True):
                if way.name not in CROP:
                    made = way.apply(made, ladder[rung], self.neutral)
            if len(kept) >= 32:
                del kept[next(iter(kept))]
            kept[rungs] = made
        return kept[rungs]

    def _kept(self, state: State, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
        """Return first and last row, first and last column that no crop covers."""
        cut = dict.fromkeys(CROP, 0)
        for way, ladder, rung in zip(self.ways, self.ladders, state, strict=True):
            if way.name in cut:
                cut[way.name] = sliced(
                    shape[0 if way.name in ("top", "bottom") else 1], ladder[rung]
                )
        return cut["top"], shape[0] - cut["bottom"], cut["left"], shape[1] - cut["right"]


def squashed(picture: Picture, side: int, kept: tuple[int, int, int, int], neutral: int) -> Picture:
    """Return the picture at side × side; outside `kept` (rows, columns) it is all neutral.

    Only what kept pixels bear upon is interpolated: the rest comes out neutral anyway. Across
    first, then down, and in spans whose edges have no rounding error, so that the pixels are
    the same whichever part is left out.
    """
    height, width = picture.shape[:2]
    rows, columns = _touched(*kept[:2], height, side), _touched(*kept[2:], width, side)
    first, last = (round(row * height / side) for row in rows)
    first, last = max(0, first - _reach(height, side)), min(height, last + _reach(height, side))
    part = picture[first:last]
    image = Image.fromarray(part[..., 0] if part.shape[-1] == 1 else part)
    left, right = (column * width / side for column in columns)
    image = image.resize(
        (columns[1] - columns[0], last - first), BICUBIC, box=(left, 0, right, last - first)
    )
    top, bottom = (row * height / side - first for row in rows)
    image = image.resize(
        (columns[1] - columns[0], rows[1] - rows[0]), BICUBIC, box=(0, top, image.width, bottom)
    )
    inner = np.asarray(image)
    inner = inner[..., None] if inner.ndim == 2 else inner
    if inner.shape[:2] == (side, side):
        return inner
    made = np.full((side, side, picture.shape[-1]), neutral, np.uint8)
    made[rows[0] : rows[1], columns[0] : columns[1]] = inner
    return made


def whole(picture: Picture, side: int) -> Picture:
    """Return a picture at side × side, no part of it left out."""
    return squashed(picture, side, (0, picture.shape[0], 0, picture.shape[1]), 0)


def _touched(first: int, last: int, length: int, side: int) -> tuple[int, int]:
    """Return a span of shown pixels that holds all that see any of the pixels first..last-1.

    Its ends times `length` / `side` are exact in Pillow's single precision: multiples of the
    odd part of `side`.
    """
    odd = side // (side & -side)
    reach = _reach(length, side)
    low = int((first - reach) * side / length) // odd * odd
    high = -(-int((last + reach) * side / length + 1) // odd) * odd
    return max(0, low), min(side, high)


def _reach(length: int, side: int) -> int:
    """Return to how many pixels' distance interpolation looks."""
    return int(2 * max(1.0, length / side)) + 2
