"""Which labelled pictures are in a file or a folder?"""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.errors import BadSetting, Unloadable
from snellen.images import hub, published
from snellen.images.fitting import fitted, stacked
from snellen.images.photos import SUFFIXES, read_photo
from snellen.images.sets import PictureSet, grey, parted, picture_set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["PictureSet", "grey", "load_pictures", "parted"]

NAMES_IN_FILES = (("x_train", "y_train", "x_test", "y_test"), ("x", "y"), ("images", "labels"))


def load_pictures(path: str | Path, side: int = 0) -> PictureSet:
    """Read labelled pictures, each fitted to `side` × `side` pixels if that is not 0.

    An NPZ file holds x_train, y_train, x_test, y_test; or x, y. A folder holds a folder for
    each class, or a data set of Hugging Face's, or the files of MNIST or CIFAR as published.
    """
    if side < 0:
        raise BadSetting(f"side is {side}; it should be a number of pixels, or 0 to leave them")
    place = Path(path).expanduser()
    if not place.exists():
        raise Unloadable(f"there are no pictures at {place}: no such file or folder")
    if place.is_dir():
        return _from_directory(place, side)
    return _brought(_from_npz(place), side)


def _from_directory(path: Path, side: int) -> PictureSet:
    if hub.is_hub(path):
        return hub.read_hub(path, side)
    if form := published.form_of(path):
        return _brought(form.read(path), side)
    return _from_folder(path, side)


def _brought(found: PictureSet, side: int) -> PictureSet:
    return replace(found, images=fitted(found.images, side)) if side else found


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
    return picture_set(path, images, raw, len(arrays[names[-1]]) if len(names) == 4 else 0)


def _from_folder(path: Path, side: int) -> PictureSet:
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
    images = stacked((read_photo(file) for file, _ in files), len(files), path, side)
    labels = np.array([label for _, label in files], np.intp)
    return PictureSet(images, labels, names, parted(labels))
