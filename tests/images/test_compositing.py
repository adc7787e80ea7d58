"""A thing on other grounds: as the formula has it, and nothing of the old ground with it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from snellen.errors import Unloadable
from snellen.images.compositing import GREY, Squashed, cut, feathered, ground, repasted
from snellen.images.inpainting import filled, inpainted
from snellen.images.photos import read_photo, read_squashed, squashed

SIDE = 48
RNG = np.random.default_rng(0)
PICTURE = RNG.integers(0, 256, (SIDE, SIDE, 3)).astype(np.uint8)
GROUNDS = RNG.integers(0, 256, (3, SIDE, SIDE, 3)).astype(np.uint8)


def disc(radius=12.0, soft=1.0, at=0.5):
    y, x = np.mgrid[:SIDE, :SIDE] + 0.5
    inside = radius - np.hypot(y - SIDE / 2, x - at * SIDE)
    return np.clip(inside / soft + 0.5, 0, 1).astype(np.float32)


@settings(deadline=None, max_examples=25)
@given(st.floats(0, 40), st.floats(0.5, 20), st.floats(0, 1))
def test_composites_are_what_the_formula_says(radius, soft, at):
    mask = disc(radius, soft, at)
    expected = mask[..., None] * PICTURE + (1.0 - mask[..., None]) * GROUNDS
    found = cut(PICTURE, mask).on(GROUNDS)
    assert found.dtype == np.uint8
    assert np.abs(found - expected).max() <= 0.501


def test_where_the_mask_is_sure_pixels_are_untouched():
    mask, before = disc(), GROUNDS.copy()
    for light in ("plain", "linear"):
        found = cut(PICTURE, mask).on(GROUNDS, light)
        np.testing.assert_array_equal(found[:, mask == 0], GROUNDS[:, mask == 0])
        np.testing.assert_array_equal(
            found[:, mask == 1], np.broadcast_to(PICTURE[mask == 1], (3, (mask == 1).sum(), 3))
        )
    np.testing.assert_array_equal(GROUNDS, before)
    np.testing.assert_array_equal(cut(PICTURE, 0 * mask).on(GROUNDS), GROUNDS)
    np.testing.assert_array_equal(cut(PICTURE, disc(radius=99)).on(GROUNDS)[2], PICTURE)


def test_half_of_black_and_white_is_188_in_light_and_128_in_bytes():
    half = np.full((SIDE, SIDE), 0.5, np.float32)
    thing = cut(np.full_like(PICTURE, 255), half)
    black = np.zeros_like(GROUNDS)
    assert set(thing.on(black).ravel()) == {128}
    assert set(thing.on(black, "linear").ravel()) == {188}  # sRGB's own table


def test_on_grey_the_thing_is_alone():
    found = cut(PICTURE, disc()).on_grey()
    assert (found[disc() == 0] == GREY).all()
    np.testing.assert_array_equal(found[disc() == 1], PICTURE[disc() == 1])


def test_a_feathered_edge_never_takes_more_in():
    soft = feathered(disc(), 3)
    assert (soft <= disc()).all()
    assert soft[SIDE // 2, SIDE // 2] == pytest.approx(1, abs=1e-3)
    assert 0 < soft.sum() < disc().sum()
    assert ((soft > 0.05) & (soft < 0.95)).sum() > ((disc() > 0.05) & (disc() < 0.95)).sum()


def test_a_cleaned_edge_has_the_things_colour_and_not_the_old_grounds():
    mask = disc(soft=4)
    shot = (mask[..., None] * [200, 40, 40] + (1 - mask[..., None]) * [40, 220, 40]).astype(
        np.uint8
    )
    blue = np.broadcast_to(np.uint8([30, 30, 200]), (1, SIDE, SIDE, 3))
    edge = (mask > 0.1) & (mask < 0.9)
    halo, clean = (cut(shot, mask, cleaned=c).on(blue)[0][edge][:, 1].mean() for c in (False, True))
    truth = (mask[edge] * 40 + (1 - mask[edge]) * 30).mean()
    assert halo > truth + 25
    assert clean == pytest.approx(truth, abs=2)


def test_own_ground_has_no_trace_of_the_thing_and_takes_it_back():
    mask = disc(soft=3)
    ramp = np.linspace(40, 200, SIDE)[None, :, None] * np.ones((SIDE, 1, 3))
    shot = (mask[..., None] * [255, 0, 0] + (1 - mask[..., None]) * ramp).astype(np.uint8)
    empty = ground(shot, mask)
    assert np.abs(empty - ramp).max() < 12  # in the middle of a hole of half the picture
    back = repasted(cut(shot, mask), shot, mask)
    np.testing.assert_array_equal(back[mask == 1], shot[mask == 1])
    assert np.abs(back - shot.astype(float)).mean() < 3
    assert (ground(shot, np.ones_like(mask)) == GREY).all()
    np.testing.assert_array_equal(ground(shot, 0 * mask), shot)


# inpainting ----------------------------------------------------------------------------------


def membrane(picture, hole):
    """Relax until nothing moves: the harmonic function between the known pixels."""
    made = np.where(hole, picture[~hole].mean(), picture)
    for _ in range(6000):
        wide = np.pad(made, 1, mode="edge")
        mean = (wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]) / 4
        made = np.where(hole, mean, picture)
    return made


def test_a_filled_hole_is_near_the_membrane():
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    picture = 120 + 80 * np.sin(3 * x) * np.cos(2 * y)
    hole = disc() > 0.5
    truth = membrane(picture, hole)
    found = filled(np.where(hole, 0, picture)[..., None].astype(np.float32), ~hole)[..., 0]
    assert np.sqrt(np.mean((found - truth)[hole] ** 2)) < 0.06 * np.ptp(picture)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 10**6), st.floats(0.02, 0.98))
def test_fills_keep_what_is_known_and_stay_within_it(height, width, seed, share):
    rng = np.random.default_rng(seed)
    picture = rng.uniform(0, 255, (height, width, 2)).astype(np.float32)
    known = rng.random((height, width)) < share
    known[rng.integers(height), rng.integers(width)] = True
    found = filled(picture, known)
    assert found.shape == picture.shape
    np.testing.assert_array_equal(found[known], picture[known])
    assert found.min() >= picture[known].min() - 1e-3
    assert found.max() <= picture[known].max() + 1e-3


def test_what_is_hidden_does_not_shine_through():
    hole = disc() > 0.5
    other = PICTURE.copy()
    other[hole] = 255 - other[hole]
    np.testing.assert_array_equal(inpainted(PICTURE, hole), inpainted(other, hole))
    np.testing.assert_array_equal(inpainted(PICTURE, hole)[~hole], PICTURE[~hole])
    with pytest.raises(ValueError, match="nothing is known"):
        filled(PICTURE.astype(np.float32), np.zeros((SIDE, SIDE), bool))


def test_a_hole_in_grain_gets_grain_and_one_beside_an_edge_gets_no_second_edge():
    hole = disc() > 0.5
    grainy = np.clip(128 + RNG.normal(0, 20, (SIDE, SIDE, 1)).repeat(3, 2), 0, 255).astype(np.uint8)
    spread = inpainted(grainy, hole)[hole].std()
    assert 12 < spread < 28
    pole = np.full((SIDE, SIDE, 3), 100, np.uint8)
    pole[:, 4:6] = 255
    np.testing.assert_array_equal(inpainted(pole, hole)[hole], 100)


# reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize("turned", [1, 6])
@pytest.mark.parametrize("name", ["x.jpg", "x.png"])
def test_squashed_files_look_like_squashed_pictures(tmp_path, name, turned):
    y, x = np.mgrid[:600, :800]
    smooth = np.dstack([x // 4, y // 3, (x + y) // 6]).astype(np.uint8)
    exif = Image.Exif()
    exif[0x0112] = turned
    Image.fromarray(smooth).save(tmp_path / name, exif=exif)
    found = read_squashed(tmp_path / name, (64, 96))
    assert found.shape == (64, 96, 3)
    whole = squashed(read_photo(tmp_path / name), (64, 96))
    assert np.abs(found.astype(int) - whole).mean() < 2


def test_grey_becomes_colour_and_what_fits_stays():
    assert squashed(PICTURE[..., :1], (SIDE, SIDE)).shape == (SIDE, SIDE, 3)
    np.testing.assert_array_equal(squashed(PICTURE, (SIDE, SIDE)), PICTURE)


def test_a_corrupt_picture_is_refused_by_name(tmp_path):
    Image.fromarray(PICTURE).save(tmp_path / "x.jpg")
    whole = (tmp_path / "x.jpg").read_bytes()
    for content in (b"", b"rubbish", whole[: len(whole) // 2]):
        (tmp_path / "x.jpg").write_bytes(content)
        with pytest.raises(Unloadable, match=r"x\.jpg cannot be read as a picture"):
            read_squashed(tmp_path / "x.jpg", (16, 16))


def test_a_shelf_reads_once_and_forgets_what_was_longest_unused():
    asked = []

    def read(name):
        asked.append(name)
        if name == "bad":
            raise Unloadable("bad cannot be read")
        return np.full((10, 10, 3), len(asked), np.uint8)

    shelf = Squashed(read, most_bytes=650)
    assert [int(shelf[n][0, 0, 0]) for n in "abab"] == [1, 2, 1, 2]
    _ = shelf["a"], shelf["c"]
    assert shelf.kept == ("a", "c")
    _ = shelf["b"]
    assert asked == list("abcb")
    with pytest.raises(Unloadable):
        shelf["bad"]
    assert "bad" not in shelf.kept
    assert shelf["b"] is shelf["b"]
