"""`snellen kinship-from`: how alike are tests whose scores somebody else has measured?"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from snellen.core import Item, Record
from snellen.errors import SnellenError, Unloadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snellen.core import Desk

WHOLE, PART = "whole", "part"
COLUMNS = ("test", "value")


@click.command("kinship-from")
@click.argument("table", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs/kinship-from"),
    show_default=True,
    help="The run folder to write; its report has the figures of the exam.",
)
@click.pass_obj
def kinship_from(desk: Desk, table: Path, into: Path) -> None:
    """Compare tests by your own scores, from a CSV file.

    A line a score. Columns: test (a name, or A+B for the merger of both in equal parts) and
    value (0 to 1, more is better). Optional: subject; repeat (lines with the same number
    belong together); taught (part: alone, with only as much as the merger has of it; whole).
    """
    from snellen.exams.kinship import Kinship

    rows = list(_read(table))
    names = list(dict.fromkeys(row["test"] for row in rows if "+" not in row["test"]))
    if len(names) < 2 or not any("+" in row["test"] for row in rows):
        raise Unloadable(
            f"{table} should hold scores of two tests at least and of their merger, A+B; it has "
            f"{', '.join(dict.fromkeys(row['test'] for row in rows)) or 'no lines'}"
        )
    for row in rows:
        if unknown := [part for part in row["test"].split("+") if part not in names]:
            raise Unloadable(f"{table}: {row['test']!r} merges {unknown[0]!r}, which has no score")
    repeats = max(2, *(int(row["repeat"]) + 1 for row in rows))
    exam = Kinship(tests=tuple(names), repeats=repeats, size=2)
    desk.keep(into, exam, [_record(exam, row) for row in rows])


def _read(table: Path) -> Iterator[dict[str, Any]]:
    try:
        with table.open(newline="", encoding="utf-8-sig") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Unloadable(f"{table} cannot be read as a CSV file: {error}") from error
    if lines and (missing := [name for name in COLUMNS if name not in lines[0]]):
        raise Unloadable(f"{table} has no column {missing[0]!r}; it has {', '.join(lines[0])}")
    seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(lines, 2):
        subject, taught = line.get("subject") or "given", line.get("taught") or WHOLE
        test = (line["test"] or "").strip()
        try:
            value = float(line["value"])
        except (TypeError, ValueError):
            value = math.nan
        if not 0 <= value <= 1:
            raise SnellenError(
                f"{table}, line {number}: value is {line['value']!r}, and should be a number from "
                "0 to 1; bring returns to that scale first"
            )
        if taught not in (WHOLE, PART):
            raise SnellenError(f"{table}, line {number}: taught is whole or part, not {taught!r}")
        key = subject, test, taught
        seen[key] = seen.get(key, -1) + 1
        repeat = line.get("repeat") or seen[key]
        if not str(repeat).isdigit():
            raise SnellenError(f"{table}, line {number}: repeat is a number, not {repeat!r}")
        yield {"subject": subject, "test": test, "taught": taught, "repeat": repeat, "value": value}


def _record(exam: Any, row: Mapping[str, Any]) -> Record:
    """Put a score down as if it had been measured here, with no questions to its name."""
    from snellen import settings

    first, merged, second = row["test"].partition("+")
    taught = 2 if merged or row["taught"] == WHOLE else 1
    facets: dict[str, Any] = {"taught": taught, "content": "given", "repeat": int(row["repeat"])}
    if merged:
        facets |= {"first": first, "second": second, "merge": "sampled", "share": 0.5}
        facets |= {"labels": "separate"}
    else:
        facets |= {"test": first}
    measures = {"score": row["value"], "variance": 0.0, "parts": {}}
    return Record(
        exam=exam.name,
        version=exam.version,
        settings=settings.shaping(exam),
        item=Item(facets),
        subject=row["subject"],
        fingerprint=f"given as {row['subject']}",
        measures=measures,
    )
