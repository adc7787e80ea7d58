"""Which shapes are in a picture of outlines, and how are they related?

Everything is measured on the pixels: a shape is ink that hangs together, with what it
encloses. Coordinates are those of pixels' centres, x to the right and y down; angles
turn x towards y, which is clockwise on a screen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.errors import Unloadable, extra

if TYPE_CHECKING:
    from snellen.images.outlines.regions import Shape

    Floats: TypeAlias = npt.NDArray[np.float64]
    Integers: TypeAlias = npt.NDArray[np.int64]
    Mask: TypeAlias = npt.NDArray[np.bool_]

MOST_SHAPES = 24
"""Of more shapes, only the largest are kept."""
LONGEST_SIDE = 512
"""A longer picture is made smaller; a cell of its pixels is ink if one of them is."""


@dataclass(frozen=True, eq=False)
class Scene:
    """The shapes of a picture, the largest first, and how each stands to each."""

    side: tuple[int, int]
    """Height and width, after a very large picture was made smaller."""
    x: Floats
    y: Floats
    """(n,) centres of the filled shapes."""
    around: Floats
    """(n, 2) centres of the smallest circles round the outlines."""
    radius: Floats
    """(n,) their radii."""
    area: Integers
    """(n,) pixels of the filled shapes."""
    ink: Integers
    """(n,) pixels of the outlines."""
    box: Integers
    """(n, 4) left, top, right and bottom, all of them inked."""
    gap: Floats
    """(n, n) smallest distance of two outlines' pixels: 1 for neighbours, 0 if they share one."""
    inside: Mask
    """(n, n) whether the first lies within the second, filled."""
    same: Mask
    """(n, n) whether they differ by no more than place, turn, size and reflection."""
    residual: Floats
    """(n, n) RMS misfit in pixels of the smaller; infinite where none was worth a fit."""
    scale: Floats
    """(n, n) size of the second over that of the first."""
    angle: Floats
    """(n, n) degrees in (−180, 180] by which the first is turned; NaN where not the same.

    A mirrored shape is first reflected left to right, then turned.
    """
    mirrored: Mask
    """(n, n) whether only a reflection makes them the same."""
    outlines: tuple[Integers, ...]
    """(pixels, 2) x and y of each outline."""
    crowded: bool
    """Whether there were more shapes than are kept."""


def parse(image: npt.NDArray[Any]) -> Scene:
    """Find the shapes in a picture (height, width, 1 or 3) of bytes, or floats where 1 is white.

    What differs from the ground, light or dark, by more than mid-grey is ink. The work is
    bounded: by the size to which large pictures are reduced, by the number of shapes kept,
    and by the number of points of an outline that are fitted.
    """
    ink = reduced(_ink(image))
    with extra("svrt", "taking a picture of outlines apart"):
        from snellen.images.outlines import regions
    shapes, crowded = regions.shapes(ink, MOST_SHAPES)
    return _scene((ink.shape[0], ink.shape[1]), shapes, crowded)


def _ink(image: npt.NDArray[Any]) -> Mask:
    picture = np.asarray(image)
    if picture.ndim != 3 or picture.shape[2] not in (1, 3) or not picture.size:
        raise Unloadable(
            f"a picture of outlines is (height, width, 1 or 3), and this one is {picture.shape}"
        )
    if picture.dtype != np.uint8 and not np.issubdtype(picture.dtype, np.floating):
        raise Unloadable(
            f"a picture of outlines holds bytes or floats, and this one {picture.dtype}; "
            "convert it with .astype('uint8')"
        )
    white = 255 if picture.dtype == np.uint8 else 1
    if white == 1 and not (picture.min() >= -0.5 and picture.max() <= 1.5):
        raise Unloadable(
            f"a picture of outlines in floats goes from 0 to about 1, and this one from "
            f"{picture.min():.3g} to {picture.max():.3g}; divide it by its white"
        )
    grey = picture[:, :, 0] if picture.shape[2] == 1 else picture.mean(2)
    dark = np.ascontiguousarray(grey < white / 2)
    return ~dark if 2 * np.count_nonzero(dark) > dark.size else dark


def reduced(ink: Mask) -> Mask:
    """Make a picture no longer than it may be, and keep all lines."""
    cell = -(-max(ink.shape) // LONGEST_SIDE)
    if cell == 1:
        return ink
    height, width = (-(-side // cell) for side in ink.shape)
    whole = np.zeros((height * cell, width * cell), bool)
    whole[: ink.shape[0], : ink.shape[1]] = ink
    return np.asarray(whole.reshape(height, cell, width, cell).any((1, 3)))


def _scene(side: tuple[int, int], shapes: list[Shape], crowded: bool) -> Scene:
    from snellen.images.outlines import identity, places

    n = len(shapes)
    circles = np.array([places.circle(shape) for shape in shapes]).reshape(n, 3)
    centres = np.array([places.centre(shape) for shape in shapes]).reshape(n, 2)
    residual, same, mirrored = np.zeros((n, n)), np.eye(n, dtype=bool), np.zeros((n, n), bool)
    scale, angle = np.ones((n, n)), np.where(same, 0.0, np.nan)
    for i, j, fit in identity.fits(shapes):
        same[i, j] = same[j, i] = fit.same
        residual[i, j] = residual[j, i] = fit.residual
        scale[i, j], scale[j, i] = fit.scale, 1 / fit.scale
        mirrored[i, j] = mirrored[j, i] = fit.mirrored
        back = fit.angle if fit.mirrored or fit.angle == 180 else -fit.angle
        angle[i, j], angle[j, i] = fit.angle, back
    return Scene(
        side=side,
        x=centres[:, 0],
        y=centres[:, 1],
        around=circles[:, :2],
        radius=circles[:, 2],
        area=np.array([shape.area for shape in shapes], np.int64),
        ink=np.array([len(shape.outline) for shape in shapes], np.int64),
        box=np.array([shape.box for shape in shapes], np.int64).reshape(n, 4),
        gap=places.gaps(shapes),
        inside=places.insides(shapes),
        same=same,
        residual=residual,
        scale=scale,
        angle=angle,
        mirrored=mirrored,
        outlines=tuple(shape.outline for shape in shapes),
        crowded=crowded,
    )
