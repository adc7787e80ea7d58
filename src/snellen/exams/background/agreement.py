"""Do the people who judged the matrices agree, beyond what chance would make them?

Ratings are (items, coders), each a level 0, 1, 2 …. Kappa is 1 where all agree, nought where
they agree as often as their habits would by chance, and NaN where nobody uses a second level.

>>> cohen([[0, 0], [1, 1], [2, 2], [0, 2]]).round(3).item()
0.636
>>> majority([[0, 0, 2], [0, 1, 2]]).tolist()
[0, 1]
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from snellen.errors import BadSetting
from snellen.stats import bootstrap

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from snellen.core import Indices
    from snellen.exams.background.clouds import Floats
    from snellen.stats import Interval

Weights: TypeAlias = Literal["none", "linear", "quadratic"]

LEVELS = 3


def cohen(ratings: npt.ArrayLike, *, levels: int = LEVELS, weights: Weights = "none") -> Floats:
    """Return the kappa of two coders (Cohen 1960), of (…, items, 2) ratings at once.

    Weighted (Cohen 1968), a disagreement counts by how many levels it spans, or by the square
    of that: not invariant for invariant is worse than for borderline.
    """
    rated = _rated(ratings, levels)
    if rated.shape[-1] != 2:
        raise BadSetting(f"Cohen's kappa is of two coders, not of {rated.shape[-1]}; use fleiss")
    is_level = rated[..., None] == np.arange(levels)
    first, second = is_level[..., 0, :].astype(float), is_level[..., 1, :].astype(float)
    cost = costs(levels, weights)
    observed = np.mean(cost[rated[..., 0], rated[..., 1]], axis=-1)
    habits = first.mean(axis=-2)[..., :, None] * second.mean(axis=-2)[..., None, :]
    return _beyond_chance(observed, np.sum(habits * cost, axis=(-2, -1)))


def fleiss(ratings: npt.ArrayLike, *, levels: int = LEVELS) -> Floats:
    """Return the kappa of any number of coders (Fleiss 1971), of (…, items, coders) at once."""
    rated = _rated(ratings, levels)
    return fleiss_of_counts(np.sum(rated[..., None] == np.arange(levels), axis=-2))


def fleiss_of_counts(counts: npt.ArrayLike) -> Floats:
    """Return Fleiss' kappa of (…, items, levels): how many coders chose each level."""
    n = np.asarray(counts, float)
    coders = n.sum(axis=-1)
    if n.ndim < 2 or not n.size or np.ptp(coders) or coders.flat[0] < 2:
        raise BadSetting(
            "Fleiss' kappa needs items rated by the same number of coders, at least two; "
            f"these were rated by {coders.min():g} to {coders.max():g}"
            if n.size
            else "Fleiss' kappa needs at least one item"
        )
    c = coders.flat[0]
    together = ((n**2).sum(axis=-1) - c) / (c * (c - 1))
    habits = n.mean(axis=-2) / c
    return _beyond_chance(1 - together.mean(axis=-1), 1 - (habits**2).sum(axis=-1))


def with_interval(
    kappa: Callable[..., Floats], ratings: npt.ArrayLike, *, draws: int = 2000, seed: int = 0,
    **options: Any,
) -> Interval:  # fmt: skip
    """Return a kappa of ratings with its interval, items being drawn anew.

    >>> f"{with_interval(cohen, [[0, 0], [1, 1], [2, 2], [0, 2]] * 10, weights='linear'):.2f}"
    '0.50 [0.28, 0.74]'
    """
    rated = _rated(ratings, options.get("levels", LEVELS))
    of = partial(kappa, **options)
    return bootstrap(rated, lambda drawn: of(drawn.astype(np.intp)), draws=draws, seed=seed)


def pairwise(ratings: npt.ArrayLike, **options: Any) -> dict[tuple[int, int], Interval]:
    """Return Cohen's kappa of every two coders with its interval, by their columns."""
    rated = np.asarray(ratings)
    return {
        pair: with_interval(cohen, rated[:, pair], **options)
        for pair in combinations(range(rated.shape[1]), 2)
    }


def majority(ratings: npt.ArrayLike, *, levels: int = LEVELS) -> Indices:
    """Return the level that most coders chose; where there is no such level, the middle one.

    Both are the median: of an odd number of coders, whatever more than half chose is in the
    middle of them, and levels have an order, so that one coder on each averages to the middle.
    """
    rated = _rated(ratings, levels)
    if rated.shape[-1] % 2 == 0:
        raise BadSetting(
            f"{rated.shape[-1]} coders may be split in halves; a majority needs an odd number"
        )
    return np.asarray(np.median(rated, axis=-1), np.intp)


def _rated(ratings: npt.ArrayLike, levels: int) -> Indices:
    given = np.asarray(ratings)
    if given.ndim < 2 or not given.size:
        raise BadSetting(f"ratings come as (items, coders), not as {given.shape}")
    if not np.isin(given, np.arange(levels)).all():
        odd = sorted(set(given.ravel().tolist()) - set(range(levels)))
        raise BadSetting(
            f"ratings are levels from 0 to {levels - 1}, and {odd[:3]} are not; leave out "
            "items that not every coder has rated"
        )
    return np.asarray(given, np.intp)


def costs(levels: int, weights: Weights) -> Floats:
    """Return (levels, levels): what it counts to say one where the other was said."""
    apart = np.abs(np.subtract.outer(np.arange(levels), np.arange(levels))).astype(float)
    known: dict[str, Floats] = {
        "none": np.sign(apart),
        "linear": apart,
        "quadratic": apart**2,
    }
    if weights not in known:
        raise BadSetting(f"a kappa is weighted by {', '.join(known)}, not by {weights!r}")
    return known[weights]


def _beyond_chance(observed: Any, by_chance: Any) -> Floats:
    """Return 1 − observed / chance disagreement, NaN where there can be none."""
    seen, expected = np.asarray(observed, float), np.asarray(by_chance, float)
    possible = expected > 1e-12
    unlike = np.divide(seen, expected, out=np.full_like(seen, np.nan), where=possible)
    return np.asarray(1 - unlike)
