"""What is there, and what does an exam show its subjects?"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen import plugins, settings
from snellen.blurbs import blurb
from snellen.core import HUMAN, Answers, Lesson, Practice, Sheet, Turn
from snellen.figures import Gallery
from snellen.log import RunFolder
from snellen.report.draw import picture

if TYPE_CHECKING:
    from pathlib import Path

    from snellen.core import Exam, Images, Item, Scalar, Step

MOST_ITEMS, MOST_STEPS, MOST_PICTURES = 6, 4, 10


def listing(path: Path | None) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return titled tables: exams and subjects, or what a run folder holds."""
    if path is not None:
        return [(str(path), _run_rows(RunFolder(path)))]
    return [
        ("exams", [_exam_row(name) for name in plugins.registered(plugins.EXAMS)]),
        ("subjects", [_subject_row(name) for name in plugins.registered(plugins.SUBJECTS)]),
    ]


def describe(exam: Exam) -> str:
    """Return the exam's own account of itself: its module's text, with the formulas."""
    module = sys.modules[type(exam).__module__]
    return inspect.cleandoc(module.__doc__ or type(exam).__doc__ or exam.name) + "\n"


def setting_rows(exam: Exam) -> list[dict[str, Any]]:
    """Return a row a setting: name, type, value, help."""
    now = settings.dump(exam)
    return [
        {"setting": s.name, "type": s.kind, "value": _written(now[s.name]), "": s.help}
        for s in settings.settings(type(exam))
    ]


def contact_sheet(exam: Exam) -> bytes:
    """Return a PNG of the first pictures of the first items' lessons and sheets."""
    shelves: dict[str, tuple[Images, list[str]]] = {}
    for item in _varied(exam):
        flow = exam.examine(item)
        step: Step | None = next(flow)
        for _ in range(MOST_STEPS):
            if step is None:
                break
            if not isinstance(step, Practice | Turn):  # games are not shown
                kind = "taught" if isinstance(step, Lesson) else "asked"
                shelves.setdefault(f"{_short(item)}\n{kind}", _shelf(step))
            step = _onwards(flow, step)
    return picture(Gallery(name=exam.name, title=exam.name, shelves=shelves), "png")


def _onwards(flow: Any, step: Step) -> Step | None:
    """Answer the first choice to everything, and see what comes next."""
    reply = None
    if isinstance(step, Turn):
        reply = Answers(step.valid.argmax(axis=1))
    if isinstance(step, Sheet):
        zeros = np.zeros(len(step), np.intp)
        reply = Answers(zeros, np.zeros((len(step), len(step.choices))), truth=step.truth)
    try:
        following: Step = flow.send(reply)
    except StopIteration:
        return None
    return following


def _shelf(step: Lesson | Sheet) -> tuple[Images, list[str]]:
    places = np.linspace(0, len(step) - 1, min(MOST_PICTURES, len(step))).astype(int)
    truth = step.labels if isinstance(step, Lesson) else step.truth
    names = ["" if truth is None else step.choices[truth[p]] for p in places]
    return step.images[places], names


def _varied(exam: Exam) -> list[Item]:
    """Pick items that differ: each time the first one whose facets have been seen least."""
    left: list[Item] = list(plugins.items(exam))
    picked: list[Item] = []
    seen: Counter[tuple[str, Scalar]] = Counter()
    while left and len(picked) < MOST_ITEMS:
        item = min(left, key=lambda i: sum(seen[facet] for facet in i.items()))
        left.remove(item)
        picked.append(item)
        seen.update(item.items())
    return picked


def _short(item: Any) -> str:
    return textwrap.fill(" ".join(f"{k}={v}" for k, v in item.items()), 26)


def _exam_row(name: str) -> dict[str, Any]:
    exam = plugins.exam(name)
    return {
        "name": name,
        "needs": ", ".join(sorted(exam.needs)),
        "for": "models and people" if exam.needs <= HUMAN else "models",
        "question": (type(exam).__doc__ or "").strip().splitlines()[0],
    }


def _subject_row(name: str) -> dict[str, Any]:
    return {"name": name, "": blurb(plugins.registered(plugins.SUBJECTS)[name])}


def _run_rows(folder: RunFolder) -> list[dict[str, Any]]:
    done: Counter[tuple[str, str, str]] = Counter()
    failed: Counter[tuple[str, str, str]] = Counter()
    for r in folder.records():
        (failed if r.error else done)[r.exam, r.subject, r.fingerprint] += 1
    return [
        {
            "exam": key[0],
            "subject": key[1],
            "fingerprint": key[2],
            "items done": done[key],
            "failed": failed[key],
        }
        for key in sorted(done | failed)
    ]


def _written(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
