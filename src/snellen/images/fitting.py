"""How are pictures of any size brought to one?

>>> fitted(np.full((2, 12, 8, 1), 9, np.uint8), 32).shape
(2, 32, 32, 1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from snellen.errors import Unloadable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snellen.core import Images
    from snellen.images.photos import Picture


def fitted(images: Images, side: int) -> Images:
    """Return (n, side, side, c) of (n, h, w, c): whole multiples in black borders, or reduced."""
    height, width, channels = images.shape[1:]
    if max(height, width) > side:
        small = np.empty((len(images), side, side, channels), np.uint8)
        for made, picture in zip(small, images, strict=True):
            made[:] = _reduced(picture, side)
        return small
    times = side // max(height, width)
    large = images.repeat(times, axis=1).repeat(times, axis=2)
    rows, columns = side - large.shape[1], side - large.shape[2]
    border = ((rows // 2, rows - rows // 2), (columns // 2, columns - columns // 2))
    return np.pad(large, ((0, 0), *border, (0, 0)))


def stacked(pictures: Iterable[Picture], count: int, place: object, side: int = 0) -> Images:
    """Lay `count` pictures, one at a time, into one array; `side` brings them to one size first.

    Grey ones among coloured ones become grey in three channels. Only the array itself and one
    picture are held.
    """
    made: Images | None = None
    for which, given in enumerate(pictures):
        picture = fitted(given[None], side)[0] if side else given
        if made is None:
            made = np.zeros((count, *picture.shape), np.uint8)
        if picture.shape[:2] != made.shape[1:3]:
            raise Unloadable(
                f"the pictures of {place} must have one size; found {_size(made[0])} and "
                f"{_size(picture)}; make them alike, or call load_pictures with a side to fit "
                "them to"
            )
        if picture.shape[2] > made.shape[3]:
            made = made.repeat(3, axis=3)
        made[which] = picture
    if made is None:
        raise Unloadable(f"there are no pictures in {place}")
    return made


def _reduced(picture: Picture, side: int) -> Picture:
    plain = picture[..., 0] if picture.shape[2] == 1 else picture
    small = np.asarray(Image.fromarray(plain).resize((side, side), Image.Resampling.BOX))
    return small.reshape(side, side, picture.shape[2])


def _size(picture: Picture) -> str:
    height, width = picture.shape[:2]
    return f"{height} × {width}"
