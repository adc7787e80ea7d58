"""Which pictures can a picture be reduced to, and how do subjects see them?

A state is a rung on each ladder. Small pictures have fewer distinct states than rungs
(half a row cannot be cut off), so a state is known by the picture that it makes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from PIL import Image

from snellen.images.entropy import quick
from snellen.images.reductions import CROP, Kept, covered, sliced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.images.reductions import Picture, Way

State: TypeAlias = tuple[int, ...]
BICUBIC = Image.Resampling.BICUBIC
PICTURES_KEPT = 32


@dataclass(frozen=True, eq=False)
class Lattice:
    """All that one picture can be reduced to in the given ways."""

    original: Picture
    ways: Sequence[Way]
    side: int
    """Of the square that pictures are shown at."""
    neutral: int = 127
    rungs: int = 0
    """The most of each ladder, evenly spread over it; 0: all."""
    strict: bool = False
    """Whether the very next picture must have less entropy, or the next one that has is meant."""

    def __post_init__(self) -> None:
        names = [way.name for way in self.ways]
        hidden = {
            "_pictures": {},
            "_bits": {},
            "_plain": [place for place, name in enumerate(names) if name not in CROP],
            "_crops": [names.index(name) if name in names else None for name in CROP],
        }
        for name, value in hidden.items():
            object.__setattr__(self, name, value)

    @cached_property
    def ladders(self) -> tuple[Sequence[Any], ...]:
        """The rungs of each way."""
        alone = len(self.ways) == 1
        whole = (way.ladder(self.original.shape, alone) for way in self.ways)
        return tuple(_thinned(ladder, self.rungs) for ladder in whole)

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
        small = self._before_crop(state)
        return covered(small, self._kept(state, small.shape), self.neutral)

    def shown(self, state: State) -> Picture:
        """Return it as subjects see it: squashed to a square by bicubic interpolation."""
        small = self._before_crop(state)
        return squashed(small, self.side, self._kept(state, small.shape), self.neutral)

    def bits(self, state: State) -> int:
        """Return the quick entropy that the search goes by: of what no crop covers."""
        key = self.key(state)
        known: dict[Any, int] = self._bits  # type: ignore[attr-defined]
        if key not in known:
            small = self._before_crop(state)
            top, bottom, left, right = self._kept(state, small.shape)
            known[key] = quick(small[top:bottom, left:right])
        return known[key]

    def key(self, state: State) -> tuple[Any, ...]:
        """Name the picture that a state makes: states with equal keys look the same."""
        return (*self._rungs(state), *self._kept(state, self._before_crop(state).shape))

    def step(self, state: State, way: int, rungs: int = 1) -> State | None:
        """Return the state so many rungs further in one way; None beyond the last one."""
        rung = state[way] + rungs
        if rung >= len(self.ladders[way]):
            return None
        made = (*state[:way], rung, *state[way + 1 :])
        top, bottom, left, right = self._kept(made, self._before_crop(made).shape)
        return made if top < bottom and left < right else None

    def edge(self, state: State, way: int) -> State | None:
        """Return the nearest state further on whose entropy is lower (definition of an edge).

        Finely graded colours often take more bytes than the picture had, so that by the letter
        of the definition (`strict`) no edge leads on.
        """
        key, bits, rungs = self.key(state), self.bits(state), 1
        while (further := self.step(state, way, rungs)) is not None:
            if self.key(further) != key:
                if self.bits(further) < bits:
                    return further
                if self.strict:
                    return None
            rungs += 1
        return None

    def steps(self, state: State) -> list[State]:
        """Return where one step leads in each of the ways."""
        edges = (self.edge(state, way) for way in range(len(state)))
        return [edge for edge in edges if edge is not None]

    def _rungs(self, state: State) -> State:
        """Return the rungs of all ways but cropping."""
        return tuple([state[place] for place in self._plain])  # type: ignore[attr-defined]

    def _before_crop(self, state: State) -> Picture:
        """Apply all ways but cropping."""
        return self._made(self._rungs(state))

    def _made(self, rungs: State) -> Picture:
        """Apply the first ways; the last few results are kept, also those in between."""
        if not any(rungs):
            return self.original
        kept: dict[State, Picture] = self._pictures  # type: ignore[attr-defined]
        if rungs not in kept:
            place = self._plain[len(rungs) - 1]  # type: ignore[attr-defined]
            value = self.ladders[place][rungs[-1]]
            made = self.ways[place].apply(self._made(rungs[:-1]), value, self.neutral)
            if len(kept) >= PICTURES_KEPT:
                del kept[next(iter(kept))]
            kept[rungs] = made
        return kept[rungs]

    def _kept(self, state: State, shape: tuple[int, ...]) -> Kept:
        """Return first and last row, first and last column that no crop covers."""
        top, bottom, left, right = (
            0 if place is None else self.ladders[place][state[place]]
            for place in self._crops  # type: ignore[attr-defined]
        )
        height, width = shape[:2]
        return (
            sliced(height, top),
            height - sliced(height, bottom),
            sliced(width, left),
            width - sliced(width, right),
        )


def _thinned(ladder: Sequence[Any], most: int) -> Sequence[Any]:
    """Leave so many rungs of a ladder, the first and the last among them."""
    if not most or len(ladder) <= most:
        return ladder
    return [ladder[round(place)] for place in np.linspace(0, len(ladder) - 1, most)]


def squashed(picture: Picture, side: int, kept: Kept, neutral: int) -> Picture:
    """Return the picture at side × side, neutral outside `kept`.

    Only what kept pixels bear upon is interpolated: the rest comes out neutral anyway. Across
    first, then down, and in spans whose edges have no rounding error, so that the pixels are
    the same whichever part is left out.
    """
    down = _Span(kept[0], kept[1], picture.shape[0], side)
    across = _Span(kept[2], kept[3], picture.shape[1], side)
    inner = (*down.within(kept[0], kept[1]), *across.within(kept[2], kept[3]))
    part = covered(picture[down.source, across.source], inner, neutral)
    image = Image.fromarray(part[..., 0] if part.shape[-1] == 1 else part)
    left, right = across.box
    image = image.resize((across.count, image.height), BICUBIC, (left, 0, right, image.height))
    top, bottom = down.box
    image = image.resize((across.count, down.count), BICUBIC, (0, top, across.count, bottom))
    shown = np.asarray(image)
    shown = shown[..., None] if shown.ndim == 2 else shown
    if shown.shape[:2] == (side, side):
        return shown
    made = np.full((side, side, picture.shape[-1]), neutral, np.uint8)
    made[down.target, across.target] = shown
    return made


class _Span:
    """The part of one axis that has to be interpolated, where it lies and where it goes.

    Its ends in the target times `length` / `side` are exact in Pillow's single precision:
    multiples of the odd part of `side`.
    """

    def __init__(self, first: int, last: int, length: int, side: int) -> None:
        reach = int(2 * max(1.0, length / side)) + 2  # of the interpolation
        odd = side // (side & -side)
        low = max(0, int((first - reach) * side / length) // odd * odd)
        high = min(side, -(-int((last + reach) * side / length + 1) // odd) * odd)
        start = max(0, int(low * length / side) - reach)
        end = min(length, math.ceil(high * length / side) + reach)
        self.count = high - low
        self.target = slice(low, high)
        self.source = slice(start, end)
        self.box = (low * length / side - start, high * length / side - start)

    def within(self, first: int, last: int) -> tuple[int, int]:
        """Return places counted from where the source begins."""
        return first - self.source.start, last - self.source.start


def whole(picture: Picture, side: int) -> Picture:
    """Return a picture at side × side, no part of it left out."""
    return squashed(picture, side, (0, picture.shape[0], 0, picture.shape[1]), 0)
