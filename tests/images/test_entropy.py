"""Bytes without loss, by several measures, and a quick stand-in that ranks as they do."""

import io

import numpy as np
import pytest
from PIL import Image
from scipy import stats

from snellen.errors import BadSetting
from snellen.images.entropy import MEASURES, as_png, delentropy, encoder, entropy, quick

RNG = np.random.default_rng(0)
FLAT = np.full((60, 50, 3), 9, np.uint8)
SMOOTH = np.asarray(
    Image.fromarray(RNG.integers(0, 256, (5, 5, 3)).astype(np.uint8)).resize((50, 60))
)
NOISE = RNG.integers(0, 256, (60, 50, 3)).astype(np.uint8)


@pytest.mark.parametrize("name", MEASURES)
def test_noise_holds_more_than_a_gradient_and_that_more_than_nothing(name):
    if name == "jpegls":
        pytest.importorskip("pillow_jpls", reason="the extra 'codecs' is not installed")
    flat, smooth, noise = (entropy(name)(p) for p in (FLAT, SMOOTH, NOISE))
    assert 0 <= flat < smooth < noise
    assert entropy(name)(NOISE[..., :1]) < noise or name == "delentropy"
    assert encoder(name)


def test_a_png_gives_the_picture_back():
    for picture in (NOISE, NOISE[..., :1]):
        with Image.open(io.BytesIO(as_png(picture))) as image:
            back = np.asarray(image).reshape(picture.shape)
        np.testing.assert_array_equal(back, picture)
        assert entropy("png")(picture) == len(as_png(picture))


def test_delentropy_is_that_of_the_slopes():
    """By hand: four slopes, each as often, are two bits a pixel, halved, over 8."""
    ramp = np.zeros((2, 5, 1), np.uint8)
    ramp[:, :, 0] = [0, 1, 3, 6, 10]  # slopes 1, 2, 3, 4
    assert delentropy(ramp) == pytest.approx(2 / 2 * 10 / 8)
    assert delentropy(FLAT) == 0
    assert delentropy(FLAT[:1]) == 0


def test_the_quick_measure_ranks_as_png_does():
    pictures = [SMOOTH[:n, :m] // k * k for n in (6, 20, 60) for m in (9, 50) for k in (1, 8, 64)]
    exact = [entropy("png")(np.ascontiguousarray(p)) for p in pictures]
    assert stats.kendalltau(exact, [quick(p) for p in pictures]).statistic > 0.8


def test_a_measure_that_is_not_there_is_told():
    with pytest.raises(BadSetting, match="no entropy is called 'gif'; there are png, webp"):
        entropy("gif")
