import numpy as np
import pytest

from snellen.errors import Unloadable
from snellen.images.fitting import fitted, stacked


@pytest.mark.parametrize("channels", [1, 3])
def test_pictures_are_padded_enlarged_or_made_smaller_to_one_size(channels):
    small, middle, large = (np.full((2, n, n, channels), 9, np.uint8) for n in (8, 28, 64))
    assert (fitted(small, 32) == 9).all()
    padded = fitted(middle, 32)
    assert (padded[:, 2:-2, 2:-2] == 9).all()
    assert padded.sum() == 2 * 28 * 28 * 9 * channels
    assert (fitted(large, 32) == 9).all()
    for made in (fitted(size, 32) for size in (small, middle, large)):
        assert made.shape == (2, 32, 32, channels)


def test_making_smaller_takes_means():
    """Pillow rounds twice, along each axis."""
    large = np.random.default_rng(0).integers(0, 256, (3, 8, 8, 3), dtype=np.uint8)
    means = large.reshape(3, 4, 2, 4, 2, 3).mean(axis=(2, 4))
    assert np.abs(fitted(large, 4) - means).max() <= 1


def test_pictures_of_many_sizes_and_colours_become_one_array():
    grey, colour = np.full((4, 2, 1), 7, np.uint8), np.full((16, 16, 3), (1, 2, 3), np.uint8)
    made = stacked(iter([grey, colour, grey]), 3, "here", 8)
    assert made.shape == (3, 8, 8, 3)
    assert (made[1] == (1, 2, 3)).all()
    assert (made[0, :, 2:-2] == 7).all()
    assert (made[0] == made[2]).all()
    assert made[0].sum() == 7 * 8 * 4 * 3


def test_pictures_of_many_sizes_are_refused_unless_fitted():
    with pytest.raises(Unloadable, match="here must have one size; found 4 × 2 and 2 × 4"):
        stacked([np.zeros((4, 2, 1), np.uint8), np.zeros((2, 4, 1), np.uint8)], 2, "here")
    with pytest.raises(Unloadable, match="no pictures in here"):
        stacked([], 0, "here")


def test_only_one_picture_is_held_beside_the_array():
    """Each is gone by the time the next but one is made."""
    alive = []

    class Watched(np.ndarray):
        def __del__(self):
            if self.base is None:
                alive.remove(1)

    def pictures():
        for _ in range(20):
            alive.append(1)
            yield np.ndarray.__new__(Watched, (64, 64, 1), np.uint8)
            assert len(alive) <= 2

    assert stacked(pictures(), 20, "here", 8).shape == (20, 8, 8, 1)
    assert not alive
