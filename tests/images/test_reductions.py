"""Each way takes information out, step by step, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.errors import BadSetting
from snellen.images.reductions import CROP, WAYS, covered, ways

NOISE = np.random.default_rng(0).integers(0, 256, (40, 30, 3)).astype(np.uint8)


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("shape", [(40, 30, 3), (30, 40, 1), (1, 7, 1), (1, 1, 3)])
def test_the_first_rung_changes_nothing_and_the_others_keep_the_kind(name, alone, shape):
    picture = NOISE[: shape[0], : shape[1], : shape[2]]
    picture = np.random.default_rng(1).integers(0, 256, shape).astype(np.uint8)
    way = WAYS[name]
    ladder = way.ladder(shape, alone)
    np.testing.assert_array_equal(way.apply(picture, ladder[0], 127), picture)
    for rung in ladder[1:]:
        made = way.apply(picture, rung, 127)
        assert made.dtype == np.uint8
        assert made.ndim == 3
        assert made.shape[2] == shape[2]
        assert all(0 < side <= whole for side, whole in zip(made.shape, shape, strict=True))


@given(st.integers(2, 255))
def test_fewer_colours_are_equally_far_apart_from_black_to_white(levels):
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    made = np.unique(WAYS["colour"].apply(ramp, levels, 0))
    assert len(made) == levels
    assert (made[0], made[-1]) == (0, 255)
    assert np.ptp(np.diff(made.astype(int))) <= 1


def test_each_value_goes_to_its_nearest_level():
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    made = WAYS["colour"].apply(ramp, 3, 0).ravel()
    assert made[[0, 63, 64, 191, 192, 255]].tolist() == [0, 0, 128, 128, 255, 255]


@given(st.integers(1, 60), st.integers(1, 60))
@settings(max_examples=40)
def test_a_smaller_picture_has_the_sides_of_the_definition(height, width):
    picture = np.zeros((height, width, 1), np.uint8)
    ladder = WAYS["resolution"].ladder(picture.shape, True)
    assert list(ladder) == list(range(max(height, width), 0, -1))
    for length in ladder:
        share = length / max(height, width)
        made = WAYS["resolution"].apply(picture, length, 0).shape[:2]
        assert made == (max(1, int(share * height + 1e-9)), max(1, int(share * width + 1e-9)))


def test_a_pixel_of_a_smaller_picture_is_a_mean():
    made = WAYS["resolution"].apply(NOISE[:30, :30], 15, 0)
    blocks = NOISE[:30, :30].reshape(15, 2, 15, 2, 3).mean(axis=(1, 3))
    assert np.abs(made - blocks).max() <= 1


def test_crops_cover_and_never_stretch():
    for side, part in zip(CROP, (np.s_[:10], np.s_[30:], np.s_[:, :8], np.s_[:, 22:]), strict=True):
        made = WAYS[side].apply(NOISE, 16, 99)  # a quarter
        expected = NOISE.copy()
        expected[part] = 99
        np.testing.assert_array_equal(made, expected)
    assert covered(NOISE, (0, 40, 0, 30), 9) is NOISE


def test_low_frequencies_are_kept_to_the_end():
    flat = np.full((16, 16, 3), 77, np.uint8)
    np.testing.assert_array_equal(WAYS["frequencies"].apply(flat, 0.01, 0), flat)
    assert WAYS["frequencies"].apply(NOISE, 0.1, 0).std() < NOISE.std() / 2


def test_ways_join_by_name_in_the_order_of_application():
    assert [w.name for w in ways("combined+blur")] == ["resolution", "blur", "colour", *CROP]
    with pytest.raises(BadSetting, match="no reduction is called 'colours'; there are crop"):
        ways("colours")
