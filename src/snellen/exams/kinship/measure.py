"""How alike are two tests, by what an agent makes of both at once? (Pereyda & Holder 2020)

Let A be the easier test and B the harder, V the score that an agent reaches after it was
taught, and AB the merger of both. Equation 3 of the paper, written so that its sign is kept:

    S = 1 − 2t,   t = (V_AB − V_B) ÷ (V_A − V_B),   cut to [−1, 1]

so 1 says that the merger is as hard as B alone, −1 that it is as easy as A. An agent that
learns each part of the merger as well as it learns that part alone, a share q of it being
A, gets V_AB = qV_A + (1 − q)V_B and with it S = 1 − 2q: nought at equal shares. That is
the null that any S has to be told from.

>>> round(equation_3(0.9932, 0.8099, 0.87495), 3)
0.29
>>> round(equation_3(0.4892, 0.1015, 0.42175), 3)
-0.652
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from scipy import special

from snellen.stats import Interval, Mean

if TYPE_CHECKING:
    from collections.abc import Sequence

GAP_ERRORS = 3.0
"""S is undefined unless the gap between both tests is so many of its standard errors wide."""

Told = Literal["yes", "no", "unsure"]


@dataclass(frozen=True, slots=True)
class Kinship:
    """The similarity of two tests by equation 3, and all that is needed to doubt it."""

    s: Interval
    """Cut to [−1, 1]; NaN where the gap cannot be told from nought. Its ends are NaN where
    each test was taken once."""
    error: float
    """The standard error of S before it was cut."""
    gap: Interval
    """V_A − V_B, the easier test first."""
    sufficient: Told
    """Whether V_A ≥ V_AB ≥ V_B, as the paper asks of an agent (its equation 1)."""
    swapped: bool
    """Whether the test that was named second is the easier one."""
    null: float
    """The S of an agent whose parts do not disturb each other: 1 − 2q."""
    p: float
    """Two-sided, of V_AB being what that agent would reach; 1 where nothing is known."""

    @property
    def defined(self) -> bool:
        """Whether the tests differ surely enough in difficulty for S to mean anything."""
        return not math.isnan(self.s.value)


class Scores(Protocol):
    """V_A, V_B and V_AB as they were measured."""

    def weighted(self, a: float, b: float, ab: float) -> Mean:
        """Return their weighted sum with its standard error."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Scores of the same repeats: what they have in common, seeds and pictures, cancels out."""

    a: Sequence[float]
    b: Sequence[float]
    ab: Sequence[float]

    def weighted(self, a: float, b: float, ab: float) -> Mean:
        """Weigh each repeat."""
        rows = np.array([self.a, self.b, self.ab], float)
        each = np.array([a, b, ab]) @ rows
        if len(each) == 1:
            return Mean(float(each[0]), math.nan, 1)
        error = float(each.std(ddof=1)) / math.sqrt(len(each))
        return Mean(float(each.mean()), max(error, TINY), len(each) - 1)


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Scores that have nothing in common (freedom: Satterthwaite 1946)."""

    a: Mean
    b: Mean
    ab: Mean

    def weighted(self, a: float, b: float, ab: float) -> Mean:
        """Add up the variances."""
        parts = [(a, self.a), (b, self.b), (ab, self.ab)]
        variances = [(weight * mean.error) ** 2 for weight, mean in parts]
        total = max(sum(variances), TINY**2)
        shares = sum(v * v / mean.freedom for v, (_, mean) in zip(variances, parts, strict=True))
        freedom = max(1, round(total * total / shares)) if shares > 0 else 1_000
        return Mean(sum(w * mean.value for w, mean in parts), math.sqrt(total), freedom)


TINY = 1e-9


def equation_3(a: float, b: float, ab: float) -> float:
    """Return S of two scores and that of their merger, in either order; NaN where they tie."""
    high, low = max(a, b), min(a, b)
    return cut(1 - 2 * (ab - low) / (high - low)) if high > low else math.nan


def kinship(scores: Scores, share: float = 0.5) -> Kinship:
    """Compare two tests by their scores and by that of a merger of which `share` is the first."""
    swapped = scores.weighted(1, -1, 0).value < 0
    easier, harder = ((0, 1), (1, 0)) if swapped else ((1, 0), (0, 1))
    share = 1 - share if swapped else share

    def weighted(a: float, b: float, ab: float) -> Mean:
        return scores.weighted(
            a * easier[0] + b * harder[0], a * easier[1] + b * harder[1], ab
        )  # fmt: skip

    gap = weighted(1, -1, 0)
    apart = weighted(-share, share - 1, 1)
    p = 2 * min(apart.above(0), 1 - apart.above(0)) if apart.error > 0 else 1.0
    below, above = weighted(1, 0, -1), weighted(0, -1, 1)
    sufficient, null = _between(below, above), 1 - 2 * share
    if gap.value == 0 or gap.value <= GAP_ERRORS * gap.error:  # an unknown error forbids nothing
        nothing = Interval(math.nan, math.nan, math.nan)
        return Kinship(nothing, math.nan, gap.interval(), sufficient, swapped, null, p)
    t = above.value / gap.value
    at_t = weighted(-t, t - 1, 1)
    both = (above.error**2 + gap.error**2 - below.error**2) / 2  # Var(N − D) = Var(V_AB − V_A)
    low, high = fieller(above, gap, both, at_t.freedom)
    ends = (cut(1 - 2 * high), cut(1 - 2 * low)) if not math.isnan(low) else (low, high)
    return Kinship(
        Interval(cut(1 - 2 * t), *ends),
        2 * at_t.error / gap.value,
        gap.interval(),
        sufficient,
        swapped,
        null,
        p,
    )


def fieller(
    upper: Mean, lower: Mean, covariance: float, freedom: int, level: float = 0.95
) -> tuple[float, float]:
    """Return the ends of a ratio of two means that may go together (Fieller 1954).

    All t are kept for which N − tD cannot be told from nought: the inside of a quadratic,
    as long as D itself can be; otherwise nothing is known of the ratio.
    """
    n, d = upper.value, lower.value
    c2 = float(special.stdtrit(freedom, 0.5 + level / 2)) ** 2
    square = d * d - c2 * lower.error**2
    half = n * d - c2 * covariance
    inside = half * half - square * (n * n - c2 * upper.error**2)
    if square <= 0 or inside < 0:
        return -math.inf, math.inf  # where errors are unknown, both ends come out as NaN
    root = math.sqrt(inside)
    return (half - root) / square, (half + root) / square


def cut(s: float) -> float:
    """Return S within the ends that equation 3 has: beyond them an agent is not sufficient."""
    return min(1.0, max(-1.0, s))


def _between(below: Mean, above: Mean) -> Told:
    """Tell whether the merger surely lies between both tests, surely outside, or neither."""
    if math.isnan(below.error):
        return "yes" if below.value >= 0 and above.value >= 0 else "no"
    ends = [mean.interval(level=0.90) for mean in (below, above)]  # one-sided 5 % each
    if any(end.high < 0 for end in ends):
        return "no"
    return "yes" if all(end.low >= 0 for end in ends) else "unsure"
