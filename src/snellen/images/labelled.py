"""Where do labelled pictures come from, one at a time?

From a folder with a folder for each class, a folder with a `labels.csv`, an NPZ file, or
nowhere: then nine procedural things are drawn. Pictures keep their own sizes, are read
when they are needed, and are known by name and content.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from snellen.digests import digest
from snellen.errors import Unloadable
from snellen.groups import group_of, load_groups
from snellen.images.datasets import PictureSet, load_pictures
from snellen.images.photos import SUFFIXES, read_photo
from snellen.images.things import THINGS, draw_things
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.core import Images, Indices
    from snellen.images.photos import Picture

LIST = "labels.csv"
USUAL_COLUMNS = ("label", "class", "class_index", "name")
DRAWN = 900
"""So many procedural pictures there are."""
DRAWN_SIDE = 64


class Collection(Protocol):
    """Labelled pictures, known by name."""

    @property
    def labels(self) -> Mapping[str, str]:
        """The label of each picture, by its name."""

    def content(self, name: str) -> str:
        """Return a hash of a picture."""

    def read(self, name: str) -> Picture:
        """Return a picture, (height, width, 1 or 3) bytes."""


@lru_cache(maxsize=4)
def open_collection(path: str, column: str = "") -> Collection:
    """Open what is at `path`, or the procedural pictures if it is empty."""
    if not path:
        return Drawn()
    place = Path(path).expanduser()
    if place.suffix == ".npz":
        return Arrays(load_pictures(place))
    if not place.is_dir():
        raise Unloadable(f"there are no pictures at {place}: no such folder")
    listed = place / LIST
    labels = _from_list(listed, column) if listed.is_file() else _from_folders(place)
    if not labels:
        raise Unloadable(
            f"{place} should hold a folder of pictures for each class, or pictures and a {LIST} "
            "with the columns file and label; none was found"
        )
    return Files(place, labels)


class Drawn:
    """Nine things before random grounds, drawn on the spot."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Things come equally often."""
        return _drawn_labels()

    def content(self, name: str) -> str:
        """Its name says all."""
        return f"drawn-1-{name}"

    def read(self, name: str) -> Picture:
        """Draw it."""
        number, place = divmod(int(name.rpartition("-")[2]), len(THINGS))
        picture: Picture = _drawn(number)[0][place]
        return picture


@dataclass(frozen=True, eq=False)
class Arrays:
    """The test pictures of an NPZ file."""

    pictures: PictureSet

    @property
    def labels(self) -> Mapping[str, str]:
        """Pictures are known by their place."""
        names, labels = self.pictures.names, self.pictures.labels
        return {str(place): names[labels[place]] for place in self.pictures.testing}

    def content(self, name: str) -> str:
        """Hash its pixels."""
        return digest(self.read(name))

    def read(self, name: str) -> Picture:
        """Take it out."""
        picture: Picture = self.pictures.images[int(name)]
        return picture


@dataclass(frozen=True, eq=False)
class Files:
    """Picture files below a folder."""

    root: Path
    labels: Mapping[str, str]

    def content(self, name: str) -> str:
        """Hash the file as it is."""
        try:
            return digest(self.root / name)
        except OSError as error:
            raise Unloadable(f"{self.root / name} cannot be read: {error.strerror}") from error

    def read(self, name: str) -> Picture:
        """Read it, whatever kind of picture it is."""
        return read_photo(self.root / name)


@lru_cache(maxsize=8)
def asked_labels(pictures: str, column: str, groups: str) -> dict[str, str]:
    """Return what is to be answered for each picture; those outside all groups are left out."""
    labels = open_collection(pictures, column).labels
    if not groups:
        return dict(labels)
    found = load_groups(groups)
    named = ((name, group_of(label, found)) for name, label in labels.items())
    return {name: group for name, group in named if group is not None}


@lru_cache(maxsize=8)
def choices(pictures: str, column: str, groups: str) -> tuple[str, ...]:
    """Return what may be answered: all groups, or all labels there are, numbers by size."""
    if groups:
        return tuple(load_groups(groups))
    found = set(open_collection(pictures, column).labels.values())
    return tuple(sorted(found, key=lambda label: (label.isdigit(), label.zfill(12))))


def _from_folders(root: Path) -> dict[str, str]:
    folders = sorted(p for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))
    return {
        f"{folder.name}/{file.relative_to(folder).as_posix()}": folder.name
        for folder in folders
        for file in sorted(folder.rglob("*"))
        if file.suffix.lower() in SUFFIXES
    }


def _from_list(path: Path, column: str) -> dict[str, str]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = list(rows[0]) if rows else []
    wanted = column or next((name for name in USUAL_COLUMNS if name in columns), "label")
    for name in ("file", wanted):
        if name not in columns:
            raise Unloadable(
                f"{path} has no column {name!r}; it has {', '.join(columns) or 'no rows'}; say "
                "which one holds the labels with --set column=NAME"
            )
    outside = [row["file"] for row in rows if ".." in Path(row["file"]).parts]
    if outside or any(Path(row["file"]).is_absolute() for row in rows):
        raise Unloadable(f"{path} should name files below its own folder")
    return {row["file"]: row[wanted] for row in rows}


@lru_cache(maxsize=1)
def _drawn_labels() -> dict[str, str]:
    rounds = range(DRAWN // len(THINGS))
    made: dict[str, str] = {}
    for number in rounds:
        _, labels = _drawn(number)
        made |= {
            f"thing-{number * len(THINGS) + place:04d}": THINGS[label]
            for place, label in enumerate(labels)
        }
    return made


@lru_cache(maxsize=DRAWN // len(THINGS))
def _drawn(number: int) -> tuple[Images, Indices]:
    """Draw each thing once."""
    return draw_things(Seed("drawn", number), len(THINGS), DRAWN_SIDE)
