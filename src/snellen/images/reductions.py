"""In which ways can information be taken out of a picture, a step at a time?

A way is a ladder of values, from the picture as it is to the least that the way can
leave, and a function that takes a picture to a rung. A new way is one function below;
it enters by its name, alone (`blur`) or joined to others (`combined+blur`).

Of several ways, those that change the size come first and those that cover come last,
so that a picture is made smaller, then poorer in colour, then cropped (Carrasco et al.
2020, §3.2), and its entropy is that of the small picture.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from snellen.errors import BadSetting

if TYPE_CHECKING:
    Picture: TypeAlias = npt.NDArray[np.uint8]

Shape: TypeAlias = tuple[int, ...]
Value: TypeAlias = Any
Kept: TypeAlias = tuple[int, int, int, int]
"""First row, row after the last, first column, column after the last."""
Ladder: TypeAlias = Callable[[Shape, bool], Sequence[Value]]
"""Rungs for a shape; fine ones if the way is taken alone."""
Apply: TypeAlias = Callable[["Picture", Value, int], "Picture"]
MANY_COLOURS = (256, 240, 200, 160, 128, 96, 64, 48, 40, 32)
"""Levels of a channel. Finer steps among many seldom make a PNG smaller, often larger."""
FINE_COLOURS = (*MANY_COLOURS, *range(31, 1, -1))
COARSE_COLOURS = (
    256,
    200,
    160,
    128,
    96,
    64,
    48,
    40,
    32,
    28,
    24,
    20,
    16,
    12,
    10,
    8,
    7,
    6,
    5,
    4,
    3,
    2,
)
AN_OCTAVE = 8
"""Sizes between a picture and its half, where other ways are open too."""
SLICES = 64
"""A crop takes this part of a side at a time, and no less than a row."""


@dataclass(frozen=True)
class Way:
    """One dimension along which a picture can be reduced."""

    name: str
    ladder: Ladder
    """From the original's shape to the rungs, the first of which changes nothing."""
    apply: Apply
    """From a picture, a rung and the neutral grey to the reduced picture."""


WAYS: dict[str, Way] = {}
"""In the order in which they are applied."""
CROP = ("top", "bottom", "left", "right")
JOINED: dict[str, tuple[str, ...]] = {
    "crop": CROP,
    "combined": ("resolution", "colour", *CROP),
}


def ways(reduction: str) -> tuple[Way, ...]:
    """Return the ways that a reduction may take, in the order of their application.

    >>> [way.name for way in ways("crop")]
    ['top', 'bottom', 'left', 'right']
    """
    wanted: list[str] = []
    for part in reduction.split("+"):
        wanted += JOINED.get(part, (part,))
    for name in wanted:
        if name not in WAYS:
            raise BadSetting(
                f"no reduction is called {name!r}; there are {', '.join((*JOINED, *WAYS))}, "
                "and joint ones such as colour+blur"
            )
    return tuple(way for way in WAYS.values() if way.name in wanted)


def _way(ladder: Ladder) -> Callable[[Apply], Apply]:
    def enter(apply: Apply) -> Apply:
        WAYS[apply.__name__] = Way(apply.__name__, ladder, apply)
        return apply

    return enter


def lengths(shape: Shape, alone: bool) -> Sequence[int]:
    """Return lengths of the longer side, down to one pixel: all, or eight an octave."""
    made = [max(shape[:2])]
    if alone:
        return range(made[0], 0, -1)
    while made[-1] > 1:
        made.append(min(made[-1] - 1, round(made[-1] * 2 ** (-1 / AN_OCTAVE))))
    return made


@_way(lengths)
def resolution(picture: Picture, length: int, _: int) -> Picture:
    """Make it smaller, of the same shape, each pixel the mean of those it stands for."""
    share = length / max(picture.shape[:2])
    if share >= 1:
        return picture
    height, width = (max(1, int(side * share + 1e-9)) for side in picture.shape[:2])
    return _array(_image(picture).resize((width, height), Image.Resampling.BOX))


@_way(lambda shape, _: [0.0, *(max(shape[:2]) * 2 ** (step / 2 - 10) for step in range(17))])
def blur(picture: Picture, sigma: float, _: int) -> Picture:
    """Let every pixel spread over its neighbours."""
    return _array(_image(picture).filter(ImageFilter.GaussianBlur(sigma))) if sigma else picture


@_way(lambda *_: [1.0, *(2 ** (-step / 4) for step in range(1, 33))])
def frequencies(picture: Picture, kept: float, _: int) -> Picture:
    """Keep only its lowest frequencies, up to this share of the highest."""
    if kept == 1.0:
        return picture
    spectrum = np.fft.rfft2(picture.astype(np.float32), axes=(0, 1))
    down = np.abs(np.fft.fftfreq(picture.shape[0]))[:, None]
    across = np.fft.rfftfreq(picture.shape[1])[None, :]
    spectrum[np.hypot(down, across) > 0.5 * kept] = 0
    back = np.fft.irfft2(spectrum, picture.shape[:2], axes=(0, 1))
    return np.asarray(np.rint(back).clip(0, 255), np.uint8)


@_way(lambda *_: [100, *range(95, 4, -5), 4, 3, 2, 1])
def jpeg(picture: Picture, quality: int, _: int) -> Picture:
    """Store it with loss."""
    if quality == 100:
        return picture
    held = io.BytesIO()
    _image(picture).save(held, "JPEG", quality=quality)
    with Image.open(held) as image:
        return _array(image.convert("L" if picture.shape[-1] == 1 else "RGB"))


@_way(lambda _, alone: FINE_COLOURS if alone else COARSE_COLOURS)
def colour(picture: Picture, levels: int, _: int) -> Picture:
    """Let each channel have so many levels, equally far apart from black to white."""
    return picture if levels >= 256 else _level_table(levels)[picture]


def _cropping(side: str) -> None:
    """Enter a way that covers slices from one side with the neutral grey."""
    axis = 0 if side in ("top", "bottom") else 1

    def crop(picture: Picture, slices: int, neutral: int) -> Picture:
        kept = [0, picture.shape[0], 0, picture.shape[1]]
        count = sliced(picture.shape[axis], slices)
        kept[CROP.index(side)] += -count if side in ("bottom", "right") else count
        return covered(picture, (kept[0], kept[1], kept[2], kept[3]), neutral)

    WAYS[side] = Way(side, lambda shape, _: range(SLICES if shape[axis] > 1 else 1), crop)


def covered(picture: Picture, kept: Kept, neutral: int) -> Picture:
    """Return the picture with all but the rows and columns kept made neutral."""
    top, bottom, left, right = kept
    if (top, left) == (0, 0) and (bottom, right) == picture.shape[:2]:
        return picture
    made = np.full_like(picture, neutral)
    made[top:bottom, left:right] = picture[top:bottom, left:right]
    return made


def sliced(side: int, slices: int) -> int:
    """Return how many rows so many slices are."""
    return round(slices * side / SLICES)


for _side in CROP:
    _cropping(_side)


@lru_cache(maxsize=256)
def _level_table(levels: int) -> Picture:
    steps = np.rint(np.arange(256) * (levels - 1) / 255)
    return np.asarray(np.rint(steps * (255 / (levels - 1))), np.uint8)


def _image(picture: Picture) -> Image.Image:
    return Image.fromarray(picture[..., 0] if picture.shape[-1] == 1 else picture)


def _array(image: Image.Image) -> Picture:
    array = np.asarray(image, np.uint8)
    return array[..., None] if array.ndim == 2 else array
