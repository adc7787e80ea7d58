"""Which words describe a picture: tags from files, answers and pixels."""

import numpy as np
import pytest
from hypothesis import given, settings

from snellen.errors import BadAnswer, BadSetting, UnknownName, Unloadable
from snellen.exams.background.stuff import STUFF, nearest_stuff, stuff_tags
from snellen.exams.background.tags import PAPER, Rules, load_tags, tags_from_answers
from tests_scenes import presences, tagged


def test_an_object_is_there_above_its_area_and_a_scene_among_the_likeliest():
    area = np.array([[0.1, 0.2, 5.0, 5.1]])
    words = ("a", "b", "c", "d")
    assert PAPER.present("area", area, words).tolist() == [[False, True, True, True]]
    assert Rules().present("area", area, words).tolist() == [[False, False, False, True]]
    own = Rules(area={"a": 0.05})
    assert own.present("area", area, words).tolist() == [[True, False, False, True]]
    chance = np.array([[0.3, 0.05, 0.3, 0.3, 0.02, 0.01, 0.02]])
    seven = tuple("abcdefg")
    assert PAPER.present("probability", chance, seven).nonzero()[1].tolist() == [0, 1, 2, 3, 4]
    assert Rules().present("probability", chance, seven).nonzero()[1].tolist() == [0, 2, 3]
    assert Rules(top=2).present("probability", chance, seven).nonzero()[1].tolist() == [0, 2]


def test_answers_become_tags():
    scores = np.array([[0.6, 0.3, 0.1], [0.05, 0.05, 0.9]])
    tags = tags_from_answers(scores, ("alp", "lake", "barn"), top=2, least={"lake": 0.4})
    assert [tags.words(picture) for picture in tags.pictures] == [("alp",), ("barn",)]
    with pytest.raises(BadAnswer, match="softmax"):
        tags_from_answers(scores * 9, ("alp", "lake", "barn"))
    with pytest.raises(BadAnswer, match="a column for each"):
        tags_from_answers(scores, ("alp", "lake"))
    with pytest.raises(BadAnswer, match="NaN"):
        tags_from_answers(scores * np.nan, ("alp", "lake", "barn"))


def test_csv_of_words(tmp_path):
    path = tmp_path / "tags.csv"
    path.write_text("\ufeffpicture,keywords\nb.jpg,sky; sea;\na.jpg,\n", "utf-8")
    tags = load_tags(path)
    assert tags.pictures == ("b.jpg", "a.jpg")
    assert tags.keywords == ("sea", "sky")
    assert tags.words("b.jpg") == ("sea", "sky")
    assert tags.words("a.jpg") == ()


@pytest.mark.parametrize(
    ("rows", "kind", "seen"),
    [
        ("sky,sea\nx,1,0", None, {"sky"}),
        ("sky,sea\nx,.6,.05", None, {"sky"}),
        ("sky,sea\nx,60,3", None, {"sky"}),
        ("sky,sea\nx,1,1", "area", set()),
        ("sky,area:sea,probability:beach\nx,1,4.9,.2", None, {"sky", "beach"}),
        ("sky,area:sky\nx,0,40", None, {"sky (object)"}),
        ("sky,sea\nx,,1", None, {"sea"}),
    ],
)
def test_csv_of_numbers(tmp_path, rows, kind, seen):
    path = tmp_path / "tags.csv"
    path.write_text("picture," + rows)
    assert set(load_tags(path, kind=kind).words("x")) == seen


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "begin with a line"),
        ("picture,keywords\n", "a line for each picture"),
        ("picture,sky,sea\nx,1\n", "line 2 has 2 cells, and the first 3"),
        ("picture,sky\n\nx,1\ny,many\n", "line 4, column 'sky': 'many' is not a number"),
        ("picture,sky\nx,nan\n", "runs from 0 to"),
        ("picture,sky\nx,-1\n", "runs from 0 to"),
        ("picture,sky\nx,300\n", "runs from 0 to 100"),
        ("picture,sky\nx,1\nx,0\n", "'x' is listed more than once"),
        ("picture,sky,sky\nx,1,0\n", "'sky' is listed more than once"),
        ("picture,presence:sky\nx,.5\n", "0 or 1, and nothing between"),
        ("picture,sky\n,1\n", "has no name"),
    ],
)
def test_a_csv_that_makes_no_sense_is_refused_with_the_reason(tmp_path, text, told):
    path = tmp_path / "tags.csv"
    path.write_text(text)
    with pytest.raises(Unloadable, match=told):
        load_tags(path)


def test_npz_of_areas_and_probabilities(tmp_path):
    path = tmp_path / "tags.npz"
    np.savez(
        path,
        area_percent=np.array([[46.3, 0, 6], [0, 30, 0]], np.float16),
        object_names=np.array(["wall", "bridge", "wall"]),
        scene_probability=np.array([[0.9, 0.1], [0.05, 0.95]], np.float16),
        scene_names=np.array(["beach", "bridge"]),
        label=np.array([6, 1]),
    )
    tags = load_tags(path)
    assert tags.pictures == ("0", "1")
    assert tags.words("0") == ("beach", "wall", "wall (2)")
    assert tags.words("1") == ("bridge (scene)", "bridge")
    assert len(load_tags(path, PAPER).words("1")) == 3


def test_npz_files_that_make_no_sense_are_refused(tmp_path):
    path = tmp_path / "tags.npz"
    path.write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(Unloadable, match=r"cannot be read|make no sense"):
        load_tags(path)
    path.write_bytes(b"")
    with pytest.raises(Unloadable):
        load_tags(path)
    np.savez(path, pictures=np.array(["a"]))
    with pytest.raises(Unloadable, match="it should hold presence and keywords"):
        load_tags(path)
    np.savez(path, presence=np.ones((2, 3), bool), keywords=np.array(["a", "b"]))
    with pytest.raises(Unloadable, match=r"2 words came with presence of shape \(2, 3\)"):
        load_tags(path)
    np.savez(path, presence=np.ones((2, 1), bool), keywords=np.array([{}], object))
    with pytest.raises(Unloadable):
        load_tags(path)
    with pytest.raises(Unloadable, match="No such file"):
        load_tags(tmp_path / "none.csv")
    with pytest.raises(Unloadable, match="No such file"):
        load_tags(tmp_path / "none.npz")


@given(presences)
@settings(max_examples=20)
def test_tags_are_saved_and_read_back(tmp_path_factory, present):
    place = tmp_path_factory.mktemp("tags")
    strengths = np.where(present, 0.75, 0.25).astype(np.float32)
    for tags in (tagged(present), tagged(present, strengths=strengths)):
        read = load_tags(tags.saved(place / "tags.npz"))
        assert (read.pictures, read.keywords) == (tags.pictures, tags.keywords)
        assert (read.present == present).all()
        assert (read.strengths is None) == (tags.strengths is None)
        assert read.strengths is None or (read.strengths == strengths).all()
    listed = load_tags(tagged(present).saved(place / "tags.csv"))
    assert [listed.words(p) for p in listed.pictures] == [tags.words(p) for p in tags.pictures]
    with pytest.raises(BadSetting, match=r"as \.npz or \.csv"):
        tags.saved(place / "tags.json")


def test_tags_of_the_same_pictures_are_joined_whatever_their_order():
    one = tagged([[1, 0], [0, 1]], ("sky", "sea"), ("a", "b"))
    strong = np.array([[0.25, 0.5], [0.0, 0.125]], np.float32)
    two = tagged([[1, 0], [0, 1]], ("sea", "dark"), ("b", "a"), strong)
    both = one.joined(two)
    assert both.pictures == ("a", "b")
    assert both.keywords == ("sky", "sea", "dark")
    assert both.present.tolist() == [[True, False, True], [False, True, False]]
    assert both.strengths.tolist() == [[1, 0, 0.125], [0, 1, 0.5]]
    assert both.words("a") == ("sky", "dark")
    with pytest.raises(ValueError, match=r"'b' .of 1 such. is in one of the two only"):
        one.joined(two.taken(["a"]))
    with pytest.raises(UnknownName, match="no tags are known of picture 'z'"):
        one.words("z")


def painted(upper, lower, side=96):
    picture = np.empty((1, side, side, 3), np.uint8)
    picture[:, : side // 2], picture[:, side // 2 :] = upper, lower
    return picture


@pytest.mark.parametrize(
    ("upper", "lower", "seen"),
    [
        ((90, 150, 250), (240, 225, 170), {"blue above", "sandy below", "horizon", "plain"}),
        ((90, 150, 250), (60, 140, 40), {"blue above", "green below", "horizon", "plain"}),
        ((240, 240, 240), (40, 90, 200), {"white above", "blue below", "horizon", "plain"}),
        ((8, 8, 12), (10, 9, 8), {"dark", "dark above", "plain"}),
        ((120, 120, 120), (120, 120, 120), {"grey below", "plain"}),
    ],
)
@pytest.mark.parametrize("side", [32, 96, 225])
def test_flat_scenes_are_seen_for_what_they_are(upper, lower, seen, side):
    picture = painted(upper, lower, side)
    assert {w for w in stuff_tags(picture).words("0") if w != "colourful"} - {"bright"} == seen
    floats = (picture / 255).astype(np.float32)
    assert stuff_tags(floats).words("0") == stuff_tags(picture).words("0")


def test_bricks_checks_and_bars_are_seen():
    rng = np.random.default_rng(0)
    clutter = rng.integers(0, 256, (1, 48, 48, 3)).astype(np.uint8)
    assert "clutter" in stuff_tags(clutter).words("0")
    bars = np.zeros((1, 96, 96, 1), np.uint8)
    bars[:, :, np.arange(96) // 6 % 2 == 0] = 255
    assert "upright lines" in stuff_tags(bars).words("0")
    assert "upright lines" not in stuff_tags(bars.swapaxes(1, 2)).words("0")
    bricks = np.full((1, 96, 96, 3), (170, 70, 50), np.uint8)
    bricks[:, np.arange(96) % 12 < 2] = 220
    assert "warm texture" in stuff_tags(bricks).words("0")
    assert "warm texture" not in stuff_tags(np.full_like(bricks, (170, 70, 50))).words("0")


def test_every_rule_about_stuff_can_hold_and_a_picture_is_judged_by_itself():
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (70, 24, 30, 3)).astype(np.uint8)
    images[::2] //= 6
    together = stuff_tags(images)
    assert together.keywords == tuple(STUFF)
    assert ((together.strengths >= 0) & (together.strengths <= 1)).all()
    alone = [stuff_tags(images[i : i + 1]).strengths[0] for i in range(70)]
    assert (together.strengths == alone).all()
    assert len(stuff_tags(images[:0])) == 0


def test_a_picture_in_which_nothing_stands_out_has_what_comes_nearest():
    cells = np.random.default_rng(0).integers(40, 130, (12, 12, 3))
    dull = np.kron(cells, np.ones((4, 4, 1))).astype(np.uint8)
    looked = stuff_tags(dull[None], ("dull",))
    assert not looked.words("dull")
    shares = {w: s / STUFF[w][1] for w, s in zip(STUFF, looked.strengths[0], strict=True)}
    assert nearest_stuff(dull) == (max(shares, key=shares.get),)
    white = np.full((48, 48, 3), 255, np.uint8)
    assert nearest_stuff(white) == stuff_tags(white[None], ("white",)).words("white")
