"""How much does a model's mind change between any two distances from the target's own scenery?

A variance matrix is a cloud resampled on a regular grid by Gaussian radial basis functions
(Liao et al. 2022, section 4). Each element e blends the points in a disc around it with u(e),
the mean of the points nearest to it, which speaks alone where the disc is empty:

    value(e) = (φ(0) u(e) + Σ_i φ(|e − p_i|) v_i) / (φ(0) + Σ_i φ(|e − p_i|)),   |e − p_i| ≤ r

with φ(t) = exp(−t²/2σ²). (The paper's sums print v_k for v_i.) The axes are [0, 1] for every
model, so that matrices can be compared; where there are no points the matrix is a guess, so
that the density comes with it.

Millions of points cost little because they are put into a grid `FINE` times finer than the
matrix first: the two sums are then convolutions, and the neighbours those of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import fft

from snellen.errors import BadSetting
from snellen.figures import Raster

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.core import Indices
    from snellen.exams.background.clouds import Cloud, Floats

SIDE = 128
FINE = 3
"""Odd, so that the middle of an element is the middle of a cell of the finer grid."""


@dataclass(frozen=True)
class Kernel:
    """How far an element looks, and how: all in elements of the matrix."""

    radius: float = 32
    sigma: float = 10
    nearest: int = 32
    """How many points make u(e); 0: leave u(e) out, and elements of empty discs blank."""

    def __post_init__(self) -> None:
        if not (self.radius > 0 and self.sigma > 0 and self.nearest >= 0):
            raise BadSetting(f"radius and sigma are above 0, and nearest is not below: {self}")


KERNELS = {"wide": Kernel(32, 10), "middle": Kernel(16, 5), "sharp": Kernel(32, 2)}
"""Those of the paper's Figure 6; its experiments use the first."""


@dataclass(frozen=True, eq=False)
class VarianceMatrix:
    """The matrix and what it rests on; element [i, j] is at distances (i + ½, j + ½) / side."""

    values: Floats
    counts: Indices
    """How many points lie in the element itself."""
    weights: Floats
    """Σ φ over the points in the disc."""

    @property
    def evidence(self) -> Floats:
        """Say which part of each value came from the disc rather than from beyond: 0 to 1."""
        return self.weights / (1 + self.weights)

    @property
    def covered(self) -> float:
        """The share of elements that hold a point; the others are interpolated or guessed."""
        return float(np.mean(self.counts > 0))


def variance_matrix(
    cloud: Cloud, kernel: Kernel = KERNELS["wide"], *, side: int = SIDE, fine: int = FINE
) -> VarianceMatrix:
    """Resample a cloud on a regular grid.

    Depends on the points alone and not on their order. Points move by up to half a cell of
    the finer grid; a larger `fine` brings the matrix nearer to the exact sums, for time.
    """
    if len(cloud) == 0:
        raise ValueError("a cloud without points has no matrix; were all composites missing?")
    if fine < 1 or fine % 2 == 0 or side < 2:
        raise BadSetting(f"fine must be odd, and side at least 2: found {fine} and {side}")
    counts, sums = _binned(cloud, side * fine)
    phi = _disc(kernel, fine)
    middles = slice(fine // 2, None, fine)
    weights = np.maximum(_convolved(counts.astype(float), phi)[middles, middles], 0)
    blend = _convolved(sums, phi)[middles, middles]
    by_element = counts.reshape(side, fine, side, fine).sum(axis=(1, 3))
    if kernel.nearest:
        near = _nearest(counts, sums, fine, kernel.nearest)
        return VarianceMatrix((near + blend) / (1 + weights), by_element, weights)
    # φ is above phi.min() on its disc: anything well below that is the convolution's rounding
    reached = weights > phi[phi > 0].min() / 2
    values = np.full_like(weights, np.nan)
    return VarianceMatrix(
        np.divide(blend, weights, out=values, where=reached), by_element, weights * reached
    )


def raster(matrices: Mapping[str, VarianceMatrix], *, name: str, title: str, **said: Any) -> Raster:
    """Show matrices on one scale that has nought in it, paler where they rest on less."""
    values = np.concatenate([matrix.values.ravel() for matrix in matrices.values()])
    bounds = min(0.0, float(np.nanmin(values))), max(0.0, float(np.nanmax(values)))
    return Raster(
        name=name,
        title=title,
        panels={panel: matrix.values for panel, matrix in matrices.items()},
        opacity={panel: matrix.evidence for panel, matrix in matrices.items()},
        x_axis="semantic distance of one scenery",
        y_axis="of the other",
        **{"bounds": bounds, "scale_axis": "difference", **said},
    )


def density(
    matrices: Mapping[str, VarianceMatrix], *, name: str, title: str, **said: Any
) -> Raster:
    """Show how many points the matrices rest on, by larger elements; blank: none."""
    panels = {panel: _by_block(matrix.counts) for panel, matrix in matrices.items()}
    return Raster(
        name=name,
        title=title,
        panels=panels,
        x_axis="semantic distance of one scenery",
        y_axis="of the other",
        scale_axis="points",
        log=True,
        percent=False,
        **said,
    )


def _by_block(counts: Indices) -> Floats:
    """Add up counts until an element can be seen with the naked eye; NaN where there are none."""
    block = max(b for b in range(1, 5) if len(counts) % b == 0)
    shape = len(counts) // block, block
    blocks = counts.reshape(*shape, *shape).sum(axis=(1, 3))
    return np.where(blocks > 0, blocks, np.nan)


def _binned(cloud: Cloud, size: int) -> tuple[Indices, Floats]:
    """Count the points of each cell of a (size, size) grid over the unit square, and add up v."""
    row = np.minimum((cloud.x * size).astype(np.intp), size - 1)
    column = np.minimum((cloud.y * size).astype(np.intp), size - 1)
    place = row * size + column
    counts = np.bincount(place, minlength=size * size).reshape(size, size)
    sums = np.bincount(place, cloud.v, minlength=size * size).reshape(size, size)
    return np.asarray(counts), np.asarray(sums)


def _disc(kernel: Kernel, fine: int) -> Floats:
    """Return φ around a cell of the finer grid, nought outside the disc."""
    reach = int(kernel.radius * fine)
    steps = np.arange(-reach, reach + 1)
    squared = steps[:, None] ** 2 + steps**2
    phi = np.exp(-squared / (2 * (kernel.sigma * fine) ** 2))
    return np.where(squared <= (kernel.radius * fine) ** 2, phi, 0.0)


def _convolved(grid: Floats, phi: Floats) -> Floats:
    """Add up φ times the grid around every cell of it, nought being outside."""
    reach, size = len(phi) // 2, len(grid)
    shape = [fft.next_fast_len(size + 2 * reach, real=True)] * 2
    whole = fft.irfft2(fft.rfft2(grid, shape) * fft.rfft2(phi, shape), shape)
    return np.asarray(whole[reach : reach + size, reach : reach + size])


def _nearest(counts: Indices, sums: Floats, fine: int, wanted: int) -> Floats:
    """Return the mean of the `wanted` points nearest to the middle of each element.

    Points that are equally far share what is wanted of them, so that nothing depends on the
    order in which they are found. Squared distances are whole numbers of cells.
    """
    from scipy.spatial import KDTree

    cells = np.argwhere(counts)
    held, added = counts[counts > 0], sums[counts > 0]
    tree = KDTree(cells)
    side = len(counts) // fine
    spots = np.indices((side, side)).reshape(2, -1).T * fine + fine // 2
    wanted = min(wanted, int(held.sum()))
    means, pending, asked = np.empty(len(spots)), np.arange(len(spots)), wanted + 8
    while len(pending):
        asked = min(asked, len(cells))
        away, which = tree.query(spots[pending], np.arange(1, asked + 1))
        squared = np.rint(away**2).astype(np.int64)
        enough = (held[which].cumsum(axis=1) >= wanted).argmax(axis=1)
        edge = np.take_along_axis(squared, enough[:, None], axis=1)
        inside, at = squared < edge, squared == edge
        number, total = (held[which] * inside).sum(axis=1), (added[which] * inside).sum(axis=1)
        last = (added[which] * at).sum(axis=1) / (held[which] * at).sum(axis=1)
        # further cells may be as far as the last one found, until one lies beyond
        settled = (squared[:, -1] > edge[:, 0]) | (asked == len(cells))
        means[pending] = (total + (wanted - number) * last) / wanted
        pending, asked = pending[~settled], 2 * asked
    return means.reshape(side, side)
