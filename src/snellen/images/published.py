"""What is in the files that MNIST and CIFAR are published as?

IDX, plain or gzipped: MNIST, and what imitates it. Its header tells the sizes.
CIFAR's binary version: a record for each picture, of a label (CIFAR-100: a coarse and a fine
one) and a plane for each of red, green and blue. Its Python version is a pickle, which runs
whatever its maker put in; it is refused.
"""

from __future__ import annotations

import gzip
import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from snellen.errors import Unloadable
from snellen.images.sets import PictureSet, picture_set

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    Bytes: TypeAlias = npt.NDArray[np.uint8]

CIFAR_SIDE, CIFAR_PIXELS = 32, 3 * 32 * 32
PICKLES = (("data_batch_1", "batches.meta"), ("train", "test", "meta"))
"""Files that lie together in the Python version of CIFAR only."""
PICKLED = (
    "is the Python version of CIFAR, a pickle, and a pickle runs what its maker wants; take the "
    "binary version from https://www.cs.toronto.edu/~kriz/cifar.html"
)


class Form(Protocol):
    """A way in which a set of pictures is laid out in files of one folder."""

    @property
    def wants(self) -> tuple[str, ...]:
        """The files there must be."""

    def missing(self, folder: Path) -> tuple[str, ...]:
        """Name those that a folder lacks."""

    def read(self, folder: Path, names: Sequence[str] = ()) -> PictureSet:
        """Read a folder that lacks none; `names` are the classes' where no file has them."""


@dataclass(frozen=True)
class Idx:
    """Pictures and labels in a file each, for teaching and for testing."""

    wants: tuple[str, ...] = (
        *("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
        *("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
    )

    def missing(self, folder: Path) -> tuple[str, ...]:
        """Name those that a folder has neither plain nor gzipped."""
        return tuple(name for name in self.wants if _idx_file(folder, name) is None)

    def read(self, folder: Path, names: Sequence[str] = ()) -> PictureSet:
        """Read all four."""
        files = [file for name in self.wants if (file := _idx_file(folder, name))]
        images, labels, test_images, test_labels = (
            read_idx(file, axes) for file, axes in zip(files, (3, 1, 3, 1), strict=True)
        )
        if (
            images.shape[1:] != test_images.shape[1:]
            or len(images) != len(labels)
            or not 0 < len(test_images) == len(test_labels)
        ):
            raise Unloadable(
                f"{folder}: its files do not fit together: pictures {images.shape} and "
                f"{test_images.shape}, labels {labels.shape} and {test_labels.shape}"
            )
        return picture_set(
            folder,
            np.concatenate([images, test_images])[..., None],
            np.concatenate([labels, test_labels]),
            len(test_labels),
            names,
        )


@dataclass(frozen=True)
class Cifar:
    """Records of a fixed size, in several files; another file has the classes' names."""

    teaching: tuple[str, ...]
    testing: str
    called: str
    labels: int
    """So many there are of a picture, each a byte; the last is the finest."""
    classes: int

    @property
    def wants(self) -> tuple[str, ...]:
        """The records; one can do without names."""
        return (*self.teaching, self.testing)

    def missing(self, folder: Path) -> tuple[str, ...]:
        """Name the files that a folder lacks."""
        return tuple(name for name in self.wants if not (folder / name).is_file())

    def read(self, folder: Path, names: Sequence[str] = ()) -> PictureSet:
        """Read all of them."""
        parts = [self._records(folder / name) for name in self.wants]
        records = np.concatenate(parts)
        planes = records[:, self.labels :].reshape(-1, 3, CIFAR_SIDE, CIFAR_SIDE)
        images = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
        given = records[:, self.labels - 1]
        return picture_set(
            folder, images, given, len(parts[-1]), self._names(folder / self.called) or names
        )

    def _records(self, file: Path) -> Bytes:
        content = _content(file)
        length = self.labels + CIFAR_PIXELS
        if not content or len(content) % length:
            raise Unloadable(
                f"{file} should hold records of {length} bytes; it has {len(content)} bytes, which "
                "is no multiple of that; fetch it again"
            )
        records = np.frombuffer(content, np.uint8).reshape(-1, length)
        if (most := records[:, self.labels - 1].max()) >= self.classes:
            raise Unloadable(
                f"{file} has a label {most}, beyond the {self.classes} classes of its kind; it "
                "holds something else"
            )
        return records

    def _names(self, file: Path) -> tuple[str, ...]:
        if not file.is_file():
            return ()
        lines = _content(file).decode("utf-8", "replace").splitlines()
        return tuple(line.strip() for line in lines if line.strip())


IDX = Idx()
CIFAR_10 = Cifar(
    tuple(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin", "batches.meta.txt", 1, 10
)
CIFAR_100 = Cifar(("train.bin",), "test.bin", "fine_label_names.txt", 2, 100)


def form_of(folder: Path) -> Form | None:
    """Say how pictures lie in a folder, if it is one of these ways."""
    for form in (IDX, CIFAR_10, CIFAR_100):
        if not form.missing(folder):
            return form
    if any(all((folder / name).is_file() for name in names) for names in PICKLES):
        raise Unloadable(f"{folder} {PICKLED}")
    return None


def read_idx(file: Path, axes: int) -> Bytes:
    """Return the bytes of an IDX file: 0, 0, the type, the number of axes, their lengths, data."""
    content = _content(file)
    start = 4 + 4 * axes
    if content[:4] != bytes((0, 0, 8, axes)) or len(content) < start:
        raise Unloadable(
            f"{file} should be an IDX file of bytes with {axes} axes; it begins with "
            f"{content[:4].hex(' ') or 'nothing'} and has {len(content)} bytes"
        )
    shape = np.frombuffer(content[4:start], ">u4").tolist()
    if len(content) != start + math.prod(shape):
        raise Unloadable(
            f"{file} says that it holds {' × '.join(map(str, shape))} bytes, and it holds "
            f"{len(content) - start}; fetch it again"
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _idx_file(folder: Path, name: str) -> Path | None:
    """Find it by any of the spellings in use."""
    dotted = name.replace("-idx", ".idx")
    for spelling in (name, f"{name}.gz", dotted, f"{dotted}.gz"):
        if (folder / spelling).is_file():
            return folder / spelling
    return None


def _content(file: Path) -> bytes:
    try:
        if file.suffix == ".gz":
            with gzip.open(file) as opened:
                return opened.read()
        return file.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise Unloadable(f"{file} cannot be read: {error}") from error
