"""What is in a picture file, whatever kind of file it is?

Files from the world are turned the way their camera says, mixed down to grey or RGB
bytes, laid on white where they are transparent, and made smaller where they are huge.
What cannot be read is refused with the reason.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps

from snellen.errors import Unloadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, TypeAlias

    import numpy.typing as npt

    Picture: TypeAlias = npt.NDArray[np.uint8]
    Size: TypeAlias = tuple[int, int]
    """Height, then width."""

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff"}
MOST_PIXELS = 1 << 22
"""Larger pictures are made smaller while they are read."""
REFUSED_PIXELS = 100_000_000
"""Beyond this a file is refused unread: reading takes up to 12 bytes a pixel of it."""
GREY_MODES = {"1", "L", "I", "F", "I;16", "I;16L", "I;16B", "LA", "La"}


def read_photo(path: Path, most_pixels: int = MOST_PIXELS) -> Picture:
    """Return the (first) picture of a file as (height, width, 1 or 3) bytes."""
    with opened(path) as file:
        return _plain(file, most_pixels)


def decode_photo(content: bytes, called: str, most_pixels: int = MOST_PIXELS) -> Picture:
    """Return the picture that a file of that content would hold; errors name it as `called`."""
    with opened(BytesIO(content), called) as file:
        return _plain(file, most_pixels)


def read_squashed(path: Path, size: Size) -> Picture:
    """Return the picture of a file as (height, width, 3) bytes of just this size.

    A JPEG is decoded at the smallest of its fractions that is still large enough, which is
    most of the time that reading takes.
    """
    with opened(path) as file:
        file.draft(None, (max(size), max(size)))  # either way up: it may have to be turned
        return squashed(_plain(file, MOST_PIXELS), size)


def squashed(picture: Picture, size: Size) -> Picture:
    """Return a picture in three colours and of just this size, whatever shape it had.

    >>> squashed(np.full((30, 40, 1), 7, np.uint8), (8, 8)).shape
    (8, 8, 3)
    """
    if picture.shape[:2] != size:
        image = Image.fromarray(picture[..., 0] if picture.shape[2] == 1 else picture)
        picture = np.asarray(image.resize(size[::-1], Image.Resampling.BILINEAR), np.uint8)
    return np.broadcast_to(picture.reshape(*size, -1), (*size, 3))


@contextmanager
def opened(source: Path | BytesIO, called: str = "") -> Iterator[Image.Image]:
    """Open a picture file; tell whatever is wrong with it as `Unloadable`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd EXIF data and large pictures
            with Image.open(source) as file:
                _check_size(file)
                yield file
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        reason = str(error).replace(str(source), "the file") or type(error).__name__
        raise Unloadable(f"{called or source} cannot be read as a picture: {reason}") from error


def _check_size(file: Image.Image) -> None:
    pixels = file.width * file.height
    if pixels > REFUSED_PIXELS:
        raise ValueError(
            f"it has {pixels / 1e6:.0f} megapixels, more than {REFUSED_PIXELS / 1e6:.0f}"
        )


def _plain(file: Image.Image, most_pixels: int) -> Picture:
    shrink = min(1.0, (most_pixels / (file.width * file.height)) ** 0.5)
    goal = (max(1, int(file.width * shrink)), max(1, int(file.height * shrink)))
    if shrink < 1:
        file.draft(None, goal)  # a JPEG can be decoded at a fraction of its size
    grey = file.mode in GREY_MODES
    picture = _eight_bit(file)
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        ground = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(ground, picture)
    picture = picture.convert("L" if grey else "RGB")
    if shrink < 1:
        picture = picture.resize(goal, Image.Resampling.BOX)
    picture = ImageOps.exif_transpose(_with_exif(picture, file))
    array = np.asarray(picture, np.uint8)
    return array[..., None] if array.ndim == 2 else array


def _eight_bit(file: Image.Image) -> Image.Image:
    """Bring deeper greys down to bytes; Pillow itself would clip them at 255."""
    if file.mode not in ("I", "F", "I;16", "I;16L", "I;16B"):
        return file
    values: Any = np.asarray(file, np.float64)
    if not np.isfinite(values).all() or values.min() < 0:
        raise ValueError(f"its pixels run from {values.min():g} to {values.max():g}")
    top = (
        1.0 if values.max() <= 1 and file.mode == "F" else 255.0 if values.max() < 256 else 65535.0
    )
    if values.max() > top:
        raise ValueError(f"its pixels run up to {values.max():g}, beyond 16 bits")
    return Image.fromarray(np.rint(values * (255 / top)).astype(np.uint8))


def _with_exif(picture: Image.Image, file: Image.Image) -> Image.Image:
    picture.info["exif"] = file.info.get("exif", b"")
    return picture
