"""Which shapes of a picture contain others, and which border on each other?"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.images.compiled import compiled
from snellen.images.svrt.board import MOST, close, drawn, hits, shaded
from snellen.images.svrt.contours import box, region
from snellen.images.svrt.dice import below

if TYPE_CHECKING:
    from snellen.core import Indices
    from snellen.images.svrt.board import Board
    from snellen.images.svrt.contours import Pixels
    from snellen.images.svrt.dice import Dice

    Related: TypeAlias = npt.NDArray[np.bool_]

CLOSE = 2
"""Four-neighbour steps between outlines that border on each other."""


@compiled
def shuffled(dice: Dice, count: int) -> Indices:
    """Return 0..count-1 in random order, then the rest as it is."""
    order = np.arange(MOST)
    for place in range(count - 1, 0, -1):
        other = below(dice, place + 1)
        order[place], order[other] = order[other], order[place]
    return order


@compiled
def related(board: Board) -> tuple[Related, Related]:
    """Return which shape contains which, and which borders on which, in order of drawing."""
    contains = np.zeros((MOST, MOST), np.bool_)
    borders = np.zeros((MOST, MOST), np.bool_)
    boxes = np.empty((MOST, 4), np.intp)
    for one in range(board.counts[0]):
        mine = drawn(board, one)
        boxes[one] = box(mine)
        for other in range(one):
            theirs = drawn(board, other)
            if _gap(boxes[one], boxes[other]) <= CLOSE:
                contains[one, other] = _holds(boxes[one], boxes[other], mine, theirs)
                contains[other, one] = _holds(boxes[other], boxes[one], theirs, mine)
                borders[one, other] = borders[other, one] = close(mine, theirs, CLOSE)
    return contains, borders


@compiled
def _gap(one: Indices, other: Indices) -> int:
    """Return the steps between boxes; none where they overlap."""
    across = max(one[0] - other[1], other[0] - one[1], 0)
    return int(across + max(one[2] - other[3], other[2] - one[3], 0))


@compiled
def _holds(box: Indices, other: Indices, pixels: Pixels, others: Pixels) -> bool:
    """Tell whether all of the others are in the region that the pixels shut in."""
    if box[0] > other[0] or box[1] < other[1] or box[2] > other[2] or box[3] < other[3]:
        return False
    return hits(shaded(region(pixels), 0, 0), others, 0, 0) == len(others)
