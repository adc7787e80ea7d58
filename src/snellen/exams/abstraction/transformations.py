"""In which ways can a shape be changed and stay the same shape?

A drawing is a function that draws itself at a scale. A transformation takes a
drawing and one of its outcomes and returns another drawing, so transformations
compose: `rotated+moved` turns, then moves. A new one is a function below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.errors import BadSetting
from snellen.images.glyphs import HALF, INK

Levels: TypeAlias = npt.NDArray[np.uint8]
Drawing: TypeAlias = Callable[[float], Levels]
"""Draws a square picture of ink 0..9, the shape enlarged so many times."""


@dataclass(frozen=True)
class Transformation:
    """A change with its possible outcomes, how often each comes, and which changes nothing."""

    name: str
    outcomes: tuple[Any, ...]
    weights: tuple[int, ...]
    identity: int | None
    """The place of the outcome that leaves every shape as it is."""
    apply: Callable[[Drawing, Any], Drawing]

    def then(self, other: Transformation) -> Transformation:
        """Return this one followed by another."""
        pairs = tuple(product(self.outcomes, other.outcomes))
        neither = None
        if self.identity is not None and other.identity is not None:
            neither = self.identity * len(other.outcomes) + other.identity
        return Transformation(
            f"{self.name}+{other.name}",
            pairs,
            tuple(a * b for a, b in product(self.weights, other.weights)),
            neither,
            lambda draw, pair: other.apply(self.apply(draw, pair[0]), pair[1]),
        )


TRANSFORMATIONS: dict[str, Transformation] = {}


def transformation(name: str) -> Transformation:
    """Return the transformation of that name, or the composition `first+second`.

    >>> len(transformation("rotated+moved").outcomes)
    784
    """
    first, *others = name.split("+")
    if first not in TRANSFORMATIONS:
        raise BadSetting(
            f"no transformation is called {first!r}; there are {', '.join(TRANSFORMATIONS)}, "
            "and compositions such as rotated+moved"
        )
    made = TRANSFORMATIONS[first]
    return made.then(transformation("+".join(others))) if others else made


def _listed(
    outcomes: Sequence[Any], weights: Sequence[int] = (), identity: Any = None
) -> Callable[[Callable[[Drawing, Any], Drawing]], Callable[[Drawing, Any], Drawing]]:
    """Enter a function under its name, with the outcomes it is drawn from."""

    def enter(apply: Callable[[Drawing, Any], Drawing]) -> Callable[[Drawing, Any], Drawing]:
        name = apply.__name__
        same = None if identity is None else list(outcomes).index(identity)
        often = tuple(weights) or (1,) * len(outcomes)
        TRANSFORMATIONS[name] = Transformation(name, tuple(outcomes), often, same, apply)
        return apply

    return enter


@_listed(range(4), identity=0)
def rotated(draw: Drawing, turns: int) -> Drawing:
    """Turn clockwise by quarters about the middle pixel."""
    return lambda scale: _about_middle(draw(scale), lambda p: np.rot90(p, -turns))


@_listed(list(product(range(-7, 7), repeat=2)), identity=(0, 0))
def moved(draw: Drawing, by: tuple[int, int]) -> Drawing:
    """Move down and right; what leaves the frame is gone (the glyphs never do)."""
    return lambda scale: _shifted(draw(scale), *by)


@_listed(range(2, 14), weights=(1, *(2,) * 11), identity=HALF)
def resized(draw: Drawing, half: int) -> Drawing:
    """Draw smaller or larger.

    The paper draws a size uniformly from 5..27 and halves it: 12 outcomes, of which
    half = 2 comes with probability 1/23 and each other with 2/23.
    """
    return lambda scale: draw(scale * half / HALF)


@_listed(["both"])
def diagonals(draw: Drawing, _: str) -> Drawing:
    """Lay both diagonals of the frame over the shape."""

    def drawn(scale: float) -> Levels:
        picture = draw(scale).copy()
        np.fill_diagonal(picture, INK)
        np.fill_diagonal(picture[:, ::-1], INK)
        return picture

    return drawn


@_listed(["upside down"])
def mirrored(draw: Drawing, _: str) -> Drawing:
    """Flip top to bottom about the middle row."""
    return lambda scale: _about_middle(draw(scale), lambda p: p[::-1])


NONE = Transformation("none", ("as it is",), (1,), 0, lambda draw, _: draw)


def _about_middle(picture: Levels, change: Callable[[Levels], Levels]) -> Levels:
    """Change a picture about pixel (side // 2, side // 2), which an even side has off centre."""
    side = len(picture)
    odd = np.pad(picture, (0, 1 - side % 2))
    return change(odd)[:side, :side]


def _shifted(picture: Levels, down: int, right: int) -> Levels:
    side = len(picture)
    moved_picture = np.zeros_like(picture)
    rows, columns = (slice(max(by, 0), side + min(by, 0)) for by in (down, right))
    from_rows, from_columns = (slice(max(-by, 0), side + min(-by, 0)) for by in (down, right))
    moved_picture[rows, columns] = picture[from_rows, from_columns]
    return moved_picture
