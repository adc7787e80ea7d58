"""Cheap stand-ins for similarity: against brute force, and what must not change them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.linalg import sqrtm

from snellen.errors import BadSetting
from snellen.exams.kinship import proxies
from snellen.exams.kinship.proxies import (
    both_ways,
    fisher_distance,
    fisher_embedding,
    in_common,
    leep,
    leep_share,
    logme,
    logme_gain,
    sinkhorn,
    transport_distance,
    validated,
)


def pictures(seed, count=60, features=4, classes=3, apart=1.0):
    """Return features of classes with middles `apart`, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(count) % classes)
    middles = rng.normal(size=(classes, features)) * apart
    return middles[labels] + rng.normal(size=(count, features)), labels


def probabilities(seed, count=60, classes=4):
    return np.random.default_rng(seed).dirichlet(np.ones(classes), count)


def embedded(side):
    return fisher_embedding(*side)


SEEDS = st.integers(0, 10**6)
ONE_SIDED = {
    "logme": logme,
    "gain": logme_gain,
    "leep": lambda f, y: leep(np.exp(f) / np.exp(f).sum(axis=1, keepdims=True), y),
    "share": lambda f, y: leep_share(np.exp(f) / np.exp(f).sum(axis=1, keepdims=True), y),
    "fisher": fisher_embedding,
}


@pytest.mark.parametrize("proxy", ONE_SIDED.values(), ids=ONE_SIDED)
@settings(max_examples=8, deadline=None)
@given(seed=SEEDS)
def test_neither_the_order_of_pictures_nor_the_names_of_classes_matter(proxy, seed):
    f, y = pictures(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    names = np.array(["zebra", "ant", "mole"])
    assert proxy(f[order], names[y[order]]) == pytest.approx(proxy(f, y), rel=1e-4, abs=1e-7)


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_transport_sees_neither_order_nor_names_and_is_the_same_both_ways(seed):
    (f, y), other = pictures(seed), pictures(seed + 1, count=45, classes=2)
    there = transport_distance((f, y), other)
    order = np.random.default_rng(seed).permutation(len(y))
    mixed = f[order], np.array(["z", "a", "m"])[y[order]]
    assert transport_distance(mixed, other) == pytest.approx(there, abs=1e-3)
    assert transport_distance(other, (f, y)) == pytest.approx(there, abs=1e-3)
    assert transport_distance((f, y), mixed) == pytest.approx(0, abs=1e-3)


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.sampled_from(["full", "diagonal"]))
def test_a_benchmark_is_at_no_distance_from_itself(seed, form):
    side = pictures(seed)
    assert transport_distance(side, side, form=form) == 0
    assert fisher_distance(embedded(side), embedded(side)) == 0


# --- LogME ------------------------------------------------------------------------------------


def best_evidence(f, y):
    """Maximise the density of y under N(0, I/β + FFᵀ/α) over α and β, numerically."""

    def less(logs):
        cover = np.exp(-logs[0]) * np.eye(len(y)) + np.exp(-logs[1]) * f @ f.T
        return -stats.multivariate_normal(np.zeros(len(y)), cover).logpdf(y)

    tries = itertools.product((0, 4), (-3, 0, 4))
    return -min(optimize.minimize(less, t, method="Nelder-Mead").fun for t in tries)


@pytest.mark.parametrize(("count", "features"), [(24, 3), (12, 20), (30, 1)])
def test_logme_is_the_greatest_evidence_that_brute_force_finds(count, features):
    f, y = pictures(5, count, features)
    by_hand = np.mean([best_evidence(f, (y == k).astype(float)) for k in range(3)]) / count
    assert logme(f, y) == pytest.approx(by_hand, abs=1e-4)


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.floats(0.01, 100))
def test_logme_does_not_see_how_features_are_turned_or_scaled(seed, scale):
    f, y = pictures(seed)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))[0]
    for score in (logme, logme_gain):
        assert score(scale * f @ turn, y) == pytest.approx(score(f, y), abs=1e-5)


def test_what_features_gain_is_nothing_without_use_and_more_with_more():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 4
    assert logme_gain(np.ones((400, 3)), y) == 0
    assert logme_gain(rng.normal(size=(400, 3)), y) < 0.01
    gains = [logme_gain(*pictures(1, 400, 6, 4, apart)) for apart in (0.1, 0.5, 2)]
    assert 0 <= gains[0] < gains[1] < gains[2]
    assert np.isfinite(logme_gain(np.eye(4)[y], y))  # fitted without error


def test_logme_itself_prefers_many_classes_to_useful_features_and_the_gain_does_not():
    many = np.random.default_rng(0).normal(size=(400, 6)), np.arange(400) % 50
    few = pictures(1, 400, 6, 2, apart=2)
    assert logme(*many) > logme(*few)
    assert logme_gain(*many) < logme_gain(*few)


# --- LEEP -------------------------------------------------------------------------------------


def test_leep_is_as_reckoned_by_hand():
    theta = np.array([[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]])
    labels = ["cat", "cat", "dog"]
    # P(cat, z) = (1.4, 0.6)/3 and P(z) = (1.5, 1.5)/3, so P(cat | z) = (14/15, 2/5)
    cat = [0.8 * 14 / 15 + 0.2 * 2 / 5, 0.6 * 14 / 15 + 0.4 * 2 / 5]
    dog = 0.1 * 1 / 15 + 0.9 * 3 / 5
    expected = (math.log(cat[0]) + math.log(cat[1]) + math.log(dog)) / 3
    assert leep(theta, labels) == pytest.approx(expected)
    entropy = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    assert leep_share(theta, labels) == pytest.approx(1 + expected / entropy)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(2, 6))
def test_leep_lies_between_the_labels_entropy_and_nought(seed, classes):
    theta = probabilities(seed)
    y = np.random.default_rng(seed).integers(classes, size=60)
    assert leep(theta, y) <= 0
    assert -1e-9 <= leep_share(theta, y) <= 1
    mixed = np.random.default_rng(seed).permutation(4)  # the model's classes have no order either
    assert leep(theta[:, mixed], y) == pytest.approx(leep(theta, y))


def test_a_model_that_knows_the_label_explains_all_and_one_that_says_the_same_nothing():
    y = np.arange(30) % 3
    assert leep_share(np.eye(3)[y], y) == 1
    assert leep_share(np.full((30, 5), 0.2), y) == pytest.approx(0, abs=1e-12)
    assert math.isnan(leep_share(np.full((3, 2), 0.5), [0, 0, 0]))
    assert both_ways(-1.0, -0.5) == -0.75


# --- Fisher embedding -------------------------------------------------------------------------


def test_the_embedding_is_the_variance_of_the_gains_slopes():
    f, y = pictures(3, 40)
    weights, offsets = proxies._softmax_regression(f, proxies._indicators(y), 0.01)

    def log_p(gains):
        logits = (f * gains) @ weights + offsets
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    p, step = np.exp(log_p(np.ones(4))), 1e-5
    for j in range(4):
        nudge = np.eye(4)[j] * step
        slope = (log_p(1 + nudge) - log_p(1 - nudge)) / (2 * step)
        assert embedded((f, y))[j] == pytest.approx((p * slope**2).sum(axis=1).mean(), rel=1e-5)


def test_the_probe_stands_where_its_loss_is_least():
    f, y = pictures(4, 50)
    t, decay = proxies._indicators(y), 0.01
    weights, offsets = proxies._softmax_regression(f, t, decay)
    logits = f @ weights + offsets
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert f.T @ (p - t) / 50 + decay * weights == pytest.approx(np.zeros((4, 3)), abs=1e-4)


def test_benchmarks_that_lean_on_the_same_features_are_near_and_others_far():
    rng = np.random.default_rng(6)
    f = rng.normal(size=(1500, 6))
    first, again, last = ((f[:, k : k + 2] > 0) @ [1, 2] for k in (0, 0, 4))
    one = fisher_embedding(f[:500], first[:500])
    same = fisher_embedding(f[500:1000], again[500:1000])
    other = fisher_embedding(f[1000:], last[1000:])
    assert fisher_distance(one, same) < 0.4
    assert fisher_distance(one, other) > 0.8
    assert math.isnan(fisher_distance(one, np.zeros(6)))


@given(SEEDS)
def test_the_distance_of_embeddings_is_symmetric_and_at_most_one(seed):
    a, b = np.random.default_rng(seed).exponential(size=(2, 5))
    assert 0 <= fisher_distance(a, b) <= 1
    assert fisher_distance(a, b) == pytest.approx(fisher_distance(b, a))


def test_in_common_every_benchmark_counts_alike():
    rng = np.random.default_rng(7)
    sides = [rng.normal(3, 1, (10, 2)), rng.normal(-3, 2, (1000, 2)), np.full((5, 2), 7.0)]
    made = in_common(*[np.c_[f, np.ones(len(f))] for f in sides])
    assert np.mean([f.mean(axis=0) for f in made], axis=0) == pytest.approx(np.zeros(3))
    assert np.mean([(f**2).mean(axis=0) for f in made], axis=0) == pytest.approx([1, 1, 0])


# --- optimal transport ------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_with_little_blur_transport_costs_what_the_best_assignment_does(seed):
    cost = np.random.default_rng(seed).uniform(5, 6, (12, 12))
    best = cost[optimize.linear_sum_assignment(cost)].mean()
    for epsilon in (0.1, 0.01):
        found = sinkhorn(cost, epsilon)
        assert best - 0.01 * epsilon <= found <= best + epsilon * math.log(12) + 1e-9
    assert found == pytest.approx(best, abs=0.025)


def test_transport_between_sets_of_different_sizes_costs_what_a_linear_program_does():
    cost = np.random.default_rng(8).uniform(size=(5, 8))
    rows = [np.kron(np.eye(5), np.ones(8)), np.kron(np.ones(5), np.eye(8))]
    weights = np.r_[np.full(5, 1 / 5), np.full(8, 1 / 8)]
    best = optimize.linprog(cost.ravel(), A_eq=np.vstack(rows), b_eq=weights).fun
    assert sinkhorn(cost, 0.002) == pytest.approx(best, abs=0.002 * math.log(40))
    assert sinkhorn(np.full((3, 4), 900.0), 0.1) == pytest.approx(900)
    assert sinkhorn(cost + 1e6, 0.1) == pytest.approx(1e6 + sinkhorn(cost, 0.1))


def test_the_blurred_plan_is_the_best_at_its_own_price():
    cost, epsilon = np.random.default_rng(9).uniform(size=(3, 3)), 0.3

    def price(flat):
        plan = np.exp(flat).reshape(3, 3)
        for _ in range(200):  # onto the plans that move everything
            plan = plan / plan.sum(axis=1, keepdims=True) / 3
            plan = plan / plan.sum(axis=0) / 3
        return (plan * cost).sum() + epsilon * (plan * np.log(9 * plan)).sum()

    best = optimize.minimize(price, np.zeros(9), method="BFGS").fun
    assert sinkhorn(cost, epsilon) == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("count", [4, 40])
def test_normals_are_as_far_apart_as_the_formula_with_matrix_roots_says(count):
    f, y = pictures(10, count * 2, 5, 2)
    normals = proxies._normals(f, y, "full")
    (a, b) = (np.cov(f[y == k].T, bias=True) + 1e-12 * np.eye(5) for k in (0, 1))
    root = sqrtm(a)
    expected = np.trace(a + b - 2 * np.real(sqrtm(root @ b @ root)))
    expected += ((f[y == 0].mean(axis=0) - f[y == 1].mean(axis=0)) ** 2).sum()
    found = proxies._between_normals(normals, normals)
    assert found[0, 1] == pytest.approx(expected, rel=1e-4)
    assert np.diag(found) == pytest.approx([0, 0], abs=1e-6)


def test_labels_that_divide_the_same_pictures_otherwise_cost_something():
    f, y = pictures(11, 200, 4, 2, apart=3)
    other = (f[:, 0] > np.median(f[:, 0])).astype(int)
    assert transport_distance((f, y), (f, other)) > 0.05


def test_transport_grows_with_what_is_done_to_the_features():
    f, y = pictures(12, 200)
    far = [transport_distance((f, y), (f + shift, y)) for shift in (0.1, 0.5, 2)]
    assert 0 < far[0] < far[1] < far[2]
    same = np.ones((4, 2)), [0, 1, 0, 1]
    assert transport_distance(same, same) == 0


def test_another_draw_of_the_same_benchmark_is_nearer_than_another_benchmark():
    f, y = pictures(13, 600, 40, 3, apart=0.5)
    halves = transport_distance((f[:300], y[:300]), (f[300:], y[300:]))
    assert halves < 0.7 * transport_distance((f[:300], y[:300]), pictures(14, 300, 40, 3, 0.5))


def test_of_many_pictures_a_stratified_draw_is_compared():
    f, y = pictures(15, 900)
    kept, labels = proxies._stratified(f, np.sort(y), 90, 0)
    assert np.bincount(labels).tolist() == [30, 30, 30]
    assert len(np.unique(kept, axis=0)) == 90
    assert transport_distance((f, y), (f, y), most=90) == 0
    assert transport_distance((f, y), (f + 1, y), most=90) == pytest.approx(
        transport_distance((f, y), (f + 1, y)), rel=0.25
    )


# --- validation -------------------------------------------------------------------------------


def symmetric(rng, count):
    made = np.triu(rng.normal(size=(count, count)), 1)
    return made + made.T


def test_agreement_is_the_rank_correlation_of_the_pairs():
    rng = np.random.default_rng(16)
    s = symmetric(rng, 8)
    x = s + symmetric(rng, 8)
    upper = np.triu_indices(8, 1)
    found = validated(x, s, repeats=200)
    assert found.spearman.value == pytest.approx(stats.spearmanr(x[upper], s[upper]).statistic)
    assert found.kendall.value == pytest.approx(stats.kendalltau(x[upper], s[upper]).statistic)
    assert found.spearman.low < found.spearman.value < found.spearman.high
    assert (found.pairs, found.tests) == (28, 8)
    assert found == validated(-x, s, distance=True, repeats=200)


def test_the_p_of_few_benchmarks_is_that_of_all_ways_of_naming_them():
    rng = np.random.default_rng(17)
    s = symmetric(rng, 5)
    x = s + 0.5 * symmetric(rng, 5)
    upper = np.triu_indices(5, 1)

    def rho(way):
        return stats.spearmanr(x[np.ix_(way, way)][upper], s[upper]).statistic

    ways = [rho(list(way)) for way in itertools.permutations(range(5))]
    expected = np.mean(np.array(ways) >= ways[0] - 1e-9)
    assert validated(x, s, repeats=10).p == pytest.approx(expected)
    assert validated(-x, s, repeats=10).p > 0.5  # one-sided


def test_unknown_pairs_are_left_out_and_draws_widen_the_interval():
    rng = np.random.default_rng(18)
    s = symmetric(rng, 9)
    x = s + 0.3 * symmetric(rng, 9)
    gap = s.copy()
    gap[0, 1] = gap[1, 0] = np.nan
    assert validated(x, gap, repeats=50).pairs == 35
    drawn = np.array([s + 1.5 * symmetric(rng, 9) for _ in range(100)])
    exact, unsure = validated(x, s, repeats=300), validated(x, s, drawn, repeats=300)
    assert unsure.spearman.value == exact.spearman.value
    assert unsure.spearman.low < exact.spearman.low - 0.1


def test_too_few_benchmarks_get_no_interval_and_a_constant_proxy_no_value():
    rng = np.random.default_rng(19)
    few = validated(symmetric(rng, 4), symmetric(rng, 4))
    assert math.isfinite(few.spearman.value)
    assert math.isnan(few.spearman.low)
    constant = validated(np.ones((6, 6)), symmetric(rng, 6), repeats=20)
    assert math.isnan(constant.spearman.value)
    assert math.isnan(constant.p)


def test_an_unrelated_proxy_is_rarely_found_to_agree():
    rng = np.random.default_rng(20)
    p = []
    for _ in range(60):
        # values that hang on the benchmarks, so that pairs are far from independent
        a, b = (0.5 * symmetric(rng, 5) + np.add.outer(w := rng.normal(size=5), w) for _ in "ab")
        p.append(validated(a, b, repeats=1).p)
    assert np.mean(np.array(p) <= 0.1) < 0.22
    assert np.mean(p) == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: logme([1, 2], [0, 1]), "a row of features and a label for each picture"),
        (lambda: logme([[1.0], [np.nan]], [0, 1]), "those of picture 1"),
        (lambda: leep([[2.0, 3.0]], [0]), "apply softmax"),
        (lambda: fisher_distance([1, 2], [1, 2, 3]), "have one length"),
        (lambda: transport_distance(pictures(0), pictures(0, features=3)), "found 4 and 3"),
        (lambda: validated(np.eye(3), np.eye(4)), "of the same pairs"),
    ],
)
def test_what_no_proxy_can_be_made_of_is_refused_with_the_reason(ask, told):
    with pytest.raises(BadSetting, match=told):
        ask()
