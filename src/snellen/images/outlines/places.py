"""Where are shapes, and how far apart are their outlines?"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from snellen.images.compiled import compiled
from snellen.images.outlines.regions import INK, OUTSIDE, Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from snellen.images.outlines.regions import Mask

    Floats: TypeAlias = npt.NDArray[np.float64]
    Points: TypeAlias = npt.NDArray[np.int64]
    """(x, y) a row, from top to bottom and then from left to right."""


def centre(shape: Shape) -> tuple[float, float]:
    """Return x and y of the middle of a filled shape."""
    whole = shape.cutting != OUTSIDE
    height, width = whole.shape
    x = whole.sum(0) @ np.arange(width) / shape.area
    y = whole.sum(1) @ np.arange(height) / shape.area
    return shape.left + float(x), shape.top + float(y)


def circle(shape: Shape) -> tuple[float, float, float]:
    """Return centre and radius of the smallest circle round a shape."""
    points = shape.outline
    turns = np.flatnonzero(np.diff(points[:, 1]))
    ends = points[np.concatenate([[0], turns, turns + 1, [-1]])].astype(np.float64)
    far = np.argsort(-((ends - ends.mean(0)) ** 2).sum(1), kind="stable")
    x, y, radius = smallest_circle(ends[far])  # quick when the points that decide come first
    return x, y, radius


def insides(shapes: Sequence[Shape]) -> Mask:
    """Tell of every two shapes whether the first one's ink lies within the second, filled."""
    boxes = np.array([shape.box for shape in shapes]).reshape(-1, 4)
    low, high = boxes[:, :2], boxes[:, 2:]
    boxed = ((low[:, None] >= low) & (high[:, None] <= high)).all(2)
    made = np.zeros_like(boxed)
    for i, j in np.argwhere(boxed & ~np.eye(len(shapes), dtype=bool)).tolist():
        x, y = (shapes[i].outline - low[j]).T
        made[i, j] = shapes[j].cutting[y, x].all()
    return np.asarray(made)


def gaps(shapes: Sequence[Shape]) -> Floats:
    """Return the smallest distance of every two outlines."""
    rims = []
    for shape in shapes:
        y, x = np.nonzero(shape.rim == INK)
        rims.append(np.stack([x + shape.left, y + shape.top], 1))
    made = np.zeros((len(shapes), len(shapes)))
    for j in range(len(shapes)):
        for i in range(j):
            made[i, j] = made[j, i] = gap(rims[i], rims[j], *shapes[j].box)
    return made


@compiled
def gap(these: Points, those: Points, left: int, top: int, right: int, bottom: int) -> float:
    """Return the smallest distance of points; those are sorted by y and lie in the box."""
    x, y = those[len(those) // 2]
    near, best = _nearest(these, x, y, np.inf)  # a good guess at what is to be undercut
    _, best = _nearest(those, these[near, 0], these[near, 1], best)
    for place in range(len(these)):
        x, y = these[place]
        across, down = max(left - x, x - right, 0), max(top - y, y - bottom, 0)
        if across * across + down * down < best:
            _, best = _nearest(those, x, y, best)
    return float(np.sqrt(best))


@compiled
def _nearest(points: Points, x: int, y: int, best: float) -> tuple[int, float]:
    """Return which point is nearest, or 0, and the square of its distance, at most `best`."""
    first, found = int(np.searchsorted(points[:, 1], y)), 0
    for step in (1, -1):
        place = first if step == 1 else first - 1
        while 0 <= place < len(points):
            down = (points[place, 1] - y) ** 2
            if down >= best:
                break  # the rows beyond are further away
            square = down + (points[place, 0] - x) ** 2
            if square < best:
                best, found = float(square), place
            place += step
    return found, best


@compiled
def smallest_circle(points: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Return x, y and radius: points outside the circle so far lie on the next (Welzl 1991)."""
    x, y, r = points[0, 0], points[0, 1], 0.0
    for i in range(1, len(points)):
        if _within(points[i], x, y, r):
            continue
        x, y, r = points[i, 0], points[i, 1], 0.0
        for j in range(i):
            if _within(points[j], x, y, r):
                continue
            x, y = (points[i, 0] + points[j, 0]) / 2, (points[i, 1] + points[j, 1]) / 2
            r = np.hypot(points[i, 0] - x, points[i, 1] - y)
            for k in range(j):
                if not _within(points[k], x, y, r):
                    x, y, r = _through(points[i], points[j], points[k])
    return x, y, r


@compiled
def _within(point: npt.NDArray[np.float64], x: float, y: float, r: float) -> bool:
    return bool(np.hypot(point[0] - x, point[1] - y) <= r + 1e-7)


@compiled
def _through(
    a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], c: npt.NDArray[np.float64]
) -> tuple[float, float, float]:
    bx, by, cx, cy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
    twice = 2.0 * (bx * cy - by * cx)
    x = (cy * (bx * bx + by * by) - by * (cx * cx + cy * cy)) / twice
    y = (bx * (cx * cx + cy * cy) - cx * (bx * bx + by * by)) / twice
    return a[0] + x, a[1] + y, np.hypot(x, y)
