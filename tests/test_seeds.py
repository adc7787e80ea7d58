import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from snellen.seeds import Seed


def test_a_seed_gives_the_same_bits_everywhere():
    assert Seed("abstraction", "rotated", 3).bits(2).tolist() == [
        13908675105093025512,
        15778619831468168911,
    ]
    assert Seed("a").shorts(3).tolist() == GOLDEN_SHORTS
    assert Seed("a").shuffled(6).tolist() == GOLDEN_ORDER


GOLDEN_SHORTS = [19510, 31078, 39598]
GOLDEN_ORDER = [3, 2, 0, 1, 4, 5]


def test_other_parts_give_another_stream():
    streams = [Seed(*parts).bits(4).tobytes() for parts in (("a",), ("b",), ("a", 1), ("a", 1.0))]
    assert len(set(streams)) == 4


def test_a_stream_goes_on_where_it_was():
    seed = Seed("x")
    assert np.array_equal(np.r_[seed.bits(3), seed.bits(2)], Seed("x").bits(5))


@given(st.integers(0, 50), st.integers())
def test_shuffling_keeps_everything(count, part):
    assert sorted(Seed(part).shuffled(count)) == list(range(count))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8).filter(any), st.integers())
def test_what_has_no_weight_is_never_picked(weights, part):
    picked = np.bincount(Seed(part).picks(200, weights), minlength=len(weights))
    assert len(picked) == len(weights)
    assert not picked[np.array(weights) == 0].any()


def test_picks_come_as_often_as_their_weights_say():
    weights = (1, *(2,) * 11)
    found = np.bincount(Seed("weights").picks(230_000, weights), minlength=12)
    assert stats.chisquare(found, 10_000 * np.array(weights)).pvalue > 0.001


def test_bits_are_even():
    shorts = Seed("even").shorts(1 << 18)
    assert stats.kstest(shorts / 65536, "uniform").pvalue > 0.001
