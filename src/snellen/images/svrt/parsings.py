"""Which shapes are in a picture, where, and how do they lie to each other?

A parsing is what the program synthesizer of Ellis et al. (2015) gets to see of a picture.
`sasquatch` makes one from the pixels, with the weaknesses that Yihe et al. (2021, §2.1)
found in the original; a parsing free of them comes with generated pictures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from snellen.core import Images, Indices

    Mask: TypeAlias = npt.NDArray[np.bool_]

MOST = 12
"""Shapes that are looked for: those with the largest areas."""
LOBE = 10
"""Pixels within an outline, from which on they are a shape and not a pinched-off corner."""
ALIKE = 10
"""Pixels in which shapes of the same identity may differ."""
ALIKE_ZOOMED = 3.06
"""The same after zooming, in roots of the pixels of the larger one."""
SQUARE = np.ones((3, 3), np.bool_)


@dataclass(frozen=True)
class Shape:
    """One shape of a parsing."""

    x: float
    y: float
    identity: int
    """From 1, in order of appearance; shapes alike share it."""
    scale: float
    """Negative when mirrored."""

    def __str__(self) -> str:
        """Print as `Shape(30,94,1,52.5)`."""
        return f"Shape({self.x:g},{self.y:g},{self.identity},{self.scale:g})"


@dataclass(frozen=True)
class Parsing:
    """The shapes of a picture and which of them contain or border on which.

    >>> print(Parsing((Shape(64, 60, 1, 96.0), Shape(70, 66, 2, 21.0)), contains=((0, 1),)))
    Shape(64,60,1,96),Shape(70,66,2,21)
    contains(0, 1)
    """

    shapes: tuple[Shape, ...]
    contains: tuple[tuple[int, int], ...] = ()
    """Places of the one outside and of the one inside."""
    borders: tuple[tuple[int, int], ...] = ()
    """Places of the two, the lower first."""

    def __str__(self) -> str:
        """Print a line of shapes, then a line for each relation."""
        return "\n".join(
            [
                ",".join(map(str, self.shapes)),
                *(f"contains({outer}, {inner})" for outer, inner in self.contains),
                *(f"borders({one}, {other})" for one, other in self.borders),
            ]
        )


def sasquatch(image: Images) -> Parsing:
    """Parse a picture from its pixels, (height, width) or (height, width, 1), dark on light.

    Shapes share an identity if their filled masks, brought to the same middle and if need
    be to the same area, hardly differ: turned or mirrored ones do not. The scale is the
    share in the area of the largest of the same identity. A space shut in by shapes that
    touch is taken for another shape.
    """
    ink = np.asarray(image).reshape(image.shape[:2]) < 128
    blobs = [_Blob(mask) for mask in _masks(ink)]
    leaders: list[_Blob] = []
    identities = [_identity(blob, leaders) for blob in blobs]
    largest = [
        max(blob.area for blob, of in zip(blobs, identities, strict=True) if of == which)
        for which in range(1, len(leaders) + 1)
    ]
    pairs = [(i, j) for i in range(len(blobs)) for j in range(len(blobs)) if i != j]
    contains = tuple((i, j) for i, j in pairs if blobs[i].contains(blobs[j]))
    return Parsing(
        tuple(
            Shape(blob.x, blob.y, of, blob.area / largest[of - 1])
            for blob, of in zip(blobs, identities, strict=True)
        ),
        contains,
        tuple(
            (i, j)
            for i, j in pairs
            if i < j and not {(i, j), (j, i)} & set(contains) and blobs[i].meets(blobs[j])
        ),
    )


class _Blob:
    """A filled shape."""

    def __init__(self, mask: Mask) -> None:
        self.mask = mask
        rows, columns = np.nonzero(mask)
        self.area = len(rows)
        self.y, self.x = float(rows.mean()), float(columns.mean())
        self.offsets = rows - self.y, columns - self.x

    @cached_property
    def wide(self) -> Mask:
        """The mask with the eight neighbours of its pixels."""
        from scipy import ndimage

        return np.asarray(ndimage.binary_dilation(self.mask, SQUARE))

    def contains(self, other: _Blob) -> bool:
        return self.area > other.area and bool(self.mask[other.mask].all())

    def meets(self, other: _Blob) -> bool:
        return bool((self.wide & other.wide).any())

    def resembles(self, other: _Blob) -> bool:
        """Compare with a shape at the same middle, as it is and at the same area."""
        larger, smaller = (self, other) if self.area >= other.area else (other, self)
        apart = larger.area + smaller.area - 2 * larger.overlap(smaller, 1.0)
        if apart < ALIKE:
            return True
        zoom = math.sqrt(larger.area / smaller.area)
        apart = 2 * (larger.area - larger.overlap(smaller, zoom))
        return apart / math.sqrt(larger.area) < ALIKE_ZOOMED

    def overlap(self, other: _Blob, zoom: float) -> int:
        """Count the own pixels that the other one covers if zoomed to the same middle."""
        rows = np.rint(other.y + self.offsets[0] / zoom).astype(np.intp)
        columns = np.rint(other.x + self.offsets[1] / zoom).astype(np.intp)
        height, width = other.mask.shape
        there = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        return int(other.mask[rows[there], columns[there]].sum())


def _identity(blob: _Blob, leaders: list[_Blob]) -> int:
    """Return the number of the first leader that the shape resembles; else it leads."""
    for number, leader in enumerate(leaders, 1):
        if leader.resembles(blob):
            return number
    leaders.append(blob)
    return len(leaders)


def _masks(ink: Mask) -> list[Mask]:
    """Return the filled shapes, the largest ones, in order of their first pixels."""
    from scipy import ndimage

    lines, line_count = ndimage.label(ink, SQUARE)
    gaps, gap_areas, owners = _gaps(ink, lines)
    whole = np.bincount(lines.ravel(), minlength=line_count + 1)
    np.add.at(whole, owners, gap_areas)
    lobes = gap_areas >= LOBE
    many = np.bincount(owners[lobes], minlength=line_count + 1) > 1
    found = [(int(whole[line]), lines, line) for line in range(1, line_count + 1) if not many[line]]
    found += [
        (int(gap_areas[gap]), gaps, gap) for gap in np.flatnonzero(lobes & many[owners]).tolist()
    ]
    found.sort(key=lambda one: -one[0])
    masks = [
        filled if labels is lines else np.asarray(ndimage.binary_dilation(filled, SQUARE))
        for _, labels, number in found[:MOST]
        for filled in [_filled(labels == number)]
    ]
    return sorted(masks, key=lambda mask: int(mask.argmax()))


def _gaps(
    ink: Mask, lines: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], Indices, Indices]:
    """Give numbers to what is shut in; return also their areas, and the lines around them.

    The numbers 0 (ink) and 1 (the outside) have neither.
    """
    gaps = _parted(ink)
    numbers, first, areas = np.unique(gaps, return_index=True, return_counts=True)
    shut = numbers > 1
    gap_areas = np.zeros(gaps.max(initial=1) + 1, np.intp)
    owners = np.zeros_like(gap_areas)
    gap_areas[numbers[shut]] = areas[shut]
    owners[numbers[shut]] = lines.ravel()[first[shut] - ink.shape[1]]  # above its first pixel
    return gaps, gap_areas, owners


def _parted(ink: Mask) -> npt.NDArray[np.int32]:
    """Give numbers to the parts of what is not ink, from 1, the outside, on."""
    from scipy import ndimage

    parts, _ = ndimage.label(np.pad(~ink, 1, constant_values=True))
    return np.asarray(parts[1:-1, 1:-1], np.int32)


def _filled(mask: Mask) -> Mask:
    return np.asarray(_parted(mask) != 1)
