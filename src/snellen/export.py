"""How does a run leave for other tools? Records and answers as CSV and Parquet."""

from __future__ import annotations

import csv
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.core import Attachment
from snellen.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snellen.core import Record
    from snellen.log import RunFolder


def export(folder: RunFolder, out: Path, *, trials: bool = True) -> list[Path]:
    """Write `records` and, unless told not to, `trials`, each as .csv and .parquet."""
    records = folder.records()
    if not records:
        raise LogError(f"{folder.path} holds no records yet; make some with: snellen run")
    try:
        out.mkdir(parents=True, exist_ok=True)
        made = _table(out / "records", [_record_row(r) for r in records])
        if trials:
            made += _table(out / "trials", (row for r in records for row in _trial_rows(r)))
    except OSError as error:
        raise LogError(f"cannot write the export to {out}: {error.strerror}") from error
    return made


def _table(stem: Path, rows: Any) -> list[Path]:
    """Write rows to CSV as they come, then let DuckDB turn the file into Parquet."""
    import duckdb

    text, packed = stem.with_suffix(".csv"), stem.with_suffix(".parquet")
    columns: dict[str, None] = {}
    kept = list(rows)
    for row in kept:
        columns |= dict.fromkeys(row)
    if not columns:
        return []
    with tempfile.TemporaryDirectory() as place:  # DuckDB takes [ and * in a path for a pattern
        plain, packed_there = Path(place, "rows.csv"), Path(place, "rows.parquet")
        with plain.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(columns), restval="")
            writer.writeheader()
            writer.writerows(kept)
        duckdb.read_csv(str(plain), header=True, sample_size=-1).write_parquet(str(packed_there))
        shutil.move(plain, text)
        shutil.move(packed_there, packed)
    return [text, packed]


def _identity(record: Record) -> dict[str, Any]:
    return {
        "exam": record.exam,
        "version": record.version,
        "subject": record.subject,
        "fingerprint": record.fingerprint,
        **{f"item.{name}": value for name, value in record.item.items()},
    }


def _record_row(record: Record) -> dict[str, Any]:
    return {
        **_identity(record),
        **{f"settings.{name}": value for name, value in record.settings.items()},
        **dict(_flat("measure", record.measures)),
        "seconds": record.seconds,
        "error": record.error,
    }


def _trial_rows(record: Record) -> Iterator[dict[str, Any]]:
    who = _identity(record)
    names = list(record.trials)
    columns = [record.trials[name].tolist() for name in names]
    for values in zip(*columns, strict=True):
        row = dict(zip(names, values, strict=True))
        row["stimulus"] = f"{row['stimulus']:016x}"
        yield {**who, **row}


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Spread nested measures over columns: measure.right.known.3."""
    if isinstance(value, Attachment):
        yield name, str(value.source)
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield from _flat(f"{name}.{place}", part)
    elif hasattr(value, "items"):
        parts: Mapping[str, Any] = value
        for key, part in parts.items():
            yield from _flat(f"{name}.{key}", part)
    else:
        yield name, value
