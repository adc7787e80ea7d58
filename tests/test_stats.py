import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as oracle

from snellen import stats

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=7)


@given(COUNTS, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_is_scipys(counts, level):
    right, total = counts
    ours = stats.wilson(right, total, level)
    theirs = oracle.binomtest(right, total).proportion_ci(level, method="wilson")
    assert ours.value == right / total
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_nothing_asked_says_nothing():
    assert math.isnan(stats.wilson(0, 0).value)
    assert stats.wilson(0, 0)[1:] == (0.0, 1.0)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test(a, b):
    theirs = oracle.binomtest(a, a + b).pvalue if a + b else 1.0
    assert stats.mcnemar(a, b) == pytest.approx(theirs, abs=1e-12)


@given(P_VALUES)
def test_holm_is_what_its_definition_says(p):
    """Reject the smallest while p(i) ≤ α/(m−i): the adjusted p is the least such α."""
    adjusted = stats.holm(p)
    m = len(p)
    order = sorted(range(m), key=lambda i: p[i])
    for rank, place in enumerate(order):
        steps = [min(1.0, (m - i) * p[order[i]]) for i in range(rank + 1)]
        assert adjusted[place] == pytest.approx(max(steps))


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=9))
def test_sign_flips_are_counted_by_brute_force(differences):
    total = abs(sum(differences))
    flips = list(itertools.product((1, -1), repeat=len(differences)))
    sums = [abs(sum(s * d for s, d in zip(f, differences, strict=True))) for f in flips]
    expected = np.mean([s >= total - 1e-12 for s in sums])
    assert stats.sign_flip(differences) == pytest.approx(expected, abs=2 / len(flips))


def test_many_pairs_are_sampled_and_agree_with_the_t_test():
    differences = np.random.default_rng(3).normal(0.3, 1, 60)
    expected = oracle.ttest_1samp(differences, 0).pvalue
    assert stats.sign_flip(differences) == pytest.approx(expected, abs=0.01)


def test_the_bootstrap_agrees_with_scipys():
    values = np.random.default_rng(1).exponential(size=80)
    ours = stats.bootstrap(values, draws=20_000)
    theirs = oracle.bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, rng=2)
    assert ours.value == pytest.approx(values.mean())
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=0.01)


def test_draws_on_which_a_statistic_is_undefined_are_left_out_of_the_bootstrap():
    values = np.arange(6.0)

    def above_nought(drawn):
        least = drawn.min(axis=1)
        return np.where(least > 0, least, np.nan)

    found = stats.bootstrap(values[1:], above_nought)
    assert found == stats.bootstrap(values[1:], lambda drawn: drawn.min(axis=1))
    with_nought = stats.bootstrap(values, above_nought)
    assert math.isnan(with_nought.value)
    assert 1 <= with_nought.low <= with_nought.high <= 5
    assert np.isnan(stats.bootstrap(values * 0, above_nought)).all()


@given(st.lists(st.floats(0, 1), min_size=3, max_size=12).filter(lambda x: np.std(x) > 1e-3))
def test_a_mean_over_repeats_is_students_when_no_floor_binds(values):
    mean = stats.mean_of_repeats(values)
    theirs = oracle.ttest_1samp(values, 0.2, alternative="greater")
    assert mean.above(0.2) == pytest.approx(theirs.pvalue, abs=1e-9)
    ci = oracle.ttest_1samp(values, 0).confidence_interval()
    assert mean.interval()[1:] == pytest.approx((ci.low, ci.high), abs=1e-9)


def test_repeats_that_agree_by_luck_are_not_trusted_beyond_their_trials():
    floor = stats.share_variance(200, 200)
    mean = stats.mean_of_repeats([1.0] * 5, floor)
    assert mean.error == pytest.approx(math.sqrt(floor / 5))
    assert stats.mean_of_repeats([0.7]).interval().low < 0.1  # one repeat says little


@pytest.mark.parametrize(
    ("share", "repeats", "trials"), [(0.5, 5, 200), (0.9, 5, 200), (0.9, 10, 50)]
)
def test_intervals_over_repeats_hold_the_truth_as_often_as_they_say(share, repeats, trials):
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(600):
        right = rng.binomial(trials, share, repeats)
        floor = float(np.mean([stats.share_variance(r, trials) for r in right]))
        interval = stats.mean_of_repeats(right / trials, floor).interval()
        held += interval.low <= share <= interval.high
    assert held / 600 > 0.935


def test_chance_is_taken_off_as_it_should_be():
    assert stats.corrected(0.40, chance=0.10) == pytest.approx(1 / 3)  # the paper says .32
    assert stats.corrected(0.10, chance=0.10) == 0


@pytest.mark.parametrize(
    ("interval", "spec", "told"),
    [
        ((0.852, 0.82, 0.881), "%", "85 % [82, 88]"),
        ((0.037, 0.032, 0.044), "%", "3.7 % [3.2, 4.4]"),
        ((0.99872, 0.9985, 0.9989), "%", "99.87 % [99.85, 99.89]"),
        ((0.55, 0.5, 0.55), "%", "55 % [50, 55]"),
        ((1.0, 1.0, 1.0), "%", "100 % [100, 100]"),
        ((12.345, 1, 20), "", "12 [1, 20]"),
        ((1.5, 1.25, 2), "", "1.5 [1.2, 2.0]"),
        ((1.5, 1.25, 2), ".2f", "1.50 [1.25, 2.00]"),
        ((math.nan, 0.0, 1.0), "%", "nan % [0, 100]"),
        ((1.0, -math.inf, math.inf), "", "1 [-inf, inf]"),
    ],
)
def test_an_interval_prints_with_the_decimals_that_its_width_deserves(interval, spec, told):
    assert f"{stats.Interval(*interval):{spec}}" == told


@given(st.floats(1e-4, 1e4), st.floats(-1e4, 1e4))
def test_the_ends_of_a_printed_interval_are_told_apart(width, low):
    low_told, high_told = f"{stats.Interval(low, low, low + width)}".split("[")[1][:-1].split(", ")
    assert float(high_told) - float(low_told) >= 0.7 * width


@settings(deadline=None)  # the first one loads scikit-learn
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_error_consistency_is_cohens_kappa_below_its_ceiling(pairs):
    metrics = pytest.importorskip("sklearn.metrics", reason="the extra 'sklearn' is not installed")
    first, second = zip(*pairs, strict=True)
    told = stats.error_consistency(first, second)
    if len({*first, *second}) == 1:  # both always right, or both always wrong
        assert math.isnan(told.kappa)
        return
    assert told.kappa == pytest.approx(metrics.cohen_kappa_score(first, second), abs=1e-9)
    assert told.kappa <= told.ceiling + 1e-9
    best = stats.error_consistency(sorted(first), sorted(second))
    assert best.kappa == pytest.approx(told.ceiling, abs=1e-9)
