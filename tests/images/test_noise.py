import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from snellen.images.noise import noisy
from snellen.seeds import Seed


@pytest.mark.parametrize("sigma", [0.5, 2.0, 4.0, 6.0])
@pytest.mark.parametrize("ink", [0, 3, 9])
def test_noise_is_distributed_as_the_papers_rule_makes_it(sigma, ink):
    count = 200_000
    ours = noisy(np.full((count, 1, 1), ink, np.uint8), sigma, Seed(sigma, ink)).reshape(-1)
    normal = np.random.default_rng(int(10 * sigma) + ink).normal(0, sigma, count)
    theirs = np.clip(ink + normal, 0, 10).astype(int)
    table = np.stack([np.bincount(x, minlength=11) for x in (ours, theirs)])
    table = table[:, table.sum(0) > 20]
    assert stats.chi2_contingency(table).pvalue > 0.001 if table.shape[1] > 1 else True


def test_no_noise_is_no_change():
    picture = np.arange(9, dtype=np.uint8).reshape(1, 3, 3)
    assert np.array_equal(noisy(picture, 0, Seed(1)), picture)


@given(st.integers(1, 300), st.integers(1, 30), st.floats(0.1, 9))
def test_pixels_do_not_depend_on_how_the_work_is_cut(count, side, sigma):
    pictures = (np.arange(count * side * side) % 10).astype(np.uint8).reshape(count, side, side)
    before = pictures.copy()
    made = noisy(pictures, sigma, Seed("x"))
    assert made.shape == pictures.shape
    assert made.max(initial=0) <= 10
    assert np.array_equal(pictures, before)
    assert np.array_equal(made, noisy(pictures, sigma, Seed("x")))


def test_neighbouring_pixels_know_nothing_of_each_other():
    made = noisy(np.zeros((500, 28, 28), np.uint8), 4.0, Seed("corr")).astype(float)
    assert abs(np.corrcoef(made[:, :, :-1].ravel(), made[:, :, 1:].ravel())[0, 1]) < 0.01
