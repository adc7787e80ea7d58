import gzip
import struct

import numpy as np
import pytest

from snellen.errors import Unloadable
from snellen.images.datasets import load_pictures
from snellen.images.published import CIFAR_10, CIFAR_100, IDX, read_idx

RNG = np.random.default_rng(1)


def write_idx(file, array):
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    content = head + array.astype(np.uint8).tobytes()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)


def write_mnist(folder, suffix="", size=(6, 3)):
    """Write a small MNIST; return its pictures and labels, those for testing last."""
    images = RNG.integers(0, 256, (sum(size), 5, 4), dtype=np.uint8)
    labels = np.arange(sum(size)) % 3
    parts = [images[: size[0]], labels[: size[0]], images[size[0] :], labels[size[0] :]]
    for name, part in zip(IDX.wants, parts, strict=True):
        write_idx(folder / (name + suffix), part)
    return images, labels


def write_cifar(folder, form, each=4):
    """Write a small CIFAR; return its pictures (n, 32, 32, 3) and labels."""
    folder.mkdir(parents=True)
    count = each * len(form.wants)
    images = RNG.integers(0, 256, (count, 32, 32, 3), dtype=np.uint8)
    labels = (np.arange(count) * 3) % 7
    for n, name in enumerate(form.wants):
        with (folder / name).open("wb") as file:
            for i in range(n * each, (n + 1) * each):
                coarse = [9] * (form.labels - 1)
                file.write(bytes([*coarse, labels[i]]) + images[i].transpose(2, 0, 1).tobytes())
    return images, labels


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_idx_files_are_read_plain_or_gzipped(tmp_path, suffix):
    images, labels = write_mnist(tmp_path, suffix)
    found = load_pictures(tmp_path)
    assert np.array_equal(found.images[..., 0], images)
    assert np.array_equal(found.labels, labels)
    assert found.testing.tolist() == [6, 7, 8]
    assert found.names == ("0", "1", "2")


def test_idx_files_with_a_dot_in_their_names_are_found(tmp_path):
    write_mnist(tmp_path)
    for file in list(tmp_path.iterdir()):
        file.rename(tmp_path / file.name.replace("-idx", ".idx"))
    assert len(load_pictures(tmp_path).images) == 9


@pytest.mark.parametrize("form", [CIFAR_10, CIFAR_100])
def test_cifar_is_read_from_its_binary_version(tmp_path, form):
    images, labels = write_cifar(tmp_path / "c", form)
    found = load_pictures(tmp_path / "c")
    assert np.array_equal(found.images, images)
    assert [found.names[label] for label in found.labels] == [str(label) for label in labels]
    assert found.testing.tolist() == list(range(len(images) - 4, len(images)))


def test_classes_of_cifar_are_called_what_its_list_says(tmp_path):
    _, labels = write_cifar(tmp_path / "c", CIFAR_10)
    (tmp_path / "c" / "batches.meta.txt").write_text("\n".join("abcdefghij") + "\n\n")
    found = load_pictures(tmp_path / "c")
    assert [found.names[label] for label in found.labels] == ["abcdefghij"[n] for n in labels]


def test_fitting_is_for_published_sets_too(tmp_path):
    write_cifar(tmp_path / "c", CIFAR_100)
    assert load_pictures(tmp_path / "c", side=16).images.shape[1:] == (16, 16, 3)


@pytest.mark.parametrize("names", [("data_batch_1", "batches.meta"), ("train", "test", "meta")])
def test_a_pickled_cifar_is_refused_unopened(tmp_path, names):
    trap = b"cos\nsystem\n(S'false'\ntR."
    for name in names:
        (tmp_path / name).write_bytes(trap)
    with pytest.raises(Unloadable, match="a pickle runs what its maker wants; take the binary"):
        load_pictures(tmp_path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "begins with nothing"),
        (b"\0\0\x0d\1\0\0\0\1\0", "begins with 00 00 0d 01"),
        (b"\0\0\x08\3\0\0\0\1\0", "begins with 00 00 08 03"),
        (b"\0\0\x08\1\0\0", "begins with 00 00 08 01"),
        (b"\0\0\x08\1\0\0\0\5\1\2\3", "holds 5 bytes, and it holds 3"),
        (b"\0\0\x08\1\0\0\0\1\1\2\3", "holds 1 bytes, and it holds 3"),
    ],
)
def test_a_broken_idx_file_is_explained(tmp_path, content, told):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(Unloadable, match=told):
        read_idx(tmp_path / "f", 1)


def test_a_torn_archive_is_explained(tmp_path):
    (tmp_path / "f.gz").write_bytes(gzip.compress(bytes(1000))[:-10])
    with pytest.raises(Unloadable, match=r"f\.gz cannot be read"):
        read_idx(tmp_path / "f.gz", 1)


def test_files_that_are_not_of_one_set_are_told_apart(tmp_path):
    write_mnist(tmp_path)
    write_idx(tmp_path / "t10k-labels-idx1-ubyte", np.zeros(7))
    with pytest.raises(Unloadable, match="do not fit together"):
        load_pictures(tmp_path)
    write_idx(tmp_path / "t10k-labels-idx1-ubyte", np.array([0, 1, 12]))
    with pytest.raises(Unloadable, match="from 0 to 12, but there are names for 0 to 9"):
        IDX.read(tmp_path, tuple("0123456789"))


def test_broken_records_are_explained(tmp_path):
    write_cifar(tmp_path / "c", CIFAR_10)
    batch = tmp_path / "c" / "data_batch_2.bin"
    whole = batch.read_bytes()
    batch.write_bytes(whole[:-1])
    with pytest.raises(Unloadable, match=r"data_batch_2\.bin should hold records of 3073 bytes"):
        load_pictures(tmp_path / "c")
    batch.write_bytes(b"\x0b" + whole[1:])
    with pytest.raises(Unloadable, match="a label 11, beyond the 10 classes"):
        load_pictures(tmp_path / "c")
