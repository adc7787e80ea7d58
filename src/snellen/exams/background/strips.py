"""What did a target look like before its scenes? All its pictures, small, in one file."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from snellen.core import Images

SIDE = 96
ACROSS = 40
"""Pictures in a row; a JPEG is no wider than 65,535 pixels."""


def strip(pictures: Images) -> bytes:
    """Return a JPEG of all pictures side by side, in rows if they are many."""
    small = [
        np.asarray(Image.fromarray(p).resize((SIDE, SIDE), Image.Resampling.BOX)) for p in pictures
    ]
    across = min(ACROSS, len(small))
    small += [np.zeros_like(small[0])] * (-len(small) % across)
    grid = np.stack(small).reshape(-1, across, SIDE, SIDE, 3).swapaxes(1, 2)
    held = io.BytesIO()
    Image.fromarray(grid.reshape(-1, across * SIDE, 3)).save(held, "JPEG", quality=85)
    return held.getvalue()


def cut_up(strip: bytes) -> Any:
    """Return (n, side, side, 3): the pictures of a strip; beyond the last there may be black.

    >>> made = cut_up(strip(np.full((43, 48, 48, 3), 200, np.uint8)))
    >>> made.shape, int(made[42].min()), int(made[43].max())
    ((80, 96, 96, 3), 200, 0)
    """
    whole = np.asarray(Image.open(io.BytesIO(strip)).convert("RGB"))
    across = whole.shape[1] // SIDE
    return whole.reshape(-1, SIDE, across, SIDE, 3).swapaxes(1, 2).reshape(-1, SIDE, SIDE, 3)
