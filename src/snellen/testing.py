"""Does a plugin keep its promises? Contracts that anyone can run on their own.

from snellen.testing import check_exam, check_subject

def test_mine():
check_exam(Mine(pictures=3))
check_subject(Pupil())
"""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen import settings
from snellen.core import Answers, Attachment, Exam, Lesson, Result, Sheet, Subject
from snellen.log import jsonable
from snellen.seeds import Seed
from snellen.sitting import Sitting, conduct, mark

if TYPE_CHECKING:
    from snellen.core import Item, Record


def check_exam(exam: Exam, most_items: int = 4) -> None:
    """Raise `AssertionError` unless `exam` keeps the promises of `core.Exam`."""
    assert isinstance(exam, Exam), "an exam has all that core.Exam names"
    items = list(exam.items())
    assert items, "an exam has items"
    assert len({i.key for i in items}) == len(items), "items have different facets"
    assert [i.key for i in exam.items()] == [i.key for i in items], "items() is the same each time"
    assert pickle.loads(pickle.dumps(exam)) == exam, "an exam survives the post"  # noqa: S301
    dumped = json.loads(json.dumps(settings.dump(exam)))
    assert settings.make(type(exam), dumped, who=exam.name) == exam, "settings survive JSON"
    records = [_check_item(exam, item) for item in items[:most_items]]
    assert isinstance(exam.grade(records), Result), "grade() returns a Result"
    assert exam.grade(list(reversed(records))) is not None, "grade() takes records in any order"


def check_subject(subject: Subject) -> None:
    """Raise `AssertionError` unless `subject` keeps the promises of `core.Subject`."""
    assert isinstance(subject, Subject), "a subject has all that core.Subject names"
    assert subject.name, "a subject has a name"
    assert subject.fingerprint == subject.fingerprint != "", "a fingerprint is the same each time"
    images = Seed("contract").shorts(12 * 28 * 28).astype(np.uint8).reshape(12, 28, 28, 1)
    choices = tuple(getattr(subject, "labels", ())) or ("a", "b", "c")
    lesson = Lesson(images, np.arange(12) % len(choices), choices, views=24, seed=5)
    sheet = Sheet(images, lesson.choices)
    pupil = subject
    if "study" in subject.gives:
        pupil = subject.study(lesson)
        again = subject.study(lesson)
        assert pupil is not None, "study() returns a taught copy"
        _check_same(pupil.answer(sheet), again.answer(sheet), "the same lesson, the same pupil")
        assert pupil.fingerprint == subject.fingerprint, "a fingerprint does not change by study"
    answers = pupil.answer(sheet)
    mark(sheet, answers, subject.name)
    if "scores" in subject.gives:
        assert answers.scores is not None, "who gives scores gives them each time"
        top = answers.scores[np.arange(12), answers.choice]
        assert (top >= answers.scores.max(axis=1)).all(), "the choice has the highest score"
    _check_same(answers, pupil.answer(sheet), "asked twice, it answers the same")
    if "signals" in subject.gives:
        _check_signals(pupil, sheet, answers)


def _check_item(exam: Exam, item: Item) -> Record:
    """Sit it twice with the same answers: the same is asked, of the kind that was announced."""
    sittings = [Sitting(exam, item) for _ in range(2)]
    for sitting in sittings:
        while (step := sitting.step) is not None:
            if isinstance(step, Lesson):
                assert "study" in exam.needs, "an exam that teaches needs 'study'"
                sitting.advance()
                continue
            assert isinstance(step, Sheet), f"a flow yields lessons and sheets, not {type(step)}"
            assert step.asks <= exam.needs, "a sheet asks no more than the exam needs"
            assert len(step), "a sheet has pictures"
            sitting.advance(_scripted(step))
    first, second = (s.trials for s in sittings)
    assert first.keys() == second.keys(), "the same columns each time"
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    measures = sittings[0].measures.items()
    kept = {name: value for name, value in measures if not isinstance(value, Attachment)}
    json.dumps(kept, default=jsonable)
    return sittings[0].record(_Scripted(), 0.0)


def _check_signals(pupil: Subject, sheet: Sheet, answers: Answers) -> None:
    """Look inside, all together and some alone: the same is seen, and the same is answered."""
    looking = replace(sheet, asks=frozenset({"choice", "signals"}))
    watched = mark(looking, pupil.answer(looking), pupil.name)
    np.testing.assert_array_equal(
        watched.choice, answers.choice, err_msg="being watched does not change an answer"
    )
    alone = pupil.answer(replace(looking, images=sheet.images[:3])).signals
    assert alone.keys() == watched.signals.keys(), "the same signals each time"
    for name, column in watched.signals.items():
        assert len(column) == len(sheet), f"signal {name!r} has a row a picture"
        assert len(alone[name]) == 3, f"signal {name!r} has a row a picture"
        if np.asarray(column).dtype.kind == "f":
            np.testing.assert_allclose(alone[name], column[:3], rtol=1e-3, atol=1e-3, err_msg=name)


class _Scripted:
    """Answers by the stimulus' id, so that nothing but the stimulus matters."""

    name = "scripted"
    gives: Any = frozenset({"choice", "scores", "signals", "study"})
    fingerprint = "scripted"

    def answer(self, sheet: Sheet) -> Answers:
        return _scripted(sheet)

    def study(self, lesson: Lesson) -> _Scripted:  # noqa: ARG002
        return self


def _scripted(sheet: Sheet) -> Answers:
    choice = (sheet.ids() % np.uint64(len(sheet.choices))).astype(np.intp)
    scores = np.zeros((len(sheet), len(sheet.choices)))
    scores[np.arange(len(sheet)), choice] = 1.0
    return Answers(choice, scores, {"probe": scores}, np.ones(len(sheet)))


def _check_same(one: Answers, other: Answers, promise: str) -> None:
    np.testing.assert_array_equal(one.choice, other.choice, err_msg=promise)
    if one.scores is not None and other.scores is not None:
        np.testing.assert_array_equal(one.scores, other.scores, err_msg=promise)


__all__ = ["check_exam", "check_subject", "conduct"]
