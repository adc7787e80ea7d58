"""What stands before the scenery? The nine things, each of a stuff of its own.

Outline and stuff tell a thing. Its colour, contrast, place, size and turn do not: all come
from the same distribution whatever the thing is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from snellen.images.scenery.dice import Dice
from snellen.images.things import OUTLINES, THINGS, lay
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from snellen.core import Images, Indices

    Plane = npt.NDArray[np.float64]
    Alphas = npt.NDArray[np.float32]

AREA = (0.08, 0.30)
"""What share of the picture an object has, at least and at most."""
MARGIN = 0.006
"""Areas are drawn from so far within: pixels are few, and a corner may be cut off."""
FINE = 400
"""How many points a side a thing is measured by."""
SECTORS = 180


def _steps(value: Plane) -> Plane:
    """Return 0 and 1 by turns, with soft borders."""
    wave: Plane = np.clip((np.abs(value - 2 * np.floor(value / 2) - 1) - 0.5) * 5 + 0.5, 0, 1)
    return wave


def _checks(x: Plane, y: Plane) -> Plane:
    return np.abs(_steps(x * 3.2) - _steps(y * 3.2))


def _rings(x: Plane, y: Plane) -> Plane:
    return _steps(np.hypot(x, y) * 6)


def _dots(x: Plane, y: Plane) -> Plane:
    over, along = x * 2.6 - np.floor(x * 2.6) - 0.5, y * 2.6 - np.floor(y * 2.6) - 0.5
    return np.clip((0.39 - np.hypot(over, along)) * 7 + 0.5, 0, 1)


def _stripes(x: Plane, _: Plane) -> Plane:
    return _steps(x * 5)


def _rays(x: Plane, y: Plane) -> Plane:
    return _steps(np.arctan2(y, x) * 10 / np.pi)


def _zigzag(x: Plane, y: Plane) -> Plane:
    return _steps(y * 4.5 + 1.4 * np.abs(x * 2.5 - np.floor(x * 2.5) - 0.5))


def _blend(x: Plane, y: Plane) -> Plane:
    return np.clip(0.5 + 0.5 * (x + 0.4 * y), 0, 1)


def _bricks(x: Plane, y: Plane) -> Plane:
    course = np.floor(y * 3.5)
    over = x * 2 + 0.5 * (course - 2 * np.floor(course / 2))
    upright = 0.5 - np.abs(over - np.floor(over) - 0.5)
    flat = 0.5 - np.abs(y * 3.5 - course - 0.5)
    made: Plane = np.clip(np.minimum(upright, flat) * 9 - 0.6, 0, 1)
    return made


def _waves(x: Plane, y: Plane) -> Plane:
    waves = np.sin(9 * x + 3 * np.sin(4 * y)) + np.sin(8 * y + 3 * np.sin(5 * x))
    return np.asarray(0.5 + 0.25 * waves)


STUFFS: dict[str, Callable[[Plane, Plane], Plane]] = {
    "bars": _checks,
    "crescent": _rings,
    "cross": _dots,
    "disc": _stripes,
    "flower": _rays,
    "hourglass": _zigzag,
    "ring": _blend,
    "square": _bricks,
    "triangle": _waves,
}
"""By thing: a function of its own plane, 0 where it is dark and 1 where it is light."""


def draw_objects(seed: Seed, labels: Indices, side: int) -> tuple[Images, Alphas]:
    """Return the objects' colours, (n, side, side, 3), and their alphas, (n, side, side).

    Laid on a scene, a pixel is alpha times the one and 1 − alpha times the other.
    """
    inks = np.empty((len(labels), side, side, 3), np.uint8)
    alphas = np.empty((len(labels), side, side), np.float32)
    for i, number in enumerate(seed.bits(len(labels))):
        dice = Dice(Seed("object", int(number)))
        inks[i], alphas[i] = _draw(THINGS[labels[i]], dice, side)
    return inks, alphas


def _draw(name: str, dice: Dice, side: int) -> tuple[Plane, Plane]:
    whole, tips = _measured(name)
    area = dice.number(AREA[0] + MARGIN, AREA[1] - MARGIN)
    # the picture, from −1 to 1, has an area of 4
    radius, angle = (4 * area / whole) ** 0.5, dice.number(0, 2 * np.pi)
    turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    turned = tips @ np.array(turn) * radius
    ends = zip(turned.min(axis=0).tolist(), turned.max(axis=0).tolist(), strict=True)
    right, down = (_centre(dice, low, high) for low, high in ends)
    alpha, across, along = lay(name, side, (right, down), radius, angle)
    # never grey, which it would be lost upon
    parts = np.array([dice.number(50, 105), dice.number(50, 205), dice.number(150, 205)])
    base = parts[np.argsort(dice.numbers(3), kind="stable")]
    # light on dark as often as dark on light, so that stuffs of any mean give the same colours
    contrast = dice.pick([-1, 1]) * dice.number(30, 50)
    light = contrast * (2 * STUFFS[name](across, along) - 1)
    return np.rint(base + light[..., None]), alpha


def _centre(dice: Dice, low: float, high: float) -> float:
    """Return where a thing that reaches from `low` to `high` of its centre stays in −1..1."""
    first, last = -1 - low, 1 - high
    return dice.number(first, last) if first < last else (first + last) / 2


@lru_cache
def _measured(name: str) -> tuple[float, Plane]:
    """Return a thing's area, and its farthest points all around, both in its own plane."""
    at = (np.arange(FINE) + 0.5) / FINE * 2 - 1
    x, y = np.meshgrid(at, at)
    within = OUTLINES[name](x, y) < 0
    points = np.stack([x[within], y[within]], axis=1)
    reach = np.hypot(*points.T)
    sector = np.floor((np.arctan2(points[:, 1], points[:, 0]) / np.pi + 1) * SECTORS / 2)
    farthest_first = np.lexsort((-reach, sector))
    tips = farthest_first[np.unique(sector[farthest_first], return_index=True)[1]]
    return 4 * within.mean(), points[tips]
