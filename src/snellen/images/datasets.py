"""Which labelled pictures are in a file or a folder?"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.digests import digest
from snellen.errors import Unloadable
from snellen.images.photos import SUFFIXES, read_photo
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Images, Indices

NAMES_IN_FILES = (("x_train", "y_train", "x_test", "y_test"), ("x", "y"), ("images", "labels"))
TEST_SHARE = 3
"""One picture in so many is kept for testing where the file does not say which."""


@dataclass(frozen=True, eq=False)
class PictureSet:
    """Labelled pictures of one size, parted into those to learn from and the others."""

    images: Images
    labels: Indices
    names: tuple[str, ...]
    testing: Indices
    """Places of the pictures kept for testing; the others are for teaching."""

    @property
    def content(self) -> str:
        """A hash of all of it."""
        return digest(self.images, self.labels, self.names, self.testing)

    @property
    def teaching(self) -> Indices:
        """Places of the pictures to learn from."""
        return np.setdiff1d(np.arange(len(self.images)), self.testing)


def load_pictures(path: str | Path) -> PictureSet:
    """Read an NPZ file (x_train, y_train, x_test, y_test; or x, y) or a folder per class."""
    place = Path(path).expanduser()
    if place.is_dir():
        return _from_folder(place)
    if not place.exists():
        raise Unloadable(f"there are no pictures at {place}: no such file or folder")
    return _from_npz(place)


def grey(images: Images) -> Images:
    """Return (n, h, w) uint8 luminance: .299 R + .587 G + .114 B, as in Rec. 601."""
    if images.shape[3] == 1:
        return np.asarray(images[..., 0])
    return np.asarray(np.rint(images @ np.array([0.299, 0.587, 0.114])), np.uint8)


def _from_npz(path: Path) -> PictureSet:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, AttributeError, zipfile.BadZipFile) as error:
        raise Unloadable(
            f"{path} cannot be read as a NumPy .npz of plain arrays: {error}"
        ) from error
    for names in NAMES_IN_FILES:
        if set(names) <= set(arrays):
            return _assembled(path, arrays, names)
    raise Unloadable(
        f"{path} holds {', '.join(arrays) or 'nothing'}; it should hold "
        + " or ".join(", ".join(names) for names in NAMES_IN_FILES)
    )


def _assembled(path: Path, arrays: Mapping[str, Any], names: Sequence[str]) -> PictureSet:
    try:
        images = np.concatenate([arrays[name] for name in names[::2]])
        raw = np.concatenate([arrays[name].reshape(-1) for name in names[1::2]])
    except ValueError as error:
        raise Unloadable(f"{path}: its parts do not fit together: {error}") from error
    images = images[..., None] if images.ndim == 3 else images
    if (
        images.dtype != np.uint8
        or images.ndim != 4
        or images.shape[3] not in (1, 3)
        or not 0 < len(images) == len(raw)
    ):
        raise Unloadable(
            f"{path}: pictures should be uint8, (n, height, width) or (n, height, width, 3), "
            f"one for each label; found {images.dtype} {images.shape} and {len(raw)} labels"
        )
    classes, labels = np.unique(raw, return_inverse=True)
    kept = len(arrays[names[-1]]) if len(names) == 4 else 0
    testing = np.arange(len(images) - kept, len(images)) if kept else parted(labels)
    return PictureSet(images, labels, tuple(str(c) for c in classes), testing)


def _from_folder(path: Path) -> PictureSet:
    names = tuple(
        sorted(p.name for p in path.iterdir() if p.is_dir() and not p.name.startswith("."))
    )
    files = [
        (file, label)
        for label, name in enumerate(names)
        for file in sorted((path / name).iterdir())
        if file.suffix.lower() in SUFFIXES
    ]
    if not files:
        raise Unloadable(f"{path} should hold a folder of pictures for each class; none was found")
    pictures = [read_photo(file) for file, _ in files]
    if len(shapes := {p.shape for p in pictures}) > 1:
        raise Unloadable(
            f"the pictures under {path} must have one size; found {sorted(shapes)[:4]}"
        )
    labels = np.array([label for _, label in files], np.intp)
    return PictureSet(np.stack(pictures), labels, names, parted(labels))


def parted(labels: Indices) -> Indices:
    """Keep every third picture of each class for testing, in random order."""
    order = Seed("test share", len(labels)).shuffled(len(labels))
    kept = [order[labels[order] == label][::TEST_SHARE] for label in np.unique(labels)]
    return np.sort(np.concatenate(kept))
