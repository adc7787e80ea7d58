"""What has an assessor seen, who said what it was, and how well does it judge others?

The card of an assessor is kept in it as JSON, its `meta`, and told as text.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from snellen.exams.background.assessor import LEVELS
from snellen.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from snellen.exams.background.assessor import Evaluation

HEAD, WIDTH = 16, 100
MEASURED = ("accuracy", "kappa", "accuracy over worst-case", "kappa over worst-case")


def card(meta: Mapping[str, Any]) -> str:
    """Return the card of an assessor as text."""
    lines = ["MODEL CARD"]
    for head, text in _entries(meta):
        indent = " " * HEAD
        wrapped = textwrap.wrap(text, WIDTH - HEAD, break_on_hyphens=False) or [""]
        lines.append(f"  {head}".ljust(HEAD) + f"\n{indent}".join(wrapped))
        if head == "agreement":
            lines += [indent + line for line in kappa_lines(meta["kappas"])]
        if head == "held out":
            lines += [indent + line for line in outcome_lines(meta["evaluation"])]
    return "\n".join(lines)


def counted(levels: Mapping[str, Any]) -> str:
    """Say how many models are on each level."""
    return ", ".join(f"{levels['counts'][name]} {name}" for name in LEVELS)


def kappa_lines(kappas: Mapping[str, Sequence[float]]) -> list[str]:
    """Say how well coders agree, a line a kappa."""
    width = max(map(len, kappas))
    told = sorted(kappas.items())  # a file holds them in this order too
    return [f"{name.ljust(width)}  {Interval(*values):.2f}" for name, values in told]


def outcomes(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return an evaluation as JSON holds it, intervals as value, low and high."""
    return [
        {
            name: [round(x, 4) for x in cell] if isinstance(cell, Interval) else cell
            for name, cell in row.items()
        }
        for row in evaluation.cells()
    ]


def outcome_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write `outcomes` as columns of plain text."""
    lines = [["", *MEASURED]]
    for row in rows:
        cells = [row[name] for name in MEASURED]
        told = [c if isinstance(c, str) else f"{Interval(*c):.3f}" for c in cells]
        lines.append([row["assessor"], *told])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _entries(meta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is told, under a head each, in the order in which it is asked for."""
    models, levels = meta["models"], meta["levels"]
    yield "what", meta["what"]
    yield "models", f"{models['count']}, {models['world']}: {counted(levels)}"
    yield "subjects", ", ".join(models["subjects"])
    if models["lessons"]:
        yield "lessons", ", ".join(models["lessons"])
        shares = ", ".join(f"{rho:g}" for rho in models["correlations"])
        yield "correlations", f"{shares} (of scenery and class in a lesson)"
    least, middle, most = models["targets"]
    yield "targets", f"{least} to {most} of each model count, {middle} in the middle"
    for name, why in sorted(meta["left out"].items()):
        yield "left out", f"{name}: {why}"
    for settings in models["settings"]:
        yield "settings", " ".join(f"{k}={v}" for k, v in sorted(settings.items())) or "as usual"
    yield (
        "measured",
        "; ".join(f"{name}: {value}" for name, value in sorted(models["measured"].items())),
    )
    yield "levels", levels["by"]
    for name, value in sorted(levels.items()):
        if name not in ("by", "counts"):
            yield "", f"{name}: {_number(value)}"
    yield "agreement", "Cohen's kappa of two coders, Fleiss' of all, with 95 % intervals"
    yield "held out", "a third of the models, judged by the others; ten random splits"
    yield (
        "versions",
        ", ".join(f"{name} {version}" for name, version in sorted(meta["versions"].items())),
    )
    if meta["warning"]:
        yield "warning", meta["warning"]


def _number(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(map(_number, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)
