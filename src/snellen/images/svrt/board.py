"""What has been drawn so far, and where may more go?

The state of a picture in the making is a tuple of arrays that compiled functions share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.images.compiled import compiled
from snellen.images.svrt.contours import SIDE, contour, outline
from snellen.images.svrt.dice import below

if TYPE_CHECKING:
    from snellen.images.svrt.contours import Pixels
    from snellen.images.svrt.dice import Dice

    Area: TypeAlias = npt.NDArray[np.bool_]
    Centre: TypeAlias = npt.NDArray[np.intp]
    Centres: TypeAlias = npt.NDArray[np.intp]
    Kinds: TypeAlias = npt.NDArray[np.intp]

MOST = 6
"""Shapes in a picture."""
REDOS = 1_000_000
TRIES = 1000
"""At placing one shape among those that are there, before all is redone."""
FAR = 1000
X, Y, KIND, SIZE, MIRRORED, ANGLE = range(6)
"""Columns of what is noted of a shape."""


class Board(NamedTuple):
    """A picture in the making, and what is known of it."""

    dice: npt.NDArray[np.uint64]
    image: npt.NDArray[np.uint8]
    """128×128: white 255, outline 0."""
    near: npt.NDArray[np.bool_]
    """Pixels that are outline or have some among their eight neighbours."""
    shapes: npt.NDArray[np.float64]
    """A row of `X`…`ANGLE` for every shape."""
    pixels: npt.NDArray[np.int16]
    """Every shape's outline, in columns and rows of the picture, one behind the other."""
    ends: npt.NDArray[np.intp]
    """Where each outline begins in `pixels`, and where the last one ends."""
    counts: npt.NDArray[np.intp]
    """How many shapes have been drawn, and how often the picture has been begun."""


def blank() -> Board:
    """Return a board to draw on again and again."""
    return Board(
        dice=np.zeros(1, np.uint64),
        image=np.empty((SIDE, SIDE), np.uint8),
        near=np.empty((SIDE, SIDE), np.bool_),
        shapes=np.zeros((MOST, 6)),
        pixels=np.zeros((SIDE * SIDE, 2), np.int16),
        ends=np.zeros(MOST + 1, np.intp),
        counts=np.zeros(2, np.intp),
    )


@compiled
def again(board: Board) -> bool:
    """Wipe the board to begin once more; stop if that has been done too often."""
    for row in range(SIDE):
        for column in range(SIDE):
            board.image[row, column] = 255
            board.near[row, column] = False
    board.counts[0] = 0
    board.counts[1] += 1
    assert board.counts[1] <= REDOS, "a problem that can hardly be drawn"
    return True


@compiled
def anywhere(dice: Dice, count: int, start: int, span: int) -> Centres:
    """Choose places, each coordinate one of start..start+span-1."""
    centres = np.empty((count, 2), np.intp)
    for place in range(count):
        centres[place, 0] = below(dice, span) + start
        centres[place, 1] = below(dice, span) + start
    return centres


@compiled
def cluttered(centres: Centres) -> bool:
    """Tell whether two of them are closer than 21 both across and down."""
    for one in range(len(centres)):
        for other in range(one):
            across = centres[one, 0] - centres[other, 0]
            if abs(across) < 21 and abs(centres[one, 1] - centres[other, 1]) < 21:
                return True
    return False


@compiled
def roomy(x: int, y: int, hole: float) -> bool:
    """Tell whether a shape that goes around this hole can keep clear of the margin."""
    return 1 + hole <= min(x, y) and max(x, y) < SIDE - 1 - hole


@compiled
def fits(pixels: Pixels, x: int, y: int) -> bool:
    """Tell whether an outline, put there, keeps clear of the margin."""
    for place in range(len(pixels)):
        column, row = pixels[place, 0] + x, pixels[place, 1] + y
        if min(column, row) < 1 or max(column, row) > SIDE - 2:
            return False
    return True


@compiled
def hits(area: Area, pixels: Pixels, x: int, y: int) -> int:
    """Count the pixels that lie in the area."""
    count = 0
    for place in range(len(pixels)):
        count += area[pixels[place, 1] + y, pixels[place, 0] + x]
    return count


@compiled
def free(board: Board, pixels: Pixels, x: int, y: int) -> bool:
    """Tell whether an outline, put there, keeps clear of the margin and of all others."""
    for place in range(len(pixels)):
        column, row = pixels[place, 0] + x, pixels[place, 1] + y
        if min(column, row) < 1 or max(column, row) > SIDE - 2 or board.near[row, column]:
            return False
    return True


@compiled
def draw(
    board: Board,
    pixels: Pixels,
    x: int,
    y: int,
    kind: int,
    size: float,
) -> None:
    """Draw an outline there, whatever it may touch, and note what it is."""
    shape = board.counts[0]
    end = board.ends[shape]
    for place in range(len(pixels)):
        column, row = pixels[place, 0] + x, pixels[place, 1] + y
        board.image[row, column] = 0
        for down in range(-1, 2):
            for across in range(-1, 2):
                board.near[row + down, column + across] = True
        board.pixels[end, 0], board.pixels[end, 1] = column, row
        end += 1
    board.ends[shape + 1] = end
    board.shapes[shape, X], board.shapes[shape, Y] = x, y
    board.shapes[shape, KIND], board.shapes[shape, SIZE] = kind, size
    board.shapes[shape, MIRRORED], board.shapes[shape, ANGLE] = 0.0, 0.0
    board.counts[0] += 1


@compiled
def drawn(board: Board, shape: int) -> Pixels:
    """Return the outline of a shape, in columns and rows of the picture."""
    return board.pixels[board.ends[shape] : board.ends[shape + 1]]


@compiled
def note(board: Board, column: int, value: float) -> None:
    """Note something more of the shape drawn last."""
    board.shapes[board.counts[0] - 1, column] = value


@compiled
def put(
    board: Board,
    pixels: Pixels,
    x: int,
    y: int,
    kind: int,
    size: float,
) -> bool:
    """Draw an outline there if it is free."""
    if not free(board, pixels, x, y):
        return False
    draw(board, pixels, x, y, kind, size)
    return True


@compiled
def put_somewhere(board: Board, pixels: Pixels, kind: int, size: float) -> bool:
    """Draw an outline at a place that is free, if one is found."""
    for _ in range(TRIES):
        x, y = below(board.dice, SIDE), below(board.dice, SIDE)
        if put(board, pixels, x, y, kind, size):
            return True
    return False


@compiled
def put_at(
    board: Board, kinds: Kinds, centres: Centres, radius: float, hole: float, size: float
) -> bool:
    """Draw a shape at each place if it is free, those of one kind, in a row, alike."""
    pixels = outline(contour(board.dice, radius, hole))
    for place in range(len(centres)):
        if place and kinds[place] != kinds[place - 1]:
            pixels = outline(contour(board.dice, radius, hole))
        x, y = centres[place, 0], centres[place, 1]
        if not put(board, pixels, x, y, kinds[place], size):
            return False
    return True


@compiled
def empty() -> Area:
    """Return an area without pixels."""
    return np.zeros((SIDE, SIDE), np.bool_)


@compiled
def shade(area: Area, pixels: Pixels, x: int, y: int) -> None:
    """Add these pixels, put there, to an area."""
    for place in range(len(pixels)):
        area[pixels[place, 1] + y, pixels[place, 0] + x] = True


@compiled
def shaded(pixels: Pixels, x: int, y: int) -> Area:
    """Return the area of these pixels, put there."""
    area = empty()
    shade(area, pixels, x, y)
    return area


@compiled
def dilated(area: Area, steps: int) -> Area:
    """Return what is so many steps, across or down, from the area or less."""
    far = np.empty((SIDE, SIDE), np.int16)
    for row in range(SIDE):
        for column in range(SIDE):
            above = far[row - 1, column] if row else FAR
            left = far[row, column - 1] if column else FAR
            far[row, column] = 0 if area[row, column] else min(above, left) + 1
    made = np.empty((SIDE, SIDE), np.bool_)
    for row in range(SIDE - 1, -1, -1):
        for column in range(SIDE - 1, -1, -1):
            underneath = far[row + 1, column] if row < SIDE - 1 else FAR
            right = far[row, column + 1] if column < SIDE - 1 else FAR
            far[row, column] = min(far[row, column], underneath + 1, right + 1)
            made[row, column] = far[row, column] <= steps
    return made


@compiled
def widened(area: Area) -> Area:
    """Add to an area the eight neighbours of its pixels."""
    made = np.zeros((SIDE, SIDE), np.bool_)
    for row in range(SIDE):
        for column in range(SIDE):
            if area[row, column]:
                for y in range(max(row - 1, 0), min(row + 2, SIDE)):
                    for x in range(max(column - 1, 0), min(column + 2, SIDE)):
                        made[y, x] = True
    return made


@compiled
def close(one: Pixels, other: Pixels, steps: int) -> bool:
    """Tell whether outlines are so many steps, across or down, from each other or less."""
    for place in range(len(one)):
        x, y = one[place, 0], one[place, 1]
        for spot in range(len(other)):
            if abs(other[spot, 0] - x) + abs(other[spot, 1] - y) <= steps:
                return True
    return False
