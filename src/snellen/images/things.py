"""Which pictures are there when nobody brings any? Nine things before coloured grounds.

A thing is told by its outline alone: place, size, turn, colours and ground are random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.seeds import Seed

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.core import Images, Indices

    Plane = npt.NDArray[np.float64]


def _bars(x: Plane, y: Plane) -> Plane:
    made: Plane = np.maximum(abs(x), abs(y)) - 0.9
    return np.maximum(made, abs((y + 0.3) % 0.6 - 0.3) - 0.15)


def _crescent(x: Plane, y: Plane) -> Plane:
    return np.maximum(np.hypot(x, y) - 0.95, 0.75 - np.hypot(x - 0.45, y))


def _cross(x: Plane, y: Plane) -> Plane:
    upright = np.maximum(abs(x) - 0.3, abs(y) - 0.95)
    return np.minimum(upright, np.maximum(abs(x) - 0.95, abs(y) - 0.3))


def _disc(x: Plane, y: Plane) -> Plane:
    return np.hypot(x, y) - 0.85


def _flower(x: Plane, y: Plane) -> Plane:
    edge: Plane = 0.65 + 0.3 * np.cos(5 * np.arctan2(y, x))
    return np.hypot(x, y) - edge


def _hourglass(x: Plane, y: Plane) -> Plane:
    return np.maximum(abs(y) - 0.9, abs(x) - 0.8 * abs(y) - 0.1)


def _ring(x: Plane, y: Plane) -> Plane:
    return abs(np.hypot(x, y) - 0.7) - 0.22


def _square(x: Plane, y: Plane) -> Plane:
    return np.maximum(abs(x), abs(y)) - 0.75


def _triangle(x: Plane, y: Plane) -> Plane:
    return np.maximum(-y - 0.5, 0.866 * abs(x) + 0.5 * y - 0.5)


OUTLINES: dict[str, Callable[[Any, Any], Any]] = {
    "bars": _bars,
    "crescent": _crescent,
    "cross": _cross,
    "disc": _disc,
    "flower": _flower,
    "hourglass": _hourglass,
    "ring": _ring,
    "square": _square,
    "triangle": _triangle,
}
"""By name: a function of the plane, below 0 inside; a thing reaches from −1 to 1."""
THINGS = tuple(OUTLINES)


def draw_things(seed: Seed, count: int, side: int = 48) -> tuple[Images, Indices]:
    """Return (count, side, side, 3) pictures and which thing is in each, all equally often."""
    labels = (np.arange(count) % len(THINGS))[seed.shuffled(count)]
    place = seed.floats(count * 4).reshape(count, 4)
    inks, grounds = _colours(seed, count)
    images = np.empty((count, side, side, 3), np.uint8)
    texture = _textures(seed, count, side)
    for i, label in enumerate(labels):
        right, down, large, turn = place[i]
        centre = 0.5 * (right - 0.5), 0.5 * (down - 0.5)
        radius, angle = 0.5 + 0.25 * large, 2 * np.pi * turn
        cover = lay(THINGS[label], side, centre, radius, angle)[0][..., None]
        ground = grounds[i, 0] + (grounds[i, 1] - grounds[i, 0]) * texture[i][..., None]
        images[i] = np.rint(cover * inks[i] + (1 - cover) * ground)
    return images, labels


def lay(
    name: str, side: int, centre: tuple[float, float], radius: float, angle: float
) -> tuple[Plane, Plane, Plane]:
    """Return how much of each pixel a thing covers, and where on the thing each pixel lies.

    The picture reaches from −1 to 1, and so does the thing in its own, turned plane.
    """
    middle = (np.arange(side) + 0.5) / side * 2 - 1
    x, y = middle[None, :] - centre[0], middle[:, None] - centre[1]
    across = (np.cos(angle) * x + np.sin(angle) * y) / radius
    along = (np.cos(angle) * y - np.sin(angle) * x) / radius
    inside = OUTLINES[name](across, along) * radius * side / 2
    return np.clip(0.5 - inside, 0, 1), across, along


def _colours(seed: Seed, count: int) -> tuple[Plane, Plane]:
    """Return inks (n, 3) and pairs of ground colours (n, 2, 3), the ink lighter or darker."""
    draws = seed.floats(count * 9).reshape(count, 3, 3)
    light = seed.floats(count) < 0.5
    inks = np.where(light[:, None], 150 + 105 * draws[:, 0], 105 * draws[:, 0])
    grounds = np.where(light[:, None, None], 110 * draws[:, 1:], 145 + 110 * draws[:, 1:])
    return inks, grounds


def _textures(seed: Seed, count: int, side: int) -> Plane:
    """Return (n, side, side) smooth random fields from 0 to 1."""
    coarse = seed.floats(count * 36).reshape(count, 6, 6)
    at = np.linspace(0, 5, side)
    low = np.minimum(at.astype(int), 4)
    share = (at - low)[None, :, None]
    rows = coarse[:, low] * (1 - share) + coarse[:, low + 1] * share
    share = share.transpose(0, 2, 1)
    made: Plane = rows[:, :, low] * (1 - share) + rows[:, :, low + 1] * share
    return made
