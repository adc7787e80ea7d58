"""Which of a few known pictures is each picture most like, pixel by pixel?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.core import Images

CHUNK = 512


def floats(images: Images) -> npt.NDArray[np.float32]:
    """Return pictures as float32 where 1 is white, whichever way they came."""
    if images.dtype == np.uint8:
        return images.astype(np.float32) / np.float32(255)
    return images


def distances(images: Images, known: Images) -> npt.NDArray[np.float32]:
    """Return the mean squared difference of every picture to every known one."""
    b = floats(known).reshape(len(known), -1)
    squares = (b * b).mean(axis=1)
    made = np.empty((len(images), len(b)), np.float32)
    for start in range(0, len(images), CHUNK):
        a = floats(images[start : start + CHUNK])
        a = a.reshape(len(a), -1)
        cross = a @ b.T / np.float32(b.shape[1])
        made[start : start + CHUNK] = (a * a).mean(axis=1)[:, None] - 2 * cross + squares
    return made
