"""What do people say of the matrices, and how is it kept?

One CSV file a coder, a line an answer, written and synced before the coder is told that it is.
Of several answers to one model the last counts: people may go back. A line counts once it ends
in a newline; what a killed process left of one was never acknowledged, and is cut away.
"""

from __future__ import annotations

import csv
import io
import os
import re
import threading
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.errors import BadSetting, LogError, Unloadable
from snellen.exams.background.assessor import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from snellen.core import Indices

COLUMNS = ("coder", "model", "level", "sure", "seen", "seconds", "at")
NEEDED = COLUMNS[:3]
SURE = range(1, 6)
SEEN = {
    "dark": "dark all over",
    "near": "light near the origin, dark elsewhere",
    "corner": "a bright far corner",
    "bands": "bands along the edges",
    "diagonal": "a dark diagonal between bright sides",
    "speckles": "speckles",
    "sparse": "too little evidence to tell",
}
"""What a coder may have seen in the matrices: how it is filed, and how it is asked."""
LONGEST = 30
RESERVED = {"con", "prn", "aux", "nul"}
"""No file may be called so on some systems."""


@dataclass(frozen=True)
class Annotation:
    """What a coder said of a model."""

    coder: str
    model: str
    """Its key."""
    level: int
    """Place in `LEVELS`."""
    sure: int
    seen: tuple[str, ...] = ()
    seconds: float = 0.0
    at: str = ""
    """When: ISO 8601, UTC."""

    def row(self) -> dict[str, Any]:
        """Return the cells of its line."""
        told = {name: getattr(self, name) for name in COLUMNS}
        return {**told, "level": LEVELS[self.level], "seen": ";".join(self.seen)}


def coder_called(name: str) -> str:
    """Return what a coder who gives that name is filed under; equal names may differ in case.

    >>> coder_called("  Ada  Lovelace ")
    'ada-lovelace'
    """
    plain = "-".join(unicodedata.normalize("NFKC", name).casefold().split())
    if len(plain) > LONGEST or not re.fullmatch(r"\w[\w-]*", plain) or plain in RESERVED:
        raise BadSetting(
            f"a coder's name is up to {LONGEST} letters, digits, spaces and hyphens, and begins "
            "with a letter or digit; initials will do"
        )
    return plain


class Annotations:
    """The answers of all coders of a run; may be used from several threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._alone = threading.Lock()

    def coders(self) -> list[str]:
        """Return all who have begun."""
        return sorted(path.stem for path in self.folder.glob("*.csv"))

    def of(self, coder: str) -> dict[str, list[Annotation]]:
        """Return all that a coder has said of each model, oldest first."""
        said: dict[str, list[Annotation]] = defaultdict(list)
        path = self._path(coder)
        for one in read(path) if path.exists() else ():
            said[one.model].append(one)
        return dict(said)

    def enrol(self, coder: str, most: int) -> bool:
        """Begin a coder's file, unless so many others have begun; true if the coder has one."""
        with self._alone:
            begun = self.coders()
            if coder in begun:
                return True
            if len(begun) >= most:
                return False
            self._append(self._path(coder), "")
            return True

    def add(self, said: Annotation, earlier: int) -> bool:
        """Keep an answer of one who has given `earlier` ones of that model, and no more.

        The same page sent twice, or from a second tab, was made when there were fewer, and is
        left aside.
        """
        with self._alone:
            if len(self.of(said.coder).get(said.model, ())) != earlier:
                return False
            self._append(self._path(said.coder), _line(said.row()))
            return True

    def _path(self, coder: str) -> Path:
        return self.folder / f"{coder}.csv"

    def _append(self, path: Path, line: str) -> None:
        """Write whole lines, and return when they are on the disk."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with path.open("a+b") as file:
                file.seek(0)
                held = file.read()
                whole = held.rfind(b"\n") + 1
                file.truncate(whole)
                file.write((line if whole else _line(None) + line).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise LogError(
                f"cannot write {path}: {error.strerror}; what was answered before is safe: "
                "mend that, and answer this one again"
            ) from error


def read(path: Path) -> list[Annotation]:
    """Read the answers of one file, or of all CSV files of a folder, oldest first in each."""
    if path.is_dir():
        files = sorted(path.glob("*.csv"))
        if not files:
            raise Unloadable(f"{path} holds no annotations; make some with: {ASK}")
        return [one for file in files for one in read(file)]
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Unloadable(f"{path} cannot be read as annotations: {error}; make some with: {ASK}") \
            from error  # fmt: skip
    reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1]))
    if missing := [name for name in NEEDED if name not in (reader.fieldnames or ())]:
        raise Unloadable(
            f"{path} has no column {missing[0]!r}; annotations have {', '.join(COLUMNS)}"
        )
    return [_annotation(row, f"{path}, line {number}") for number, row in enumerate(reader, 2)]


def ratings(
    said: Iterable[Annotation], models: Sequence[str]
) -> tuple[list[str], list[str], Indices]:
    """Return the coders, the models that all of them rated, and (models, coders) levels."""
    last: dict[str, dict[str, int]] = defaultdict(dict)
    for one in said:
        last[one.coder][one.model] = one.level
    coders = sorted(last)
    rated = [m for m in models if coders and all(m in last[coder] for coder in coders)]
    rows = [[last[coder][model] for coder in coders] for model in rated]
    return coders, rated, np.array(rows, np.intp).reshape(len(rated), len(coders))


ASK = "snellen background-annotate RUN"


def _annotation(row: Mapping[str, Any], place: str) -> Annotation:
    level = str(row["level"] or "").strip().casefold()
    by_name = {name: i for i, name in enumerate(LEVELS)} | {str(i): i for i in range(len(LEVELS))}
    if level not in by_name:
        raise Unloadable(
            f"{place}: level is {row['level']!r}, and should be one of {', '.join(LEVELS)}"
        )
    if not (row["coder"] and row["model"]):
        raise Unloadable(f"{place}: a coder and a model are needed")
    try:
        sure, seconds = int(row.get("sure") or 0), float(row.get("seconds") or 0)
    except ValueError as error:
        raise Unloadable(f"{place}: sure and seconds are numbers: {error}") from error
    seen = tuple(filter(None, (row.get("seen") or "").split(";")))
    return Annotation(
        row["coder"], row["model"], by_name[level], sure, seen, seconds, row.get("at") or ""
    )


def _line(row: Mapping[str, Any] | None) -> str:
    """Return a row as CSV, or the names of the columns."""
    held = io.StringIO()
    writer = csv.DictWriter(held, COLUMNS, lineterminator="\n")
    if row is None:
        writer.writeheader()
    else:
        writer.writerow(row)
    return held.getvalue()
