"""What does a run say? One offline page: verdicts, figures, and what is behind each."""

from __future__ import annotations

import base64
import csv
import io
import math
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from snellen import plugins, settings
from snellen.core import Record, Result
from snellen.errors import LogError, SnellenError
from snellen.figures import Table
from snellen.log import Plan, RunFolder, told_apart
from snellen.report.draw import picture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Exam, Figure, Verdict


LEGIBLE = 0.6
"""How far a picture may shrink on a narrow page before its letters cannot be read."""


@dataclass(frozen=True)
class Graded:
    """An exam with what its records say."""

    exam: Exam
    asked_as: str
    records: Sequence[Record]
    failed: Sequence[Record]
    result: Result
    commands: Sequence[str]

    @property
    def question(self) -> str:
        """The first line of the exam's description."""
        return (type(self.exam).__doc__ or self.exam.name).strip().splitlines()[0]


@dataclass(frozen=True)
class Report:
    """Where a report was written, and what it concluded."""

    path: Path
    graded: Sequence[Graded]
    damaged: Sequence[str]


def grade_folder(folder: RunFolder) -> list[Graded]:
    """Grade each exam of a run anew from its log, as the latest plan for it asks."""
    records, plans = told_apart(folder.records()), folder.plans()
    if not plans:
        raise LogError(f"{folder.path} holds no run; make one with: snellen run EXAM -m MODEL")
    made: dict[str, tuple[Exam, list[Plan]]] = {}
    for plan in plans:
        exam = plugins.exam(plan.exam, **plan.settings)
        key = f"{exam.name} {sorted(settings.shaping(exam).items())}"
        made[key] = exam, [*(made[key][1] if key in made else []), plan]
    return [_graded(exam, of_exam, records, folder) for exam, of_exam in made.values()]


def write(folder: RunFolder, out: Path | None = None) -> Report:
    """Write `report.html` and, beside it, every figure as SVG and PDF and its rows as CSV."""
    graded = grade_folder(folder)
    path = out or folder.path / "report.html"
    beside = path.with_name(path.stem + "_files")
    try:
        beside.mkdir(parents=True, exist_ok=True)
        beside_files = _Beside(beside)
        sections = [_section(g, beside_files) for g in graded]
        page = _template().render(
            sections=sections,
            damaged=folder.damaged,
            beside=beside.name,
            run=folder.path.resolve().name,
        )
        path.write_text(page, "utf-8")
    except OSError as error:
        raise LogError(f"cannot write the report to {path}: {error.strerror}") from error
    return Report(path, graded, folder.damaged)


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV, with every column that any of them has."""
    held = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(held, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: _guarded(v) for k, v in row.items()} for row in rows)
    return held.getvalue()


def readable(value: Any, *, plain: bool = False) -> str:
    """Write a table's cell for people; intervals as percent unless they are `plain`.

    >>> readable(0.012345), readable(3), readable(2884.0), readable("x")
    ('0.0123', '3', '2,884', 'x')
    """
    if hasattr(value, "low"):
        return f"{value}" if plain or max(map(abs, value)) > 2 else f"{value:%}"
    if isinstance(value, float):
        large = abs(value) >= 1000
        return "–" if math.isnan(value) else f"{value:,.0f}" if large else f"{value:.3g}"
    return str(value)


def _guarded(value: Any) -> Any:
    """Keep spreadsheets from taking text for a formula."""
    return "'" + value if isinstance(value, str) and value[:1] in ("=", "@") else value


def _graded(
    exam: Exam, plans: Sequence[Plan], records: Sequence[Record], folder: RunFolder
) -> Graded:
    shaping = settings.shaping(exam)
    own = [
        r
        for r in records
        if (r.exam, r.version) == (exam.name, exam.version) and dict(r.settings) == shaping
    ]
    own = _in_order(own, exam, plans)
    good = [r for r in own if not r.error]
    try:
        result = exam.grade(good) if good else Result()
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise SnellenError(
            f"exam {exam.name!r} cannot grade the records in {folder.path}: {error!r}; if a log "
            "there was edited, put the original back, else sit the exam anew with another --into"
        ) from error
    commands = list(dict.fromkeys(plan.command for plan in plans))
    failed = [r for r in own if r.error]
    return Graded(exam, plans[-1].exam, good, failed, result, commands)


def _in_order(records: Sequence[Record], exam: Exam, plans: Sequence[Plan]) -> list[Record]:
    """Sort records as they were asked for, so that nothing tells who was done first.

    Subjects come as the plans name them, baselines last; items come as the exam lists them.
    """
    asked = list(dict.fromkeys(who for plan in plans for who in plan.subjects))
    words = [re.split(r"[:/,=]", who) for who in asked]  # where a subject's name may come from
    try:
        places = {item: place for place, item in enumerate(exam.items())}
    except SnellenError:  # what it draws its items from is not on this machine
        places = {}

    def rank(r: Record) -> tuple[bool, int, str, str, int, str]:
        name = r.subject.removesuffix(f" ({r.fingerprint[-6:]})")
        named = next((n for n, said in enumerate(words) if name in said), len(words))
        place = places.get(r.item, len(places))
        return name in exam.baselines, named, r.subject, r.fingerprint, place, r.item.key

    return sorted(records, key=rank)


class _Beside:
    """The folder beside the page, in which no two figures have one name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.taken: set[str] = set()

    def stem(self, text: str) -> str:
        """Return a name for files and anchors, of plain letters, that nobody has yet."""
        plain = re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-.")[:120] or "figure"
        made, count = plain, 1
        while made.lower() in self.taken:
            made, count = f"{plain}-{count + 1}", count + 1
        self.taken.add(made.lower())
        return made


def _section(graded: Graded, beside: _Beside) -> dict[str, Any]:
    """Return what the template needs of an exam, writing its files on the way."""
    spoken: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in graded.result.verdicts:
        spoken[verdict.subject].append(verdict)
    return {
        "name": graded.exam.name,
        "question": graded.question,
        "about": _about(graded.exam),
        "verdicts": spoken,
        "figures": [_figure(f, graded, beside) for f in graded.result.figures],
        "commands": graded.commands,
        "settings": settings.dump(graded.exam),
        "count": len(graded.records),
        "subjects": Counter(r.party for r in graded.records),
        "failed": [(r.subject, repr(r.item), r.error) for r in graded.failed],
        "versions": _versions(graded.records),
        "seconds": sum(r.seconds for r in graded.records),
    }


def _about(exam: Exam) -> str:
    return (sys.modules[type(exam).__module__].__doc__ or "").strip()


def _versions(records: Sequence[Record]) -> str:
    seen: dict[str, set[str]] = defaultdict(set)
    for r in records:
        for name, version in r.versions.items():
            seen[name].add(version)
    return ", ".join(f"{name} {' and '.join(sorted(found))}" for name, found in seen.items())


def _figure(figure: Figure, graded: Graded, beside: _Beside) -> dict[str, Any]:
    rows = figure.rows()
    text = as_csv(rows)
    stem = beside.stem(f"{graded.exam.name}-{figure.name}")
    (beside.path / f"{stem}.csv").write_text(text, "utf-8")
    made: dict[str, Any] = {
        "name": stem,
        "title": figure.title,
        "caption": figure.caption,
        "formula": figure.formula,
        "csv": _data_uri(text.encode(), "text/csv"),
    }
    if isinstance(figure, Table):
        columns = list(dict.fromkeys(name for row in figure.cells for name in row))
        cells = [
            [readable(row.get(name, ""), plain=name in figure.plain) for name in columns]
            for row in figure.cells
        ]
        return {**made, "columns": columns, "cells": cells}
    for kind in ("svg", "pdf"):
        (beside.path / f"{stem}.{kind}").write_bytes(drawn := picture(figure, kind))
        if kind == "svg":
            width = _pixels(drawn)
            image = _data_uri(drawn, "image/svg+xml")
            made |= {"image": image, "width": width, "least": round(width * LEGIBLE)}
    return made


def _pixels(svg: bytes) -> int:
    """Return how wide a picture should be on the page: its points at a comfortable scale."""
    found = re.search(rb'<svg[^>]* width="([0-9.]+)pt"', svg)
    return round(float(found[1]) * 1.65) if found else 800


def _data_uri(data: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string((files("snellen.report") / "page.html").read_text("utf-8"))
