"""How does one subject pass through one item, whoever holds the pencil?

>>> import snellen
>>> exam = snellen.exam("abstraction", samples=60, repeats=1, levels=(0,))
>>> record = conduct(exam, snellen.subject("chance"), exam.items()[0])
>>> len(record.trials["choice"]) > 0
True
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen import settings
from snellen.core import PASS, Lesson, Record, Sheet
from snellen.errors import BadAnswer, Unable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.core import Answers, Exam, Item, Measures, Step, Subject, Trials


class Sitting:
    """The place a flow has reached, and the trials that led there.

    A network is marched through by `conduct`; a person is led one click at a time,
    by whoever holds the sitting between clicks.
    """

    def __init__(self, exam: Exam, item: Item) -> None:
        self.exam = exam
        self.item = item
        self.measures: Measures = {}
        self._columns: list[Mapping[str, Any]] = []
        self._flow = exam.examine(item)
        self.step: Step | None = next(self._flow)

    def advance(self, answers: Answers | None = None) -> None:
        """Hand in the answers to the present sheet, or leave the present lesson."""
        handed: Answers | None = None
        if isinstance(self.step, Sheet):
            if answers is None:
                raise BadAnswer("a sheet can only be left by answering it")
            handed = mark(self.step, answers)
            self._columns.append(_trial_columns(len(self._columns), self.step, handed))
        try:
            self.step = self._flow.send(handed)
        except StopIteration as end:
            self.step, self.measures = None, end.value or {}

    @property
    def trials(self) -> Trials:
        """All answers so far, a column each."""
        names = list(dict.fromkeys(name for sheet in self._columns for name in sheet))
        return {
            name: np.concatenate([s[name] if name in s else _blank(s) for s in self._columns])
            for name in names
        }

    def record(self, subject: Subject, seconds: float) -> Record:
        """Account for the whole sitting."""
        return Record(
            exam=self.exam.name,
            version=self.exam.version,
            settings=settings.shaping(self.exam),
            item=self.item,
            subject=subject.name,
            fingerprint=subject.fingerprint,
            measures=self.measures,
            trials=self.trials,
            seconds=seconds,
        )


def conduct(exam: Exam, subject: Subject, item: Item) -> Record:
    """Lead `subject` through `item` from beginning to end."""
    admit(exam, subject)
    start = time.perf_counter()
    sitting = Sitting(exam, item)
    pupil = subject
    while (step := sitting.step) is not None:
        if isinstance(step, Lesson):
            pupil = pupil.study(step)
            sitting.advance()
        else:
            sitting.advance(pupil.answer(step.blind()))
    return sitting.record(subject, time.perf_counter() - start)


def admit(exam: Exam, subject: Subject) -> None:
    """Refuse, with the reasons, a subject that cannot give what the exam needs."""
    if "study" not in exam.needs and getattr(subject, "untaught", False):
        raise Unable(
            f"subject {subject.name!r} cannot sit {exam.name!r}: it knows nothing before a lesson, "
            "and this exam gives none; give it weights=FILE, or trained=true if it loads its own"
        )
    if missing := exam.needs - subject.gives:
        raise Unable(
            f"subject {subject.name!r} cannot sit {exam.name!r}: it needs {sorted(missing)}, "
            f"and it gives {sorted(subject.gives)}; {_remedy(missing)}"
        )


def mark(sheet: Sheet, answers: Answers) -> Answers:
    """Check that the answers fit the sheet, and add the truth to them."""
    choice = np.asarray(answers.choice)
    if choice.shape != (len(sheet),):
        raise BadAnswer(
            f"a sheet of {len(sheet)} pictures came back with choices of shape {choice.shape}"
        )
    if len(choice) and not (choice.min() >= PASS and choice.max() < len(sheet.choices)):
        raise BadAnswer(
            f"choices run from {choice.min()} to {choice.max()}, "
            f"but the sheet offers 0..{len(sheet.choices) - 1}"
        )
    if "scores" in sheet.asks:
        _check_scores(sheet, answers)
    if "signals" in sheet.asks and not answers.signals:
        raise BadAnswer("the sheet asks for signals, and none came back")
    return type(answers)(
        choice.astype(np.intp),
        answers.scores,
        answers.signals,
        answers.seconds,
        answers.note,
        sheet.truth,
    )


def _check_scores(sheet: Sheet, answers: Answers) -> None:
    wanted = (len(sheet), len(sheet.choices))
    found = None if answers.scores is None else answers.scores.shape
    if answers.scores is None or found != wanted:
        raise BadAnswer(f"the sheet asks for scores of shape {wanted}, and {found} came back")
    if not np.isfinite(answers.scores).all():
        raise BadAnswer("some scores are NaN or infinite")


def _trial_columns(number: int, sheet: Sheet, answers: Answers) -> dict[str, Any]:
    names = np.array([*sheet.choices, ""])  # PASS is the last place
    columns: dict[str, Any] = {
        "sheet": np.full(len(sheet), number, np.int16),
        "stimulus": sheet.ids(),
        "choice": names[answers.choice],
        **sheet.given,
    }
    if sheet.truth is not None:
        columns["truth"] = names[sheet.truth]
    if answers.seconds is not None:
        columns["seconds"] = np.asarray(answers.seconds, float)
    return columns


def _blank(sheet: Mapping[str, Any]) -> Any:
    """Fill a column that one sheet has and another has not."""
    return np.full(len(sheet["choice"]), np.nan)


def _remedy(missing: frozenset[Any]) -> str:
    if "study" in missing:
        return "give something that learns: a network's factory, an estimator, or paper-cnn"
    return "pick a subject that does, or settings of the exam that ask for less"
