"""What can be seen in a scene by who knows no things, only colours and their places?

Every keyword below is a rule over a picture made small: the share of it, or of its upper
or lower third, that has a colour; how much of it is edges; whether it falls into two
halves. They are called for what is seen (`blue above`), not for what it may be (sky), and
join the tags of whoever knows things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.exams.background.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from snellen.core import Images

Values: TypeAlias = npt.NDArray[np.float64]
SIDE, BATCH = 48, 64
"""Pictures are looked at this small, so that rules hold at any size; so many at a time."""
EDGE = 0.1
"""A step of the luminance from one cell to the next that is seen as an edge."""


@dataclass(frozen=True, eq=False)
class Look:
    """Small pictures, (n, rows, columns, 3) from 0 to 1, and their colours in words."""

    pixels: Values

    @cached_property
    def value(self) -> Values:
        """How bright, from 0 to 1."""
        return np.asarray(self.pixels.max(axis=3))

    @cached_property
    def chroma(self) -> Values:
        """How far from grey."""
        return np.asarray(self.value - self.pixels.min(axis=3))

    @cached_property
    def saturation(self) -> Values:
        """How far from grey for its brightness."""
        return np.asarray(self.chroma / np.maximum(self.value, 1e-6))

    @cached_property
    def hue(self) -> Values:
        """Degrees from red over green to blue; 0 for grey."""
        red, green, blue = np.moveaxis(self.pixels, 3, 0)
        chroma = np.maximum(self.chroma, 1e-6)
        sixths = np.select(
            [self.chroma < 1e-6, self.value == red, self.value == green],
            [0.0, (green - blue) / chroma % 6, (blue - red) / chroma + 2],
            (red - green) / chroma + 4,
        )
        return np.asarray(60 * sixths)

    @cached_property
    def luminance(self) -> Values:
        """Rec. 601."""
        return np.asarray(self.pixels @ np.array([0.299, 0.587, 0.114]))

    def coloured(
        self,
        hues: tuple[float, float],
        saturation: tuple[float, float],
        value: tuple[float, float],
    ) -> npt.NDArray[np.bool_]:
        """Tell which cells have such a colour; hues may go round past red."""
        first, last = hues
        within = (self.hue - first) % 360 <= last - first
        for plane, (low, high) in ((self.saturation, saturation), (self.value, value)):
            within &= (plane >= low) & (plane <= high)
        return within


Measure: TypeAlias = Callable[[Look], Values]
COLOURS: Mapping[str, tuple[tuple[float, float], tuple[float, float], tuple[float, float]]] = {
    "blue": ((180, 260), (0.15, 1), (0.25, 1)),
    "green": ((60, 170), (0.15, 1), (0.08, 1)),
    "sandy": ((20, 55), (0.12, 0.55), (0.5, 1)),
    "brown": ((10, 50), (0.25, 1), (0.12, 0.5)),
    "warm": ((335, 380), (0.3, 1), (0.2, 1)),
    "grey": ((0, 360), (0, 0.13), (0.2, 0.75)),
    "white": ((0, 360), (0, 0.13), (0.75, 1)),
    "dark": ((0, 360), (0, 1), (0, 0.2)),
}
"""Hues in degrees, saturation and value."""


def upper(plane: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the top third."""
    return plane[:, : -(-plane.shape[1] // 3)]


def lower(plane: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the bottom third."""
    return plane[:, -(-plane.shape[1] // 3) * -1 :]


def everywhere(plane: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return all of it."""
    return plane


def share(colour: str, part: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Measure:
    """Measure how much of a part of the picture has a colour."""
    return lambda look: _mean(part(look.coloured(*COLOURS[colour])))


def edges(look: Look) -> Values:
    """Measure how much of the picture is edges."""
    return _mean(np.maximum(*_steps(look)) > EDGE)


def upright(look: Look) -> Values:
    """Measure which share of all steps of luminance is sideways: trunks, pillars, shelves."""
    across, down = (_mean(np.abs(step)) for step in _steps(look))
    return np.asarray(across / np.maximum(across + down, 1e-6) * (across + down > EDGE / 4))


def warm_texture(look: Look) -> Values:
    """Measure how much is red to orange, where there are edges enough for bricks or wood."""
    return np.asarray(share("warm", everywhere)(look) * (edges(look) > 0.1))


def horizon(look: Look) -> Values:
    """Measure the share of columns that change as the whole picture does at its clearest row.

    The change is from the sixth of the picture above the row to the sixth below it, and is
    nought where it is too faint to be seen.
    """
    rows = look.pixels.shape[1]
    band = max(1, rows // 6)
    sums = np.pad(np.cumsum(look.pixels, axis=1), ((0, 0), (1, 0), (0, 0), (0, 0)))
    at = np.arange(band, rows - band + 1)
    change = (sums[:, at + band] - 2 * sums[:, at] + sums[:, at - band]) / band
    common = change.mean(axis=2, keepdims=True)
    size = np.linalg.norm(common, axis=3)
    along = (change * common).sum(axis=3) > 0.5 * size**2
    clearest = size[..., 0].argmax(axis=1)
    each = np.arange(len(clearest))
    seen = size[each, clearest, 0] > 0.15
    return np.asarray(along.mean(axis=2)[each, clearest] * seen)


STUFF: Mapping[str, tuple[Measure, float]] = {
    "blue above": (share("blue", upper), 0.4),
    "white above": (share("white", upper), 0.4),
    "green above": (share("green", upper), 0.4),
    "dark above": (share("dark", upper), 0.5),
    "blue below": (share("blue", lower), 0.4),
    "white below": (share("white", lower), 0.4),
    "green below": (share("green", lower), 0.4),
    "sandy below": (share("sandy", lower), 0.4),
    "brown below": (share("brown", lower), 0.4),
    "grey below": (share("grey", lower), 0.5),
    "warm texture": (warm_texture, 0.25),
    "dark": (share("dark", everywhere), 0.4),
    "bright": (lambda look: _mean(look.value), 0.75),
    "colourful": (lambda look: _mean(look.chroma), 0.4),
    "clutter": (edges, 0.4),
    "plain": (lambda look: 1 - edges(look), 0.92),
    "upright lines": (upright, 0.62),
    "horizon": (horizon, 0.8),
}
"""Each keyword: what is measured of a picture, from 0 to 1, and how much of it is enough."""


def stuff_tags(images: Images, pictures: Sequence[str] = ()) -> Tags:
    """Tag pictures, uint8 or floats of which 1 is white, by colours and layout.

    >>> sky = np.full((1, 60, 60, 3), (250, 250, 250), np.uint8)
    >>> sky[:, :30] = (90, 150, 250)
    >>> sorted(stuff_tags(sky, ("snow",)).words("snow"))
    ['blue above', 'bright', 'horizon', 'plain', 'white below']
    """
    values = np.concatenate(
        [np.empty((0, len(STUFF)))]
        + [
            np.column_stack([measure(look) for measure, _ in STUFF.values()])
            for start in range(0, len(images), BATCH)
            for look in [Look(_small(images[start : start + BATCH]))]
        ]
    )
    width = len(str(max(len(images) - 1, 0)))
    names = tuple(pictures) or tuple(f"{place:0{width}}" for place in range(len(images)))
    present = values >= np.array([least for _, least in STUFF.values()])
    return Tags(names, tuple(STUFF), present, np.clip(values, 0, 1).astype(np.float32))


def nearest_stuff(
    picture: npt.NDArray[np.uint8], known: Collection[str] = STUFF
) -> tuple[str, ...]:
    """Return the keywords of a picture, strongest first; if none is known, what comes nearest.

    >>> purple = np.full((9, 9, 3), (150, 100, 110), np.uint8)
    >>> nearest_stuff(purple), nearest_stuff(purple, ("warm texture", "white below", "bright"))
    (('plain',), ('bright',))
    """
    tags = stuff_tags(picture[None], ("it",))
    assert tags.strengths is not None
    words, among = tags.words("it"), [word for word in STUFF if word in known]
    if not among or not set(words).isdisjoint(among):
        return words
    nearness = {w: s / STUFF[w][1] for w, s in zip(STUFF, tags.strengths[0], strict=True)}
    return (max(among, key=lambda word: nearness[word]),)


def _small(images: Images) -> Values:
    """Average pictures down to cells, never up; grey ones get three equal channels."""
    sums, cells = images, np.ones((1, 1, 1, 1))
    for axis in (1, 2):
        size = images.shape[axis]
        starts = np.arange(min(SIDE, size)) * size // min(SIDE, size)
        kind = np.int64 if images.dtype == np.uint8 else np.float64
        sums = np.add.reduceat(sums, starts, axis=axis, dtype=kind)
        counts = np.diff(np.append(starts, size))
        cells = cells * counts.reshape([-1 if each == axis else 1 for each in range(4)])
    small = sums / cells / (255 if images.dtype == np.uint8 else 1)
    return np.broadcast_to(small, (*small.shape[:3], 3)) if small.shape[3] == 1 else small


def _steps(look: Look) -> tuple[Values, Values]:
    """Return how luminance changes to the right and downwards, over the same cells."""
    across = np.abs(np.diff(look.luminance, axis=2))[:, 1:]
    down = np.abs(np.diff(look.luminance, axis=1))[:, :, 1:]
    return across, down


def _mean(plane: npt.NDArray[Any]) -> Values:
    return np.asarray(plane.mean(axis=(1, 2)), np.float64)
