"""Which shapes are shown, and how do thousands of pictures of them come about at once?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from PIL import Image

from snellen.errors import Unloadable
from snellen.images import glyphs
from snellen.images.datasets import PictureSet, grey, load_pictures
from snellen.images.glyphs import INK, glyph
from snellen.images.noise import noisy

if TYPE_CHECKING:
    from snellen.core import Images, Indices
    from snellen.exams.abstraction.transformations import Drawing, Levels, Transformation
    from snellen.seeds import Seed


class Shapes(Protocol):
    """A set of shapes, of each of which there may be several pictures."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the shapes are called."""

    def drawings(self, shape: int, *, testing: bool) -> int:
        """Return how many pictures of a shape there are, to learn from or to test with."""

    def drawing(self, shape: int, which: int, *, testing: bool) -> Drawing:
        """Return one of them."""

    def key(self) -> Levels:
        """Return the typical picture of each shape."""

    @property
    def content(self) -> str:
        """A hash of them; empty for the glyphs."""


class Glyphs:
    """The ten shapes of the paper, each with its one picture."""

    content = ""
    names = tuple(str(shape) for shape in range(len(glyphs.STROKES)))

    def drawings(self, shape: int, *, testing: bool) -> int:  # noqa: ARG002
        """There is one, whatever for."""
        return 1

    def drawing(self, shape: int, which: int, *, testing: bool) -> Drawing:  # noqa: ARG002
        """Redraw it in one-pixel strokes at any scale."""
        return lambda scale: glyph(shape, round(glyphs.HALF * scale))

    def key(self) -> Levels:
        """All ten."""
        return np.stack([glyph(shape) for shape in range(len(self.names))])


@dataclass(frozen=True, eq=False)
class Pictures:
    """Small grey pictures from a file or folder, in place of the glyphs."""

    levels: Levels
    places: dict[bool, list[Indices]]
    """By whether they are for testing and by shape: where its pictures are."""
    names: tuple[str, ...]
    content: str

    def drawings(self, shape: int, *, testing: bool) -> int:
        """Return how many there are."""
        return len(self.places[testing][shape])

    def drawing(self, shape: int, which: int, *, testing: bool) -> Drawing:
        """Scale it about its middle."""
        picture = self.levels[self.places[testing][shape][which]]
        return lambda scale: _scaled(picture, scale)

    def key(self) -> Levels:
        """Return each shape's mean picture."""
        means = [self.levels[p].mean(axis=0) for p in self.places[False]]
        return np.rint(means).astype(np.uint8)


@lru_cache(maxsize=2)
def load_shapes(path: str) -> Shapes:
    """Return the glyphs, or the pictures at `path` if one is given."""
    return _from_pictures(load_pictures(path), path) if path else Glyphs()


def render(
    shapes: Shapes,
    transformation: Transformation,
    which: Indices,
    outcomes: Indices,
    sigma: float,
    seed: Seed,
    *,
    testing: bool,
) -> Images:
    """Draw shape `which[i]` with outcome `outcomes[i]` and noise, scaled so that ink is 1.

    Each distinct drawing is drawn once; the rest is gathering and noise.
    """
    counts = np.array([shapes.drawings(s, testing=testing) for s in range(len(shapes.names))])
    picks = np.zeros(len(which), np.intp)
    if counts.max() > 1:
        picks = (seed.bits(len(which)) % counts[which].astype(np.uint64)).astype(np.intp)
    code = (which * len(transformation.outcomes) + outcomes) * counts.max() + picks
    _, first, back = np.unique(code, return_index=True, return_inverse=True)
    bank = np.stack(
        [
            transformation.apply(
                shapes.drawing(int(which[i]), int(picks[i]), testing=testing),
                transformation.outcomes[outcomes[i]],
            )(1.0)
            for i in first
        ]
    )
    made = noisy(bank[back], sigma, seed).astype(np.float32)
    made /= np.float32(INK)
    return made[..., None]


def _from_pictures(pictures: PictureSet, path: str) -> Shapes:
    images = grey(pictures.images)
    side = max(images.shape[1:])
    if side > 64:
        raise Unloadable(
            f"{path}: this exam is for small pictures, at most 64 pixels; found {side}"
        )
    rows, columns = ((side - length) // 2 for length in images.shape[1:])
    square = np.zeros((len(images), side, side), np.uint8)
    square[:, rows : rows + images.shape[1], columns : columns + images.shape[2]] = images
    parts = {False: pictures.teaching, True: pictures.testing}
    places = {
        testing: [part[pictures.labels[part] == s] for s in range(len(pictures.names))]
        for testing, part in parts.items()
    }
    for group in places.values():
        for shape, found in zip(pictures.names, group, strict=True):
            if not len(found):
                raise Unloadable(f"{path}: class {shape!r} needs at least two pictures")
    levels = (square // np.uint8(28)).clip(0, INK)
    if not levels.any():
        raise Unloadable(
            f"{path}: its pixels run up to {square.max()}, and white is 255; multiply them first"
        )
    return Pictures(levels, places, pictures.names, pictures.content)


def _scaled(picture: Levels, scale: float) -> Levels:
    if scale == 1.0:
        return picture
    side = len(picture)
    size = max(1, round(side * scale))
    resized = Image.fromarray(picture).resize((size, size), Image.Resampling.BILINEAR)
    framed = Image.new("L", (side, side))
    framed.paste(resized, ((side - size) // 2, (side - size) // 2))
    return np.asarray(framed)
