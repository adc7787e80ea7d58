from pathlib import Path

import numpy as np
import pytest

from images.test_published import write_cifar, write_mnist
from snellen.errors import UnknownName, Unloadable
from snellen.images.embedded import embedded
from snellen.images.named import DATA, NAMES, named
from snellen.images.published import CIFAR_10, CIFAR_100


@pytest.fixture(autouse=True)
def nothing_at_hand(tmp_path, monkeypatch):
    """Nobody's own files take part."""
    for place in ("here", "home", "named"):
        (tmp_path / place).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.delenv(DATA, raising=False)


def write_cifar_here(folder, form):
    return write_cifar(Path("data", folder), form)


def test_drawn_sets_go_by_their_names():
    assert named("glyphs") is embedded("glyphs")
    assert set(NAMES) >= {"digits", "glyphs", "things", "mnist", "cifar-100"}


@pytest.mark.parametrize(
    "place", ["here/data", "home/.keras/datasets", "home/.cache/snellen", "named"]
)
def test_files_are_found_where_people_keep_them(tmp_path, monkeypatch, place):
    if place == "named":
        monkeypatch.setenv(DATA, str(tmp_path / "named"))
    images, _ = write_mnist(tmp_path / place / "MNIST" / "raw", ".gz")
    assert np.array_equal(named("mnist").images[..., 0], images)


def test_the_folder_of_the_environment_comes_first(tmp_path, monkeypatch):
    write_mnist(tmp_path / "here" / "data" / "mnist", size=(6, 3))
    write_mnist(tmp_path / "named" / "MNIST" / "raw", size=(9, 3))
    assert len(named("mnist").images) == 9
    monkeypatch.setenv(DATA, str(tmp_path / "named"))
    assert len(named("mnist").images) == 12


@pytest.mark.parametrize("spelling", ["CIFAR10", "cifar_10", "cifar-10", "Cifar-10"])
def test_a_name_may_be_spelt_in_several_ways(spelling):
    write_cifar_here("cifar-10-batches-bin", CIFAR_10)
    assert len(named(spelling).images) == 24


def test_cifar_100_has_its_fine_labels():
    _, labels = write_cifar_here("cifar-100-binary", CIFAR_100)
    found = named("cifar-100")
    assert [found.names[label] for label in found.labels] == [str(label) for label in labels]


def test_keras_files_are_taken(tmp_path):
    folder = tmp_path / "home" / ".keras" / "datasets"
    folder.mkdir(parents=True)
    x, y = np.zeros((6, 28, 28), np.uint8), np.arange(6) % 2
    np.savez(folder / "mnist.npz", x_train=x, y_train=y, x_test=x[:2], y_test=y[:2])
    assert named("mnist").images.shape == (8, 28, 28, 1)


def test_garments_are_not_called_by_digits(tmp_path):
    write_mnist(tmp_path / "here" / "data" / "FashionMNIST" / "raw")
    assert named("fashion-mnist").names == ("T-shirt/top", "Trouser", "Pullover")


def test_digits_and_garments_are_not_taken_for_each_other(tmp_path):
    write_mnist(tmp_path / "here" / "data" / "FashionMNIST" / "raw")
    with pytest.raises(Unloadable):
        named("mnist")


def test_an_unknown_name_is_told_the_others():
    with pytest.raises(UnknownName, match=r"'cifar-11'.*there are digits, .*cifar-100"):
        named("cifar-11")


def test_what_is_absent_is_told_where_and_what_and_whence(tmp_path, monkeypatch):
    monkeypatch.setenv(DATA, str(tmp_path / "named"))
    with pytest.raises(Unloadable) as told:
        named("mnist")
    for part in (
        *(str(tmp_path / "named"), ".keras", "data", ".cache"),
        *("mnist.npz", "MNIST/raw", "t10k-labels-idx1-ubyte"),
        *("yann.lecun.com", "nothing is fetched", DATA),
    ):
        assert part in str(told.value)


def test_what_is_there_in_part_is_told_what_it_lacks(tmp_path):
    write_cifar_here("cifar-10-batches-bin", CIFAR_10)
    (tmp_path / "here" / "data" / "cifar-10-batches-bin" / "data_batch_3.bin").unlink()
    with pytest.raises(Unloadable, match=r"cifar-10-batches-bin lacks data_batch_3\.bin;"):
        named("cifar-10")


def test_a_pickle_in_the_usual_place_is_refused_by_name(tmp_path):
    (tmp_path / "here" / "data" / "cifar-100-python").mkdir(parents=True)
    with pytest.raises(Unloadable, match=r"cifar-100-python is the Python version of CIFAR"):
        named("cifar-100")
