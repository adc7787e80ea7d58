"""Is a subject fit to be examined? What it takes, what it gives, what it does not say."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from snellen import plugins
from snellen.core import Lesson, Sheet
from snellen.errors import SnellenError
from snellen.seeds import Seed

if TYPE_CHECKING:
    from snellen.core import Answers, Subject

PROBES = 16
ENOUGH = 0.1
"""Seconds of answering that tell how quick a subject is."""
TEN = tuple("0123456789")
"""What a pupil is taught here: as many choices as most exams have."""
ASSUMED = "assumed"
"""Who says how a subject wants its pictures when nobody does."""
FAR = 1e-3
"""Scores that change by more than this, relative to their spread, with the batch they are in."""


class Diagnosis(NamedTuple):
    """What was found, what there is to complain of, and whether it can be examined at all."""

    findings: list[tuple[str, str]]
    complaints: list[str]
    fit: bool


def examine(who: str) -> Diagnosis:
    """Look a subject over; complaints say what to do."""
    subject = plugins.subject(who)
    findings = [
        ("subject", subject.name),
        ("gives", ", ".join(sorted(subject.gives))),
        ("fingerprint", subject.fingerprint),
    ]
    complaints: list[str] = []
    reading = getattr(subject, "reading", None)
    if reading is not None:
        pupil = getattr(subject, "untaught", False)  # it takes pictures as it is taught them
        for name, (text, by) in reading.describe().items():
            findings.append((name, f"{text}  ({'as taught' if pupil and by == ASSUMED else by})"))
        unsaid = [name for name, (_, by) in reading.describe().items() if by == ASSUMED]
        if unsaid and not pupil:
            complaints.append(
                f"neither the model nor you say its {', '.join(unsaid)}; the values above are "
                f"assumed. If they are wrong, say for instance: {who},{_example(unsaid[-1])}"
            )
    if hasattr(subject, "device"):
        findings.append(("device", str(subject.device)))
    try:
        probed, more = _probe(subject)
    except SnellenError as error:
        return Diagnosis(findings, [*complaints, str(error)], fit=False)
    except Exception as error:  # noqa: BLE001 — a model may fail in any way it likes
        told = f"asked about {PROBES} pictures, it raised {type(error).__name__}: {error}"
        return Diagnosis(findings, [*complaints, told], fit=False)
    return Diagnosis([*findings, *probed], [*complaints, *more], fit=True)


Told = tuple[list[tuple[str, str]], list[str]]
"""Findings and complaints."""


def _probe(subject: Subject) -> Told:
    """Ask about sixteen pictures, again, and one by one; who plays only is asked nothing."""
    if "choice" not in subject.gives:
        return [("pictures", "none: it plays games")], []
    sheet = _sheet(subject)
    if getattr(subject, "untaught", False):
        lesson = Lesson(sheet.images, np.arange(PROBES) % 10, TEN, PROBES * 4, seed=7)
        sheet = Sheet(sheet.images, lesson.choices)
        findings, complaints = _on_studying(subject, lesson, sheet)
        subject = subject.study(lesson)
    else:
        findings, complaints = _on_labels(subject)
    more, worse = _on_answers(subject, sheet)
    return [*findings, *more], [*complaints, *worse]


def _on_studying(subject: Subject, lesson: Lesson, sheet: Sheet) -> Told:
    taught, again = subject.study(lesson), subject.study(lesson)
    same = _apart(taught.answer(sheet), again.answer(sheet)) == 0
    complaint = "the same lesson does not give the same pupil: seed its randomness from the lesson"
    finding = f"a lesson of {PROBES} pictures, twice the same: {_yes(same)}"
    return [("studies", finding)], [] if same else [complaint]


def _on_labels(subject: Subject) -> Told:
    labels = getattr(subject, "labels", ())
    first = f"{len(labels)}: {', '.join(labels[:3])}…" if labels else "none"
    complaint = (
        "no label map: its outputs stand for the choices in their order; say labels=FILE "
        "if they stand for something else"
    )
    fine = bool(labels) or not hasattr(subject, "reading")
    return [("label map", first)], [] if fine else [complaint]


def _on_answers(subject: Subject, sheet: Sheet) -> Told:
    findings, complaints = [], []
    together = subject.answer(sheet)
    if together.scores is not None:
        low, high = float(together.scores.min()), float(together.scores.max())
        findings.append(
            ("scores", f"{together.scores.shape[1]} a picture, from {low:.3g} to {high:.3g}")
        )
        if (together.scores == together.scores[0]).all():
            complaints.append(
                f"all {PROBES} pictures get the same scores: either it does not see them, or it "
                "was not trained; look at its weights, and at white, mean and std"
            )
    again_apart = _apart(together, subject.answer(sheet))
    findings.append(("deterministic", _yes(again_apart == 0)))
    if again_apart:
        complaints.append(
            f"asked twice, its answers differ by {again_apart:.2g}; switch off its randomness"
        )
    findings.append(("quickness", _rates(subject, sheet)))
    singles = [subject.answer(Sheet(sheet.images[i : i + 1], sheet.choices)) for i in range(PROBES)]
    batch_apart = _apart(together, _joined(singles))
    findings.append(
        ("batch invariant", f"{_yes(batch_apart <= FAR)} (largest change {batch_apart:.2g})")
    )
    if batch_apart > FAR:
        complaints.append(
            "its answers depend on which pictures it is asked together; is it in training mode?"
        )
    if "signals" in subject.gives:
        more, worse = _on_signals(subject, sheet)
        findings, complaints = [*findings, *more], [*complaints, *worse]
    return findings, complaints


def _on_signals(subject: Subject, sheet: Sheet) -> Told:
    """Say where inside it is looked at, and what is seen there."""
    looking = replace(sheet, asks=frozenset({"choice", "signals"}))
    try:
        seen = subject.answer(looking).signals
    except SnellenError as error:
        return [("signals", "none")], [str(error)]
    told = [
        f"{name}, {' × '.join(map(str, np.shape(column)[1:]))} a picture"
        for name, column in seen.items()
    ]
    return [("signals", "; ".join(told) or "none")], []


def _rates(subject: Subject, sheet: Sheet) -> str:
    """Measure how quick it is, by how many pictures it is asked at once."""
    told = []
    for count in (1, 4, PROBES):
        part = Sheet(sheet.images[:count], sheet.choices)
        start, rounds = time.perf_counter(), 0
        while rounds < 3 or time.perf_counter() - start < ENOUGH:
            subject.answer(part)
            rounds += 1
        told.append(f"{rounds * count / (time.perf_counter() - start):.0f} by {count}")
    return "pictures a second: " + ", ".join(told)


def _sheet(subject: Subject) -> Sheet:
    """Make sixteen pictures of smooth noise, of the size that the subject wants."""
    reading, labels = getattr(subject, "reading", None), tuple(getattr(subject, "labels", ()))
    height, width = (reading and reading.size) or (28, 28)
    channels = (reading and reading.channels) or 1
    coarse = Seed("probes").shorts(PROBES * 16 * channels).reshape(PROBES, 4, 4, channels)
    rows, columns = np.arange(height) * 4 // height, np.arange(width) * 4 // width
    images = (coarse[:, rows][:, :, columns] >> 8).astype(np.uint8)
    return Sheet(images, labels or _count_outputs(subject, images))


def _count_outputs(subject: Subject, images: Any) -> tuple[str, ...]:
    """Find how many choices a subject without labels scores."""
    forward: Any = getattr(getattr(subject, "taught", None) or subject, "forward", None)
    reading: Any = getattr(subject, "reading", None)
    if forward is None or reading is None:
        return ("0", "1")
    return tuple(str(place) for place in range(np.asarray(forward(reading(images[:1]))).shape[-1]))


def _joined(parts: list[Answers]) -> Answers:
    scores = None
    if parts[0].scores is not None:
        scores = np.concatenate([p.scores for p in parts if p.scores is not None])
    return type(parts[0])(np.concatenate([p.choice for p in parts]), scores)


def _apart(one: Answers, other: Answers) -> float:
    """Return the largest change of a score over their spread, or the share of new choices."""
    if one.scores is None or other.scores is None:
        return float(np.mean(one.choice != other.choice))
    spread = float(np.std(one.scores)) or 1.0
    return float(np.abs(one.scores - other.scores).max()) / spread


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def _example(part: str) -> str:
    return {
        "size": "size=224",
        "channels": "channels=3",
        "layout": "layout=NCHW",
        "order": "order=bgr",
        "white": "white=255",
        "mean": "mean=0.485/0.456/0.406,std=0.229/0.224/0.225",
    }[part]
