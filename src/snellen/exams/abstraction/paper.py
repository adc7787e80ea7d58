"""Tables 1–13 of the paper, made as its authors made them, and set beside theirs."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from snellen.core import Item, Result, Verdict
from snellen.exams.abstraction.cells import ORIGINAL, Block, Cell
from snellen.exams.abstraction.shapes import load_shapes
from snellen.exams.abstraction.transformations import NONE, transformation
from snellen.figures import Dots, Table
from snellen.stats import Interval, mean_of_repeats, share_variance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Figure, Record
    from snellen.exams.abstraction import Abstraction

LEVELS = (0, 2, 5, 8, 10)
ROUNDED = 1 / 12
"""Variance of a percentage given as a whole number."""
DIFFERENCE = (
    "difference = (ours − published) ÷ √(sd² + sd² + 2/12), 1/12 being the variance of rounding"
)


class Protocol(NamedTuple):
    """How a row of a table was made."""

    level: int
    lesson_noise: float
    sheet_noise: float


class Published(NamedTuple):
    """A cell as printed: percent, population standard deviation of five repeats."""

    mean: float
    sd: float


@cache
def published() -> Mapping[tuple[int, str, int], Published]:
    """Return every cell of the paper by table, row and size of lesson."""
    text = (files("snellen.exams.abstraction") / "published.csv").read_text("utf-8")
    return {
        (int(row["table"]), row["row"], int(row["samples"])): Published(
            float(row["mean"]), float(row["sd"])
        )
        for row in csv.DictReader(text.splitlines())
    }


def protocol(table: int, row: str) -> Protocol:
    """Return the level and the noise that a row of a table was made with.

    >>> protocol(7, "rotated")
    Protocol(level=8, lesson_noise=2.0, sheet_noise=2.0)
    """
    own = float(row.removeprefix("noise ")) if row.startswith("noise") else 0.0
    if table == 1:
        return Protocol(0, 0.0, own)
    if table == 2:
        return Protocol(10, own, own)
    if table == 3:
        return Protocol(10, 4.0, 4.0)
    sigma = 2.0 if table < 9 else 4.0
    return Protocol(LEVELS[(table - 4) % 5], sigma, sigma)


def items(exam: Abstraction) -> Sequence[Item]:
    """Every cell that the settings do not leave out, each repeated."""
    return [
        Item(table=table, row=row, samples=samples, repeat=repeat)
        for repeat in range(exam.repeats)
        for table, row, samples in published()
        if table in exam.tables and samples in exam.samples and _wanted(exam, table, row)
    ]


def _wanted(exam: Abstraction, table: int, row: str) -> bool:
    made = protocol(table, row)
    known = row in exam.transformations or row == "original" or row.startswith("noise")
    return known and made.level in exam.levels and made.sheet_noise in exam.noise


def cell(exam: Abstraction, item: Item) -> Cell:
    """Transform the first shapes in the lesson, all shapes in the test; as many of each."""
    table, row, samples = int(item["table"]), str(item["row"]), int(item["samples"])
    made = protocol(table, row)
    plain = row == "original" or row.startswith("noise")
    change = NONE if plain else transformation(row)
    return Cell(
        transformation=change,
        seen=tuple(range(made.level)),
        taught=change.weights,
        keep_originals=exam.design == "add",
        samples=samples,
        views=exam.views(samples),
        lesson_noise=made.lesson_noise,
        sheet_noise=made.sheet_noise,
        blocks=(Block(samples, change, change.weights),),
        lesson_seed=(exam.name, "paper", item.key),
        sheet_seed=(exam.name, "paper", item.key),
    )


class Ours(NamedTuple):
    """A cell as we found it, over its repeats."""

    mean: float
    sd: float
    interval: Interval
    held_out: Interval | None
    """On shapes not shown transformed, outcomes that change nothing left out."""
    repeats: int


def grade(exam: Abstraction, records: Sequence[Record]) -> Result:
    """Set each cell beside the published one, with the difference in standard deviations."""
    by: dict[tuple[str, int], dict[tuple[str, int], list[Record]]] = defaultdict(dict)
    for r in records:
        i: Any = r.item
        by[r.subject, i["table"]].setdefault((i["row"], i["samples"]), []).append(r)
    comparable = (exam.design, exam.budget, exam.epochs, exam.shapes) == (
        "replace",
        "epochs",
        10,
        "",
    )
    figures: list[Figure] = []
    verdicts: list[Verdict] = []
    order = sorted(by, key=lambda k: (k[0] in exam.baselines, k[0], k[1]))
    for subject, table in order:
        cells = {place: _ours(found) for place, found in by[subject, table].items()}
        baseline = subject in exam.baselines
        beside = comparable and not baseline  # what the paper gives is a network's
        figures.append(_table(subject, table, cells, beside=beside))
        if not baseline:
            figures.append(_dots(subject, table, cells, beside=beside))
            verdicts.append(_verdict(subject, table, cells, beside=beside))
    chance = 1 / len(load_shapes(exam.shapes).names)
    return Result([*verdicts, *_baseline_verdicts(exam, by, chance)], figures)


def _ours(records: Sequence[Record]) -> Ours:
    """Report as the paper does: accuracies cut to whole percent, population deviation."""
    shares = [(_total(r, "right"), _total(r, "asked")) for r in records]
    percent = [math.floor(100 * right / asked) for right, asked in shares]
    floor = float(np.mean([share_variance(*s) for s in shares]))
    held = [(_held(r, "right"), _held(r, "asked")) for r in records]
    held_mean = None
    if all(asked for _, asked in held):
        held_floor = float(np.mean([share_variance(*s) for s in held]))
        held_mean = mean_of_repeats([a / b for a, b in held], held_floor).interval(
            within=(0.0, 1.0)
        )
    return Ours(
        float(np.mean(percent)),
        float(np.std(percent)),
        mean_of_repeats([a / b for a, b in shares], floor).interval(within=(0.0, 1.0)),
        held_mean,
        len(records),
    )


def _total(record: Record, what: str) -> int:
    return sum(map(sum, record.measures[what].values()))


def _held(record: Record, what: str) -> int:
    """Count over shapes that were not shown transformed and outcomes that change them."""
    shown = record.measures["seen"]
    return sum(
        count
        for kind, counts in record.measures[what].items()
        if kind != ORIGINAL
        for shape, count in enumerate(counts)
        if shape not in shown
    )


def _differences(table: int, cells: Mapping[tuple[str, int], Ours]) -> dict[tuple[str, int], float]:
    """Return (ours − published) ÷ √(both variances, each with that of rounding).

    A single repeat has no deviation to measure by.
    """
    made = {}
    for (row, samples), ours in cells.items():
        theirs = published()[table, row, samples]
        if ours.repeats > 1:
            variance = ours.sd**2 + theirs.sd**2 + 2 * ROUNDED
            made[row, samples] = (ours.mean - theirs.mean) / math.sqrt(variance)
    return made


def _table(
    subject: str, table: int, cells: Mapping[tuple[str, int], Ours], *, beside: bool
) -> Table:
    rows = []
    differences = _differences(table, cells) if beside else {}
    for (row, samples), ours in cells.items():
        single = ours.repeats == 1
        line: dict[str, Any] = {
            "row": row,
            "n": samples,
            "ours": f"{ours.mean:.0f} %" if single else f"{ours.mean:.2f} ± {ours.sd:.2f} %",
            "accuracy": ours.interval,
            "held-out": ours.held_out or "",
            "repeats": ours.repeats,
        }
        if beside:
            theirs = published()[table, row, samples]
            line["published"] = f"{theirs.mean:.2f} ± {theirs.sd:.2f} %"
        if differences:
            line["difference in sd"] = differences.get((row, samples), "")
        rows.append(line)
    made = protocol(table, "rotated")
    return Table(
        name=f"table-{table}-{subject}",
        title=f"Table {table}: {subject}" + (" beside the paper" if beside else ""),
        caption=(
            f"{made.level} shapes transformed in the lesson, noise {made.sheet_noise:g} in the "
            "test. "
            "Held-out accuracy, which the paper does not give, is over shapes not shown "
            "transformed, without the outcomes that change nothing."
        ),
        formula=(
            "ours: mean ± population sd of accuracies cut to whole percent"
            + (f"; {DIFFERENCE}" if differences else "")
        ),
        cells=rows,
    )


def _dots(subject: str, table: int, cells: Mapping[tuple[str, int], Ours], *, beside: bool) -> Dots:
    names = [f"{row}, n={samples}" for row, samples in cells]
    held = {"held-out shapes": [c.held_out for c in cells.values()]}
    theirs = [published()[table, row, n].mean / 100 for row, n in cells]
    return Dots(
        name=f"table-{table}-{subject}-dots",
        title=f"Table {table}: {subject}",
        caption="All shapes as the paper counts, and those not shown transformed; 95 % intervals.",
        formula="right ÷ asked, mean over repeats",
        groups=names,
        series={
            "all shapes": [c.interval for c in cells.values()],
            **(held if any(held["held-out shapes"]) else {}),
        },
        null=0.1,
        reference={"published": theirs} if beside else {},
    )


def _verdict(
    subject: str, table: int, cells: Mapping[tuple[str, int], Ours], *, beside: bool
) -> Verdict:
    held = [c.held_out.value for c in cells.values() if c.held_out]
    below = sum(value < 0.1 for value in held)
    told = f"Table {table}: {_cells(len(cells))}"
    if differences := _differences(table, cells) if beside else {}:
        near = sum(abs(d) <= 2 for d in differences.values())
        worst = max(differences, key=lambda place: abs(differences[place]))
        told = (
            f"Table {table}: {near} of {_cells(len(differences))} within 2 standard deviations of "
            f"the published; the farthest is {worst[0]} at n={worst[1]}, {differences[worst]:+.1f}"
        )
    if held:
        told += f"; held-out accuracy is below chance in {below} of {len(held)}"
    return Verdict(subject, told + ".")


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _baseline_verdicts(
    exam: Abstraction,
    by: Mapping[tuple[str, int], Mapping[tuple[str, int], Sequence[Record]]],
    chance: float,
) -> list[Verdict]:
    made = []
    for subject in exam.baselines:
        shares = [
            _ours(records).interval.value
            for (who, _), cells in by.items()
            if who == subject
            for records in cells.values()
        ]
        if shares:
            told = f"{100 * min(shares):.0f}–{100 * max(shares):.0f} % over the same cells"
            made.append(Verdict(subject, f"{told}; guessing gives {100 * chance:.0f} %."))
    return made
