"""What is a variance matrix like, in sixteen numbers?

Those of the authors' earlier framework (Liao, Zhang & Chen 2021), which an assessor is
trained on. Quotients by something that is nought are nought: a model whose mind nothing
changes has sixteen zeros.

mean, mean_square, std      of all elements
fraction_above              the share of elements above .15
asymmetry                   mean |M − Mᵀ| over mean |M|: nought by construction where the
                            cloud takes the size of differences
discontinuity               the standard deviation along each off-diagonal, weighted by its
                            length, over mean |M|
vertical_*, horizontal_*    how M changes from an element to the next one away from the
                            diagonal, over the triangle above it: mean, standard deviation
                            (std), and the mean of the standard deviations within the lines
                            across the change (wstd)
diagonal_*                  the same along the diagonal, away from the target's own scenery
overall_gradient            how steadily M changes: the mean over the three directions of
                            mean / √(mean² + wstd²), with the std for the diagonal
sensitivity                 Σ |M − M'|, M' being the matrix of most of the data

The gradients keep to one triangle because M is symmetric: over the whole square the vertical
and the horizontal would be one number, and their means nought.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from snellen.exams.background.clouds import Floats

LARGE = 0.15
ROUNDING = 1e-9
"""Of matrices, which are made by Fourier transforms: changes smaller than this are none."""
FEATURES = (
    "mean",
    "mean_square",
    "std",
    "fraction_above",
    "asymmetry",
    "overall_gradient",
    "discontinuity",
    "vertical_mean",
    "vertical_std",
    "vertical_wstd",
    "horizontal_mean",
    "horizontal_std",
    "horizontal_wstd",
    "diagonal_mean",
    "diagonal_std",
    "sensitivity",
)


def features(matrix: npt.ArrayLike, matrix_of_90_percent: npt.ArrayLike) -> dict[str, float]:
    """Return the sixteen by name, of a matrix and of the one made of 90 % of the targets.

    >>> m = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    >>> features(m, m)["horizontal_mean"]
    1.0
    """
    m, part = np.asarray(matrix, float), np.asarray(matrix_of_90_percent, float)
    if m.ndim != 2 or m.shape[0] != m.shape[1] or len(m) < 3 or part.shape != m.shape:
        raise ValueError(
            "features are of two square matrices of one size, at least 3 × 3, "
            f"not of {m.shape} and {part.shape}"
        )
    if not (np.isfinite(m).all() and np.isfinite(part).all()):
        raise ValueError("features are of matrices without blanks; make them with nearest above 0")
    size = float(np.mean(np.abs(m)))
    vertical, horizontal, diagonal = _gradients(m)
    v_mean, v_std, v_wstd = _spread(vertical, axis=1)
    h_mean, h_std, h_wstd = _spread(horizontal, axis=0)
    d_mean, d_std, _ = _spread(diagonal, axis=0)
    directions = ((v_mean, v_wstd), (h_mean, h_wstd), (d_mean, d_std))
    values = (
        m.mean(),
        np.mean(m**2),
        m.std(),
        np.mean(m > LARGE),
        _over(np.mean(np.abs(m - m.T)), size),
        np.mean([_steadiness(mean, spread, size) for mean, spread in directions]),
        _over(_along_diagonals(m), size),
        *(v_mean, v_std, v_wstd),
        *(h_mean, h_std, h_wstd),
        *(d_mean, d_std),
        np.abs(m - part).sum(),
    )
    return {name: float(value) for name, value in zip(FEATURES, values, strict=True)}


def joined(of_signals: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Put the features of several signals into one row, as assessors know them.

    >>> joined({"CONF max": {"mean": 0.1}, "CONV-1 max": {"mean": 0.2}})
    {'CONF max mean': 0.1, 'CONV-1 max mean': 0.2}
    """
    return {
        f"{signal} {name}": value
        for signal, row in of_signals.items()
        for name, value in row.items()
    }


def _gradients(m: Floats) -> tuple[Floats, Floats, Floats]:
    """Return changes upwards, rightwards and down the diagonal, NaN outside the triangle."""
    above = np.triu(np.ones_like(m, dtype=bool), 1)
    vertical = np.where(above[1:], m[:-1] - m[1:], np.nan)
    horizontal = np.where(above[:, :-1], m[:, 1:] - m[:, :-1], np.nan)
    diagonal = np.where(above[:-1, :-1], m[1:, 1:] - m[:-1, :-1], np.nan)
    return vertical, horizontal, diagonal


def _spread(gradient: Floats, axis: int) -> tuple[float, float, float]:
    """Return mean, standard deviation, and the mean of those along `axis` that can vary."""
    there = ~np.isnan(gradient)
    lines = there.sum(axis=axis) > 1
    within = np.nanstd(np.compress(lines, gradient, axis=1 - axis), axis=axis)
    values = gradient[there]
    return float(values.mean()), float(values.std()), float(within.mean() if len(within) else 0)


def _along_diagonals(m: Floats) -> float:
    """Return the standard deviation along off-diagonals, weighted by their lengths."""
    offsets = [k for k in range(1 - len(m), len(m)) if k]
    lines = [np.diagonal(m, k) for k in offsets]
    lengths = np.array([len(line) for line in lines])
    return float(np.average([line.std() for line in lines], weights=lengths))


def _steadiness(mean: float, spread: float, size: float) -> float:
    """Grow with mean / spread from −1 to 1.

    The quotient itself is boundless where M changes by the same everywhere, and an accident of
    rounding where it does not change at all.
    """
    length = math.hypot(mean, spread)
    return mean / length if length > ROUNDING * size else 0.0


def _over(value: float, unit: float) -> float:
    return value / unit if unit > 0 else 0.0
