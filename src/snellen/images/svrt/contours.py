"""What does a random shape look like? (Fleuret et al. 2011)

A contour is an array of points around (0, 0), so close to each other that those of two
neighbours in the closed line fall into the same pixel or into neighbouring ones. Its
outline is the pixels that it goes through, listed by column and row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.images.compiled import compiled
from snellen.images.svrt.dice import in_disc, uniform

if TYPE_CHECKING:
    from snellen.images.svrt.dice import Dice

    Contour: TypeAlias = npt.NDArray[np.float64]
    Pixels: TypeAlias = npt.NDArray[np.int16]

SIDE = 128
WITHIN, LINE, OUTSIDE = range(3)
FINE = 0.25
"""Neighbouring points are no further apart than this, in x and in y, before all is turned."""
SWAY = 0.2
"""How far off the middle of a segment its new point may be, in parts of its length."""
RESTARTS = 100_000


@compiled
def contour(dice: Dice, radius: float, hole: float) -> Contour:
    """Make a closed line within `radius` of the middle that keeps `hole` clear of it."""
    for _ in range(RESTARTS):
        points, grown = _anchors(dice, radius, hole), True
        while grown:
            points, grown = _refined(dice, points, radius, hole)
        if len(points):
            return turned(points, uniform(dice, 0.0, 2 * math.pi))
    raise AssertionError("no contour fits between the hole and the radius")


@compiled
def _anchors(dice: Dice, radius: float, hole: float) -> Contour:
    """Place one point in each quadrant, in cyclic order."""
    points = np.empty((4, 2))
    for quadrant in range(4):
        x = y = 0.0
        while not hole * hole <= x * x + y * y <= radius * radius:
            x, y = uniform(dice, 0.0, radius), uniform(dice, 0.0, radius)
        points[quadrant, 0] = x if quadrant in (0, 3) else -x
        points[quadrant, 1] = y if quadrant < 2 else -y
    return points


@compiled
def _refined(dice: Dice, points: Contour, radius: float, hole: float) -> tuple[Contour, bool]:
    """Divide every segment that is too long; return no points at all if one is in the hole.

    Whole generations at a time: it is the long segments of the first ones that come into
    the hole, and they do so before any work has gone into the short ones.
    """
    finer, count = np.empty((2 * len(points), 2)), 0
    x, y = points[-1, 0], points[-1, 1]
    for place in range(len(points)):
        from_x, from_y = x, y
        x, y = points[place, 0], points[place, 1]
        across, down = x - from_x, y - from_y
        if abs(across) > FINE or abs(down) > FINE:
            sway = SWAY * math.sqrt(across * across + down * down)
            middle_x, middle_y, far = 0.0, 0.0, math.inf
            while far > radius * radius:  # the middle is within, so at least a third of the disc
                off_x, off_y = in_disc(dice)
                middle_x = from_x + across / 2 + sway * off_x
                middle_y = from_y + down / 2 + sway * off_y
                far = middle_x * middle_x + middle_y * middle_y
            if far < hole * hole:
                return finer[:0], False
            finer[count, 0], finer[count, 1] = middle_x, middle_y
            count += 1
        finer[count, 0], finer[count, 1] = x, y
        count += 1
    return finer[:count], count > len(points)


@compiled
def mapped(points: Contour, xx: float, xy: float, yx: float, yy: float) -> Contour:
    """Apply the matrix (xx xy; yx yy)."""
    made = np.empty_like(points)
    for place in range(len(points)):
        x, y = points[place, 0], points[place, 1]
        made[place, 0], made[place, 1] = xx * x + xy * y, yx * x + yy * y
    return made


@compiled
def turned(points: Contour, angle: float) -> Contour:
    """Rotate about the middle."""
    cosine, sine = math.cos(angle), math.sin(angle)
    return mapped(points, cosine, -sine, sine, cosine)


@compiled
def scaled(points: Contour, factor: float) -> Contour:
    """Make it smaller."""
    return mapped(points, factor, 0.0, 0.0, factor)


@compiled
def mirrored(points: Contour, across: float, down: float) -> Contour:
    """Reflect in the line through the middle that is at right angles to (across, down)."""
    square = across * across + down * down
    xx, xy, yy = across * across / square, across * down / square, down * down / square
    return mapped(points, 1 - 2 * xx, -2 * xy, -2 * xy, 1 - 2 * yy)


@compiled
def outline(points: Contour) -> Pixels:
    """List the pixels of a contour that its outside touches, by four neighbours.

    Drawn whole, the line would have a corner pixel at every step aside.
    """
    pixels, count = np.empty((len(points), 2), np.int16), 0
    last_x, last_y = -SIDE, -SIDE
    for place in range(len(points)):
        x, y = math.floor(points[place, 0]), math.floor(points[place, 1])
        if x != last_x or y != last_y:
            pixels[count, 0], pixels[count, 1] = x, y
            count += 1
            last_x, last_y = x, y
    grid, left, top = _flooded(pixels[:count])
    edge = 0
    for place in range(count):
        column, row = pixels[place, 0] - left, pixels[place, 1] - top
        if grid[row, column] == LINE:
            grid[row, column] = WITHIN  # once is enough
            if (
                grid[row, column - 1] == OUTSIDE
                or grid[row, column + 1] == OUTSIDE
                or grid[row - 1, column] == OUTSIDE
                or grid[row + 1, column] == OUTSIDE
            ):
                pixels[edge, 0], pixels[edge, 1] = pixels[place, 0], pixels[place, 1]
                edge += 1
    return pixels[:edge]


@compiled
def region(pixels: Pixels) -> Pixels:
    """List the pixels that an outline is made of or shuts in, by four neighbours."""
    grid, left, top = _flooded(pixels)
    high, wide = grid.shape
    made, count = np.empty((high * wide, 2), np.int16), 0
    for row in range(high):
        for column in range(wide):
            if grid[row, column] != OUTSIDE:
                made[count, 0], made[count, 1] = column + left, row + top
                count += 1
    return made[:count]


@compiled
def _flooded(pixels: Pixels) -> tuple[npt.NDArray[np.uint8], int, int]:
    """Tell line, within and outside apart; also return the grid's first column and row."""
    left, right, top, bottom = box(pixels)
    left, top = left - 1, top - 1
    wide, high = right + 2 - left, bottom + 2 - top
    grid = np.zeros((high, wide), np.uint8)
    for place in range(len(pixels)):
        grid[pixels[place, 1] - top, pixels[place, 0] - left] = LINE
    flat = grid.reshape(-1)
    ends, count = np.empty(high * wide, np.int32), 1
    ends[0], flat[0] = 0, OUTSIDE
    while count:
        count -= 1
        here = ends[count]
        for step in (-1, 1, -wide, wide):  # the margin shuts in all but its own two corners
            there = here + step
            if 0 <= there < high * wide and flat[there] == WITHIN:
                flat[there] = OUTSIDE
                ends[count] = there
                count += 1
    return grid, left, top


@compiled
def box(pixels: Pixels) -> tuple[int, int, int, int]:
    """Return the first and last column, and the first and last row."""
    left, right = SIDE, -SIDE
    top, bottom = SIDE, -SIDE
    for place in range(len(pixels)):
        x, y = pixels[place, 0], pixels[place, 1]
        left, right = min(left, x), max(right, x)
        top, bottom = min(top, y), max(bottom, y)
    return left, right, top, bottom
