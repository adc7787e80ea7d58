"""Where can a name be written so that it hides nothing?

Names are set one after another, each where it covers least of what is there already. All is
counted in one unit (points of 1/72 inch, say); a box is its left, bottom, right and top.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from matplotlib.textpath import TextPath

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TURNS = (0, 2, 6, 4, 1, 7, 3, 5)
"""Eighths of a turn from the right, the ones that read best first."""
RINGS = (0.0, 6.0, 14.0, 26.0, 42.0, 64.0, 90.0)
"""How far out a name may go."""


class Box(NamedTuple):
    """A rectangle that something covers."""

    left: float
    bottom: float
    right: float
    top: float

    def shared(self, other: Box) -> float:
        """Return the area that both cover."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        tall = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(wide, 0.0) * max(tall, 0.0)

    def beyond(self, page: Box) -> float:
        """Return the area that lies outside the page."""
        return (self.right - self.left) * (self.top - self.bottom) - self.shared(page)


def size(text: str, points: float) -> tuple[float, float]:
    """Return how wide and tall a line of text is, in points."""
    wide = TextPath((0, 0), text, size=points).get_extents().x1 if text.strip() else 0.0
    return max(float(wide), 0.0), 1.1 * points


def around(x: float, y: float, wide: float, tall: float, gap: float) -> list[Box]:
    """Return boxes of a size about a place, the nearest first."""
    made = []
    for ring in RINGS:
        for turn in TURNS:
            across, up = math.cos(turn * math.pi / 4), math.sin(turn * math.pi / 4)
            # the box touches the ring with the side or corner that faces the place
            left = x + across * (gap + ring) - wide * (1 - _sign(across)) / 2
            bottom = y + up * (gap + ring) - tall * (1 - _sign(up)) / 2
            made.append(Box(left, bottom, left + wide, bottom + tall))
    return made


def settled(choices: Sequence[Sequence[Box]], taken: Iterable[Box], page: Box) -> list[Box]:
    """Choose a box for each name: the first that covers nothing, else the one that covers least.

    >>> page, dot = Box(0, 0, 50, 20), Box(9, 9, 11, 11)
    >>> settled([[Box(8, 8, 20, 16), Box(12, 8, 24, 16)]], [dot], page)
    [Box(left=12, bottom=8, right=24, top=16)]
    """
    full, made = list(taken), []
    for boxes in choices:
        costs = [sum(map(box.shared, full)) + 2 * box.beyond(page) for box in boxes]
        best = next((b for b, cost in zip(boxes, costs, strict=True) if cost < 1e-9), None)
        made.append(best or boxes[min(range(len(boxes)), key=costs.__getitem__)])
        full.append(made[-1])
    return made


def _sign(value: float) -> int:
    return 0 if abs(value) < 1e-9 else 1 if value > 0 else -1
