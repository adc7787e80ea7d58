"""Clouds, matrices, features, agreement and assessors, against oracles and brute force."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from snellen.errors import BadAnswer, BadSetting, SnellenError, Unable, Unloadable
from snellen.exams.background import agreement, assessor, clouds
from snellen.exams.background.assessor import Assessor, CutPoints, evaluate, fit_cut_points, train
from snellen.exams.background.clouds import Cloud, cloud
from snellen.exams.background.features import FEATURES, features, joined
from snellen.exams.background.matrices import (
    KERNELS,
    Kernel,
    density,
    raster,
    variance_matrix,
)
from snellen.seeds import Seed

SMALL = Kernel(6, 2, 8)
EXACT = 1e-9


def distances(targets=40, n=12, seed=0):
    """Spread evenly over what there is, the target itself first."""
    made = np.random.default_rng(seed).random((targets, n + 1))
    made[:, 0] = 0
    return made


def middles(side):
    return (np.arange(side) + 0.5) / side


# Clouds


@given(st.integers(1, 4), st.integers(1, 5), st.booleans(), st.integers(0, 99))
def test_a_cloud_is_every_ordered_pair_of_every_target(targets, n, signed, seed):
    d, s = distances(targets, n, seed), np.random.default_rng(seed).normal(size=(targets, n + 1))
    made = cloud(d, s, signed=signed)
    expected = [
        (d[t, j], d[t, k], s[t, j] - s[t, k] if signed else abs(s[t, j] - s[t, k]))
        for t in range(targets)
        for j in range(n + 1)
        for k in range(n + 1)
        if j != k
    ]
    assert len(made) == targets * n * (n + 1)
    assert sorted(zip(made.x, made.y, made.v, strict=True)) == sorted(expected)


def test_a_missing_composite_makes_no_points_and_changes_no_others():
    d, s = distances(3, 4), np.random.default_rng(1).random((3, 5))
    with_gap = np.column_stack([d, np.full(3, np.nan)])
    made, expected = cloud(with_gap, np.column_stack([s, [np.nan] * 3])), cloud(d, s)
    points = [sorted(zip(c.x, c.y, c.v, strict=True)) for c in (made, expected)]
    assert points[0] == points[1]


@pytest.mark.parametrize(
    ("d", "s", "error", "said"),
    [
        ([[0, 1]], [[0, 1, 2]], ValueError, "one shape"),
        ([[0, 1.5]], [[0, 1]], ValueError, "0..1"),
        ([[0, 0.5]], [[0, np.inf]], BadAnswer, "finite"),
    ],
)
def test_what_cannot_make_a_cloud_is_refused(d, s, error, said):
    with pytest.raises(error, match=said):
        cloud(d, s)


def test_modalities_are_what_their_names_say():
    maps = np.random.default_rng(0).normal(size=(3, 4, 5, 6))
    made = clouds.modalities(maps)
    for name, values in made.items():
        outer, _, first = name.partition("_")
        for picture, value in zip(maps, values, strict=True):
            if first:
                picture = [getattr(np, first)(channel) for channel in picture]  # noqa: PLW2901
            assert value == pytest.approx(getattr(np, outer)(picture))
    assert len(made) == 9
    assert set(clouds.modalities(maps[..., 0, 0])) == {"max", "mean", "std"}
    assert clouds.modalities(maps[..., 0]).keys() == made.keys()  # tokens of a transformer


def test_signals_that_are_not_numbers_are_refused():
    for wrong in ([1.0], np.zeros((2, 0)), [[np.nan]]):
        with pytest.raises(BadAnswer):
            clouds.modalities(wrong)
    with pytest.raises(BadAnswer, match="right class"):
        clouds.confidences([[0.5, 0.5]], [0, 1])


def test_confidence_sees_a_change_of_mind_that_the_greatest_probability_does_not():
    made = clouds.confidences([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1]], [0, 0])
    assert made["max"].tolist() == [0.7, 0.7]
    assert made["true"].tolist() == [0.7, 0.2]
    assert made["margin"] == pytest.approx([0.5, -0.5])
    assert made["right"].tolist() == [1, 0]


def test_relative_signals_have_no_unit():
    s = np.random.default_rng(0).normal(size=(5, 4))
    assert clouds.relative(10 * s) == pytest.approx(clouds.relative(s))
    assert clouds.relative(np.zeros((2, 3))).tolist() == np.zeros((2, 3)).tolist()


def test_most_targets_are_drawn_once_and_in_order():
    drawn = clouds.most_targets(50, Seed("x"))
    assert len(drawn) == 45
    assert (np.diff(drawn) > 0).all()
    assert drawn.tolist() == clouds.most_targets(50, Seed("x")).tolist()
    with pytest.raises(BadSetting, match="share"):
        clouds.most_targets(50, Seed("x"), share=0)


# Matrices


def brute_force(points, kernel, side):
    """The formula of the paper, point by point; equally far neighbours share what is wanted."""
    made = np.empty((side, side))
    for i, a in enumerate(middles(side)):
        for j, b in enumerate(middles(side)):
            away = np.hypot(points.x - a, points.y - b) * side
            phi = np.exp(-(away**2) / (2 * kernel.sigma**2)) * (away <= kernel.radius + 1e-9)
            wanted = min(kernel.nearest, len(points))
            edge = np.sort(away)[wanted - 1]
            inside, at = away < edge - 1e-9, abs(away - edge) <= 1e-9
            u = points.v[inside].sum() + (wanted - inside.sum()) * points.v[at].mean()
            made[i, j] = (u / wanted + (phi * points.v).sum()) / (1 + phi.sum())
    return made


def snapped(points, cells):
    """Move points to the middle of their cell."""
    x, y = (
        (np.minimum(np.floor(p * cells), cells - 1) + 0.5) / cells for p in (points.x, points.y)
    )
    return Cloud(x, y, points.v)


def some_cloud(targets, n, seed, signed=False):
    d = distances(targets, n, seed)
    return cloud(d, np.random.default_rng(seed + 1).random(d.shape), signed=signed)


@settings(deadline=None, max_examples=25)
@given(
    st.integers(1, 6), st.integers(1, 6), st.integers(0, 99), st.sampled_from([1, 3]),
    st.sampled_from([SMALL, Kernel(3, 5, 1), Kernel(40, 3, 32)]), st.booleans(),
)  # fmt: skip
def test_a_matrix_is_the_papers_formula_of_the_binned_points(t, n, seed, fine, kernel, signed):
    points = some_cloud(t, n, seed, signed)
    made = variance_matrix(points, kernel, side=16, fine=fine).values
    expected = brute_force(snapped(points, 16 * fine), kernel, 16)
    assert np.abs(made - expected).max() < EXACT


@pytest.mark.parametrize(("name", "most"), [("wide", 0.01), ("middle", 0.01), ("sharp", 0.03)])
def test_binning_moves_a_matrix_by_little(name, most):
    """By less than `most` where values are from 0 to 1, and a tenth of that in the mean.

    Where a disc is cut off, a point may fall on either side of its edge; where points are few,
    so may one of the nearest.
    """
    points = some_cloud(60, 8, 5)
    away = np.abs(
        variance_matrix(points, KERNELS[name], side=32).values
        - brute_force(points, KERNELS[name], 32)
    )
    assert away.max() < most
    assert away.mean() < most / 10


def test_points_that_are_equally_far_share_what_is_wanted():
    """All points of the ring around the one in the middle are at one distance."""
    ring = [(8.5, 7.5), (8.5, 9.5), (7.5, 8.5), (9.5, 8.5)]
    x, y = np.array([(8.5, 8.5), *ring]).T / 16
    points = Cloud(x, y, np.array([1.0, 0, 4, 0, 4]))
    made = variance_matrix(points, Kernel(0.1, 1, 2), side=16, fine=1).values
    u = (1 + 2) / 2  # the one in the middle, and one like the mean of the ring
    assert made[8, 8] == pytest.approx((u + 1) / 2)


def test_a_wide_ring_of_equals_is_found_whole():
    """Twenty-four cells are √325 away from the one in the middle, and nothing is nearer."""
    around = np.indices((37, 37)).reshape(2, -1).T - 18
    steps = around[(around**2).sum(axis=1) == 325]
    assert len(steps) == 24
    x, y = (20.5 + steps.T) / 41
    values = np.random.default_rng(0).random(24)
    made = variance_matrix(Cloud(x, y, values), Kernel(1, 1, 3), side=41, fine=1).values
    assert made[20, 20] == pytest.approx(values.mean())


def test_without_neighbours_an_empty_disc_is_blank():
    points = Cloud(np.array([0.05]), np.array([0.05]), np.array([2.0]))
    made = variance_matrix(points, Kernel(3, 1, 0), side=16)
    assert made.values[0, 0] == pytest.approx(2)
    assert np.isnan(made.values[8, 8])
    assert made.weights[8, 8] == 0
    assert np.isfinite(made.values).sum() == (made.weights > 0).sum() < 20
    assert not np.isnan(variance_matrix(points, Kernel(3, 1, 1), side=16).values).any()


def test_the_density_says_where_the_matrix_is_a_guess():
    points = some_cloud(5, 4, 0)
    made = variance_matrix(points, SMALL, side=32)
    expected = np.histogram2d(points.x, points.y, 32, [[0, 1], [0, 1]])[0]
    assert made.counts.tolist() == expected.tolist()
    assert made.covered == np.mean(expected > 0)
    assert ((made.evidence >= 0) & (made.evidence < 1)).all()
    assert made.evidence[made.counts > 0].min() > 0.4


def test_a_model_that_sees_the_foreground_only_has_a_zero_matrix():
    d = distances()
    seen = np.random.default_rng(0).random((40, 1)) * np.ones_like(d)
    made = variance_matrix(cloud(d, seen))
    assert (made.values == 0).all()
    assert set(features(made.values, made.values).values()) == {0.0}


@given(st.floats(0.05, 1))
@settings(max_examples=5, deadline=None)
def test_what_leaks_from_the_scenery_scales_the_matrix(alpha):
    d, rng = distances(), np.random.default_rng(0)
    foreground, scenery = rng.random((40, 1)), rng.random(d.shape)
    mixed = cloud(d, (1 - alpha) * foreground + alpha * scenery)
    alone = cloud(d, scenery)
    assert mixed.v == pytest.approx(alpha * alone.v, abs=1e-12)
    whole = variance_matrix(alone, SMALL, side=32).values
    assert variance_matrix(mixed, SMALL, side=32).values == pytest.approx(alpha * whole, abs=EXACT)


def declining(d):
    """A model whose confidence falls with semantic distance, and with nothing else."""
    return 0.9 - 0.5 * d**2


@pytest.mark.parametrize(("kernel", "most"), [("sharp", 0.03), ("middle", 0.06), ("wide", 0.1)])
def test_a_model_that_declines_with_distance_has_the_matrix_of_its_decline(kernel, most):
    d = distances(400, 31)
    made = variance_matrix(cloud(d, declining(d)), KERNELS[kernel]).values
    seen = declining(middles(128))
    assert np.abs(made - np.abs(seen[:, None] - seen)).max() < most


def test_the_far_corner_is_smoothed_as_it_must_be():
    """Where distances thin out towards 1, .5 reads as .405; where they do not, as .44."""
    d = np.random.default_rng(1).beta(2, 2, (200, 32))
    d[:, 0] = 0
    assert variance_matrix(cloud(d, declining(d))).values[0, -1] == pytest.approx(0.405, abs=0.01)
    d = distances(200, 31)
    assert variance_matrix(cloud(d, declining(d))).values[0, -1] == pytest.approx(0.44, abs=0.01)


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 99))
def test_sizes_are_symmetric_and_signs_antisymmetric_about_nought(seed):
    points = some_cloud(10, 6, seed)
    made = variance_matrix(points, SMALL, side=32)
    assert made.values == pytest.approx(made.values.T, abs=EXACT)
    assert (made.counts == made.counts.T).all()
    signed = some_cloud(10, 6, seed, signed=True)
    assert signed.v.sum() == pytest.approx(0, abs=1e-9)
    values = variance_matrix(signed, SMALL, side=32).values
    assert values == pytest.approx(-values.T, abs=EXACT)
    assert values.mean() == pytest.approx(0, abs=EXACT)
    assert np.abs(values).max() > 0.01


def test_shuffled_distances_leave_no_structure():
    d = distances(200, 15)
    shuffled = np.random.default_rng(0).permuted(d[:, 1:], axis=1)
    true = variance_matrix(cloud(d, declining(d)))
    none = variance_matrix(cloud(np.column_stack([d[:, :1], shuffled]), declining(d)))
    away = np.s_[20:, 20:]  # the target itself stays where it was
    assert none.values[away].std() < true.values[away].std() / 5


def test_the_order_of_points_is_nothing_and_the_same_input_gives_the_same_bytes():
    points = some_cloud(30, 9, 3)
    order = np.random.default_rng(0).permutation(len(points))
    mixed = Cloud(points.x[order], points.y[order], points.v[order])
    made = [variance_matrix(c, SMALL, side=32).values for c in (points, points, mixed)]
    assert made[0].tobytes() == made[1].tobytes()
    assert made[2] == pytest.approx(made[0], abs=1e-12)


def test_a_million_points_take_seconds():
    d = distances(1712, 31)
    points = cloud(d, np.random.default_rng(0).random(d.shape))
    assert len(points) == 1_698_304
    seconds = []
    for _ in range(2):
        start = time.process_time()
        variance_matrix(points)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 3


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: Kernel(0), BadSetting),
        (lambda: Kernel(nearest=-1), BadSetting),
        (lambda: variance_matrix(some_cloud(1, 1, 0), fine=2), BadSetting),
        (lambda: variance_matrix(cloud(np.zeros((0, 3)), np.zeros((0, 3)))), ValueError),
    ],
)
def test_what_makes_no_matrix_is_refused(wrong, error):
    with pytest.raises(error):
        wrong()


def test_matrices_are_shown_with_what_they_rest_on():
    made = {name: variance_matrix(some_cloud(5, 4, 0), k, side=32) for name, k in KERNELS.items()}
    shown = raster(made, name="matrices", title="t", caption="c")
    assert shown.bounds[0] == 0
    assert shown.bounds[1] == max(m.values.max() for m in made.values())
    assert raster(made, name="m", title="t", bounds=(0, 1)).bounds == (0, 1)
    assert shown.opacity["sharp"].tolist() == made["sharp"].evidence.tolist()
    points = density({"wide": made["wide"]}, name="density", title="t").panels["wide"]
    assert points.shape == (8, 8)
    assert np.nansum(points) == 5 * 4 * 5
    assert np.nanmin(points) >= 1


# Features


def slow_features(m, part):
    """The definitions, element by element."""
    n = len(m)
    v = {(i, j): m[i - 1][j] - m[i][j] for i in range(1, n) for j in range(n) if j > i}
    h = {(i, j): m[i][j + 1] - m[i][j] for i in range(n) for j in range(n - 1) if j > i}
    d = [m[i + 1][j + 1] - m[i][j] for i in range(n - 1) for j in range(n - 1) if j > i]
    rows = [[x for (i, _), x in v.items() if i == row] for row in range(n)]
    columns = [[x for (_, j), x in h.items() if j == column] for column in range(n)]
    within = [np.mean([np.std(line) for line in ls if len(line) > 1]) for ls in (rows, columns)]
    v, h = list(v.values()), list(h.values())
    size = np.mean(np.abs(m))
    diagonals = [np.diagonal(m, k) for k in range(1 - n, n) if k]
    steady = [
        np.mean(g) / np.sqrt(np.mean(g) ** 2 + s**2)
        for g, s in ((v, within[0]), (h, within[1]), (d, np.std(d)))
    ]
    return dict(  # noqa: C408 — names are read more easily so
        mean=np.mean(m), mean_square=np.mean(m * m), std=np.std(m),
        fraction_above=np.mean(m > 0.15),
        asymmetry=np.mean(abs(m - m.T)) / size, overall_gradient=np.mean(steady),
        discontinuity=sum(len(x) * np.std(x) for x in diagonals) / sum(map(len, diagonals)) / size,
        vertical_mean=np.mean(v), vertical_std=np.std(v), vertical_wstd=within[0],
        horizontal_mean=np.mean(h), horizontal_std=np.std(h), horizontal_wstd=within[1],
        diagonal_mean=np.mean(d), diagonal_std=np.std(d), sensitivity=np.sum(abs(m - part)),
    )  # fmt: skip


SQUARES = st.integers(4, 9).flatmap(
    lambda n: st.tuples(
        *[arrays(float, (n, n), elements=st.floats(-1, 1, allow_subnormal=False, width=16))] * 2
    )
)


@given(st.integers(4, 12), st.integers(0, 1000))
def test_features_are_their_definitions(n, seed):
    m, part = np.random.default_rng(seed).random((2, n, n))
    made = features(m, part)
    assert tuple(made) == FEATURES
    assert made == pytest.approx(slow_features(m, part), abs=1e-12)


@given(SQUARES, st.floats(0.5, 4))
def test_features_scale_as_matrices_do(squares, factor):
    m, part = squares
    one, more = features(m, part), features(factor * m, factor * part)
    assert all(np.isfinite(list(one.values())))
    for name in FEATURES:
        if name in ("asymmetry", "overall_gradient", "discontinuity"):
            assert more[name] == pytest.approx(one[name], abs=1e-6), name
        elif name == "mean_square":
            assert more[name] == pytest.approx(factor**2 * one[name], abs=1e-9)
        elif name != "fraction_above":
            assert more[name] == pytest.approx(factor * one[name], abs=1e-9), name


@given(SQUARES)
def test_reversing_both_axes_swaps_vertical_and_horizontal(squares):
    m = squares[0] + squares[0].T
    one, other = (features(x, x) for x in (m, m[::-1, ::-1].T))
    for kind in ("mean", "std", "wstd"):
        assert other[f"vertical_{kind}"] == pytest.approx(one[f"horizontal_{kind}"], abs=1e-12)
    assert other["diagonal_mean"] == pytest.approx(-one["diagonal_mean"], abs=1e-12)


def test_features_tell_what_they_are_for():
    """Growing with the distance between sceneries: steady, smooth along diagonals, symmetric."""
    apart = np.abs(np.subtract.outer(middles(64), middles(64)))
    made = features(apart, apart)
    assert made["overall_gradient"] == pytest.approx(2 / 3)  # outwards, not along the diagonal
    assert made["discontinuity"] == pytest.approx(0, abs=1e-12)
    assert made["asymmetry"] == 0
    assert made["vertical_mean"] == made["horizontal_mean"] == pytest.approx(1 / 64)
    rough = np.random.default_rng(0).random((64, 64))
    assert abs(features(rough, rough)["overall_gradient"]) < 0.1
    assert features(rough, rough)["discontinuity"] > 0.5
    constant = np.full((64, 64), 0.3) + 1e-13 * rough
    assert features(constant, constant)["overall_gradient"] == 0


def test_features_of_anything_else_are_refused():
    square = np.zeros((5, 5))
    for wrong in (np.zeros((5, 4)), np.zeros((2, 2)), np.full((5, 5), np.nan)):
        with pytest.raises(ValueError, match="features are of"):
            features(wrong, wrong)
    with pytest.raises(ValueError, match="one size"):
        features(square, np.zeros((6, 6)))
    assert joined({"a": {"x": 1}, "b": {"x": 2}}) == {"a x": 1, "b x": 2}


# Agreement

RATINGS = st.integers(1, 30).flatmap(lambda n: arrays(np.int64, (n, 2), elements=st.integers(0, 2)))
FLEISS = """0 0 0 0 14 / 0 2 6 4 2 / 0 0 3 5 6 / 0 3 9 2 0 / 2 2 8 1 1
          / 7 7 0 0 0 / 3 2 6 3 0 / 2 5 3 2 2 / 6 5 2 1 0 / 0 2 2 3 7"""


@settings(deadline=None)
@given(RATINGS, st.sampled_from(["none", "linear", "quadratic"]))
def test_kappa_is_scikit_learns(ratings, weights):
    metrics = pytest.importorskip("sklearn.metrics")
    ours = float(agreement.cohen(ratings, weights=weights))
    if len(np.unique(ratings)) == 1:
        assert np.isnan(ours)
        return
    given = None if weights == "none" else weights
    theirs = metrics.cohen_kappa_score(*ratings.T, labels=[0, 1, 2], weights=given)
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_fleiss_kappa_is_that_of_the_published_table():
    counts = np.array([row.split() for row in FLEISS.split("/")], int)
    assert agreement.fleiss_of_counts(counts) == pytest.approx(0.210, abs=5e-4)
    ratings = [np.repeat(np.arange(5), row) for row in counts]
    assert agreement.fleiss(ratings, levels=5) == pytest.approx(0.210, abs=5e-4)


@given(RATINGS)
def test_fleiss_kappa_of_two_coders_is_scotts_pi(ratings):
    both = np.bincount(ratings.ravel(), minlength=3) / ratings.size
    chance = float((both**2).sum())
    if len(np.unique(ratings)) > 1:
        pi = (np.mean(ratings[:, 0] == ratings[:, 1]) - chance) / (1 - chance)
        assert agreement.fleiss(ratings) == pytest.approx(pi, abs=1e-12)


def test_kappas_of_many_draws_are_those_of_each():
    drawn = np.random.default_rng(0).integers(0, 3, (7, 20, 3))
    assert agreement.fleiss(drawn) == pytest.approx([agreement.fleiss(x).item() for x in drawn])
    pairs = drawn[..., :2]
    for weights in ("none", "linear", "quadratic"):
        one_by_one = [agreement.cohen(x, weights=weights).item() for x in pairs]
        assert agreement.cohen(pairs, weights=weights) == pytest.approx(one_by_one)


def test_intervals_hold_the_true_kappa_as_often_as_they_say():
    """Coders who know the truth with probability c, else guess, have a kappa of c²."""
    rng, copies, inside = np.random.default_rng(0), 0.8, 0
    for trial in range(100):
        truth, guesses = rng.integers(0, 3, (120, 1)), rng.integers(0, 3, (120, 2))
        ratings = np.where(rng.random((120, 2)) < copies, truth, guesses)
        found = agreement.with_interval(agreement.cohen, ratings, draws=400, seed=trial)
        inside += found.low <= copies**2 <= found.high
    assert 88 <= inside <= 99


def test_every_two_coders_have_their_kappa():
    ratings = np.random.default_rng(0).integers(0, 3, (40, 3))
    made = agreement.pairwise(ratings, weights="linear", draws=100)
    assert list(made) == [(0, 1), (0, 2), (1, 2)]
    assert made[0, 2].value == agreement.cohen(ratings[:, [0, 2]], weights="linear")
    assert made[0, 2].low < made[0, 2].value < made[0, 2].high


def test_coders_who_use_one_level_only_have_no_kappa_and_no_interval():
    found = agreement.with_interval(agreement.fleiss, np.ones((5, 3), int), draws=10)
    assert np.isnan(found).all()


def test_the_majority_wins_and_three_ways_end_in_the_middle():
    everything = np.stack(np.meshgrid(*[range(3)] * 3), -1).reshape(-1, 3)
    for said, level in zip(everything, agreement.majority(everything), strict=True):
        votes = np.bincount(said, minlength=3)
        assert level == (votes.argmax() if votes.max() > 1 else 1)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: agreement.cohen([[0, 1, 2]]), "two coders"),
        (lambda: agreement.cohen([[0, 3]]), r"\[3\] are not"),
        (lambda: agreement.cohen([[0, 1]], weights="cubic"), "not by 'cubic'"),
        (lambda: agreement.majority([[0, 1]]), "odd number"),
        (lambda: agreement.fleiss_of_counts([[1, 2], [2, 2]]), "same number"),
        (lambda: agreement.fleiss_of_counts(np.zeros((0, 3))), "at least one item"),
        (lambda: agreement.fleiss([0, 1]), "items, coders"),
    ],
)
def test_ratings_that_cannot_be_compared_are_refused(wrong, said):
    with pytest.raises(BadSetting, match=said):
        wrong()


# Assessors

NAMES = ("CONF max mean", "CONF max std", "CONV-1 max mean", "noise")


def repository(models=90, seed=0):
    """Features and levels of models, and a worst-case accuracy that says less of the levels."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 3, models)
    rows = rng.normal(size=(models, len(NAMES))) * 0.4
    rows[:, :3] -= levels[:, None]
    worst = np.clip(0.3 * levels + rng.normal(size=models) * 0.35, 0, 1)
    return rows, levels, worst


@pytest.fixture(scope="module")
def forest():
    ensemble = pytest.importorskip("sklearn.ensemble")
    rows, levels, _ = repository()
    return ensemble.RandomForestClassifier(30, random_state=3).fit(rows, levels)


def test_a_forest_taken_apart_says_what_scikit_learns_says(forest, tmp_path):
    rows = np.random.default_rng(9).normal(size=(500, 4)) * 2
    on_edges = np.concatenate([tree.tree_.threshold for tree in forest.estimators_])
    rows = np.concatenate([rows, np.repeat(on_edges[:, None], 4, axis=1)])
    ours = assessor.exported(forest, NAMES)
    expected = forest.predict_proba(rows)
    assert ours.table(rows).tobytes() == expected.tobytes()
    ours.save(tmp_path / "a.npz")
    assert Assessor.load(tmp_path / "a.npz").table(rows).tobytes() == expected.tobytes()
    assert sum(ours.importances.values()) == pytest.approx(1)
    assert list(ours.importances)[-1] == "noise"
    assert ours.importance.tolist() == forest.feature_importances_.tolist()


def test_levels_that_were_not_learnt_are_impossible():
    ensemble = pytest.importorskip("sklearn.ensemble")
    rows, levels, _ = repository()
    rows, levels = rows[levels != 1], levels[levels != 1]
    fitted = ensemble.RandomForestClassifier(5, random_state=0).fit(rows, levels)
    made = assessor.exported(fitted, NAMES).table(rows)
    assert made[:, [0, 2]].tobytes() == np.ascontiguousarray(fitted.predict_proba(rows)).tobytes()
    assert (made[:, 1] == 0).all()


def test_an_assessor_goes_by_names_and_not_by_places():
    pytest.importorskip("sklearn")
    rows, levels, _ = repository()
    judge = train(rows, levels, NAMES, seed=1, trees=20)
    one = dict(zip(NAMES, rows[0], strict=True))
    backwards = dict(reversed(one.items()))
    assert judge.probabilities(one).shape == (3,)
    assert judge.probabilities(one).sum() == pytest.approx(1)
    assert judge.probabilities(one).tolist() == judge.probabilities(backwards).tolist()
    assert judge.level(one) == assessor.LEVELS[levels[0]]
    del one["noise"]
    with pytest.raises(
        Unable, match=r"missing 'noise' unknown 'CONV-2 max mean' ;|missing 'noise'"
    ):
        judge.probabilities(one | {"CONV-2 max mean": 0.0})
    with pytest.raises(BadSetting, match="finite"):
        judge.probabilities(one | {"noise": np.nan})


def test_the_same_training_writes_the_same_bytes_with_its_card(tmp_path):
    pytest.importorskip("sklearn")
    rows, levels, _ = repository()
    for name in "ab":
        train(rows, levels, NAMES, seed=5, trees=10, meta={"models": 90}).save(tmp_path / name)
        time.sleep(0.01)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert Assessor.load(tmp_path / "a").meta == {"models": 90}
    other = train(rows, levels, NAMES, seed=6, trees=10)
    assert other.table(rows).tolist() != Assessor.load(tmp_path / "a").table(rows).tolist()


def test_an_assessor_is_used_without_scikit_learn_and_without_pickle(tmp_path):
    pytest.importorskip("sklearn")
    rows, levels, _ = repository()
    train(rows, levels, NAMES, trees=5).save(tmp_path / "a.npz")
    code = f"""
import sys
sys.modules["sklearn"] = None
from pathlib import Path
from snellen.exams.background.assessor import Assessor
judge = Assessor.load(Path({str(tmp_path / "a.npz")!r}))
print(judge.probabilities(dict.fromkeys({NAMES}, 0.0)).sum())
assert "sklearn.tree" not in sys.modules
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(told.stdout) == pytest.approx(1)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


def test_training_without_scikit_learn_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    rows, levels, _ = repository()
    with pytest.raises(SnellenError, match=r"snellen\[sklearn\]"):
        train(rows, levels, NAMES)


@pytest.mark.parametrize(
    "harm",
    [
        lambda a: a.pop("said"),
        lambda a: a.pop("left"),
        lambda a: a.update(said=np.array("{")),
        lambda a: a.update(said=np.array(json.dumps({"layout": 1, "meta": 3}))),
        lambda a: a.update(said=np.array(json.dumps({"layout": 99, "meta": {}}))),
        lambda a: a.update(left=np.zeros_like(a["left"])),  # round in circles
        lambda a: a.update(right=a["right"] + 10**6),
        lambda a: a.update(feature=a["feature"] + 4),
        lambda a: a.update(feature=np.array(1)),
        lambda a: a.update(chances=a["chances"][:, :2]),
        lambda a: a.update(threshold=a["threshold"] * np.nan),
        lambda a: a.update(starts=np.array([], int)),
        lambda a: a.update(names=a["names"][1:]),
        lambda a: a.update(names=np.array([{}], object)),
    ],
)
def test_a_damaged_assessor_is_refused(forest, tmp_path, harm):
    path = tmp_path / "a.npz"
    assessor.exported(forest, NAMES).save(path)
    with np.load(path) as file:
        arrays_of = dict(file)
    harm(arrays_of)
    np.savez(path, **arrays_of)
    with pytest.raises(Unloadable, match=r"a\.npz"):
        Assessor.load(path)


def test_what_is_no_assessor_at_all_is_refused(tmp_path):
    (tmp_path / "text").write_text("x")
    np.save(tmp_path / "array.npy", np.zeros(3))
    for name in ("text", "array.npy", "nothing"):
        with pytest.raises(Unloadable, match=name):
            Assessor.load(tmp_path / name)


def test_worst_case_accuracy_wants_every_scenery_right():
    right = np.ones((4, 31), bool)
    right[0, 7] = right[2, 0] = False
    assert assessor.worst_case(right) == 0.5
    with pytest.raises(ValueError, match="targets, sceneries"):
        assessor.worst_case([True])


@given(
    st.lists(
        st.tuples(st.integers(0, 6).map(lambda x: x / 8), st.integers(0, 2)), min_size=1, max_size=9
    )
)
def test_no_other_cut_points_do_better(pairs):
    values, levels = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    found = fit_cut_points(values, levels)
    assert found.low <= found.high
    edges = [-np.inf, *(np.arange(8) / 8 - 1 / 16), np.inf]
    best = max(
        np.mean(CutPoints(low, high).levels(values) == levels)
        for low in edges
        for high in edges
        if low <= high
    )
    assert np.mean(found.levels(values) == levels) == best


@pytest.fixture(scope="module")
def judged():
    pytest.importorskip("sklearn")
    return evaluate(*repository())


def test_ten_splits_tell_the_better_assessor(judged):
    forest, worst = (judged.outcomes[name] for name in (assessor.FOREST, assessor.WORST))
    assert len(forest.accuracies) == len(forest.kappas) == 10
    assert forest.accuracy.value == pytest.approx(np.mean(forest.accuracies))
    assert forest.accuracy.low < forest.accuracy.value < forest.accuracy.high <= 1
    assert len(judged.outcomes) == 3
    gain, kappa_gain = judged.beyond_worst_case[assessor.FOREST]
    assert gain.value == pytest.approx(forest.accuracy.value - worst.accuracy.value)
    assert gain.low > 0
    assert kappa_gain.value == pytest.approx(forest.kappa.value - worst.kappa.value)
    assert [row["assessor"] for row in judged.cells()] == list(judged.outcomes)


def test_an_evaluation_comes_out_the_same_twice_and_otherwise_with_another_seed(judged):
    forest = assessor.FOREST
    again = evaluate(*repository(), splits=2).outcomes[forest]
    assert again.accuracies == judged.outcomes[forest].accuracies[:2]
    other = evaluate(*repository(), splits=2, seed=1).outcomes[forest]
    assert other.accuracies != again.accuracies


def test_splits_that_share_models_are_not_taken_for_independent(judged):
    """A plain standard error over ten splits is less than half of what it should be."""
    values = judged.outcomes[assessor.WORST].accuracies
    naive = 2.262 * np.std(values, ddof=1) / np.sqrt(10)
    found = judged.outcomes[assessor.WORST].accuracy
    assert (found.high - found.low) / 2 == pytest.approx(naive * np.sqrt(1 + 10 / 2), rel=1e-3)


def test_cut_points_never_see_what_is_held_out(monkeypatch):
    pytest.importorskip("sklearn")
    seen = []

    def spy(values, levels):
        seen.append(set(values.tolist()))
        return fit_cut_points(values, levels)

    monkeypatch.setattr(assessor, "fit_cut_points", spy)
    rows, levels, _ = repository(30)
    evaluate(rows, levels, np.arange(30) / 30, splits=3)
    assert [len(values) for values in seen] == [20, 20, 20]
    assert seen[0] != seen[1]


def test_features_that_say_nothing_teach_nothing():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    found = evaluate(rng.normal(size=(120, 4)), rng.integers(0, 3, 120), rng.random(120), splits=3)
    for outcome in found.outcomes.values():
        assert outcome.kappa.low < 0.05
        assert abs(outcome.kappa.value) < 0.2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda r, y, w: evaluate(r[:4], y[:4], w[:4]),
        lambda r, y, w: evaluate(r, y, w[:4]),
        lambda r, y, w: evaluate(r, y + 1, w),
        lambda r, y, w: evaluate(r, y, w, splits=1),
        lambda r, y, w: train(r, y[:5], NAMES),
        lambda r, y, w: train(r, y, NAMES[:2]),
        lambda r, y, w: train(r, y, ("a",) * 4),
        lambda r, y, w: train(r * np.nan, y, NAMES),
    ],
)
def test_what_nothing_can_be_learnt_from_is_refused(wrong):
    with pytest.raises(BadSetting):
        wrong(*repository(30))
