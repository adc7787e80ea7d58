"""Pictures whose shapes are known, and oracles that look at every pixel."""

import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image, ImageDraw
from scipy import ndimage

pytest.importorskip("numba")

from snellen.errors import MissingExtra, Unloadable
from snellen.images import outlines
from snellen.images.outlines import MOST_SHAPES, parse
from snellen.images.svrt import draw

EIGHT = np.ones((3, 3))


def blob(seed, radius):
    """Return the points of a closed line, as complex numbers."""
    random = np.random.default_rng(seed)
    turn = np.linspace(0, 2 * np.pi, 4000, endpoint=False)
    waves = np.arange(1, 9)[:, None]
    phases = random.uniform(0, 2 * np.pi, (8, 1))
    swing = (random.normal(0, 0.28, (8, 1)) / np.sqrt(waves) * np.cos(waves * turn + phases)).sum(0)
    return radius * np.exp(swing - swing.max()) * np.exp(1j * turn)


def canvas(*lines, side=(128, 128)):
    picture = np.full((*side, 1), 255, np.uint8)
    for line in lines:
        picture[np.floor(line.imag).astype(int), np.floor(line.real).astype(int)] = 0
    return picture


def components(picture):
    """Return the ink and the filled mask of every component, the largest first."""
    labels, count = ndimage.label(picture[..., 0] < 128, EIGHT)
    inks = [labels == k + 1 for k in range(count)]
    pairs = [(ink, ndimage.binary_fill_holes(ink)) for ink in inks]
    return sorted(pairs, key=lambda pair: -pair[1].sum())


@pytest.fixture(scope="module")
def nested():
    """A shape in another one, two beside it, and a dot."""
    big, small = blob(1, 50), blob(2, 12)
    dot = np.array([5 + 120j])
    return canvas(big + 60 + 55j, small + 58 + 52j, blob(3, 11) + 112 + 112j, dot)


def test_what_is_measured_agrees_with_a_look_at_every_pixel(nested):
    scene, truth = parse(nested), components(nested)
    assert scene.side == (128, 128)
    assert len(scene.x) == len(truth) == 4
    assert not scene.crowded
    for i, (ink, whole) in enumerate(truth):
        y, x = np.nonzero(ink)
        assert scene.area[i] == whole.sum()
        assert scene.ink[i] == ink.sum()
        assert {*map(tuple, scene.outlines[i])} == {*zip(x, y, strict=True)}
        assert tuple(scene.box[i]) == (x.min(), y.min(), x.max(), y.max())
        assert (scene.y[i], scene.x[i]) == pytest.approx(ndimage.center_of_mass(whole))
        for j, (other, other_whole) in enumerate(truth):
            away = ndimage.distance_transform_edt(~other)[ink].min()
            assert scene.gap[i, j] == pytest.approx(away)
            assert scene.inside[i, j] == (i != j and other_whole[ink].all())
    assert scene.inside.sum() == 1


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_a_circle_round_a_shape_holds_it_and_could_not_be_smaller(seed):
    scene = parse(canvas(blob(seed, 40) + 64 + 64j))
    away = np.hypot(*(scene.outlines[0] - scene.around[0]).T)
    assert away.max() == pytest.approx(scene.radius[0], abs=1e-6)
    touched = (scene.outlines[0] - scene.around[0])[away > scene.radius[0] - 1e-6]
    for turn in np.linspace(0, 2 * np.pi, 60):  # to move away from some means to near others
        assert (touched @ [np.cos(turn), np.sin(turn)] >= -1e-6).any()


@given(st.integers(0, 10_000), st.floats(-179, 179), st.floats(0.45, 1), st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_shape_is_known_again_however_it_was_turned_scaled_and_mirrored(
    seed, angle, scale, mirrored
):
    line = blob(seed, 42)
    copy = scale * np.exp(1j * np.radians(angle)) * (-line.conj() if mirrored else line)
    scene = parse(canvas(line + 45 + 45j, copy + 145 + 45.5j, side=(90, 200)))
    where = tuple(np.argsort(scene.x))
    assert scene.same.all()
    if scene.mirrored[where] == mirrored:  # else it is nearly symmetric
        assert abs((scene.angle[where] - angle + 180) % 360 - 180) < 3
        assert (scene.angle[where] + (-1 if mirrored else 1) * scene.angle[where[::-1]]) % 360 < 1
    assert scene.scale[where] == pytest.approx(scale, rel=0.03)
    assert scene.scale[where] * scene.scale[where[::-1]] == pytest.approx(1)


@pytest.mark.parametrize(
    ("mirrored", "angle"),
    [(m, a) for m in (False, True) for a in (0, 90, 180, -90)],
)
def test_what_is_equal_pixel_by_pixel_fits_without_residual(mirrored, angle):
    picture = canvas(blob(5, 12) + 20 + 20j)
    cut = picture[4:36, 4:36]
    copy = np.rot90(cut[:, ::-1] if mirrored else cut, -angle // 90)
    picture[70:102, 80:112] = copy
    scene = parse(picture)
    i, j = np.argsort(scene.x)
    assert scene.same.all()
    assert scene.residual[i, j] == 0
    assert (scene.angle[i, j], scene.mirrored[i, j]) == (angle, mirrored)
    assert scene.scale[i, j] == 1


def test_the_simplest_transformation_is_told_where_many_fit():
    circle = np.exp(1j * np.linspace(0, 2 * np.pi, 2000))
    scene = parse(canvas(30 * circle + 40 + 40j, 20 * circle + 95.3 + 90.4j))
    assert scene.same.all()
    assert not scene.mirrored.any()
    assert abs(scene.angle[0, 1]) < 5


def test_other_shapes_are_not_the_same():
    wrong = [
        parse(canvas(blob(k, 40) + 45 + 45j, blob(k + 1, 30) + 145 + 45j, side=(90, 200)))
        for k in range(60)
    ]
    assert sum(scene.same[0, 1] for scene in wrong) == 0
    assert all(np.isnan(scene.angle[0, 1]) for scene in wrong)


@pytest.mark.parametrize("problem", [1, 5, 7, 8, 15, 19, 20, 21, 22, 101])
def test_identities_are_those_that_were_drawn(problem):
    scenes = draw(problem, [0, 1] * 10, seed=3)
    right = 0
    for i, image in enumerate(scenes.images):
        scene, identities = parse(image), scenes.truth.identity[i]
        pairs = (identities[:, None] == identities).sum()
        right += len(scene.x) == len(identities) and scene.same.sum() == pairs
    assert right >= 19


def test_shapes_that_touch_are_two():
    ring = np.exp(1j * np.linspace(0, 2 * np.pi, 2000))
    shared = parse(canvas(20 * ring + 30.5 + 50.5j, 15 * ring + 65.5 + 50.5j))
    assert len(shared.x) == 2
    assert shared.gap[0, 1] == 0
    assert np.allclose(shared.around, [[30, 50], [65, 50]], atol=1)
    beside = parse(canvas(20 * ring + 30.5 + 50.5j, 15 * ring + 66.5 + 50.5j))
    assert beside.gap[0, 1] == 1
    assert beside.area[0] == pytest.approx(np.pi * 20.5**2, rel=0.03)


@pytest.mark.parametrize("problem", [3, 11])
def test_touching_shapes_are_told_apart_as_they_were_drawn(problem):
    scenes = draw(problem, [0, 1] * 20, seed=3)
    right = [
        len(parse(image).x) == count
        for image, count in zip(scenes.images, scenes.truth.count, strict=True)
    ]
    assert sum(right) >= 39


def squares(*boxes):
    image = Image.new("L", (128, 128), 255)
    for box in boxes:
        ImageDraw.Draw(image).rectangle(box, outline=0)
    return np.asarray(image)[..., None]


def test_a_pinched_pocket_is_no_shape_but_a_larger_one_at_the_corner_is():
    assert parse(squares((20, 20, 40, 40), (40, 40, 46, 46))).area.tolist() == [21**2 + 7**2 - 1]
    assert parse(squares((20, 20, 40, 40), (40, 40, 47, 47))).area.tolist() == [21**2, 8**2]
    pocket_of_a_large_one = parse(squares((20, 20, 80, 80), (80, 80, 90, 90)))
    assert pocket_of_a_large_one.area.tolist() == [61**2 + 11**2 - 1]


def test_a_line_across_does_not_make_two_shapes_of_one():
    assert parse(squares((20, 20, 90, 90), (50, 20, 90, 90))).area.tolist() == [71**2]


def test_open_strokes_enclose_nothing():
    picture = canvas()
    picture[30, 20:60] = 0
    scene = parse(picture)
    assert scene.area.tolist() == scene.ink.tolist() == [40]


@pytest.mark.parametrize(
    "change",
    [
        lambda p: 255 - p,
        lambda p: np.repeat(p, 3, axis=2),
        lambda p: (p / 255).astype(np.float32),
        lambda p: np.where(p, 140, 110).astype(np.uint8),
    ],
    ids=["light on dark", "colour", "float", "pale"],
)
def test_the_same_lines_are_seen_in_other_pictures(nested, change):
    scene, other = parse(nested), parse(change(nested))
    for name in ("x", "y", "area", "gap", "inside", "same", "residual", "radius"):
        assert np.array_equal(getattr(scene, name), getattr(other, name)), name


def crowd(side=128):
    picture = np.full((side, side, 1), 255, np.uint8)
    for k in range(40):
        y, x = k // 7 * 20 + 3, k % 7 * 18 + 3
        picture[y : y + 10, x : x + 6 + k // 5] = 0
        picture[y + 1 : y + 9, x + 1 : x + 5 + k // 5] = 255
    return picture


def test_of_a_crowd_the_largest_are_kept():
    scene = parse(crowd())
    assert scene.crowded
    areas = sorted(((6 + k // 5) * 10 for k in range(40)), reverse=True)
    assert scene.area.tolist() == areas[:MOST_SHAPES]


def written():
    image = Image.new("L", (128, 128), 255)
    for line in range(10):
        ImageDraw.Draw(image).text((2, 2 + 12 * line), "The quick brown fox jumps", fill=0)
    return np.asarray(image)[..., None]


def noise(side, density):
    return (np.random.default_rng(0).random((side, side, 1)) > density).astype(np.float32)


def photo(side):
    random = np.random.default_rng(1).random((side, side, 3))
    return np.clip(ndimage.gaussian_filter(random, (2, 2, 0)) * 8 - 3.5, 0, 1)


def rings():
    across = np.maximum(*abs(np.indices((128, 128)) - 63.5))
    return (across // 1 % 2 * 255).astype(np.uint8)[..., None]


ODD = {
    "one pixel": canvas(np.array([7 + 9j])),
    "crowd": crowd(),
    "text": written(),
    "noise": noise(128, 0.5),
    "thin noise": noise(128, 0.2),
    "photo": photo(128),
    "rings": rings(),
    "stripes": np.tile(np.array([0, 255], np.uint8), (128, 64))[..., None],
    "tiny": photo(16),
    "large": photo(1000),
    "large noise": noise(1000, 0.02),
}


@pytest.mark.parametrize("name", ODD)
def test_any_picture_is_parsed_in_bounded_time(name):
    parse(ODD[name])
    start = time.process_time()
    scene = parse(ODD[name])
    assert time.process_time() - start < (3 if "large" in name else 0.3)
    assert 0 < len(scene.x) <= MOST_SHAPES
    assert np.isfinite(scene.gap).all()
    assert (np.diff(scene.area) <= 0).all()


@pytest.mark.parametrize("shape", [(128, 128, 1), (1, 1, 3), (700, 20, 1)])
@pytest.mark.parametrize("ink", [0, 255])
def test_a_blank_picture_holds_no_shapes(shape, ink):
    scene = parse(np.full(shape, ink, np.uint8))
    assert len(scene.x) == len(scene.outlines) == 0
    assert scene.gap.shape == scene.same.shape == (0, 0)
    assert scene.around.shape == (0, 2)
    assert scene.box.shape == (0, 4)


def test_no_line_is_lost_when_a_large_picture_is_made_smaller():
    line = blob(9, 400)
    scene = parse(canvas(line + 500 + 500j, side=(1000, 1100)))
    assert scene.side == (334, 367)
    assert len(scene.x) == 1
    assert scene.radius[0] == pytest.approx(parse_radius(line) / 3, rel=0.02)


def parse_radius(line):
    centre = (line.real.max() + line.real.min() + 1j * (line.imag.max() + line.imag.min())) / 2
    for _ in range(20_000):  # towards the furthest, ever less (Bădoiu and Clarkson 2003)
        centre += (line[np.argmax(abs(line - centre))] - centre) / (_ + 2)
    return abs(line - centre).max()


@given(
    arrays.arrays(
        np.uint8,
        st.tuples(st.integers(1, 24), st.integers(1, 24), st.sampled_from([1, 3])),
        elements=st.sampled_from([0, 255]),
        fill=st.just(255),
    )
)
@settings(max_examples=150, deadline=None)
def test_every_picture_gives_a_sound_scene(picture):
    scene = parse(picture)
    assert (scene.ink <= scene.area).all()
    assert (scene.radius >= 0).all()
    for name in ("gap", "same", "residual", "mirrored"):
        matrix = getattr(scene, name)
        assert np.array_equal(matrix, matrix.T)
    assert scene.same.diagonal().all()
    assert not scene.inside.diagonal().any()
    assert np.array_equal(np.isnan(scene.angle), ~scene.same)
    told = scene.angle[scene.same]
    assert ((told > -180) & (told <= 180)).all()


@pytest.mark.parametrize(
    "picture",
    [
        np.zeros((5, 5), np.uint8),
        np.zeros((5, 5, 4), np.uint8),
        np.zeros((0, 5, 1), np.uint8),
        np.zeros((5, 5, 1), np.int64),
        np.full((5, 5, 1), 255.0),
        np.full((5, 5, 1), np.nan, np.float32),
    ],
)
def test_what_is_no_picture_is_refused_with_advice(picture):
    with pytest.raises(Unloadable, match="picture of outlines"):
        parse(picture)


def test_the_compiler_is_asked_for_when_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in ("compiled", "outlines.regions"):
        monkeypatch.delitem(sys.modules, f"snellen.images.{name}", raising=False)
    monkeypatch.delattr(outlines, "regions", raising=False)
    with pytest.raises(MissingExtra, match=r"snellen\[svrt\]"):
        parse(np.full((8, 8, 1), 255, np.uint8))
