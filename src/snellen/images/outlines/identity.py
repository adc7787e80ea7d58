"""Which shapes are the same but for place, turn, size and reflection?

Shapes that agree pixel by pixel after a reflection or a quarter turn, or none, are the same.
Of others, filled shapes sampled on rings about their middles tell by correlation at which
angles they might agree; from there the outlines are fitted, and the misfit decides. The
simplest transformation that fits is taken: as it is, reflected, turned, turned and reflected.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from snellen.images.outlines import fitting
from snellen.images.outlines.fitting import SPOKES
from snellen.images.outlines.regions import INK, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snellen.images.outlines.fitting import Floats, Points, Traced
    from snellen.images.outlines.regions import Cutting

MISFIT = ((20, 30, 40, 50, 70), (0.28, 0.33, 0.39, 0.405, 0.46))
"""Root mean square, in pixels of the smaller shape, below which two outlines are one.

It goes by the pixels of the smaller outline, with interpolation. Turned, scaled or mirrored
copies make .26 of 30 pixels and .33 of 100: one in 200 makes .37 and .40. Where a line is
oblique, its outer pixels are drawn, up to .35 too far out, and where it is level they are
not: that turns with no shape. Of different shapes, one in 200 makes less than .31 (30 pixels),
.43 (40), .57 (60) or .85 (100); where the two meet, the limit is rather too low than too high.
"""
CERTAIN = 0.33
"""A misfit below which no other fit is looked for."""
PREFERENCE = 0.005
"""How much better a fit must be to be preferred to one that was tried just before it."""
ALIKE = 0.88
"""Correlation of filled shapes below which no fit begins."""
FEW = 8
"""So few pixels fit anything: they are the same only if they are equal."""
MANY = 256
"""Points of an outline that are looked at, at most."""
EQUAL = (
    (False, 0), (True, 0), (True, 180), (False, 180),
    (False, 90), (False, -90), (True, 90), (True, -90),
)  # fmt: skip
"""Transformations that keep pixels whole, the simplest first: reflected?, degrees."""


class Fit(NamedTuple):
    """How one shape is taken to another: reflected left to right if mirrored, then turned."""

    same: bool
    residual: float
    scale: float
    angle: float
    mirrored: bool


@dataclass(frozen=True, eq=False)
class Outline:
    """What of a shape is compared."""

    cutting: Cutting

    @cached_property
    def pixels(self) -> int:
        """Count the outline's pixels."""
        return int(np.count_nonzero(self.cutting == INK))

    @cached_property
    def points(self) -> Points:
        """Return x + iy of the outline's pixels, or of some if there are very many."""
        y, x = np.nonzero(self.cutting == INK)
        return np.asarray((x + 1j * y)[:: -(-len(x) // MANY)])

    @property
    def traced(self) -> Traced:
        """Return what a fit asks for."""
        return self.points, self.cutting

    @cached_property
    def moments(self) -> tuple[float, float, float]:
        """Return mass, x and y."""
        mass, x, y = fitting.moments(self.cutting)
        return mass, x, y

    @cached_property
    def rings(self) -> Floats:
        """Return the shape on rings about its middle, with unit norm; a speck has nothing there."""
        made = fitting.polar(self.cutting, *self.moments)
        return np.asarray(made / (float(np.sqrt((made**2).sum())) or 1.0))

    @cached_property
    def mirror(self) -> Outline:
        """Return the shape reflected left to right."""
        return Outline(np.ascontiguousarray(self.cutting[:, ::-1]))


def fits(shapes: Sequence[Shape]) -> Iterator[tuple[int, int, Fit]]:
    """Compare every two shapes, the earlier one with the later one."""
    outlines = [Outline(shape.rim) for shape in shapes]
    unequal = []
    for j, other in enumerate(outlines):
        for i, one in enumerate(outlines[:j]):
            if (fit := _equal(one, other)) is not None:
                yield i, j, fit
            else:
                unequal.append((i, j))
    if unequal:
        plain, mirrored = correlations(np.stack([one.rings for one in outlines]))
    for i, j in unequal:
        yield i, j, fitted(outlines[i], outlines[j], plain[i, j], mirrored[i, j])


def _equal(a: Outline, b: Outline) -> Fit | None:
    if a.pixels != b.pixels or sorted(a.cutting.shape) != sorted(b.cutting.shape):
        return None
    for mirrored, angle in EQUAL:
        turned = a.cutting[:, ::-1] if mirrored else a.cutting
        turned = np.rot90(turned, -angle // 90)  # y points down: x turns towards it
        if np.array_equal(turned, b.cutting):
            return Fit(True, 0.0, 1.0, float(angle), mirrored)
    return None


def correlations(rings: Floats) -> tuple[Floats, Floats]:
    """Correlate shapes at every angle from the first to the second, (n, n, spokes) each.

    The second result is for the first shape's mirror image: x ↦ −x is angle ↦ π − angle.
    """
    waves = np.fft.rfft(rings, axis=2).transpose(2, 0, 1)
    signs = (-1.0) ** np.arange(len(waves))[:, None, None]
    plain = waves.conj() @ waves.transpose(0, 2, 1)
    mirrored = (waves * signs) @ waves.transpose(0, 2, 1)
    return (
        np.fft.irfft(plain.transpose(1, 2, 0), SPOKES),
        np.fft.irfft(mirrored.transpose(1, 2, 0), SPOKES),
    )


def fitted(a: Outline, b: Outline, plain: Floats, mirrored: Floats) -> Fit:
    """Fit from each promising angle, and take the simplest of the good fits."""
    scale = float(np.sqrt(b.moments[0] / a.moments[0]))
    best, cost = Fit(False, np.inf, scale, np.nan, False), np.inf
    if min(a.pixels, b.pixels) < FEW:
        return best
    starts = [(False, 0.0, plain[0]), (True, 0.0, mirrored[0])]
    starts.append((True, np.pi, mirrored[SPOKES // 2]))
    for mirror, curve in ((False, plain), (True, mirrored)):
        starts += [(mirror, *peak) for peak in zip(*fitting.peaks(curve), strict=True)]
    for place, (mirror, angle, alike) in enumerate(starts):
        if alike < ALIKE:
            continue
        fit = _fit(a, b, mirror, scale * complex(np.cos(angle), np.sin(angle)))
        if fit.residual + PREFERENCE * place < cost:
            best, cost = fit, fit.residual + PREFERENCE * place
        if fit.same and fit.residual < CERTAIN:
            break
    return best if best.same else best._replace(angle=np.nan, mirrored=False, scale=scale)


def _fit(a: Outline, b: Outline, mirrored: bool, turn: complex) -> Fit:
    one = a.mirror if mirrored else a
    (_, x, y), (_, u, v) = one.moments, b.moments
    at = complex(u, v) - turn * complex(x, y)
    residual, turn = fitting.refined(one.traced, b.traced, turn, at)
    angle = -float(np.degrees(np.angle(np.conj(turn))))
    limit = np.interp(min(a.pixels, b.pixels), *MISFIT)
    return Fit(bool(residual < limit), float(residual), abs(turn), angle, mirrored)
