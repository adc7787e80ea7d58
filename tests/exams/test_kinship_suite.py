"""What similarities say of a suite: the published figures, brute force, and what cannot change."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from snellen.errors import BadSetting
from snellen.exams.kinship import suite
from snellen.exams.kinship.suite import clustered, diversity, mapped, most_diverse

NAMES = ("MNIST", "Fashion", "CIFAR-10", "CIFAR-100")
ALONE = (0.9932, 0.9251, 0.8099, 0.4892)
MERGED = {
    (0, 2): 0.87495, (0, 3): 0.69815, (0, 1): 0.9518,
    (2, 3): 0.5452, (1, 2): 0.8354, (1, 3): 0.65905,
}  # fmt: skip
PUBLISHED = {(0, 2): 0.290, (0, 3): 0.171, (0, 1): 0.216, (2, 3): 0.651, (1, 2): 0.557,
             (1, 3): 0.221}  # fmt: skip


def table_2():
    """Return the paper's similarities of four tests, as printed: equation 3, to three decimals."""
    s = np.eye(4)
    for (a, b), both in MERGED.items():
        s[a, b] = s[b, a] = round(1 - 2 * (both - ALONE[b]) / (ALONE[a] - ALONE[b]), 3)
    return s


def noisy(s, count=300, error=0.05, seed=0):
    e = np.triu(np.random.default_rng(seed).normal(0, error, (count, *s.shape)), 1)
    return np.clip(s + e + e.transpose(0, 2, 1), -1, 1)


def of_points(points):
    """Return similarities whose distances are those of the points, at most 2."""
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    return 1 - 2 * far / max(far.max(), 1e-9)


def with_gaps(s, *pairs):
    s = s.copy()
    for a, b in pairs:
        s[a, b] = s[b, a] = np.nan
    return s


def test_the_scores_give_the_published_similarities():
    for (a, b), value in PUBLISHED.items():
        assert table_2()[a, b] == value


def test_the_published_similarities_fit_a_plane_as_well_as_the_best_that_brute_force_finds():
    far = (1 - table_2())[np.triu_indices(4, 1)]

    def wrong(flat):
        points = flat.reshape(4, 2)
        apart = np.linalg.norm(points[:, None] - points[None], axis=2)[np.triu_indices(4, 1)]
        return ((apart - far) ** 2).sum()

    rng = np.random.default_rng(1)
    best = min((minimize(wrong, rng.normal(size=8)) for _ in range(20)), key=lambda r: r.fun)
    found = mapped(table_2())
    assert round(found.stress, 3) == 0.005
    assert wrong(found.points.ravel()) == pytest.approx(best.fun, rel=1e-3)
    assert found.stress < found.chance


def test_the_published_suite_has_the_sheets_diversity_and_most_diverse_three():
    assert round(diversity(table_2()).value, 3) == 0.649
    best = most_diverse(table_2(), 3, noisy(table_2()))
    assert [NAMES[test] for test in best.tests] == ["MNIST", "Fashion", "CIFAR-100"]
    assert round(best.diversity.value, 3) == 0.797
    assert best.membership[2] < 0.05
    assert best.chosen > 0.95
    assert best.diversity.low < 0.797 < best.diversity.high


def test_the_published_suite_joins_the_two_cifars_first():
    found = clustered(table_2(), noisy(table_2()))
    far = 1 - table_2()
    assert [(a, b) for a, b, _ in found.merges] == [(2, 3), (1, 4), (0, 5)]
    heights = [far[2, 3], far[1, 2:].mean(), far[0, 1:].mean()]
    assert [h for _, _, h in found.merges] == pytest.approx(heights)
    assert found.support[0] > 0.8
    assert found.support[-1] == 1.0  # all tests together are one branch of every tree


planes = st.integers(4, 9).flatmap(
    lambda n: st.integers(0, 10**6).map(
        lambda seed: np.random.default_rng(seed).normal(size=(n, 2))
    )
)


@settings(max_examples=25, deadline=None)
@given(planes)
def test_a_plane_is_mapped_onto_itself(points):
    s = of_points(points)
    found = mapped(s)
    assert found.stress < 0.005
    assert of_points(found.points) == pytest.approx(s, abs=0.02)


@settings(max_examples=25, deadline=None)
@given(planes, st.randoms(use_true_random=False))
def test_the_order_of_the_tests_changes_only_their_order(points, random):
    s = of_points(np.c_[points, points[:, :1] ** 2])  # no plane fits these
    order = list(range(len(s)))
    random.shuffle(order)
    mixed = s[np.ix_(order, order)]
    assert diversity(mixed).value == pytest.approx(diversity(s).value)
    assert sorted(h for _, _, h in clustered(mixed).merges) == pytest.approx(
        sorted(h for _, _, h in clustered(s).merges)
    )
    best, again = most_diverse(s, 3), most_diverse(mixed, 3)
    assert again.diversity.value == pytest.approx(best.diversity.value)
    assert {order[test] for test in again.tests} == set(best.tests)


def test_a_pair_without_similarity_weighs_nothing_on_the_map():
    points = np.random.default_rng(3).normal(size=(7, 2))
    s = of_points(points)
    found = mapped(with_gaps(s, (0, 1), (2, 5)))
    assert found.stress < 0.005
    assert of_points(found.points) == pytest.approx(s, abs=0.03)


def test_a_test_that_could_stand_in_two_places_gets_none():
    s = of_points(np.random.default_rng(4).normal(size=(6, 2)))
    found = mapped(with_gaps(s, (5, 0), (5, 1), (5, 2)), noisy(s, 20))
    assert np.isnan(found.points[5]).all()
    assert np.isnan(found.clouds[:, 5]).all()
    assert np.isfinite(found.points[:5]).all()
    assert found.stress < 0.005


def test_two_tests_lie_as_far_apart_as_they_are_and_strangers_nowhere():
    two = mapped([[1, 0.4], [0.4, 1]])
    assert abs(two.points[0] - two.points[1]) == pytest.approx([0.6, 0], abs=1e-6)
    assert math.isnan(two.chance)
    strangers = mapped(with_gaps(np.eye(3), (0, 1), (0, 2), (1, 2)))
    assert np.isnan(strangers.points).all()
    assert math.isnan(strangers.stress)


def test_draws_are_turned_onto_the_map_and_spread_as_much_as_they_differ():
    s = of_points(np.random.default_rng(5).normal(size=(6, 2)))
    none = mapped(s, np.repeat(s[None], 10, axis=0))
    assert none.clouds == pytest.approx(np.repeat(none.points[None], 10, axis=0), abs=0.01)
    little, much = (mapped(s, noisy(s, 60, e)).clouds.std(axis=0).mean() for e in (0.02, 0.08))
    assert 2 < much / little < 8


def test_draws_that_leave_a_test_without_a_place_are_left_out():
    s = of_points(np.random.default_rng(6).normal(size=(5, 2)))
    drawn = noisy(s, 30)
    drawn[:10, 0, 1:] = drawn[:10, 1:, 0] = np.nan
    assert mapped(s, drawn).clouds.shape == (20, 5, 2)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_maps_are_aligned_whichever_way_they_are_turned_or_mirrored(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(5, 2))
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    moved = points @ turn + rng.normal(size=2)
    assert suite._aligned(moved[None], points)[0] == pytest.approx(points, abs=1e-9)


def test_no_sweep_raises_the_stress(monkeypatch):
    rng = np.random.default_rng(7)
    far = 1 - of_points(rng.normal(size=(8, 4)))
    far[0, 3] = far[3, 0] = np.nan
    begun, seen = rng.normal(size=(1, 8, 2)), []
    monkeypatch.setattr(suite, "SETTLED", 0.0)
    for sweeps in range(0, 40, 3):
        monkeypatch.setattr(suite, "SWEEPS", sweeps)
        made = suite._smacof(far[None], begun)[0]
        seen.append(np.nansum((suite._apart(made) - far) ** 2))
    assert all(b <= a for a, b in itertools.pairwise(seen))
    assert seen[-1] < seen[0] / 4


def test_an_unknown_distance_is_the_mean_of_what_both_tests_have():
    s = with_gaps(table_2(), (0, 1))
    far = 1 - table_2()
    expected = (far[0, 2:].mean() + far[1, 2:].mean()) / 2
    filled = suite._filled(1 - s)
    assert filled[0, 1] == filled[1, 0] == pytest.approx(expected)
    assert clustered(s).guessed == 1
    assert clustered(table_2()).guessed == 0


def test_branches_that_noise_made_have_little_support():
    level = np.full((6, 6), 0.5)
    np.fill_diagonal(level, 1)
    (seen, *drawn) = noisy(level, 200, 0.1, seed=8)
    assert max(clustered(seen, np.array(drawn)).support[:-1]) < 0.3


def test_the_interval_of_diversity_is_that_of_its_draws():
    s = table_2()
    drawn = noisy(s, 400)
    by_hand = [(1 - d)[np.triu_indices(4, 1)].mean() for d in drawn]
    found = diversity(s, drawn)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(by_hand, [0.025, 0.975])))
    gap = with_gaps(s, (0, 1))
    rest = (1 - s)[np.triu_indices(4, 1)][1:]
    assert diversity(gap).value == pytest.approx(rest.mean())
    assert math.isnan(diversity(with_gaps(np.eye(2), (0, 1))).value)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_exchanges_find_what_looking_at_all_subsets_finds_or_nearly(seed, size):
    far = 1 - of_points(np.random.default_rng(seed).normal(size=(9, 5)))
    found = suite._exchanged(far, size)
    (exact,) = suite._farthest(far[None], size)
    assert len(set(found)) == size
    best, made = suite._spread_of(far, exact), suite._spread_of(far, found)
    assert 0.99 * best <= made <= best + 1e-9
    for inside, outside in itertools.product(found, set(range(9)) - set(found)):
        other = tuple(sorted({*found, outside} - {inside}))
        assert suite._spread_of(far, other) <= made + 1e-9


def test_large_suites_are_searched_by_exchanges():
    rng = np.random.default_rng(9)
    corners = np.array([[0, 0], [0, 10], [10, 0], [10, 10]])
    points = np.r_[corners, 5 + rng.uniform(-1, 1, (36, 2))]
    s = of_points(points)
    assert math.comb(40, 4) > suite.EXHAUSTIVE
    assert most_diverse(s, 4).tests == (0, 1, 2, 3)


def test_a_subset_has_a_similarity_for_each_of_its_pairs_or_there_is_none():
    s = with_gaps(table_2(), (0, 3))
    best = most_diverse(s, 3, noisy(s))
    assert not {0, 3} <= set(best.tests)
    assert all(not {0, 3} <= set(tests) for tests, _ in best.rivals)
    assert most_diverse(s, 4) is None
    assert sum(best.membership) == pytest.approx(3)
    assert math.isnan(most_diverse(s, 3).chosen)


def test_the_best_of_many_equals_is_told_to_look_better_than_it_is():
    level = np.full((8, 8), 0.5)
    np.fill_diagonal(level, 1)
    best = most_diverse(level, 3, noisy(level, 200, 0.1))
    assert best.optimism > 0.05
    assert best.chosen < 0.1
    clear = most_diverse(table_2(), 3, noisy(table_2(), 200, 0.01))
    assert abs(clear.optimism) < 0.002


@pytest.mark.parametrize(
    ("similarity", "draws", "told"),
    [
        (np.eye(3)[:2], None, "square matrix"),
        ([[1]], None, "two rows or more"),
        ([[1, 0.2], [0.3, 1]], None, "symmetric"),
        ([[1, 3], [3, 1]], None, "found 3"),
        (np.eye(3), np.eye(3), r"\(draws, 3, 3\)"),
    ],
)
def test_what_is_not_a_suites_similarities_is_refused(similarity, draws, told):
    with pytest.raises(BadSetting, match=told):
        diversity(similarity, draws)


def test_a_subset_of_no_possible_size_is_refused():
    with pytest.raises(BadSetting, match="from 2 to 4 of them, not 5"):
        most_diverse(table_2(), 5)
