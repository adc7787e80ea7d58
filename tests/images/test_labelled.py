"""Pictures with labels: from folders, lists, arrays, or drawn."""

import numpy as np
import pytest
from PIL import Image

from snellen.errors import Unloadable
from snellen.images.labelled import DRAWN, open_collection
from snellen.images.things import THINGS, draw_things
from snellen.seeds import Seed


def test_drawn_pictures_are_the_same_each_time_and_of_every_class():
    collection = open_collection("")
    assert len(collection.labels) == DRAWN
    assert set(collection.labels.values()) == set(THINGS)
    name = list(collection.labels)[13]
    assert collection.read(name).shape == (64, 64, 3)
    np.testing.assert_array_equal(collection.read(name), collection.read(name))


def test_a_thing_is_what_its_label_says_whatever_its_place_and_colours():
    """A disc is round, a square is not: the spread of a shape's radius tells them apart."""
    images, labels = draw_things(Seed("test"), 180, 64)
    assert np.bincount(labels).tolist() == [20] * 9
    assert len({image.tobytes() for image in images}) == 180
    again, _ = draw_things(Seed("test"), 180, 64)
    np.testing.assert_array_equal(images, again)
    grounds = images[:, 0].reshape(180, -1).mean(axis=1)
    middles = images[:, 28:36, 28:36].reshape(180, -1).mean(axis=1)
    filled = np.isin(labels, [THINGS.index(name) for name in ("disc", "square")])
    assert np.abs(grounds - middles)[filled].mean() > 50


def test_a_folder_for_each_class(tmp_path):
    for label in ("a", "b"):
        (tmp_path / label / "deep").mkdir(parents=True)
        Image.new("L", (4, 5)).save(tmp_path / label / "deep" / "x.png")
        (tmp_path / label / "notes.txt").write_text("no picture")
    (tmp_path / ".git").mkdir()
    found = open_collection(str(tmp_path))
    assert dict(found.labels) == {"a/deep/x.png": "a", "b/deep/x.png": "b"}
    assert found.read("a/deep/x.png").shape == (5, 4, 1)
    before = found.content("a/deep/x.png")
    Image.new("L", (4, 5), 9).save(tmp_path / "a" / "deep" / "x.png")
    assert found.content("a/deep/x.png") != before


@pytest.mark.parametrize(
    ("text", "column", "told"),
    [
        ("file,label\n../x.png,a\n", "", "below its own folder"),
        ("file,label\n/etc/x.png,a\n", "", "below its own folder"),
        ("name,label\nx.png,a\n", "", "has no column 'file'"),
        ("file,label\nx.png,a\n", "kind", "has no column 'kind'; it has file, label"),
        ("", "", "has no column 'file'; it has no rows"),
    ],
)
def test_a_list_that_will_not_do_is_explained(tmp_path, text, column, told):
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(Unloadable, match=told):
        open_collection(str(tmp_path), column)


def test_a_picture_that_is_gone_is_told(tmp_path):
    (tmp_path / "labels.csv").write_text("file,label\nx.png,a\n")
    with pytest.raises(Unloadable, match=r"x.png cannot be read: No such file"):
        open_collection(str(tmp_path)).content("x.png")


def test_the_test_pictures_of_arrays(tmp_path):
    images = np.arange(6 * 16, dtype=np.uint8).reshape(6, 4, 4)
    labels = np.array([0, 1, 0, 1, 0, 1])
    np.savez(
        tmp_path / "d.npz", x_train=images[:4], y_train=labels[:4], x_test=images[4:],
        y_test=labels[4:],
    )  # fmt: skip
    found = open_collection(str(tmp_path / "d.npz"))
    assert dict(found.labels) == {"4": "0", "5": "1"}
    np.testing.assert_array_equal(found.read("5")[..., 0], images[5])
