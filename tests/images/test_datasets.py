import numpy as np
import pytest
from PIL import Image

from snellen.errors import BadSetting, Unloadable
from snellen.images.datasets import grey, load_pictures

RNG = np.random.default_rng(0)
X = RNG.integers(0, 256, (30, 8, 8), dtype=np.uint8)
Y = np.arange(30) % 3


def test_a_file_that_parts_its_pictures_is_taken_at_its_word(tmp_path):
    np.savez(tmp_path / "d.npz", x_train=X[:20], y_train=Y[:20], x_test=X[20:], y_test=Y[20:])
    found = load_pictures(tmp_path / "d.npz")
    assert found.images.shape == (30, 8, 8, 1)
    assert found.testing.tolist() == list(range(20, 30))
    assert found.names == ("0", "1", "2")


def test_a_file_that_does_not_is_parted_by_class(tmp_path):
    np.savez(tmp_path / "d.npz", x=X, y=Y)
    found = load_pictures(tmp_path / "d.npz")
    assert np.bincount(found.labels[found.testing]).tolist() == [4, 4, 4]
    assert not set(found.testing) & set(found.teaching)
    assert len(found.testing) + len(found.teaching) == 30


def test_a_folder_of_folders_is_read(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        for n in range(3):
            Image.fromarray(X[n]).save(tmp_path / name / f"{n}.png")
    found = load_pictures(tmp_path)
    assert found.names == ("cat", "dog")
    assert np.array_equal(found.images[4, ..., 0], X[1])


def test_pictures_of_a_folder_are_fitted_to_a_side(tmp_path):
    (tmp_path / "cat").mkdir()
    for n, size in enumerate([(8, 8), (3, 5), (40, 20)]):
        Image.fromarray(np.full(size, 50 + n, np.uint8)).save(tmp_path / "cat" / f"{n}.png")
    Image.new("RGB", (8, 8), "red").save(tmp_path / "cat" / "3.png")
    found = load_pictures(tmp_path, side=16)
    assert found.images.shape == (4, 16, 16, 3)
    assert (found.images[0] == 50).all()
    assert (found.images[1, 3:12] == 51).any()
    assert (found.images[2] == 52).all()
    assert (found.images[3] == (255, 0, 0)).all()


def test_pictures_of_a_file_are_fitted_to_a_side(tmp_path):
    np.savez(tmp_path / "d.npz", x=X, y=Y)
    found = load_pictures(tmp_path / "d.npz", side=16)
    assert np.array_equal(found.images[..., 0], X.repeat(2, axis=1).repeat(2, axis=2))
    with pytest.raises(BadSetting, match="side is -1"):
        load_pictures(tmp_path / "d.npz", side=-1)


def bad_pickle(folder):
    np.savez(folder / "d.npz", x=np.array([{}, {}], dtype=object), y=Y[:2])


def wrong_names(folder):
    np.savez(folder / "d.npz", a=X)


def floats(folder):
    np.savez(folder / "d.npz", x=X / 255, y=Y)


def rubbish(folder):
    (folder / "d.npz").write_bytes(b"rubbish")


def nothing(folder):
    pass


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (bad_pickle, "NumPy .npz of plain arrays"),
        (wrong_names, "holds a; it should hold x_train"),
        (floats, "should be uint8"),
        (rubbish, "cannot be read"),
        (nothing, "no such file or folder"),
    ],
)
def test_what_cannot_be_read_is_explained(tmp_path, make, told):
    make(tmp_path)
    with pytest.raises(Unloadable, match=told):
        load_pictures(tmp_path / "d.npz")


def test_broken_and_odd_pictures_are_named(tmp_path):
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "a.png").write_bytes(b"no picture")
    with pytest.raises(Unloadable, match=r"a\.png cannot be read as a picture"):
        load_pictures(tmp_path)
    Image.fromarray(X[0]).save(tmp_path / "cat" / "a.png")
    Image.fromarray(X[0][:4]).save(tmp_path / "cat" / "b.png")
    with pytest.raises(Unloadable, match="must have one size"):
        load_pictures(tmp_path)
    with pytest.raises(Unloadable, match="folder of pictures for each class"):
        load_pictures(tmp_path / "cat")


def test_grey_weighs_the_colours():
    white = np.full((1, 2, 2, 3), 255, np.uint8)
    assert (grey(white) == 255).all()
    green = white * np.array([0, 1, 0], np.uint8)
    assert (grey(green) == 150).all()
