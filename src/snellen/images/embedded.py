"""Which labelled pictures are at hand without a file?

>>> glyphs = embedded("glyphs")
>>> glyphs.images.shape[1:], len(glyphs.names)
((32, 32, 1), 10)
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from snellen.errors import UnknownName, extra
from snellen.images.datasets import PictureSet, grey, parted
from snellen.images.glyphs import HALF, INK, STROKES, glyph
from snellen.images.things import THINGS, draw_things
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from snellen.core import Images, Indices

SIDE = 32
DRAWN = 6000
"""So many pictures there are of each set that is drawn."""
SMALLEST, SHIFT, NOISE = 5, 3, 25.0
"""Glyphs: the shortest half stroke, the farthest move in pixels, the noise in grey levels."""


@lru_cache(maxsize=8)
def embedded(name: str) -> PictureSet:
    """Return the pictures that go by a name; those of a drawn set are the same each time."""
    if name not in EMBEDDED:
        raise UnknownName(f"no pictures are called {name!r}; there are {', '.join(EMBEDDED)}")
    return EMBEDDED[name]()


def _glyphs() -> PictureSet:
    """Ten shapes of four sizes anywhere in the picture, under noise."""
    seed = Seed("embedded", "glyphs")
    labels = seed.shuffled(DRAWN) % len(STROKES)
    halves = SMALLEST + (seed.bits(DRAWN) % np.uint64(HALF - SMALLEST + 1)).astype(int)
    moves = (seed.bits(2 * DRAWN) % np.uint64(2 * SHIFT + 1)).astype(int).reshape(-1, 2) - SHIFT
    drawn = np.zeros((DRAWN, SIDE, SIDE), np.float32)
    for i, (label, half, move) in enumerate(zip(labels, halves, moves, strict=True)):
        inner = glyph(int(label), int(half)) * (200.0 / INK)
        drawn[i, 2:-2, 2:-2] = np.roll(inner, tuple(move), (0, 1))
    drawn += NOISE * normals(seed, drawn.size).reshape(drawn.shape)
    return _parted(np.clip(drawn, 0, 255).astype(np.uint8), labels, tuple("0123456789"))


def _things() -> PictureSet:
    """Nine things before random grounds, in grey."""
    images, labels = draw_things(Seed("embedded", "things"), DRAWN, SIDE)
    return _parted(grey(images), labels, THINGS)


def _digits() -> PictureSet:
    """Scikit-learn's 1,797 handwritten digits, each pixel four wide."""
    with extra("sklearn", "the pictures called 'digits'"):
        from sklearn.datasets import load_digits
    found = load_digits()
    small = np.minimum(np.asarray(found.images) * 16, 255).astype(np.uint8)
    large = small.repeat(4, axis=1).repeat(4, axis=2)
    return _parted(large, np.asarray(found.target, np.intp), tuple("0123456789"))


EMBEDDED: dict[str, Callable[[], PictureSet]] = {
    "digits": _digits,
    "glyphs": _glyphs,
    "things": _things,
}


def normals(seed: Seed, count: int) -> Images:
    """Return nearly normal numbers: the sum of four even ones, scaled to variance 1.

    Whole-number sums are the same on every machine; nobody sees the missing tails.
    """
    parts = seed.shorts(4 * count).reshape(4, count).astype(np.int64).sum(axis=0)
    return np.asarray((parts - 4 * 32767.5) / (65536 / np.sqrt(3)), np.float32)


def _parted(images: Images, labels: Indices, names: tuple[str, ...]) -> PictureSet:
    return PictureSet(images[..., None], labels, names, parted(labels))
