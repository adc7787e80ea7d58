"""Which pixels belong to which shape?

A shape is an 8-connected component of ink with all that it encloses. A component with
several large regions that meet in a few pixels is several shapes that touch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from snellen.images.compiled import compiled

Mask: TypeAlias = npt.NDArray[np.bool_]
Cutting: TypeAlias = npt.NDArray[np.uint8]
Labels: TypeAlias = npt.NDArray[np.int32]
Numbers: TypeAlias = npt.NDArray[np.int64]

OUTSIDE, WITHIN, INK = 0, 1, 2
"""What a pixel of a cutting can be."""
PART, PIXELS = 0.05, 30
"""A region is large if it has this part of the largest one's pixels, and so many of them.

An outline that pinches itself makes smaller pockets, two that touch leave larger regions.
"""
WALL, LENGTH = 0.1, 4
"""Shapes that touch share no more than this part of the smaller one's wall, or so many pixels.

Regions with a longer wall between them are parts of one shape, or a bay that two shut in.
"""


@dataclass(frozen=True, eq=False)
class Shape:
    """One shape, cut out: where the cutting lies, and what each of its pixels is."""

    left: int
    top: int
    cutting: Cutting
    area: int

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Return the first and last of its columns and rows: left, top, right, bottom."""
        height, width = self.cutting.shape
        return self.left, self.top, self.left + width - 1, self.top + height - 1

    @cached_property
    def outline(self) -> Numbers:
        """Return (x, y) of its ink, from top to bottom and then from left to right."""
        y, x = np.nonzero(self.cutting == INK)
        return np.stack([x + self.left, y + self.top], 1)

    @cached_property
    def rim(self) -> Cutting:
        """Return the cutting with ink that has ink on all four sides counted as within."""
        return np.asarray(rimmed(self.cutting))


def shapes(ink: Mask, most: int) -> tuple[list[Shape], bool]:
    """Return the shapes of a picture, largest first, at most so many; say if there are more."""
    labels, boxes = components(ink, True)
    extents = (boxes[:, 2] - boxes[:, 0] + 1) * (boxes[:, 3] - boxes[:, 1] + 1)
    found: list[Shape] = []
    for place in np.argsort(-extents, kind="stable").tolist():
        if len(found) >= most and found[most - 1].area >= extents[place]:
            break  # all that is left is smaller than what is kept
        left, top, right, bottom = boxes[place].tolist()
        cutting = filled(labels[top : bottom + 1, left : right + 1] == place + 1)
        found += [_shape(left, top, part) for part in parted(cutting, most)]
        found.sort(key=lambda shape: (-shape.area, shape.top, shape.left))
    return found[:most], max(len(found), len(boxes)) > most


def _shape(left: int, top: int, cutting: Cutting) -> Shape:
    rows, columns = np.flatnonzero(cutting.any(1)), np.flatnonzero(cutting.any(0))
    cutting = cutting[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    area = int(np.count_nonzero(cutting))
    return Shape(left + int(columns[0]), top + int(rows[0]), np.ascontiguousarray(cutting), area)


def parted(cutting: Cutting, most: int) -> list[Cutting]:
    """Part a component into the shapes that touch in it: nearly always it is one."""
    regions, boxes = components(cutting == WITHIN, False)
    if len(boxes) < 2:
        return [cutting]
    sizes = np.bincount(regions.reshape(-1))
    sizes[0] = 0
    large = np.flatnonzero(sizes >= max(PART * sizes.max(), PIXELS))
    if len(large) < 2:
        return [cutting]
    ink, insides, walls = cutting == INK, list[Mask](), list[Mask]()
    for region in large[np.argsort(-sizes[large], kind="stable")[:most]]:
        inside = regions == region
        wall = ndimage.binary_dilation(inside) & ink
        shared = max((np.count_nonzero(wall & other) for other in walls), default=0)
        if shared <= max(WALL * np.count_nonzero(wall), LENGTH):
            insides.append(inside)
            walls.append(wall)
    away = np.stack([ndimage.distance_transform_edt(~inside) for inside in insides])
    return [filled(ink & nearest) for nearest in away == away.min(0)]  # a tie is shared


@compiled
def components(mask: Mask, diagonal: bool) -> tuple[Labels, Numbers]:
    """Return numbers from 1 for what is connected, and left, top, right, bottom of each."""
    height, width = mask.shape
    labels = np.zeros((height, width), np.int32)
    boxes = np.empty((mask.sum(), 4), np.int64)
    stack = np.empty(mask.size, np.int32)
    count = 0
    for start in range(mask.size):
        y, x = start // width, start % width
        if not mask[y, x] or labels[y, x]:
            continue
        box = boxes[count]
        box[0], box[1], box[2], box[3] = x, y, x, y
        count += 1
        labels[y, x] = count
        stack[0], depth = start, 1
        while depth:
            depth -= 1
            y, x = stack[depth] // width, stack[depth] % width
            box[0], box[1] = min(box[0], x), min(box[1], y)
            box[2], box[3] = max(box[2], x), max(box[3], y)
            for v in range(max(y - 1, 0), min(y + 2, height)):
                for u in range(max(x - 1, 0), min(x + 2, width)):
                    if mask[v, u] and not labels[v, u] and (diagonal or u == x or v == y):
                        labels[v, u] = count
                        stack[depth] = v * width + u
                        depth += 1
    return labels, boxes[:count].copy()


@compiled
def filled(ink: Mask) -> Cutting:
    """Tell ink, what it encloses, and the outside, which reaches the edge by 4-neighbours."""
    height, width = ink.shape
    made = np.empty((height, width), np.uint8)
    for y in range(height):
        for x in range(width):
            made[y, x] = INK if ink[y, x] else WITHIN
    stack = np.empty(2 * (height + width) + ink.size, np.int32)
    depth = 0
    for y in range(height):
        step = 1 if y in (0, height - 1) else max(width - 1, 1)
        for x in range(0, width, step):
            if made[y, x] == WITHIN:
                made[y, x] = OUTSIDE
                stack[depth] = y * width + x
                depth += 1
    while depth:
        depth -= 1
        y, x = stack[depth] // width, stack[depth] % width
        for v, u in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
            if 0 <= v < height and 0 <= u < width and made[v, u] == WITHIN:
                made[v, u] = OUTSIDE
                stack[depth] = v * width + u
                depth += 1
    return made


@compiled
def rimmed(cutting: Cutting) -> Cutting:
    """Turn thick ink into a line round it."""
    made = cutting.copy()
    for y in range(1, cutting.shape[0] - 1):
        for x in range(1, cutting.shape[1] - 1):
            if cutting[y, x] == INK:
                upright = cutting[y - 1, x] == INK and cutting[y + 1, x] == INK
                if upright and cutting[y, x - 1] == INK and cutting[y, x + 1] == INK:
                    made[y, x] = WITHIN
    return made
