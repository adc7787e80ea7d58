"""What do similarities of every two tests say of all of them together?

A map on which like tests lie close, a tree of which is nearest to which, how diverse the whole
is, and which few of the tests are the most diverse. All of it starts from a symmetric matrix S
of similarities from −1 to 1, NaN where a pair has none, and from draws of that matrix, which
say how sure one can be of it. The distance of two tests is 1 − S; a test has none to itself.

>>> import numpy as np
>>> s = np.array([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]])
>>> round(diversity(s).value, 3), most_diverse(s, 2).tests
(0.6, (0, 2))
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.cluster import hierarchy

from snellen.errors import BadSetting
from snellen.seeds import Seed
from snellen.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.core import Indices

Numbers: TypeAlias = npt.NDArray[np.float64]
"""(tests, tests), or (draws, tests, tests)."""

CLOUD = 200
"""On a map, more draws than this hide each other."""
STARTS = 6
"""Random starts of a map, beside the classical one: stress has many valleys."""
SHUFFLES = 25
SWEEPS = 2000
SETTLED = 1e-6
"""A map stays when a sweep lowers its sum of squares by no more than this share."""
EXHAUSTIVE = 10_000
"""Up to so many subsets, all are looked at."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Tests as points of a plane; NaN for one whose place its distances leave open."""

    points: Numbers
    """(tests, 2): the longest extent lies along the first axis."""
    stress: float
    """Kruskal's stress-1: what share of the distances the plane gets wrong; 0 is a perfect map."""
    chance: float
    """Median stress of the same distances dealt to the pairs at random."""
    clouds: Numbers
    """(draws, tests, 2): the map of each draw, turned and moved onto `points`."""


@dataclass(frozen=True)
class Clades:
    """Which tests are nearest to which: merges of average linkage, lowest first."""

    merges: Sequence[tuple[int, int, float]]
    """The two that merge and their mean distance; tests come first, then merges, in order."""
    support: Sequence[float]
    """Share of draws in whose tree the same tests, and no others, make a branch."""
    guessed: int
    """Pairs without a similarity, whose distance was put in (see `clustered`)."""


@dataclass(frozen=True)
class Subset:
    """The most diverse tests of a suite, and how surely they are."""

    tests: tuple[int, ...]
    diversity: Interval
    optimism: float
    """How much the best of many subsets looks better than it is: in a draw, the mean excess
    of its best subset over what that same subset has in the matrix itself (Efron 1983)."""
    chosen: float
    """Share of draws in which just these tests are the most diverse."""
    membership: Sequence[float]
    """For each test, the share of draws in whose most diverse subset it is."""
    rivals: Sequence[tuple[tuple[int, ...], float]]
    """The subsets that win most draws, with the share they win."""


def mapped(similarity: npt.ArrayLike, draws: npt.ArrayLike | None = None) -> Layout:
    """Lay tests out on a plane so that distances come as near to 1 − S as they can.

    Metric scaling: the weighted sum of squared differences is lowered by majorisation (SMACOF,
    de Leeuw 1977) from the classical solution (Torgerson 1952) and from random starts; a pair
    without similarity weighs nothing. A test gets a place only when its distances leave a single
    one: it hangs, directly or by others, on a triangle, each test by three that stand already.

    A stress is low by itself when tests are few; compare it with `chance`.
    """
    far, drawn = _distances(similarity, draws)
    stand = _anchored(np.isfinite(far))
    points = np.full((len(far), 2), math.nan)
    if not len(stand):
        return Layout(points, math.nan, math.nan, np.empty((0, len(far), 2)))
    corner = np.ix_(stand, stand)
    inner = far[corner]
    best, stress = _placed(inner[None])
    points[stand] = place = _upright(best[0])
    kept = drawn[np.linspace(0, len(drawn) - 1, min(len(drawn), CLOUD)).astype(int)]
    kept = _standing(kept[:, *corner])
    clouds = np.full((len(kept), len(far), 2), math.nan)
    if len(kept):
        clouds[:, stand] = _aligned(_placed(kept, also=place)[0], place)
    return Layout(points, float(stress[0]), _chance_stress(inner), clouds)


def clustered(similarity: npt.ArrayLike, draws: npt.ArrayLike | None = None) -> Clades:
    """Join the nearest tests first, by the mean distance of their members (UPGMA).

    A pair without similarity counts as far apart as the two are, on average, from all others:
    it then speaks neither for nor against their being joined.
    """
    far, drawn = _distances(similarity, draws)
    merges = _merges(far)
    branches = _branches(merges, len(far))
    seen = Counter(branch for draw in drawn for branch in set(_branches(_merges(draw), len(far))))
    share = [seen[branch] / len(drawn) if len(drawn) else math.nan for branch in branches]
    unknown = int(np.isnan(far).sum()) // 2
    return Clades([(int(a), int(b), float(h)) for a, b, h, _ in merges], share, unknown)


def diversity(similarity: npt.ArrayLike, draws: npt.ArrayLike | None = None) -> Interval:
    """Return the mean distance of two tests of the suite, over the pairs that have one."""
    far, drawn = _distances(similarity, draws)
    pairs = np.argwhere(np.triu(np.isfinite(far), 1)).T
    if not pairs.size:
        return Interval(math.nan, math.nan, math.nan)
    held = drawn[:, *pairs]
    held = held[np.isfinite(held).any(axis=1)]
    return _between(float(far[*pairs].mean()), np.nanmean(held, axis=1))


def most_diverse(
    similarity: npt.ArrayLike, size: int, draws: npt.ArrayLike | None = None
) -> Subset | None:
    """Find the tests with the greatest mean distance: None when too many pairs have none.

    All subsets are compared when there are at most 10,000; else each test is joined by the
    farthest from those already in, then tests are exchanged as long as that helps.
    Of subsets that are equally diverse the first is taken.
    """
    far, drawn = _distances(similarity, draws)
    if not 2 <= size <= len(far):
        raise BadSetting(
            f"the most diverse subset of {len(far)} tests has from 2 to {len(far)} of them, "
            f"not {size}"
        )
    found = _farthest(np.concatenate([far[None], drawn]), size)
    best, others = found[0], [tests for tests in found[1:] if tests is not None]
    if best is None:
        return None
    counts = Counter(others)
    total = len(others) or math.nan
    excess = [
        _spread_of(draw, tests) - _spread_of(far, tests)
        for draw, tests in zip(drawn, found[1:], strict=True)
        if tests is not None
    ]
    inner = np.array([_spread_of(draw, best) for draw in drawn])
    return Subset(
        tests=best,
        diversity=_between(_spread_of(far, best), inner[np.isfinite(inner)]),
        optimism=float(np.nanmean(excess)) if np.isfinite(excess).any() else math.nan,
        chosen=counts[best] / total,
        membership=[sum(n for s, n in counts.items() if t in s) / total for t in range(len(far))],
        rivals=[(s, n / total) for s, n in sorted(counts.items(), key=lambda c: (-c[1], c[0]))[:5]],
    )


def _distances(similarity: npt.ArrayLike, draws: npt.ArrayLike | None) -> tuple[Numbers, Numbers]:
    """Return 1 − S, and of every draw, with nought on the diagonal."""
    s = np.asarray(similarity, float)
    if s.ndim != 2 or len(s) < 2 or s.shape[0] != s.shape[1]:
        raise BadSetting(
            "a suite needs the similarity of every two of its tests, as a square matrix of two "
            f"rows or more; found one of shape {s.shape}"
        )
    of_draws = np.empty((0, *s.shape)) if draws is None else np.asarray(draws, float)
    if of_draws.shape[1:] != s.shape:
        raise BadSetting(
            f"draws of the similarities come as (draws, {len(s)}, {len(s)}), "
            f"as there are {len(s)} tests; found {of_draws.shape}"
        )
    for held in (s, *of_draws[:1]):
        if not np.allclose(held, held.T, equal_nan=True):
            raise BadSetting("a similarity is that of both tests: make the matrix symmetric")
    if not np.all(np.isnan(s) | (abs(s) <= 1 + 1e-9)):
        worst = s[np.unravel_index(np.nanargmax(abs(s)), s.shape)]
        raise BadSetting(f"similarities lie from -1 to 1, or are NaN; found {worst:g}")
    own = np.arange(len(s))
    far, drawn = 1 - s, 1 - of_draws
    far[own, own] = drawn[:, own, own] = 0.0
    return far, drawn


def _between(value: float, drawn: Numbers) -> Interval:
    """Return the value with the middle 95 % of its draws."""
    if not len(drawn):
        return Interval(value, math.nan, math.nan)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(value, float(low), float(high))


def _filled(far: Numbers) -> Numbers:
    """Return (…, tests, tests) with unknown distances put in: the mean of both tests' own."""
    known = np.isfinite(far) & ~np.eye(far.shape[-1], dtype=bool)
    total = np.where(known, far, 0).sum(axis=-1)
    count = known.sum(axis=-1)
    overall = total.sum(axis=-1) / np.maximum(count.sum(axis=-1), 1)
    mean = np.where(count > 0, total / np.maximum(count, 1), overall[..., None])
    guess = (mean[..., :, None] + mean[..., None, :]) / 2
    return np.where(np.isfinite(far), far, guess)


# --- the map ----------------------------------------------------------------------------------


def _anchored(known: npt.NDArray[np.bool_]) -> Indices:
    """Return the largest group of tests whose known distances fix their places in a plane.

    A fourth point is fixed by its distances to three that stand (trilateration); with two
    it could as well be mirrored.
    """
    count = len(known)
    groups: list[npt.NDArray[np.bool_]] = []
    pairs = np.argwhere(np.triu(known, 1))
    for a, b in pairs:
        for c in np.flatnonzero(known[a] & known[b]):
            if c <= b or any(group[[a, b, c]].all() for group in groups):
                continue
            stand = np.isin(np.arange(count), [a, b, c])
            while (more := ~stand & (known[:, stand].sum(axis=1) >= 3)).any():
                stand |= more
            groups.append(stand)
            if stand.all():
                return np.arange(count)
    if groups:
        return np.flatnonzero(max(groups, key=np.count_nonzero))
    return np.asarray(pairs[0] if len(pairs) else [], np.intp)


def _standing(drawn: Numbers) -> Numbers:
    """Return the draws that know enough distances for every test to have a place."""
    side = drawn.shape[-1]
    fixed: dict[bytes, bool] = {}
    for known in np.isfinite(drawn):
        if known.tobytes() not in fixed:
            fixed[known.tobytes()] = len(_anchored(known)) == side
    return np.asarray(drawn[[fixed[known.tobytes()] for known in np.isfinite(drawn)]])


def _placed(far: Numbers, also: Numbers | None = None) -> tuple[Numbers, Numbers]:
    """Return the best map of each matrix of (matrices, tests, tests), and its stress.

    It is begun from the classical solution, and from `also`, or at random.
    """
    count, side = far.shape[:2]
    full = _filled(far)
    if also is None:
        noise = Seed("map", side).floats(STARTS * side * 2).reshape(STARTS, side, 2) - 0.5
        begun = noise * 2 * full.max()
    else:
        begun = also[None]
    starts = np.concatenate([_classical(full)[:, None], np.tile(begun, (count, 1, 1, 1))], axis=1)
    tries = starts.shape[1]
    made, stress = _smacof(np.repeat(far, tries, axis=0), starts.reshape(count * tries, side, 2))
    best = stress.reshape(count, tries).argmin(axis=1) + np.arange(count) * tries
    return made[best], stress[best]


def _classical(far: Numbers) -> Numbers:
    """Return the two main axes of the doubly centred squares (Torgerson 1952)."""
    side = far.shape[-1]
    centre = np.eye(side) - 1 / side
    values, vectors = np.linalg.eigh(-0.5 * centre @ far**2 @ centre)
    top = np.sqrt(np.maximum(values[:, None, -2:], 0)) * vectors[:, :, -2:]
    return np.asarray(top[..., ::-1])


def _smacof(far: Numbers, points: Numbers) -> tuple[Numbers, Numbers]:
    """Lower each map's stress until a sweep changes nothing to speak of.

    A sweep is the Guttman transform X ← V⁺ B(X) X, which can only lower the weighted sum of
    squared differences (Borg & Groenen 2005, eq. 8.28). Returned with Kruskal's stress-1.
    """
    weight = np.isfinite(far) & ~np.eye(far.shape[-1], dtype=bool)
    aim = np.where(weight, far, 0.0)
    inverse = np.linalg.pinv(_laplacian(weight.astype(float)), hermitian=True)
    made = points.copy()
    moving, last = np.arange(len(far)), np.full(len(far), math.inf)
    for _ in range(SWEEPS):
        here = made[moving]
        apart = _apart(here)
        wrong = (weight[moving] * (apart - aim[moving]) ** 2).sum(axis=(1, 2))
        going = last - wrong > SETTLED * wrong + 1e-15
        if not going.any():
            break
        moving, last = moving[going], wrong[going]
        pull = _laplacian(aim[moving] / np.maximum(apart[going], 1e-12))
        made[moving] = inverse[moving] @ (pull @ here[going])
    apart = _apart(made)
    wrong = (weight * (apart - aim) ** 2).sum(axis=(1, 2))
    size = (weight * apart**2).sum(axis=(1, 2))
    return made, np.sqrt(wrong / np.maximum(size, 1e-300))


def _laplacian(weight: Numbers) -> Numbers:
    """Return minus the weights, with their sum by row on the diagonal."""
    made = -weight
    own = np.arange(weight.shape[-1])
    made[:, own, own] = weight.sum(axis=-1)
    return made


def _apart(points: Numbers) -> Numbers:
    """Return the distances of every two points of each map."""
    x, y = points[..., 0], points[..., 1]
    return np.hypot(x[:, :, None] - x[:, None], y[:, :, None] - y[:, None])


def _upright(points: Numbers) -> Numbers:
    """Turn a map so that its longest extent lies along the first axis, always the same way."""
    centred = points - points.mean(axis=0)
    turned = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    farthest = turned[abs(turned).round(9).argmax(axis=0), [0, 1]]
    return np.asarray(turned * np.where(farthest < 0, -1.0, 1.0))


def _aligned(maps: Numbers, onto: Numbers) -> Numbers:
    """Turn, mirror and move maps onto another; their size is theirs (Procrustes)."""
    middle = onto.mean(axis=0)
    centred = maps - maps.mean(axis=1, keepdims=True)
    u, _, vt = np.linalg.svd(centred.transpose(0, 2, 1) @ (onto - middle))
    return np.asarray(centred @ (u @ vt) + middle)


def _chance_stress(far: Numbers) -> float:
    """Return the median stress of the same distances, dealt to the pairs at random."""
    pairs = np.argwhere(np.triu(np.isfinite(far), 1)).T
    if len(far) < 4:
        return math.nan  # three points fit, whatever pair has which distance
    held = far[*pairs]
    dealt = np.repeat(far[None], SHUFFLES, axis=0)
    for n, shuffled in enumerate(dealt):
        shuffled[*pairs] = shuffled[*pairs[::-1]] = held[Seed("dealt", n).shuffled(len(held))]
    return float(np.median(_placed(dealt)[1]))


# --- the tree ---------------------------------------------------------------------------------


def _merges(far: Numbers) -> Numbers:
    """Return the linkage matrix of the tests."""
    upper = np.triu_indices(len(far), 1)
    return np.asarray(hierarchy.linkage(_filled(far)[upper], "average"))


def _branches(merges: Numbers, count: int) -> list[frozenset[int]]:
    """Return which tests hang below each merge."""
    below = [frozenset([test]) for test in range(count)]
    for a, b in merges[:, :2].astype(int):
        below.append(below[a] | below[b])
    return below[count:]


# --- the subset -------------------------------------------------------------------------------


def _spread_of(far: Numbers, tests: tuple[int, ...]) -> float:
    """Return the mean distance of two of the tests."""
    inner = far[np.ix_(tests, tests)]
    return float(inner.sum() / (len(tests) * (len(tests) - 1)))


def _farthest(far: Numbers, size: int) -> list[tuple[int, ...] | None]:
    """Return for each matrix the subset of that size with the greatest sum of distances."""
    side = far.shape[-1]
    # An unknown pair makes a subset worse than any that has none, in exact arithmetic's reach
    known = np.where(np.isfinite(far), far, -4.0 * side * side)
    if math.comb(side, size) <= EXHAUSTIVE:
        subsets = np.array(list(itertools.combinations(range(side), size)))
        sums = np.zeros((len(far), len(subsets)))
        for a, b in itertools.combinations(range(size), 2):
            sums += known[:, subsets[:, a], subsets[:, b]]
        # rounding must not decide between equals
        first = (sums >= sums.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)
        found = [tuple(subsets[place].tolist()) for place in first]
    else:
        found = [_exchanged(matrix, size) for matrix in known]
    return [
        tests if np.isfinite(matrix[np.ix_(tests, tests)]).all() else None
        for matrix, tests in zip(far, found, strict=True)
    ]


def _exchanged(far: Numbers, size: int) -> tuple[int, ...]:
    """Grow a subset from every test, better each by exchanges, and keep the best."""
    tried = {_bettered(far, _grown(far, size, start)) for start in range(len(far))}
    return max(sorted(tried), key=lambda tests: round(_spread_of(far, tests), 9))


def _grown(far: Numbers, size: int, start: int) -> list[int]:
    """Add, again and again, the test that is farthest from those already in."""
    inside, sums = [start], far[start].copy()
    while len(inside) < size:
        sums[inside[-1]] = -math.inf
        inside.append(int(sums.argmax()))
        sums += far[inside[-1]]
    return inside


def _bettered(far: Numbers, inside: list[int]) -> tuple[int, ...]:
    """Exchange one test for another as long as the sum of distances grows."""
    while True:
        out = np.setdiff1d(np.arange(len(far)), inside)
        sums = far[:, inside].sum(axis=1)
        # let b in for a: b gains its distances to all but a, and those of a are lost
        gain = sums[out][None, :] - far[inside][:, out] - sums[inside][:, None]
        if not gain.size or gain.max() <= 1e-9:
            return tuple(sorted(inside))
        a, b = np.unravel_index(gain.argmax(), gain.shape)
        inside[a] = int(out[b])
