"""What does a cart with a pole look like?

As gymnasium draws it, on 600 × 400 white pixels: 125 to the unit; a black cart of 50 × 30 with
its centre 100 above the lower edge; from its axle a pole of 10 × 125 that leans by the angle;
over it the axle, and a black line for the track. An exam sees the middle of it, rows 150 to 350
and columns 265 to 335, as 32 × 32 grey pixels (Pereyda & Holder 2020).

The small picture is drawn as such: of each of its pixels, how much each part covers. That is
what becomes of a large picture when it is averaged down, a hundred times quicker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from snellen.core import Images
    from snellen.images.cartpole.dynamics import States

Edges: TypeAlias = npt.NDArray[np.float64]
Cover: TypeAlias = npt.NDArray[np.float64]
"""(n, rows, columns): the part of each pixel that is covered."""
WIDTH, HEIGHT, SCALE = 600, 400, 125
ROWS, COLUMNS = (150, 350), (265, 335)
WHITE = 255.0
POLE = 0.299 * 202 + 0.587 * 152 + 0.114 * 101
AXLE = 0.299 * 129 + 0.587 * 132 + 0.114 * 203
TRACK_ROW, CART_SIZE = 300.0, (50.0, 30.0)
AXLE_ROW, AXLE_RADIUS = 292.5, 5.0
CORNERS = np.array([(-5, -5), (-5, 120), (5, 120), (5, -5)], float)
"""Of the upright pole: to the right of the axle and above it."""
LINES = 8
"""Lines through each row of pixels on which the slanted parts are measured."""
BLOCK = 128
"""Pictures that are drawn at once: what is needed for them fits into a processor's cache."""


def pictures(states: States, *, width: int = 32, height: int = 32, whole: bool = False) -> Images:
    """Draw the middle of each game: (n, height, width, 1), grey bytes.

    Corners lie on `whole` pixels where gymnasium's own drawing puts them, so that states that
    differ little look the same.
    """
    rows, columns = np.linspace(*ROWS, height + 1), np.linspace(*COLUMNS, width + 1)
    return _drawn(states, rows, columns, whole)


def full(states: States, *, whole: bool = False) -> Images:
    """Draw each game as a whole: (n, 400, 600, 1), grey bytes."""
    return _drawn(states, np.arange(HEIGHT + 1.0), np.arange(WIDTH + 1.0), whole)


def _drawn(states: States, rows: Edges, columns: Edges, whole: bool) -> Images:
    made = np.empty((len(states), len(rows) - 1, len(columns) - 1, 1), np.uint8)
    for start in range(0, len(states), BLOCK):
        some = slice(start, start + BLOCK)
        made[some, ..., 0] = np.rint(_painted(states[some], rows, columns, whole))
    return made


def _painted(states: States, rows: Edges, columns: Edges, whole: bool) -> Cover:
    """Lay the parts over each other, the cart first."""
    middle = states[:, 0] * SCALE + WIDTH / 2
    axle, axle_row = middle, AXLE_ROW
    sine, cosine = np.sin(states[:, 2])[:, None], np.cos(states[:, 2])[:, None]
    across = middle[:, None] + CORNERS[:, 0] * cosine + CORNERS[:, 1] * sine
    down = AXLE_ROW + CORNERS[:, 0] * sine - CORNERS[:, 1] * cosine
    half = CART_SIZE[0] / 2
    left, right = middle - half, middle + half
    if whole:
        # rows are counted from below where the fraction is cut off
        across, down = np.trunc(across), HEIGHT - np.trunc(HEIGHT - down)
        left, right = np.trunc(left), np.trunc(right)
        axle, axle_row = np.trunc(axle), HEIGHT - np.trunc(HEIGHT - AXLE_ROW)
    top = TRACK_ROW - CART_SIZE[1] / 2
    cart = _overlap(left[:, None], right[:, None], columns)
    made = WHITE * (1 - _overlap(top, top + CART_SIZE[1], rows)[:, None] * cart[:, None])
    pole, disc, both = _covered(across, down, axle[:, None], axle_row, rows, columns)
    made = made * (1 - pole - disc + both) + POLE * (pole - both) + AXLE * disc
    return np.asarray(made * (1 - _overlap(TRACK_ROW, TRACK_ROW + 1, rows)[:, None]))


def _covered(
    across: Edges, down: Edges, axle: Edges, axle_row: float, rows: Edges, columns: Edges
) -> tuple[Cover, Cover, Cover]:
    """Measure what pole and axle cover, and both: their edges share pixels, so one must know."""
    lines = (rows[:-1, None] + np.diff(rows)[:, None] * (np.arange(LINES) + 0.5) / LINES).ravel()
    enters, leaves = _crossings(across, down, lines)
    pole = _between(enters, leaves, columns)
    disc, both = np.zeros_like(pole), np.zeros_like(pole)
    near = np.flatnonzero(
        (rows[1:] > axle_row - AXLE_RADIUS) & (rows[:-1] < axle_row + AXLE_RADIUS)
    )
    if len(near):
        some = slice(near[0] * LINES, (near[-1] + 1) * LINES)
        chord = np.sqrt(np.maximum(AXLE_RADIUS**2 - (lines[some] - axle_row) ** 2, 0))
        start, end = axle - chord, axle + chord
        disc[:, near] = _between(start, end, columns)
        start, end = np.maximum(start, enters[:, some]), np.minimum(end, leaves[:, some])
        both[:, near] = _between(start, end, columns)
    return pole, disc, both


def _overlap(start: Edges | float, end: Edges | float, edges: Edges) -> Cover:
    """Return the part of each stretch between edges that lies between start and end."""
    inside = np.minimum(end, edges[1:]) - np.maximum(start, edges[:-1])
    return np.asarray(np.maximum(inside, 0) / np.diff(edges))


def _between(left: Edges, right: Edges, columns: Edges) -> Cover:
    """Average what lies between two ends on each line over the lines of a row."""
    covered = _overlap(left[..., None], right[..., None], columns)
    rows = covered.reshape(len(covered), -1, LINES, covered.shape[-1])
    return np.asarray(rows.mean(axis=2))


def _crossings(across: Edges, down: Edges, lines: Edges) -> tuple[Edges, Edges]:
    """Return where each line enters and leaves a convex outline; the same place if it misses it."""
    shape = (len(across), len(lines))
    enters, leaves = np.full(shape, np.inf), np.full(shape, -np.inf)
    for corner in range(across.shape[1]):
        x0, x1 = across[:, corner - 1, None], across[:, corner, None]
        y0, y1 = down[:, corner - 1, None], down[:, corner, None]
        crosses = (y0 > lines) != (y1 > lines)
        x = x0 + (x1 - x0) * (lines - y0) / np.where(y0 == y1, 1, y1 - y0)
        enters = np.where(crosses, np.minimum(enters, x), enters)
        leaves = np.where(crosses, np.maximum(leaves, x), leaves)
    missed = enters > leaves
    return np.where(missed, 0, enters), np.where(missed, 0, leaves)
