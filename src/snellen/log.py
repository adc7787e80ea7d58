"""What has been done so far, and how is it kept?

A run folder holds append-only logs, one per writer, of one JSON value a line, and
files named by their own content. A line counts once it ends in a newline, so a
killed process, a full disk or two machines on one shared folder all read back as
the union of whole lines.
"""

from __future__ import annotations

import errno
import io
import json
import os
import secrets
import socket
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from snellen.core import Attachment, Item, Record
from snellen.digests import digest
from snellen.errors import LogError

PLAN = {"exam": str, "settings": dict, "subjects": list, "command": str}
RECORD = {
    **dict.fromkeys(["exam", "subject", "fingerprint", "trials", "error"], str),
    **dict.fromkeys(["settings", "item", "measures", "artefacts", "versions"], dict),
    "version": int,
    "seconds": (int, float),
}
"""What the parts of a line are in JSON."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a command set out to do: enough to grade again, and to say how."""

    exam: str
    """The name or place that the exam was asked for by."""
    settings: Mapping[str, Any]
    subjects: tuple[str, ...]
    command: str


class StoredTrials(Mapping[str, Any]):
    """Columns in a file, read when they are first asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _columns(self) -> dict[str, Any]:
        try:
            data = self._path.read_bytes()
        except OSError as error:
            raise LogError(
                f"answers are missing: {self._path} ({error.strerror}); copy the whole run "
                "folder, its files too, or delete the line that names it and run again"
            ) from error
        if digest(data) != self._path.stem:
            raise LogError(
                f"{self._path} was changed after it was written; delete it and the log "
                "line that names it, and run again: only that item is done anew"
            )
        with np.load(io.BytesIO(data), allow_pickle=False) as columns:
            return dict(columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


class RunFolder:
    """The records of a run: append, read back, and tell what is done."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._damaged: dict[str, list[str]] = {}
        self._log: Path | None = None

    @property
    def damaged(self) -> list[str]:
        """Lines that could not be read, with their places; their items are done again."""
        return list(dict.fromkeys(told for found in self._damaged.values() for told in found))

    def begin(self, plan: Plan) -> None:
        """Note what is set out to be done."""
        self._write_line(
            {
                "kind": "plan",
                "exam": plan.exam,
                "settings": plan.settings,
                "subjects": list(plan.subjects),
                "command": plan.command,
            }
        )

    def append(self, record: Record) -> Record:
        """Keep a record: its files first, then its line."""
        try:
            line = self._line(record)
        except OSError as error:
            raise self._cannot_write(error) from error
        self._write_line(line)
        return record

    def records(self) -> list[Record]:
        """Return the latest record for each key, failed ones only where none succeeded."""
        latest: dict[tuple[str, int, str, str, str], Record] = {}
        for place, line in self._lines("record"):
            try:
                record = self._record(line)
            except (KeyError, TypeError, ValueError):
                self._damaged["record"].append(f"{place} is no whole record")
                continue
            known = latest.get(record.key)
            if known is None or known.error or not record.error:
                latest[record.key] = record
        return list(latest.values())

    def plans(self) -> list[Plan]:
        """Return every plan, oldest first."""
        made = []
        for place, line in self._lines("plan"):
            try:
                _check_types(line, PLAN)
            except (KeyError, TypeError):
                self._damaged["plan"].append(f"{place} is no whole plan")
                continue
            subjects = tuple(map(str, line["subjects"]))
            made.append(Plan(line["exam"], line["settings"], subjects, line["command"]))
        return made

    def _lines(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield whole lines of a kind with their places, oldest log first."""
        if not self.path.is_dir():
            raise LogError(f"there is no run folder {self.path}; make one with: snellen run")
        damaged = self._damaged[kind] = []
        logs = sorted(self.path.glob("log-*.jsonl"), key=lambda p: (p.stat().st_mtime_ns, p.name))
        for log in logs:
            *lines, torn = log.read_bytes().split(b"\n")
            if torn:
                damaged.append(f"{log}:{len(lines) + 1} stops in the middle of a line")
            for number, line in enumerate(lines, 1):
                try:
                    value = json.loads(line)
                    wanted = value["kind"] == kind
                except (ValueError, TypeError, KeyError):
                    damaged.append(f"{log}:{number} is not a line of this program's")
                else:
                    if wanted:
                        yield f"{log}:{number}", value

    def _line(self, record: Record) -> dict[str, Any]:
        held = io.BytesIO()
        np.savez_compressed(held, allow_pickle=False, **record.trials)
        measures, files = {}, {}
        for name, value in record.measures.items():
            if isinstance(value, Attachment):
                files[name] = self._keep(value.data, value.suffix)
            else:
                measures[name] = value
        return {
            "kind": "record",
            "exam": record.exam,
            "version": record.version,
            "settings": record.settings,
            "item": dict(record.item),
            "subject": record.subject,
            "fingerprint": record.fingerprint,
            "measures": measures,
            "artefacts": files,
            "trials": self._keep(held.getvalue(), ".npz") if record.trials else "",
            "seconds": round(record.seconds, 3),
            "versions": record.versions,
            "error": record.error,
        }

    def _record(self, line: Mapping[str, Any]) -> Record:
        _check_types(line, RECORD)
        if not all(isinstance(value, str | int | float) for value in line["item"].values()):
            raise TypeError("a facet is neither text nor a number")
        files = {
            name: Attachment(self.path / place, Path(place).suffix)
            for name, place in line["artefacts"].items()
        }
        kept = {k: v for k, v in line.items() if k not in ("kind", "artefacts")}
        record = Record(**{**kept, "item": Item(line["item"]), "trials": {}})
        trials = StoredTrials(self.path / line["trials"]) if line["trials"] else {}
        return replace(record, measures={**line["measures"], **files}, trials=trials)

    def _keep(self, data: bytes, suffix: str) -> str:
        """Write a file named by its content, whole or not at all; return its place."""
        name = digest(data)
        place = Path("artefacts", name[:2], name + suffix)
        target = self.path / place
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            draft = target.with_name(f"{name}.{secrets.token_hex(4)}")
            try:
                draft.write_bytes(data)
                draft.replace(target)
            finally:
                draft.unlink(missing_ok=True)
        return place.as_posix()

    def _write_line(self, value: Mapping[str, Any]) -> None:
        text = json.dumps(value, separators=(",", ":"), default=jsonable) + "\n"
        left = memoryview(text.encode())
        try:
            if self._log is None:
                self.path.mkdir(parents=True, exist_ok=True)
                writer = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
                self._log = self.path / f"log-{writer}.jsonl"
            with io.FileIO(self._log, "a") as file:
                while left:  # a nearly full disk takes a part and then refuses
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
        except OSError as error:
            raise self._cannot_write(error) from error
        except BaseException:  # Ctrl-C may have torn the line
            self._log = None
            raise

    def _cannot_write(self, error: OSError) -> LogError:
        self._log = None  # a torn line ends this log; the next one starts clean
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        remedy = "make room" if full else "mend that, or choose another place with --into"
        return LogError(
            f"cannot write to {self.path}: {error.strerror}; what was logged before is safe: "
            f"{remedy} and run the same command again"
        )


def told_apart(records: Sequence[Record]) -> list[Record]:
    """Add the end of the fingerprint to the names of different subjects that share one."""
    prints = defaultdict(set)
    for r in records:
        prints[r.subject].add(r.fingerprint)
    return [
        replace(r, subject=f"{r.subject} ({r.fingerprint[-6:]})")
        if len(prints[r.subject]) > 1
        else r
        for r in records
    ]


def _check_types(line: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise `TypeError` where a part of a line is of another type than it was written with."""
    for name, kind in wanted.items():
        if not isinstance(line[name], kind):
            raise TypeError(f"{name} is a {type(line[name]).__name__}")


def jsonable(value: Any) -> Any:
    """Turn NumPy's numbers and arrays into JSON's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot stand in a log; make it numbers or text")
