"""Which labelled pictures are in a data set of Hugging Face's on disk?

Two layouts are read: what `save_to_disk` writes (Arrow files beside a state.json; a folder for
each part where there is a dataset_dict.json), and a copy of the hub's Parquet files, which are
named for their part. Files are read as tables and never run: no loading script, no pickle,
nor the library that wrote them. Pictures are decoded one at a time.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from snellen.errors import Unloadable
from snellen.images.fitting import stacked
from snellen.images.photos import decode_photo
from snellen.images.sets import PictureSet, picture_set
from snellen.images.tables import features, quoted, rows, types

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from snellen.images.photos import Picture

    Parts: TypeAlias = Mapping[str, Sequence[Path]]

PARTS = {
    **dict.fromkeys(["train", "training"], "train"),
    **dict.fromkeys(["validation", "valid", "val", "dev"], "validation"),
    **dict.fromkeys(["test", "testing"], "test"),
}
"""What parts are called, by what files and folders call them; without a name it is the whole."""
WHOLE = ""
PARTS_FILE, STATE_FILE, INFO_FILE = "dataset_dict.json", "state.json", "dataset_info.json"
USUAL_PICTURES = ("image", "img")
USUAL_LABELS = ("label", "labels", "fine_label", "class")
"""Which of several columns that would do is taken."""
PICTURE_TYPE = re.compile(
    r'BLOB|STRUCT\("?bytes"? BLOB\b.*|U?(TINY|SMALL|BIG)?INT(EGER)?(\[\d*\]){2,3}'
)
LABEL_TYPE = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?|VARCHAR|ENUM\(.*")


@dataclass(frozen=True)
class Columns:
    """Where a table has its pictures and labels, and what its classes are called."""

    pictures: str
    """Not the column itself, if that holds more than the picture: an expression of SQL."""
    labels: str
    names: tuple[str, ...]

    @property
    def unknown(self) -> set[Any]:
        """What a label is that nobody knows; where classes have names the hub writes -1."""
        return {None, -1} if self.names else {None}


def is_hub(path: Path) -> bool:
    """Tell whether a folder holds such a data set."""
    return any((path / name).is_file() for name in (PARTS_FILE, STATE_FILE)) or bool(
        _parquet_files(path)
    )


def read_hub(path: Path, side: int = 0) -> PictureSet:
    """Learn from `train`, test on `test`, or on `validation` if no test has labels."""
    saved = any((path / name).is_file() for name in (PARTS_FILE, STATE_FILE))
    parts = _saved(path) if saved else _snapshot(path)
    order = [part for part in (WHOLE, "train", "validation", "test") if part in parts]
    if not order:
        raise Unloadable(
            f"{path} should have parts called train, validation or test; found "
            f"{', '.join(parts) or 'none'}"
        )
    columns = _columns(path, parts[order[0]][0])
    given = {part: _labels(parts[part], columns) for part in order}
    teaching, others = order[0], order[:0:-1]
    if missing := sum(label in columns.unknown for label in given[teaching]):
        raise Unloadable(
            f"{path}: {missing} of {len(given[teaching])} pictures of {teaching or 'the set'} have "
            f"no label in the column {columns.labels}"
        )
    labelled = [p for p in others if given[p] and columns.unknown.isdisjoint(given[p])]
    chosen = [teaching, *labelled[:1]]
    labels = [label for part in chosen for label in given[part]]
    pictures = chain.from_iterable(_pictures(parts[part], columns) for part in chosen)
    images = stacked(pictures, len(labels), path, side)
    kept = sum(len(given[part]) for part in chosen[1:])
    return picture_set(path, images, labels, kept, columns.names)


def _saved(path: Path) -> Parts:
    """Find the files of what `save_to_disk` wrote."""
    if not (path / PARTS_FILE).is_file():
        return {WHOLE: _arrow_files(path)}
    named = _json(path / PARTS_FILE).get("splits")
    found = [str(name) for name in named] if isinstance(named, list) else []
    return {PARTS.get(name, name): _arrow_files(_below(path, name)) for name in found}


def _arrow_files(folder: Path) -> list[Path]:
    state = _json(folder / STATE_FILE)
    try:
        files = [_below(folder, str(entry["filename"])) for entry in state["_data_files"]]
    except (KeyError, TypeError) as error:
        raise Unloadable(f"{folder / STATE_FILE} does not say which files there are") from error
    if state.get("_indices_data_files"):
        raise Unloadable(
            f"{folder} holds a selection of rows as a second table; call flatten_indices() on the "
            "data set and save it again"
        )
    if not files or (missing := [file for file in files if not file.is_file()]):
        raise Unloadable(
            f"{folder / STATE_FILE} should name Arrow files beside it; "
            + (f"there is no {missing[0].name}" if files else "it names none")
        )
    return files


def _snapshot(path: Path) -> Parts:
    """Sort Parquet files by their part."""
    parts: dict[str, list[Path]] = {}
    sets = set()
    for file in _parquet_files(path):
        part, folder = _part_of(file.relative_to(path))
        sets.add(folder)
        parts.setdefault(part, []).append(file)
    if len(sets) > 1:
        raise Unloadable(
            f"{path} holds several data sets; take one of the folders "
            + ", ".join(str(folder) for folder in sorted(sets))
        )
    return {WHOLE: parts[WHOLE]} if set(parts) == {WHOLE} else _without(parts, WHOLE)


def _part_of(file: Path) -> tuple[str, Path]:
    """Return the part that a file is of, and the folder of its data set.

    >>> for file in ("data/train-00000-of-00001.parquet", "mnist/test/0000.parquet"):
    ...     part, folder = _part_of(Path(file))
    ...     print(part, folder.as_posix())
    train .
    test mnist
    """
    folder = file.parent
    part = PARTS.get(re.split(r"[-_.]", file.name.lower())[0], WHOLE)
    if not part and folder.name in PARTS:
        part, folder = PARTS[folder.name], folder.parent
    return part, folder.parent if folder.name == "data" else folder


def _without(parts: Mapping[str, list[Path]], name: str) -> Parts:
    return {part: files for part, files in parts.items() if part != name}


def _parquet_files(path: Path) -> list[Path]:
    return sorted(
        file
        for file in path.rglob("*.parquet")
        if not any(name.startswith(".") for name in file.relative_to(path).parts)
    )


def _below(folder: Path, name: str) -> Path:
    """Return what a description names, which must lie in its own folder."""
    if name in ("", ".", "..") or Path(name).name != name:
        raise Unloadable(f"{folder} names {name!r}; it should name what lies in it")
    return folder / name


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise Unloadable(f"{file} cannot be read as JSON: {error}") from error
    return found if isinstance(found, dict) else {}


def _columns(path: Path, file: Path) -> Columns:
    """Find the columns by their types, and by their usual names where several would do."""
    kinds = types(file)
    classes = {
        name: names for name, names in _classes(file).items() if "INT" in kinds.get(name, "")
    }
    pictures = [name for name, kind in kinds.items() if PICTURE_TYPE.fullmatch(kind)]
    labels = [name for name, kind in kinds.items() if LABEL_TYPE.fullmatch(kind)]
    labels = [name for name in labels if name in classes] or labels
    picture = _one(path, "pictures", pictures, USUAL_PICTURES, kinds)
    label = _one(path, "labels", labels, USUAL_LABELS, kinds)
    part = ".bytes" if kinds[picture].startswith("STRUCT") else ""
    return Columns(quoted(picture) + part, quoted(label), classes.get(label, ()))


def _one(
    path: Path, what: str, fit: Collection[str], usual: Sequence[str], kinds: Mapping[str, str]
) -> str:
    preferred = [name for name in usual if name in fit]
    if len(fit) != 1 and not preferred:
        raise Unloadable(
            f"{path} should have one column of {what}, or one of them called "
            f"{' or '.join(usual)}; {len(fit)} could be it among "
            + (", ".join(f"{name} ({kind})" for name, kind in kinds.items()) or "none")
        )
    return (preferred or list(fit))[0]


def _classes(file: Path) -> dict[str, tuple[str, ...]]:
    """Return the class names of columns that have them, from beside a table or from within."""
    beside = file.parent / INFO_FILE
    found = (_json(beside).get("features") if beside.is_file() else None) or features(file)
    return {
        str(column): tuple(map(str, feature["names"]))
        for column, feature in (found.items() if isinstance(found, dict) else ())
        if isinstance(feature, dict)
        and feature.get("_type") == "ClassLabel"
        and isinstance(feature.get("names"), list)
    }


def _labels(files: Sequence[Path], columns: Columns) -> list[Any]:
    return [label for file in files for (label,) in rows(file, f"SELECT {columns.labels}")]


def _pictures(files: Sequence[Path], columns: Columns) -> Iterator[Picture]:
    for file in files:
        for row, (held,) in enumerate(rows(file, f"SELECT {columns.pictures}")):
            yield _picture(held, f"{file}, row {row}")


def _picture(held: Any, called: str) -> Picture:
    """Make a picture of a file's content, or of nested rows of grey levels."""
    if isinstance(held, bytes | bytearray):
        return decode_photo(bytes(held), called)
    if held is None:
        raise Unloadable(
            f"{called}: the picture itself is not in the table; save the data set with its "
            "pictures embedded"
        )
    try:
        levels = np.asarray(held, np.int64)
    except (TypeError, ValueError) as error:
        raise Unloadable(f"{called}: rows of a picture differ in length: {error}") from error
    levels = levels[..., None] if levels.ndim == 2 else levels
    if levels.ndim == 3 and levels.shape[2] not in (1, 3):  # the channels come first
        levels = levels.transpose(1, 2, 0)
    if not levels.size or levels.shape[2] not in (1, 3) or levels.min() < 0 or levels.max() > 255:
        raise Unloadable(
            f"{called}: a picture should be whole numbers from 0 to 255, (height, width) with 1 "
            f"or 3 channels before or after; found {np.shape(held)}"
            + (f" from {levels.min()} to {levels.max()}" if levels.size else "")
        )
    return levels.astype(np.uint8)
