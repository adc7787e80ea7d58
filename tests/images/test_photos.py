"""Every kind of picture file is read, or refused with the reason."""

import resource
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from snellen.errors import Unloadable
from snellen.images.photos import read_photo

RGB = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)
DEEP = np.linspace(0, 65535, 600).reshape(20, 30).astype(np.uint16)
TURNED = Image.Exif()
TURNED[0x0112] = 6
KINDS = {
    "rgb.png": (Image.fromarray(RGB), {}, RGB),
    "grey.png": (Image.fromarray(RGB[..., 0]), {}, RGB[..., :1]),
    "deep.png": (Image.fromarray(DEEP), {}, np.rint(DEEP / 257)[..., None]),
    "deep.tif": (Image.fromarray(DEEP), {}, np.rint(DEEP / 257)[..., None]),
    "shares.tif": (Image.fromarray((DEEP / 65535).astype(np.float32)), {},
                   np.rint(DEEP / 257)[..., None]),
    "see-through.png": (Image.fromarray(np.dstack([RGB, np.zeros((20, 30), np.uint8)])), {},
                        np.full((20, 30, 3), 255)),
    "bits.png": (Image.new("1", (30, 20), 1), {}, np.full((20, 30, 1), 255)),
    "one.png": (Image.new("RGB", (1, 1), (1, 2, 3)), {}, np.array([[[1, 2, 3]]])),
    "moving.gif": (Image.new("L", (30, 20), 7), {"save_all": True,
                   "append_images": [Image.new("L", (30, 20), 200)]}, np.full((20, 30, 3), 7)),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_file_is_read_as_what_it_shows(tmp_path, name):
    image, options, expected = KINDS[name]
    image.save(tmp_path / name, **options)
    found = read_photo(tmp_path / name)
    assert found.dtype == np.uint8
    assert found.shape == expected.shape
    assert np.abs(found.astype(int) - expected).max() <= 1


def test_palettes_may_be_see_through(tmp_path):
    image = Image.fromarray(RGB).quantize(8)
    image.save(tmp_path / "p.png", transparency=image.getpixel((0, 0)))
    assert read_photo(tmp_path / "p.png")[0, 0].tolist() == [255, 255, 255]


def test_inks_become_lights(tmp_path):
    Image.new("CMYK", (8, 8), (255, 0, 0, 0)).save(tmp_path / "c.jpg")
    red, green, blue = read_photo(tmp_path / "c.jpg").mean(axis=(0, 1))
    assert red < 60 < min(green, blue)


def test_a_camera_that_was_turned_is_turned_back(tmp_path):
    Image.fromarray(RGB).save(tmp_path / "t.png", exif=TURNED)
    np.testing.assert_array_equal(read_photo(tmp_path / "t.png"), np.rot90(RGB, -1))


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "cannot identify"), (b"hello", "cannot identify"), (None, "No such file")],
)
def test_what_is_no_picture_is_refused(tmp_path, content, told):
    if content is not None:
        (tmp_path / "x.png").write_bytes(content)
    with pytest.raises(Unloadable, match=f"x.png cannot be read as a picture: .*{told}"):
        read_photo(tmp_path / "x.png")


def test_a_picture_that_was_cut_off_is_refused(tmp_path):
    Image.fromarray(RGB).save(tmp_path / "x.png")
    (tmp_path / "x.png").write_bytes((tmp_path / "x.png").read_bytes()[:300])
    with pytest.raises(Unloadable, match="truncated"):
        read_photo(tmp_path / "x.png")


def test_numbers_that_are_no_light_are_refused(tmp_path):
    for worst in (-1.0, np.nan, 1e9):
        pixels = np.full((4, 4), 0.5, np.float32)
        pixels[0, 0] = worst
        Image.fromarray(pixels).save(tmp_path / "x.tif")
        with pytest.raises(Unloadable, match="its pixels run"):
            read_photo(tmp_path / "x.tif")


CODE = """
import resource, sys
from pathlib import Path
from snellen.images.photos import read_photo
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
shape = read_photo(Path(sys.argv[1])).shape
print(*shape, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("name", ["huge.png", "huge.jpg"])
def test_fifty_megapixels_are_made_smaller_within_bounded_memory(tmp_path, name):
    Image.new("RGB", (8000, 6250), (9, 99, 199)).save(tmp_path / name)
    told = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path / name)],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    height, width, channels, megabytes = map(int, told)
    assert height * width <= 1 << 22
    assert channels == 3
    assert megabytes < 12 * 50


def test_beyond_a_hundred_megapixels_nothing_is_read(tmp_path):
    Image.new("1", (10_001, 10_000)).save(tmp_path / "x.png")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Unloadable, match="100 megapixels, more than 100"):
        read_photo(tmp_path / "x.png")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
