"""How alike are two benchmarks, for the price of a few seconds?

Training on every pair of 50 benchmarks is 1,225 trainings; what is here needs only the features
of a picture, or a model's probabilities, and each picture's label. Whether it stands for the
similarity that training measures is a question of its own, which `validated` answers.

    name              made of                             means more alike when   self
    logme             A's features of B's pictures        higher (no fixed zero)  not fixed
    logme_gain        as logme                            higher; 0: no use       not fixed
    leep              A's probabilities of B's pictures   higher, up to 0         not fixed
    leep_share        as leep                             higher; 0 to 1          not fixed
    fisher_distance   both in common features             lower; 0 to 1           0
    transport         both in common features             lower; from about 0     0

The first four look from one benchmark at another; `both_ways` makes them symmetric.
Nothing depends on the order of the pictures or on which number a class has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import optimize, special
from scipy import stats as scipy_stats

from snellen.errors import BadSetting
from snellen.seeds import Seed
from snellen.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from snellen.core import Indices

Numbers: TypeAlias = npt.NDArray[np.float64]

RATIOS = np.logspace(-8, 8, 129)
"""Ratios of noise to weights that are tried, in units of the features' largest direction."""
PICTURES = 1500
"""Transport compares every picture with every other: no more than so many of each benchmark."""


# --- LogME ------------------------------------------------------------------------------------


def logme(features: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Return how well a linear model of the features explains the labels: nats a picture.

    For each class, its labels y (1 or 0) are taken as F w + noise, with w ~ N(0, 1/α) and noise
    ~ N(0, 1/β); the log evidence log p(y | F, α, β) / n is maximised over α and β and averaged
    over classes (You et al. 2021, eq. 2). Higher: the features serve these labels better.

    The number by itself means little: it is a log density, may have either sign, and grows with
    the number of classes, as rare labels are easily "explained" by nought. Compare it between
    features of the same labels; between benchmarks, use `logme_gain`.
    """
    f, y = _checked(features, labels)
    return float(_evidence(f, _indicators(y)).mean() / len(y))


def logme_gain(features: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Return how much better features explain the labels than the classes' frequencies do.

    LogME of centred features and labels, less what the evidence is with all weights nought:
    nats a picture, never negative, and 0 where a linear model has no use for the features.
    """
    f, y = _checked(features, labels)
    f = f - f.mean(axis=0)
    t = _indicators(y)
    t = t - t.mean(axis=0)
    blind = _log_density(len(y), (t * t).sum(axis=0))
    return float(np.maximum(_evidence(f, t) - blind, 0).mean() / len(y))


def _evidence(f: Numbers, y: Numbers) -> Numbers:
    """Return for each column of y its log evidence, at the best α and β.

    With r = α/β, β has a best value for each r: n over the energy e = yᵀ(I + FFᵀ/r)⁻¹y. What
    is left is a curve over r alone, ½n(log β − log 2π − 1) − ½Σ log(1 + σ²/r), which is looked at
    all along: the fixed-point iteration of the paper may stop on the lower of two hills.
    """
    n = len(f)
    axes, singular, _ = np.linalg.svd(f, full_matrices=False)
    squares, along = singular**2, (axes.T @ y) ** 2
    rest = np.maximum((y * y).sum(axis=0) - along.sum(axis=0), 0)
    unit = max(float(squares.max(initial=0.0)), 1e-300)

    def at(r: Numbers) -> Numbers:  # (ratios, classes), or (ratios, 1) for all of these
        shrunk = r[:, None, :] / (r[:, None, :] + squares[:, None])
        energy = rest + np.einsum("rdk,dk->rk", shrunk, along)
        return np.asarray(_log_density(n, energy) + 0.5 * np.log(shrunk).sum(axis=1))

    grid = np.log(unit * RATIOS)
    best, columns = at(np.exp(grid)[:, None]).argmax(axis=0), np.arange(y.shape[1])
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, len(grid) - 1)]
    for _ in range(12):  # each round leaves a quarter of the span about the best ratio
        spots = low + (high - low) * np.linspace(0, 1, 9)[:, None]
        best = at(np.exp(spots)).argmax(axis=0)
        low = spots[np.maximum(best - 1, 0), columns]
        high = spots[np.minimum(best + 1, 8), columns]
    return np.asarray(at(np.exp((low + high)[None] / 2))[0])


def _log_density(n: int, energy: Numbers) -> Numbers:
    """Return the log density of n normal numbers of that sum of squares, at their best scale."""
    floor = np.maximum(energy, 1e-12 * n)  # labels that are fitted exactly have no density
    return np.asarray(0.5 * n * (np.log(n / floor) - math.log(2 * math.pi) - 1))


# --- LEEP -------------------------------------------------------------------------------------


def leep(probabilities: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Return how well a model's classes foretell other labels: nats a picture, at most 0.

    With θ(x) the model's probabilities of its own classes z, P(y, z) is the mean of θ(x)_z over
    the pictures of label y, and LEEP the mean of log Σ_z P(y | z) θ(x)_z (Nguyen et al. 2020,
    eq. 2). At 0 each class of the model belongs to one label; a model that always says the same
    gets −H(y), the entropy of the labels, so benchmarks of many classes score lower.

    >>> leep([[1, 0], [1, 0], [0, 1]], ["cat", "cat", "dog"])
    0.0
    """
    theta, y = _checked(probabilities, labels)
    if theta.min() < 0 or not np.allclose(theta.sum(axis=1), 1, atol=1e-3):
        raise BadSetting(
            "LEEP needs a model's probabilities, a row a picture, that add up to 1; found rows "
            f"that add up to {theta.sum(axis=1).min():.3g} and more: apply softmax to scores"
        )
    joint = _indicators(y).T @ theta / len(y)
    given = joint / np.maximum(joint.sum(axis=0), 1e-300)
    likely = (theta @ given.T)[np.arange(len(y)), y]
    return float(np.log(np.maximum(likely, 1e-300)).mean()) + 0.0


def leep_share(probabilities: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Return LEEP as the share of the labels' entropy that it explains, 1 + LEEP / H(y).

    It lies from 0 (the model's classes say nothing of the label: by Jensen's inequality LEEP is
    no less than −H(y | z)) to 1 (they determine it); NaN when there is but one label.
    """
    score = leep(probabilities, labels)
    share = np.unique(np.asarray(labels), return_counts=True)[1] / len(np.asarray(labels))
    entropy = float(special.entr(share).sum())
    return 1 + score / entropy if entropy > 0 else math.nan


def both_ways(there: float, back: float) -> float:
    """Return what two benchmarks have in common when each was looked at from the other."""
    return (there + back) / 2


# --- Fisher embedding -------------------------------------------------------------------------


def in_common(*features: npt.ArrayLike) -> list[Numbers]:
    """Bring features of several benchmarks, from one network, to one scale.

    Each feature gets mean 0 and variance 1 over all of them together, every benchmark counting
    alike however large it is; one that never varies is left at nought.
    """
    held = [np.asarray(f, float) for f in features]
    mean = np.mean([f.mean(axis=0) for f in held], axis=0)
    spread = np.sqrt(np.mean([((f - mean) ** 2).mean(axis=0) for f in held], axis=0))
    return [(f - mean) / np.where(spread > 0, spread, np.inf) for f in held]


def fisher_embedding(
    features: npt.ArrayLike, labels: npt.ArrayLike, decay: float = 0.01
) -> Numbers:
    """Return which of the common features a benchmark leans on: one number ≥ 0 for each.

    After Task2Vec (Achille et al. 2019), with a probe that has a gain s_j on each feature, held
    at 1, and a softmax regression W over them. The Fisher information of the gains,

        F_j = E_x E_{c ~ p(·|x)} (∂ log p(c|x) / ∂s_j)² = E_x [x_j² Var_{c ~ p(·|x)} W_cj],

    has one entry a feature, whatever the number of classes, and is in closed form. W minimises
    the cross-entropy plus `decay`/2 · |W|². A large entry: the answers hang on that feature. All
    of them grow with doubt (at certainty the variance is nought): compare directions, not sizes.
    """
    f, y = _checked(features, labels)
    weights, offsets = _softmax_regression(f, _indicators(y), decay)
    made = np.zeros(f.shape[1])
    for part in np.array_split(np.arange(len(f)), max(1, len(f) // 1024)):
        p = special.softmax(f[part] @ weights + offsets, axis=1)
        variance = p @ (weights**2).T - (p @ weights.T) ** 2
        made += (f[part] ** 2 * variance).sum(axis=0)
    return np.maximum(made / len(f), 0)


def fisher_distance(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Return 1 − cosine of two Fisher embeddings, entry by entry as shares of their sum.

    Task2Vec's symmetric distance, of a/(a + b) and b/(a + b): features on which everything
    leans do not outweigh the rest; nor, then, does noise in those that matter little. It lies
    from 0 (the same features matter, in proportion; so to itself) to 1 (none that matters to
    one matters to the other): lower is more alike.
    NaN when a benchmark leans on nothing.

    >>> fisher_distance([1, 2, 0], [2, 4, 0]), fisher_distance([1, 0], [0, 3])
    (0.0, 1.0)
    """
    a, b = np.asarray(one, float), np.asarray(other, float)
    if a.shape != b.shape or a.ndim != 1:
        raise BadSetting(
            f"two embeddings in common features have one length; found {a.shape} and {b.shape}"
        )
    if not a.any() or not b.any():
        return math.nan
    total = np.where(a + b > 0, a + b, 1)
    a, b = a / total, b / total
    cosine = float(a @ b / math.sqrt(float(a @ a) * float(b @ b)))
    return max(0.0, 1 - round(cosine, 15))


def _softmax_regression(f: Numbers, y: Numbers, decay: float) -> tuple[Numbers, Numbers]:
    """Return (features, classes) weights and the offsets; the minimum is one alone."""
    n, d = f.shape
    start = np.zeros((d + 1, y.shape[1]))
    with_one = np.hstack([f, np.ones((n, 1))])

    def loss(flat: Numbers) -> tuple[float, Numbers]:
        w = flat.reshape(start.shape)
        logits = with_one @ w
        top = special.logsumexp(logits, axis=1, keepdims=True)
        wrong = np.exp(logits - top) - y
        value = float((top[:, 0] - (logits * y).sum(axis=1)).mean() + decay / 2 * (w * w).sum())
        return value, (with_one.T @ wrong / n + decay * w).ravel()

    found = optimize.minimize(
        loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 500, "gtol": 1e-7}
    )
    w = np.asarray(found.x, float).reshape(start.shape)
    return w[:-1], w[-1]


# --- optimal transport ------------------------------------------------------------------------


def transport_distance(
    one: tuple[npt.ArrayLike, npt.ArrayLike],
    other: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    blur: float = 1.0,
    form: Literal["full", "diagonal"] = "full",
    most: int = PICTURES,
    seed: int = 0,
) -> float:
    """Return the cost of turning one benchmark into another, pictures and labels alike.

    After OTDD (Alvarez-Melis & Fusi 2020): a picture x of class y is moved to x' of class y' for

        |x − x'|² + W₂²(N_y, N_y'),

    where N_y is the normal distribution with the mean and covariance of the class' features, so
    that labels are compared by what they look like and need not have anything in common. The
    plan is blurred: `blur` × the features' variance is its price of entropy ε, and what that
    adds is taken off again, OT(A, B) − ½OT(A, A) − ½OT(B, B) (Feydy et al. 2019): a benchmark
    lies at 0 from itself. Lower is more alike, in squared units of the features. Benchmarks may
    differ in size and in classes. As W₂ between normals is curved, a value a little below 0 is
    possible, and means 0.

    In many features, pictures are about as far from those of another draw of their own benchmark
    as from any others, and only equal to themselves: a small blur measures which pictures were
    drawn (see benchmarks/proxies.py). So ε is as large as the variance.

    Classes of fewer pictures than features are better served by `form` "diagonal". Of more than
    `most` pictures a stratified draw is compared; their classes' normals are of all of them.
    """
    sides = [_checked(*side) for side in (one, other)]
    if sides[0][0].shape[1] != sides[1][0].shape[1]:
        raise BadSetting(
            "benchmarks are compared in features of one network; found "
            f"{sides[0][0].shape[1]} and {sides[1][0].shape[1]} of them"
        )
    epsilon = blur * _variance([f for f, _ in sides])
    if epsilon == 0:
        return 0.0  # all pictures of both have one and the same feature vector
    normals = [_normals(f, y, form) for f, y in sides]
    drawn = [_stratified(f, y, most, seed) for f, y in sides]

    def price(a: int, b: int) -> float:
        far = _squares(drawn[a][0], drawn[b][0])
        labels = _between_normals(normals[a], normals[b])
        return sinkhorn(far + labels[np.ix_(drawn[a][1], drawn[b][1])], epsilon)

    return price(0, 1) - (price(0, 0) + price(1, 1)) / 2


def sinkhorn(cost: npt.ArrayLike, epsilon: float, tolerance: float = 1e-6) -> float:
    """Return min ⟨P, C⟩ + ε KL(P | uniform) over plans P that move all rows to all columns.

    Rows share their weight alike, and so do columns (Cuturi 2013). The dual is climbed in turns,
    first with a large ε, then with smaller ones down to the one asked for; what is returned is
    the dual's value, and so no more than the true one however early it stops. It stops when
    no more than `tolerance` of all weight lies in the wrong row.
    """
    c = np.asarray(cost, float)
    f, g = np.full(c.shape[0], c.min()), np.zeros(c.shape[1])
    for e in _cooling(float(np.ptp(c)), epsilon):
        f, g = _balanced(c, f, g, e, tolerance if e == epsilon else 0.01)
    return float(f.mean() + g.mean())


def _cooling(start: float, end: float) -> Iterator[float]:
    """Yield prices of entropy from large to the one that is wanted."""
    while start > 2 * end:
        yield start
        start /= 2
    yield end


def _balanced(
    c: Numbers, f: Numbers, g: Numbers, e: float, tolerance: float
) -> tuple[Numbers, Numbers]:
    """Return the potentials of the plan at this ε, begun from others.

    The plan is exp((f + g − c)/e) over rows × columns. Its scalings u and v are cheap, and are
    taken into the potentials now and then, before they outgrow floating point.
    """
    rows, columns = c.shape
    for _ in range(100):
        plan = np.exp((f[:, None] + g - c) / e)
        held = plan.sum(axis=1)
        for _ in range(50):
            u = columns / held
            v = rows / (u @ plan)
            held = plan @ v
            off = float(abs(u * held / columns - 1).mean())
            if off <= tolerance or max(u.max(), v.max()) > 1e50:
                break
        f, g = f + e * np.log(u), g + e * np.log(v)
        if off <= tolerance:
            break
    return f, g


@dataclass(frozen=True)
class _Normals:
    """A normal distribution for each class."""

    mean: Numbers
    """(classes, features)"""
    factor: Numbers
    """L of the covariance LᵀL: (classes, rows, features); (classes, features) if diagonal."""


def _normals(f: Numbers, y: Indices, form: str) -> _Normals:
    """Fit each class' normal by its mean and covariance."""
    groups = [f[y == k] for k in range(int(y.max()) + 1)]
    mean = np.array([own.mean(axis=0) for own in groups])
    if form == "diagonal":
        return _Normals(mean, np.array([own.std(axis=0) for own in groups]))
    rows = min(max(map(len, groups)), f.shape[1])
    factor = np.zeros((len(groups), rows, f.shape[1]))
    for held, own, middle in zip(factor, groups, mean, strict=True):
        centred = (own - middle) / math.sqrt(len(own))
        if len(own) > rows:  # its triangle is a factor as good, and smaller
            centred = np.linalg.qr(centred, mode="r")
        held[: len(centred)] = centred
    return _Normals(mean, factor)


def _between_normals(one: _Normals, other: _Normals) -> Numbers:
    """Return squared 2-Wasserstein distances of every two normals (Dowson & Landau 1982).

    |m − m'|² + tr A + tr B − 2 tr (A^½ B A^½)^½, and that last trace is the sum of the
    singular values of L Mᵀ, for any factors A = LᵀL and B = MᵀM.
    """
    made = _squares(one.mean, other.mean)
    if one.factor.ndim == 2:
        return made + _squares(one.factor, other.factor)
    traces = [(n.factor**2).sum(axis=(1, 2)) for n in (one, other)]
    turned = other.factor.transpose(0, 2, 1)
    for place, factor in enumerate(one.factor):
        shared = np.linalg.svd(factor @ turned, compute_uv=False).sum(axis=1)
        made[place] += np.maximum(traces[0][place] + traces[1] - 2 * shared, 0)
    return made


def _squares(a: Numbers, b: Numbers) -> Numbers:
    """Return the squared distance of every row of one to every row of the other."""
    made = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2 * a @ b.T
    return np.asarray(np.maximum(made, 0))


def _variance(sides: Sequence[Numbers]) -> float:
    """Return the mean squared distance from the middle, both benchmarks counting alike."""
    middle = np.mean([f.mean(axis=0) for f in sides], axis=0)
    return float(np.mean([((f - middle) ** 2).sum(axis=1).mean() for f in sides]))


def _stratified(f: Numbers, y: Indices, most: int, seed: int) -> tuple[Numbers, Indices]:
    """Return at most so many pictures, each class as often as it is, to the nearest picture."""
    if len(y) <= most:
        return f, y
    mixed = Seed("stratified", seed).shuffled(len(y))
    by_class = mixed[np.argsort(y[mixed], kind="stable")]
    kept = by_class[((np.arange(most) + 0.5) * len(y) / most).astype(int)]
    return f[kept], y[kept]


# --- do they stand for what they are to stand for? --------------------------------------------


@dataclass(frozen=True)
class Agreement:
    """How well a proxy ranks pairs of benchmarks as their similarity does."""

    spearman: Interval
    kendall: Interval
    p: float
    """One-sided: of the benchmarks being named at random, ranks agree as well (Mantel 1967)."""
    pairs: int
    tests: int


def validated(
    proxy: npt.ArrayLike,
    similarity: npt.ArrayLike,
    draws: npt.ArrayLike | None = None,
    *,
    distance: bool = False,
    repeats: int = 2000,
    seed: int = 0,
) -> Agreement:
    """Return the rank correlations of a proxy with the similarity S, over pairs that have both.

    Both come as symmetric matrices, NaN where unknown; say `distance` of a proxy that is lower
    where benchmarks are more alike, so that agreement is always above 0.

    Pairs are no independent observations: those of one benchmark stand and fall together, and
    drawing pairs anew would make the interval too narrow (benchmarks/agreement.py). So
    benchmarks are drawn with replacement (a pair of one with itself left out), and with them a
    draw of S where there are any; the p-value comes of exchanging the benchmarks' names in one
    matrix, all ways if they are seven or fewer. With fewer than five the interval has no ends:
    too few can be drawn.
    """
    x, s = np.asarray(proxy, float), np.asarray(similarity, float)
    drawn = s[None] if draws is None else np.asarray(draws, float)
    if x.shape != s.shape or x.ndim != 2 or drawn.shape[1:] != s.shape:
        raise BadSetting(
            "a proxy is compared with similarities of the same pairs, as square matrices; "
            f"found {x.shape}, {s.shape} and draws of {drawn.shape[1:]}"
        )
    if distance:
        x = -x
    everyone = np.arange(len(s))
    rho, tau = (_agreement(x, s, everyone, by) for by in (_spearman, _kendall))
    rng = np.random.default_rng(Seed("validated", seed).number())
    held: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats if len(s) >= 5 else 0):
        who = rng.integers(len(s), size=len(s))
        now = drawn[rng.integers(len(drawn))]
        for values, by in zip(held, (_spearman, _kendall), strict=True):
            values.append(_agreement(x, now, who, by))
    both = np.isfinite(x) & np.isfinite(s)
    return Agreement(
        spearman=_between(rho, held[0]),
        kendall=_between(tau, held[1]),
        p=_mantel(x, s, seed) if math.isfinite(rho) else math.nan,
        pairs=int(np.triu(both, 1).sum()),
        tests=int((both & ~np.eye(len(s), dtype=bool)).any(axis=1).sum()),
    )


def _agreement(
    x: Numbers, s: Numbers, who: Indices, by: Callable[[Numbers, Numbers], float]
) -> float:
    """Correlate the pairs of those drawn, in one matrix and the other; none is with itself."""
    a, b = np.triu_indices(len(who), 1)
    a, b = who[a], who[b]
    known = (a != b) & np.isfinite(x[a, b]) & np.isfinite(s[a, b])
    one, other = x[a, b][known], s[a, b][known]
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return math.nan
    return by(one, other)


def _spearman(a: Numbers, b: Numbers) -> float:
    ranks = [scipy_stats.rankdata(values) for values in (a, b)]
    return float(np.corrcoef(*ranks)[0, 1])


def _kendall(a: Numbers, b: Numbers) -> float:
    return float(scipy_stats.kendalltau(a, b).statistic)


def _mantel(x: Numbers, s: Numbers, seed: int, draws: int = 5000) -> float:
    """Return how often names given at random make the ranks agree as well: one-sided.

    Pairs are ranked once in each matrix; where some are unknown, a naming is judged by the ranks
    of the pairs that it leaves known in both.
    """
    count = len(s)
    if count <= 7:
        ways, extra = np.array(list(permutations(range(count)))), 0
    else:
        rng = np.random.default_rng(Seed("mantel", seed).number())
        given = [np.arange(count), *(rng.permutation(count) for _ in range(draws))]
        ways, extra = np.array(given), 1  # the true naming is one of the possible ones
    upper = np.triu_indices(count, 1)
    ranks = [np.full(m.shape, math.nan) for m in (x, s)]
    for ranked, m in zip(ranks, (x, s), strict=True):
        ranked[upper] = scipy_stats.rankdata(m[upper], nan_policy="omit")
        ranked.T[upper] = ranked[upper]
    one = ranks[0][ways[:, upper[0]], ways[:, upper[1]]]
    made = _correlations(one, np.broadcast_to(ranks[1][upper], one.shape))
    seen = made[0]
    if not math.isfinite(seen):
        return math.nan
    others = made[extra:]
    hits = int(np.sum(~(others < seen - 1e-9)))  # one that has no value counts as agreeing
    return (hits + extra) / (len(others) + extra)


def _correlations(a: Numbers, b: Numbers) -> Numbers:
    """Return the correlation of each row of one with that of the other, where both are known."""
    known = np.isfinite(a) & np.isfinite(b)
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    a, b = (np.where(known, values, 0.0) for values in (a, b))
    a, b = (np.where(known, v - v.sum(axis=1, keepdims=True) / count, 0.0) for v in (a, b))
    size = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    made = np.full(len(a), math.nan)
    np.divide((a * b).sum(axis=1), size, out=made, where=size > 1e-9)
    return made


def _between(value: float, drawn: Sequence[float]) -> Interval:
    """Return the value with the middle 95 % of the draws that have one."""
    made = np.asarray(drawn, float)
    made = made[np.isfinite(made)]
    if not len(made):
        return Interval(value, math.nan, math.nan)
    low, high = np.quantile(made, [0.025, 0.975])
    return Interval(value, float(low), float(high))


def _checked(features: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Numbers, Indices]:
    """Return features as floats and labels as 0, 1, … in the order of their values."""
    f, held = np.asarray(features, float), np.asarray(labels)
    if f.ndim != 2 or held.shape != f.shape[:1] or not f.size:
        raise BadSetting(
            "a proxy needs a row of features and a label for each picture; found features of "
            f"shape {f.shape} and labels of shape {held.shape}"
        )
    if not np.isfinite(f).all():
        where = int(np.argwhere(~np.isfinite(f))[0, 0])
        raise BadSetting(f"a proxy needs finite features; those of picture {where} are not")
    return f, np.unique(held, return_inverse=True)[1].reshape(-1)


def _indicators(y: Indices) -> Numbers:
    """Return a column a class: 1 for its pictures, else 0."""
    return np.asarray(y[:, None] == np.arange(y.max() + 1), float)
