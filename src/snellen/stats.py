"""How sure can one be of a number?

Intervals, tests and corrections, as small pure functions. Every interval is 95 %
unless told otherwise, every p-value is stated as one- or two-sided.

>>> wilson(9, 10)
Interval(value=0.9, low=0.5958499732047615, high=0.9821237869049271)
>>> corrected(0.40, chance=0.10)
0.33333333333333337
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Numbers = Sequence[float] | npt.NDArray[Any]


MOST_DECIMALS = 6


class Interval(NamedTuple):
    """A value and the ends between which the truth plausibly lies."""

    value: float
    low: float
    high: float

    def __format__(self, spec: str) -> str:
        """Print with as many decimals as the width deserves, unless `spec` says how many.

        >>> f"{Interval(0.852, 0.82, 0.881):%}", f"{Interval(0.037, 0.032, 0.044):%}"
        ('85 % [82, 88]', '3.7 % [3.2, 4.4]')
        >>> f"{Interval(12.345, 1, 20)}", f"{Interval(12.345, 1, 20):.2f}"
        ('12 [1, 20]', '12.35 [1.00, 20.00]')
        """
        parts, unit = ([100 * x for x in self], " %") if spec == "%" else (list(self), "")
        if math.isnan(self.low) and not math.isnan(self.value):
            return f"{parts[0]:.3g}{unit} [unknown]"
        if spec in ("", "%"):
            most = 2 if unit else MOST_DECIMALS
            spec = f".{min(_decimals(parts[2] - parts[1]), most)}f"
        value, low, high = (f"{x:{spec}}" for x in parts)
        return f"{value}{unit} [{low}, {high}]"


def _decimals(width: float) -> int:
    """Return how many decimals make an interval at least five units of the last one wide."""
    if not 0 < width < math.inf:
        return 0
    return min(max(math.ceil(math.log10(5 / width) - 1e-9), 0), MOST_DECIMALS)


def corrected(accuracy: float, *, chance: float) -> float:
    """Return the share that is known when the rest is guessed: (x − c)/(1 − c)."""
    return (accuracy - chance) / (1 - chance)


def wilson(right: float, total: int, level: float = 0.95) -> Interval:
    """Return the score interval of a share (Wilson 1927)."""
    if total == 0:
        return Interval(math.nan, 0.0, 1.0)
    z = float(special.ndtri(0.5 + level / 2))
    share = right / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))


def bootstrap(
    values: Numbers,
    statistic: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] | None = None,
    *,
    draws: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Return the percentile interval of a statistic of rows drawn with replacement.

    `statistic` maps (draws, n, …) to (draws,); the mean if left out. Draws on which it is not
    defined (NaN) are left out.
    """
    rows = np.asarray(values, float)
    of = statistic or (lambda drawn: drawn.mean(axis=1))
    if len(rows) == 0:
        return Interval(math.nan, math.nan, math.nan)
    rng = np.random.default_rng(seed)
    made = of(rows[rng.integers(0, len(rows), (draws, len(rows)))])
    made = made[~np.isnan(made)]
    if len(made) == 0:
        return Interval(math.nan, math.nan, math.nan)
    low, high = np.quantile(made, [0.5 - level / 2, 0.5 + level / 2])
    return Interval(float(of(rows[None])[0]), float(low), float(high))


class Mean(NamedTuple):
    """A mean over repeats with its standard error, and what follows from them."""

    value: float
    error: float
    freedom: int

    def interval(
        self, level: float = 0.95, within: tuple[float, float] = (-math.inf, math.inf)
    ) -> Interval:
        """Return Student's interval, cut to the values that are possible."""
        half = float(special.stdtrit(self.freedom, 0.5 + level / 2)) * self.error
        low, high = max(self.value - half, within[0]), min(self.value + half, within[1])
        return Interval(self.value, low, high)

    def above(self, null: float) -> float:
        """Return the one-sided p-value of the true mean being no more than `null`."""
        return float(special.stdtr(self.freedom, (null - self.value) / self.error))


def share_variance(right: int, total: int) -> float:
    """Return the sampling variance of a share, never nought (Agresti & Coull 1998)."""
    share = (right + 2) / (total + 4)
    return share * (1 - share) / (total + 4)


def mean_of_repeats(values: Numbers, floor: float = 0.0) -> Mean:
    """Return the mean over repeats, its variance between repeats no less than `floor`.

    The variance between few repeats is itself uncertain, and nought when all of them
    come out alike. It cannot truly be less than the sampling variance of the trials
    behind each repeat: that is what `floor` is for. A single repeat says nothing about
    the variance between repeats, and gets the largest that a share can have.
    """
    x = np.asarray(values, float)
    spread = float(x.var(ddof=1)) if len(x) > 1 else 0.25
    variance = max(spread, floor, 1e-12)
    return Mean(float(x.mean()), math.sqrt(variance / len(x)), max(len(x) - 1, 1))


def holm(p: Numbers) -> npt.NDArray[np.float64]:
    """Return p-values adjusted for having tested all of them (Holm 1979)."""
    raw = np.asarray(p, float)
    order = np.argsort(raw, kind="stable")
    adjusted = np.empty(len(raw))
    factors = len(raw) - np.arange(len(raw))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(raw[order] * factors))
    return adjusted


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p of two subjects being right equally often.

    Of the questions that just one of them got right, each is right on half.
    """
    total = only_first + only_second
    if total == 0:
        return 1.0
    tail = float(special.bdtr(min(only_first, only_second), total, 0.5))
    return min(1.0, 2 * tail)


class Consistency(NamedTuple):
    """How far two err on the same questions, beyond what their accuracies bring about."""

    kappa: float
    """1: on the same, 0: as by chance, below: on different ones; NaN where neither can tell."""
    ceiling: float
    """The most that two of these accuracies can reach."""


def error_consistency(first: Numbers, second: Numbers) -> Consistency:
    """Return Cohen's kappa of being right or wrong on the same questions (Geirhos et al. 2020).

    >>> error_consistency([1, 1, 0, 0], [1, 1, 0, 0])
    Consistency(kappa=1.0, ceiling=1.0)
    >>> error_consistency([1, 1, 1, 0], [1, 0, 0, 0])
    Consistency(kappa=0.2, ceiling=0.2)
    """
    a, b = np.asarray(first, bool), np.asarray(second, bool)
    p, q = float(a.mean()), float(b.mean())
    expected = p * q + (1 - p) * (1 - q)
    if expected == 1:
        return Consistency(math.nan, math.nan)
    observed, most = float((a == b).mean()), 1 - abs(p - q)
    return Consistency((observed - expected) / (1 - expected), (most - expected) / (1 - expected))


def sign_flip(differences: Numbers, *, draws: int = 10_000, seed: int = 0) -> float:
    """Return the two-sided permutation p of paired differences having mean nought.

    Exact (every flip of signs) up to 13 pairs, sampled beyond.
    """
    d = np.asarray(differences, float)
    if len(d) == 0:
        return 1.0
    if len(d) <= 13:
        signs = 1 - 2 * (np.arange(2 ** len(d))[:, None] >> np.arange(len(d)) & 1)
        return float(np.mean(np.abs(signs @ d) >= abs(d.sum()) - 1e-12))
    rng = np.random.default_rng(seed)
    signs = rng.choice(np.array([-1.0, 1.0]), (draws, len(d)))
    hits = int(np.sum(np.abs(signs @ d) >= abs(d.sum()) - 1e-12))
    return (hits + 1) / (draws + 1)


def log_probabilities(outputs: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return log-probabilities of outputs that are probabilities already, or logits."""
    x = np.asarray(outputs, np.float64)
    if len(x) and x.min() >= 0 and np.abs(x.sum(axis=1) - 1).max() < 1e-3:
        return np.log(np.maximum(x, 1e-30))
    x = x - x.max(axis=1, keepdims=True)
    made: npt.NDArray[np.float64] = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
    return made
