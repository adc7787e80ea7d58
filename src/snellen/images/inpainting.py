"""What might be behind it? A hole in a picture, filled in from around it.

First the colours pass smoothly over the hole, then it gets the grain of what lies beside
it. That is no scene that anybody saw, but grass stays grass and sky stays sky, and it takes
a few milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    from snellen.images.photos import Picture

    Plane: TypeAlias = npt.NDArray[np.float32]
    Flags: TypeAlias = npt.NDArray[np.bool_]
    Spans: TypeAlias = tuple[slice, slice]

ROUNDS = 3
"""Of smoothing at each size. More are not seen, fewer leave squares."""
RING = 8
"""So many pixels around a hole say which colours it is filled with."""
STEPS = (
    *((0.0, side * k / 2) for k in (1, 2, 3, 4) for side in (1, -1)),
    *((side * k / 2, 0.0) for k in (1, 2, 3) for side in (1, -1)),
)
"""Down and right, in boxes of the hole: whence grain is taken, the first that has any."""
EDGE = 3
"""Detail this many times stronger than most is an edge of something, and not repeated."""


def inpainted(picture: Picture, hole: Flags) -> Picture:
    """Return the picture with the hole filled in.

    >>> sky = np.full((32, 32, 3), (90, 140, 220), np.uint8)
    >>> with_bird = sky.copy()
    >>> with_bird[10:20, 12:18] = 0
    >>> bool((inpainted(with_bird, (with_bird == 0).all(axis=2)) == sky).all())
    True
    """
    if not hole.any():
        return picture
    made = smoothed_over(picture, hole, hole).astype(np.float32)
    made[box(hole)] += _grain(picture, hole)
    return np.asarray(np.rint(made).clip(0, 255), np.uint8)


def smoothed_over(picture: Picture, unknown: Flags, wanted: Flags) -> Picture:
    """Return the picture with what is wanted of the unknown filled in smoothly."""
    around = box(wanted, grown=RING)
    if not wanted.any() or unknown[around].all():
        around = slice(0, len(picture)), slice(0, picture.shape[1])
    smooth = filled(picture[around].astype(np.float32), ~unknown[around])
    made = np.array(picture)
    colours = np.rint(smooth).astype(np.uint8)
    np.copyto(made[around], colours, where=wanted[around][..., None])
    return made


def filled(picture: Plane, known: Flags) -> Plane:
    """Return a picture, (height, width, channels), whose unknown pixels pass smoothly over.

    Down a pyramid, where each pixel is the mean of what is known of four, until nothing is
    unknown, and back up (push-pull, Gortler et al. 1996, §3.4). On the way up, unknown pixels
    become the mean of their neighbours a few times over, as a multigrid solver would have it:
    the outcome is near the membrane that is stretched between the known pixels.
    """
    if known.all():
        return picture
    if not known.any():
        raise ValueError("nothing is known of this picture, so nothing can be filled in")
    guess = _doubled(filled(*_halved(picture, known)), known.shape)
    hole = ~known[..., None]
    wide = np.pad(np.where(hole, guess, picture), ((1, 1), (1, 1), (0, 0)), mode="edge")
    for _ in range(ROUNDS):
        _relax(wide, hole)
    return wide[1:-1, 1:-1]


def box(where: Flags, grown: int = 0) -> Spans:
    """Return the rows and columns that hold all of it, and so many around."""
    spans = []
    for axis in (0, 1):
        places = np.flatnonzero(where.any(axis=1 - axis))
        low, high = (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)
        spans.append(slice(max(0, low - grown), min(where.shape[axis], high + grown)))
    return spans[0], spans[1]


def _relax(wide: Plane, hole: Flags) -> None:
    """Let each unknown pixel become the mean of its four neighbours; the rim repeats the edge."""
    wide[0], wide[-1], wide[:, 0], wide[:, -1] = wide[1], wide[-2], wide[:, 1], wide[:, -2]
    mean = wide[:-2, 1:-1] + wide[2:, 1:-1]
    mean += wide[1:-1, :-2]
    mean += wide[1:-1, 2:]
    mean *= np.float32(0.25)
    np.copyto(wide[1:-1, 1:-1], mean, where=hole)


def _halved(picture: Plane, known: Flags) -> tuple[Plane, Flags]:
    """Return means of the known of four pixels, and where there were any."""
    odd = ((0, known.shape[0] % 2), (0, known.shape[1] % 2))
    if odd != ((0, 0), (0, 0)):
        picture, known = np.pad(picture, (*odd, (0, 0))), np.pad(known, odd)
    weights = known.astype(np.float32)[..., None]
    counts, sums = _summed(weights), _summed(picture * weights)
    return np.asarray(sums / np.maximum(counts, 1), np.float32), counts[..., 0] > 0


def _summed(values: Plane) -> Plane:
    rows = values[::2] + values[1::2]
    return rows[:, ::2] + rows[:, 1::2]


def _doubled(picture: Plane, shape: tuple[int, ...]) -> Plane:
    """Return a picture of twice the size, in between pixels by their nearness."""
    rows = _stretched(picture, shape[0])
    return _stretched(rows.transpose(1, 0, 2), shape[1]).transpose(1, 0, 2)


def _stretched(picture: Plane, length: int) -> Plane:
    """Return it with twice as many rows, or one less."""
    near = picture * np.float32(0.75)
    far = picture * np.float32(0.25)
    made = np.repeat(near, 2, axis=0)
    made[2::2] += far[:-1]
    made[1:-1:2] += far[1:]
    made[0] += far[0]
    made[-1] += far[-1]
    return made[:length]


def _grain(picture: Picture, hole: Flags) -> Plane:
    """Return fine detail for the hole's box, from beside it, else from above or below."""
    rows, columns = box(hole)
    wanted = hole[rows, columns].copy()
    height, width = wanted.shape
    near = box(hole, grown=max(height, width))
    detail = _detail(picture[near].astype(np.float32), ~hole[near])
    down, right = rows.start - near[0].start, columns.start - near[1].start
    known = ~hole[near]
    made = np.zeros((height, width, picture.shape[2]), np.float32)
    for below, beside in STEPS:
        there_rows, here_rows = _overlap(down + round(below * height), height, len(known))
        there_columns, here_columns = _overlap(right + round(beside * width), width, known.shape[1])
        there, here = (there_rows, there_columns), (here_rows, here_columns)
        takes = wanted[here] & known[there]
        np.copyto(made[here], detail[there], where=takes[..., None])
        wanted[here] &= ~takes
    return made


def _detail(picture: Plane, known: Flags) -> Plane:
    """Return what tells the known pixels from the means of four by four, but for edges."""
    coarse, sure = _halved(*_halved(picture, known))
    half = -(-known.shape[0] // 2), -(-known.shape[1] // 2)
    detail = picture - _doubled(_doubled(filled(coarse, sure), half), known.shape)
    most = np.float32(EDGE * np.median(abs(detail[known]))) if known.any() else np.float32(0)
    return detail.clip(-most, most)


def _overlap(start: int, length: int, end: int) -> tuple[slice, slice]:
    """Return which part of so many places from `start` on lies in 0..end, there and counted."""
    low = min(max(start, 0), end)
    high = max(low, min(start + length, end))
    return slice(low, high), slice(low - start, high - start)
