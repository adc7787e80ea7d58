"""What do the ten shapes look like? (Hudáky et al. 2021, figures 1–10)

>>> for row in glyph(6, half=3)[11:18, 11:18]:
...     print("".join(".#"[int(pixel > 0)] for pixel in row))
#######
...#...
...#...
#######
...#...
...#...
...#...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

SIDE = 28
INK = 9
HALF = 7
"""Half the length of a stroke: 15 pixels, the middle one at (14, 14)."""

STROKES = (
    "100 100",
    "100 010",
    "100 110",
    "100 101",
    "100 111",
    "110 100",
    "110 010",
    "110 110",
    "110 101",
    "110 111",
)
"""By shape: which horizontal strokes (top, middle, bottom), which vertical ones (left to right)."""


def glyph(shape: int, half: int = HALF) -> npt.NDArray[np.uint8]:
    """Draw a shape in one-pixel strokes, `half` to each side of the middle."""
    picture = np.zeros((SIDE, SIDE), np.uint8)
    middle = SIDE // 2
    span = np.s_[middle - half : middle + half + 1]
    horizontal, vertical = STROKES[shape].split()
    for place in range(3):
        line = middle + (place - 1) * half
        if horizontal[place] == "1":
            picture[line, span] = INK
        if vertical[place] == "1":
            picture[span, line] = INK
    return picture
