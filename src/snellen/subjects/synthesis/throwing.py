"""Where do shapes land that are thrown into a frame, and how far from each other? Compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.images.compiled import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.subjects.synthesis.board import Flags, Floats, Grid

CROSSING = 1.5
"""Outlines no further apart than this would be one."""
EVERY = 2
"""Of the points of an outline that are compared: it is a pixel or so that this costs."""
FAR = 1e9


def throw(
    outlines: Sequence[Grid], side: tuple[int, int], draws: Floats
) -> tuple[Grid, Floats, Flags]:
    """Return shifts (scenes, n, 2), gaps (scenes, pairs), and whether the second is in the first.

    `draws` (scenes, n, tries, 2) say where each shape is thrown, from 0 to 1: the first of
    its places that crosses no shape before it counts, or else the last.
    """
    ends = np.cumsum([0, *map(len, outlines)])
    shifts, gaps, within = _throw(np.concatenate(outlines), ends, side[0], side[1], draws)
    return shifts, gaps, within


@compiled
def _throw(points: Any, ends: Any, height: int, width: int, draws: Any) -> Any:
    each, count, tries = draws.shape[:3]
    shifts = np.zeros((each, count, 2), np.int64)
    gaps = np.zeros((each, count * (count - 1) // 2))
    within = np.zeros((each, count * (count - 1) // 2), np.bool_)
    for scene in range(each):
        for i in range(count):
            for attempt in range(tries):
                _place(points, ends, i, (width, height), draws[scene, i, attempt], shifts[scene, i])
                clear = True
                for j in range(i):
                    if _gap(points, ends, j, i, shifts[scene], CROSSING) <= CROSSING:
                        clear = False
                        break
                if clear:
                    break
        pair = 0
        for i in range(count):
            for j in range(i + 1, count):
                gaps[scene, pair] = _gap(points, ends, i, j, shifts[scene], 0.0)
                within[scene, pair] = _lies_in(points, ends, j, i, shifts[scene])
                pair += 1
    return shifts, gaps, within


@compiled
def _place(points: Any, ends: Any, i: int, room: Any, draw: Any, shift: Any) -> None:
    """Set a shift that leaves the shape in the frame; one that is too large stays."""
    for axis in range(2):
        low, high = points[ends[i], axis], points[ends[i], axis]
        for k in range(ends[i], ends[i + 1]):
            low, high = min(low, points[k, axis]), max(high, points[k, axis])
        places = room[axis] - (high - low)
        shift[axis] = int(draw[axis] * places) - low if places > 0 else 0


@compiled
def _gap(points: Any, ends: Any, i: int, j: int, shift: Any, enough: float) -> Any:
    """Return the least distance of two outlines; one below `enough` is not made exact."""
    across, down = shift[j, 0] - shift[i, 0], shift[j, 1] - shift[i, 1]
    best = FAR
    for k in range(ends[i], ends[i + 1], EVERY):
        for m in range(ends[j], ends[j + 1], EVERY):
            dx = points[m, 0] + across - points[k, 0]
            dy = points[m, 1] + down - points[k, 1]
            best = min(best, float(dx * dx + dy * dy))
        if best <= enough * enough:
            break
    return max(np.sqrt(best) - 0.5, 0.0)


@compiled
def _lies_in(points: Any, ends: Any, i: int, j: int, shift: Any) -> Any:
    """Tell whether a point of i is enclosed by j: it has ink of j on all four sides."""
    x = points[ends[i], 0] + shift[i, 0] - shift[j, 0]
    y = points[ends[i], 1] + shift[i, 1] - shift[j, 1]
    up = down = left = right = False
    for k in range(ends[j], ends[j + 1]):
        if abs(points[k, 0] - x) <= 1:
            up, down = up or points[k, 1] < y, down or points[k, 1] > y
        if abs(points[k, 1] - y) <= 1:
            left, right = left or points[k, 0] < x, right or points[k, 0] > x
    return up and down and left and right
