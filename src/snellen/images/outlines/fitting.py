"""Which similarity takes one outline onto another, and how badly does it fit?

Complex numbers are points, and turn · a + at takes a point of the first outline to the second.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.images.compiled import compiled
from snellen.images.outlines.regions import INK, WITHIN, Cutting

Floats: TypeAlias = npt.NDArray[np.float64]
Points: TypeAlias = npt.NDArray[np.complex128]
Traced: TypeAlias = tuple[Points, Cutting]
"""Points of an outline, and where all its ink is."""
RINGS, SPOKES = 14, 96
REACH = 2.4
"""How far the rings go, in radii of the disc of the same mass."""
AWAY, FURTHEST = 2, 8
"""Ink is looked for so many pixels of the smaller shape away, and of any shape at most."""
STEPS, SMALL_STEP = 15, 1e-5
HOPEFUL = ((0, 1.0), (1, 0.8), (3, 0.6))
"""From which step on the misfit must be less than what, or the fit is given up."""


@compiled
def moments(cutting: Cutting) -> tuple[float, float, float]:
    """Return mass, x and y of a filled shape whose outline counts half."""
    mass = x = y = 0.0
    for v in range(cutting.shape[0]):
        for u in range(cutting.shape[1]):
            if cutting[v, u]:
                weight = 1.0 if cutting[v, u] == WITHIN else 0.5
                mass += weight
                x += weight * u
                y += weight * v
    return mass, x / mass, y / mass


@compiled
def polar(cutting: Cutting, mass: float, x: float, y: float) -> Floats:
    """Sample a shape on rings about its middle, (rings, spokes), so that its size is gone."""
    made = np.zeros((RINGS, SPOKES))
    height, width = cutting.shape
    step = REACH * np.sqrt(mass / np.pi) / RINGS
    for spoke in range(SPOKES):
        turn = 2 * np.pi * spoke / SPOKES
        for ring in range(RINGS):
            radius = (ring + 0.5) * step
            u, v = x + radius * np.cos(turn), y + radius * np.sin(turn)
            left, top = int(np.floor(u)), int(np.floor(v))
            total = 0.0
            for row in (top, top + 1):
                for column in (left, left + 1):
                    if 0 <= row < height and 0 <= column < width and cutting[row, column]:
                        weight = (1 - abs(u - column)) * (1 - abs(v - row))
                        total += weight if cutting[row, column] == WITHIN else weight / 2
            made[ring, spoke] = total * np.sqrt(ring + 0.5)  # a ring counts by its length
    return made


@compiled
def peaks(curve: Floats) -> tuple[Floats, Floats]:
    """Return angle, between the spokes, and height of the two highest peaks of a cycle."""
    angles, heights = np.zeros(2), np.full(2, -np.inf)
    for k in range(len(curve)):
        before, here, after = curve[k - 1], curve[k], curve[(k + 1) % len(curve)]
        if before <= here > after and here > heights[1]:
            slot = 0 if here > heights[0] else 1
            angles[1], heights[1] = angles[0], heights[0]
            bend = 2 * here - before - after
            angles[slot] = (k + 0.5 * (after - before) / bend) * 2 * np.pi / len(curve)
            heights[slot] = here
    return angles, heights


@compiled
def refined(a: Traced, b: Traced, turn: complex, at: complex) -> tuple[float, complex]:
    """Improve a similarity by iterative closest points, both ways (Besl and McKay 1992).

    Returns the RMS misfit in pixels of the smaller shape, infinite if the fit is given up,
    and the turn.
    """
    pairs = np.empty((len(a[0]) + len(b[0]), 2), np.complex128)
    least, best, most = np.inf, turn, np.inf
    for step in range(STEPS):
        for since, limit in HOPEFUL:
            if step >= since:
                most = limit**2
        misfit, count = _matched(a, b, turn, at, most, pairs)
        if min(misfit, least) > most:
            return np.inf, turn
        gain = least - misfit
        if gain > 0:
            least, best = misfit, turn
        if gain < SMALL_STEP or count < 3:
            break
        turn, at = _similarity(pairs[:count], turn)
    return np.sqrt(least), best


@compiled
def _matched(
    a: Traced, b: Traced, turn: complex, at: complex, most: float, pairs: Points
) -> tuple[float, int]:
    """Pair each outline's points with the other's nearest; return the mean square, and how many.

    The mean is infinite if it is more than `most`.
    """
    larger, smaller = max(abs(turn), 1.0), min(abs(turn), 1.0)
    count, forth, back = 0, 0.0, 0.0
    reach = min(int(np.ceil(AWAY * larger)), FURTHEST)
    for point in a[0]:
        square, there = nearest(b[1], turn * point + at, reach)
        if square < reach * reach:
            pairs[count, 0], pairs[count, 1] = point, there
            count += 1
            forth += square / larger**2 / len(a[0])
        else:
            forth += AWAY**2 / len(a[0])
            if forth > 2 * most:
                return np.inf, count
    reach = min(int(np.ceil(AWAY / smaller)), FURTHEST)
    for point in b[0]:
        square, there = nearest(a[1], (point - at) / turn, reach)
        if square < reach * reach:
            pairs[count, 0], pairs[count, 1] = there, point
            count += 1
            back += square * smaller**2 / len(b[0])
        else:
            back += AWAY**2 / len(b[0])
            if forth + back > 2 * most:
                return np.inf, count
    return (forth + back) / 2, count


@compiled
def _similarity(pairs: Points, turn: complex) -> tuple[complex, complex]:
    """Return the similarity that takes the first of each pair nearest to the second.

    Its size is the ratio of the spreads, which favours neither side (Horn 1987, §2E).
    """
    one, other = pairs[:, 0].mean(), pairs[:, 1].mean()
    cross, spread, other_spread = 0j, 0.0, 0.0
    for k in range(len(pairs)):
        p, q = pairs[k, 0] - one, pairs[k, 1] - other
        cross += p.conjugate() * q
        spread += abs(p) ** 2
        other_spread += abs(q) ** 2
    if abs(cross) > 0:
        turn = cross / abs(cross) * np.sqrt(other_spread / spread)
    return turn, other - turn * one


@compiled
def nearest(cutting: Cutting, point: complex, reach: int) -> tuple[float, complex]:
    """Return the squared distance to the nearest ink, at most reach², and where that is."""
    height, width = cutting.shape
    x, y = int(np.floor(point.real + 0.5)), int(np.floor(point.imag + 0.5))
    best, there = float(reach * reach), -1
    for ring in range(reach + 1):
        if ring > 0 and (ring - 0.5) ** 2 >= best:
            break
        for row in range(max(y - ring, 0), min(y + ring + 1, height)):
            step = 1 if abs(row - y) == ring else 2 * ring
            for column in range(x - ring, x + ring + 1, step):
                if 0 <= column < width and cutting[row, column] == INK:
                    square = (column - point.real) ** 2 + (row - point.imag) ** 2
                    if square < best:
                        best, there = square, row * width + column
    if there < 0:
        return best, point
    return _on_line(cutting, point, there % width, there // width)


@compiled
def _on_line(cutting: Cutting, point: complex, x: int, y: int) -> tuple[float, complex]:
    """Return what is nearest on the lines from a pixel of ink to its inked neighbours."""
    height, width = cutting.shape
    origin = complex(x, y)
    away = point - origin
    best, there = away.real**2 + away.imag**2, origin
    for row in range(max(y - 1, 0), min(y + 2, height)):
        for column in range(max(x - 1, 0), min(x + 2, width)):
            if cutting[row, column] == INK and (row != y or column != x):
                along = complex(column - x, row - y)
                part = (away.real * along.real + away.imag * along.imag) / abs(along) ** 2
                off = away - min(max(part, 0.0), 1.0) * along
                square = off.real**2 + off.imag**2
                if square < best:
                    best, there = square, point - off
    return best, there
