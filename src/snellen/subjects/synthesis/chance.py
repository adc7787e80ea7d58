"""What would chance make of the very same shapes?

To be struck by a number, one must know how often it comes about by itself. So the shapes
of the lesson are thrown at random into pictures of the same size: places anywhere in the
frame without crossing, sizes jittered, likeness, handedness and turns drawn. A rule is
credible in so far as these pictures do not obey it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snellen.subjects.synthesis.board import MOST, Board

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.images.outlines import Scene
    from snellen.subjects.synthesis.board import Floats, Grid

TRIES = 20
"""Throws of a shape before one that crosses another is left out of account."""
NEAR, CONTACTS = 6.0, 0.3
"""Of shapes thrown so near each other, this share is taken to touch."""
ALIKE = 9.0
"""The k-th shape is a new one with odds of this to the k − 1 before it."""
JITTER = 0.3
"""Of sizes, in e-folds."""
WAYS = (0.4, 0.4, 0.2)
"""How often sizes are left, changed one by one, or made those of the kind."""
HANDED = 0.3
"""How often a shape is reflected."""


def thrown(scenes: Sequence[Scene], each: int, seed: int) -> list[Board]:
    """Return a board of `each` random scenes for every scene that has shapes."""
    rng = np.random.default_rng(seed)
    return [_thrown(scene, each, rng) for scene in scenes if len(scene.x)]


def _thrown(scene: Scene, each: int, rng: np.random.Generator) -> Board:
    from snellen.subjects.synthesis.throwing import throw

    count = min(len(scene.x), MOST)
    outlines = [outline.astype(np.int64) for outline in scene.outlines[:count]]
    shifts, gap, within = throw(outlines, scene.side, rng.random((each, count, TRIES, 2)))
    first, second = np.triu_indices(count, 1)
    touch = (gap < NEAR) & (rng.random(gap.shape) < CONTACTS) & ~within
    kind, flipped = _kinds(each, count, rng), rng.random((each, count)) < HANDED
    same = kind[:, first] == kind[:, second]
    turns = rng.uniform(-180, 180, (each, count))
    turn = np.abs((turns[:, first] - turns[:, second] + 180) % 360 - 180)
    box = scene.box[:count]
    low, high = box[:, :2] + shifts, box[:, 2:] + shifts
    edges = np.array([scene.side[1] - 1, scene.side[0] - 1])
    return Board(
        frame=np.tile(edges + 1.0, (each, 1)),
        x=scene.x[:count] + shifts[:, :, 0],
        y=scene.y[:count] + shifts[:, :, 1],
        size=_sizes(np.sqrt(scene.area[:count]), kind, rng),
        ink=np.tile(scene.ink[:count].astype(float), (each, 1)),
        margin=np.minimum(low, edges - high).min(2).astype(float),
        gap=np.where(touch, 1.0, gap),
        within=within,
        same=same,
        mirrored=same & (flipped[:, first] != flipped[:, second]),
        turn=np.where(same, turn, np.nan),
    )


def _sizes(own: Floats, kind: Grid, rng: np.random.Generator) -> Floats:
    """Leave the sizes, change each, or give shapes of a kind one size; the last most often."""
    each, count = kind.shape
    first = (kind[:, :, None] == kind[:, None, :]).argmax(2)
    way = rng.choice(3, (each, 1), p=WAYS)
    taken = np.where(way == 2, first, np.arange(count))
    stretch = np.where(way == 0, 1.0, np.exp(JITTER * rng.standard_normal((each, count))))
    return np.asarray(own[taken] * np.take_along_axis(stretch, taken, axis=1))


def _kinds(each: int, count: int, rng: np.random.Generator) -> Grid:
    """Let each shape be a new kind, or the kind of one before it (a Chinese restaurant)."""
    kind = np.zeros((each, count), np.int64)
    for place in range(1, count):
        fresh = rng.random(each) < ALIKE / (ALIKE + place)
        old = kind[np.arange(each), rng.integers(0, place, each)]
        kind[:, place] = np.where(fresh, place, old)
    return kind
