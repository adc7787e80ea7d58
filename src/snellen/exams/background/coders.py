"""What would coders say who see a model's true gap through a haze?

A painted world knows how much a model leans on scenery: its gap is the share right before the
sceneries that classes prefer, less the share right before others. Two cut points make three
levels of it. A simulated coder sees the gap with Gaussian noise of his own, so that how well
such coders agree is known beforehand. Given gaps, coders err independently, hence with
p_i(l) the probability that any of them puts model i on level l, and w the cost of (l, m):

    κ = 1 − mean_i Σ_lm w(l, m) p_i(l) p_i(m) / Σ_lm w(l, m) p(l) p(m),   p = mean_i p_i

This is what Cohen's and Fleiss' kappas tend to with many models; with as few as ten their mean
is within about .01 of it, though any one of them may be far away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from snellen.errors import BadSetting
from snellen.exams.background.agreement import costs
from snellen.exams.background.assessor import LEVELS
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from snellen.core import Indices
    from snellen.exams.background.agreement import Weights
    from snellen.exams.background.clouds import Floats

CODERS = 3
WIDEST = 10.0
"""Noise beside which any gap, being a difference of shares, is nothing."""


@dataclass(frozen=True)
class Gaps:
    """From which gap on a model is borderline, and from which on it is not invariant."""

    borderline: float
    leaning: float

    def __post_init__(self) -> None:
        if not -1 <= self.borderline <= self.leaning <= 1:
            raise BadSetting(
                "gaps are differences of shares, and the first cut is not above the second: "
                f"found {self.borderline:g} and {self.leaning:g}"
            )

    def levels(self, gaps: npt.ArrayLike) -> Indices:
        """Return the level of each gap.

        >>> [LEVELS[level] for level in Gaps(0.1, 0.3).levels([0.0, 0.1, 0.5])]
        ['invariant', 'borderline', 'not invariant']
        """
        found = np.asarray(gaps, float)
        return len(LEVELS) - 1 - np.searchsorted(self._cuts(), found, side="right")

    def chances(self, gaps: npt.ArrayLike, noise: float) -> Floats:
        """Return (models, levels): how probably a coder puts each model on each level."""
        found = np.asarray(gaps, float)
        if noise <= 0:
            return np.eye(len(LEVELS))[self.levels(found)]
        below = special.ndtr((np.array(self._cuts()) - found[:, None]) / noise)
        edges = np.column_stack([np.zeros(len(found)), below, np.ones(len(found))])
        return np.asarray(np.diff(edges, axis=1)[:, ::-1])

    def _cuts(self) -> tuple[float, float]:
        return self.borderline, self.leaning


def simulated(
    gaps: npt.ArrayLike, keys: Sequence[str], cuts: Gaps, noise: float, *, seed: int = 0
) -> Indices:
    """Return (models, coders): what each simulated coder says of each model.

    The noise belongs to coder and model, so that others coming in change nothing.
    """
    uniform = [[Seed("coder", seed, c, key).floats(1)[0] for c in range(CODERS)] for key in keys]
    errors = noise * special.ndtri(np.clip(uniform, 1e-12, 1 - 1e-12))
    return cuts.levels(np.asarray(gaps, float)[:, None] + errors)


def expected_kappa(chances: npt.ArrayLike, weights: Weights = "none") -> float:
    """Return the kappa that coders tend to whose chances are given (models, levels)."""
    p = np.asarray(chances, float)
    w = costs(p.shape[1], weights)
    apart = float(np.mean(np.sum((p @ w) * p, axis=1)))
    habits = p.mean(axis=0)
    by_chance = float(habits @ w @ habits)
    return 1 - apart / by_chance if by_chance > 1e-12 else float("nan")


def noise_for(kappa: float, gaps: npt.ArrayLike, cuts: Gaps) -> float:
    """Return the noise that makes coders of these gaps agree so well, to be expected."""
    if not 0 < kappa <= 1:
        raise BadSetting(f"simulated coders agree with a kappa above 0 and up to 1, not {kappa:g}")
    if kappa == 1:
        return 0.0
    low, high = 1e-6, WIDEST
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        if expected_kappa(cuts.chances(gaps, middle)) > kappa:
            low = middle
        else:
            high = middle
    return low


def expected_majority(chances: npt.ArrayLike, levels: npt.ArrayLike) -> float:
    """Return the share of models whose majority of three is the level that they have.

    The middle of three is at most l if at least two of them are.
    """
    p, y = np.asarray(chances, float), np.asarray(levels, np.intp)
    up_to = np.column_stack([np.zeros(len(p)), np.cumsum(p, axis=1)])
    two = 3 * up_to**2 - 2 * up_to**3
    rows = np.arange(len(p))
    return float(np.mean(two[rows, y + 1] - two[rows, y]))
