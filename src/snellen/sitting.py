"""How does one subject pass through one item, whoever holds the pencil?

>>> import snellen
>>> exam = snellen.exam("abstraction", samples=60, repeats=1, levels=(0,))
>>> record = conduct(exam, snellen.subject("chance"), exam.items()[0])
>>> len(record.trials["choice"]) > 0
True
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from snellen import settings
from snellen.core import PASS, Lesson, Practice, Record, Sheet, Turn
from snellen.errors import BadAnswer, Unable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from snellen.core import Answers, Exam, Item, Measures, Player, Step, Subject, Trials

    Learning: TypeAlias = Lesson | Practice
    Question: TypeAlias = Sheet | Turn


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
        self.step: Step | None = None
        self._go_on(None)

    def advance(self, answers: Answers | None = None, who: str = "") -> None:
        """Hand in the answers of `who` to the present question, or leave the present lesson.

        The moves of a game are no trials: what came of the game is for the exam to measure.
        """
        handed: Answers | None = None
        if isinstance(self.step, Sheet | Turn):
            if answers is None:
                raise BadAnswer("a sheet or a turn can only be left by answering it")
            handed = mark(self.step, answers, who)
        if isinstance(self.step, Sheet) and handed is not None:
            self._columns.append(_trial_columns(len(self._columns), self.step, handed))
        self._go_on(handed)

    def _go_on(self, handed: Answers | None) -> None:
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
        if isinstance(step, Lesson | Practice):
            pupil = _taught(pupil, step)
            sitting.advance()
        else:
            sitting.advance(_asked(pupil, step), subject.name)
    return sitting.record(subject, time.perf_counter() - start)


def in_step(
    exam: Exam, subject: Subject, items: Sequence[Item]
) -> Iterator[tuple[Item, Record | Exception]]:
    """Lead `subject` through many items at once: questions of a kind are answered together.

    So a model sees full batches though each flow asks little at a time. An item that fails
    fails alone, and comes with what went wrong.
    """
    admit(exam, subject)
    start = time.perf_counter()
    places: list[_Place] = []
    for item in items:
        try:
            places.append(_Place(item, Sitting(exam, item), subject))
        except Exception as error:  # noqa: BLE001 — an exam may fail in any way it likes
            yield item, error
    while places:
        for pupil, alike in _alike(places):
            handed = _answers_together(pupil, [p.question for p in alike])
            for place, answers in zip(alike, handed, strict=True):
                place.go_on(answers)
        for place in places:
            if isinstance(place.sitting.step, Lesson | Practice):
                place.go_on(None)
        seconds = (time.perf_counter() - start) / len(items)
        for place in [p for p in places if p.ended]:
            places.remove(place)
            yield place.item, place.failure or place.sitting.record(subject, seconds)


@dataclass
class _Place:
    """Where one of many sits."""

    item: Item
    sitting: Sitting
    pupil: Subject
    failure: Exception | None = None

    @property
    def ended(self) -> bool:
        return self.failure is not None or self.sitting.step is None

    @property
    def question(self) -> Question:
        assert isinstance(self.sitting.step, Sheet | Turn)
        return self.sitting.step

    def go_on(self, answers: Answers | Exception | None) -> None:
        """Hand in answers, or study the lesson; keep what goes wrong."""
        if isinstance(answers, Exception):
            self.failure = answers
            return
        try:
            if isinstance(step := self.sitting.step, Lesson | Practice):
                self.pupil = _taught(self.pupil, step)
            self.sitting.advance(answers)
        except Exception as error:  # noqa: BLE001 — it is told in the item's record
            self.failure = error


def _taught(pupil: Subject, step: Learning) -> Subject:
    if isinstance(step, Practice):
        return cast("Player", pupil).practise(step)
    return pupil.study(step)


def _asked(pupil: Subject, step: Question) -> Answers:
    if isinstance(step, Turn):
        return cast("Player", pupil).act(step)
    return pupil.answer(step.blind())


def _alike(places: Sequence[_Place]) -> list[tuple[Subject, list[_Place]]]:
    """Group the places that have the same pupil and a question of the same kind before them."""
    groups: dict[Any, list[_Place]] = {}
    for place in places:
        if isinstance(step := place.sitting.step, Sheet | Turn):
            groups.setdefault((id(place.pupil), _kind(step)), []).append(place)
    return [(group[0].pupil, group) for group in groups.values()]


def _kind(question: Question) -> tuple[Any, ...]:
    if isinstance(question, Turn):
        return question.observations.shape[1:], question.actions
    images, wanted = question.images, (question.asks, question.welcomes)
    offered = question.choices, question.instead
    return images.shape[1:], images.dtype.str, question.prompt, *offered, *wanted


def _as_one(questions: Sequence[Question]) -> Question:
    """Join questions of a kind."""
    if isinstance(first := questions[0], Turn):
        turns = cast("Sequence[Turn]", questions)
        return Turn(
            np.concatenate([turn.observations for turn in turns]),
            np.concatenate([turn.valid for turn in turns]),
            np.concatenate([turn.dice for turn in turns]),
        )
    sheets = cast("Sequence[Sheet]", questions)
    return replace(first.blind(), images=np.concatenate([sheet.images for sheet in sheets]))


def _answers_together(
    pupil: Subject, questions: Sequence[Question]
) -> Sequence[Answers | Exception]:
    """Ask all as one; one by one where that fails, so that only the guilty fail."""
    whole = _as_one(questions)
    try:
        answers = mark(whole, _asked(pupil, whole), pupil.name)
    except Exception as error:  # noqa: BLE001 — it is told in the item's record
        if len(questions) == 1:
            return [error]
        return [_answers_together(pupil, [question])[0] for question in questions]
    ends = np.cumsum([len(question) for question in questions])
    return [answers.part(end - len(q), end) for q, end in zip(questions, ends, strict=True)]


def admit(exam: Exam, subject: Subject) -> None:
    """Refuse, with the reasons, a subject that cannot give what the exam needs."""
    shows_pictures = exam.needs != {"act"}
    if shows_pictures and "study" not in exam.needs and getattr(subject, "untaught", False):
        raise Unable(
            f"subject {subject.name!r} cannot sit {exam.name!r}: it knows nothing before a lesson, "
            "and this exam gives none; give it weights=FILE, or trained=true if it loads its own"
        )
    if missing := exam.needs - subject.gives:
        raise Unable(
            f"subject {subject.name!r} cannot sit {exam.name!r}: it needs {sorted(missing)}, "
            f"and it gives {sorted(subject.gives)}; {_remedy(missing)}"
        )


def mark(question: Question, answers: Answers, who: str = "") -> Answers:
    """Check that the answers of `who` fit the sheet or the turn; add the truth where there is."""
    subject = f"subject {who!r}" if who else "the subject"
    choice = np.asarray(answers.choice)
    if choice.shape != (len(question),):
        raise BadAnswer(
            f"{subject} answered {len(question)} {_rows(question)}s with choices of shape "
            f"{choice.shape}; let it return one index a {_rows(question)}, in their order"
        )
    if isinstance(question, Turn):
        _check_actions(question, choice, subject)
        scores = _checked_scores(question, answers, subject, question.actions)
        return replace(answers, choice=choice.astype(np.intp), scores=scores, truth=None)
    _check_choices(question, choice, subject)
    if "scores" in question.asks and answers.scores is None:
        raise BadAnswer(
            f"{subject} gave no scores, and the sheet asks for them; let it return "
            "Answers(choice, scores)"
        )
    if "signals" in question.asks and not answers.signals:
        raise BadAnswer(
            f"{subject} gave no signals, and the sheet asks for them; let it return "
            "Answers(…, signals={name: a row a picture})"
        )
    scores = _checked_scores(question, answers, subject, len(question.choices))
    return replace(answers, choice=choice.astype(np.intp), scores=scores, truth=question.truth)


def _rows(question: Question) -> str:
    return "game" if isinstance(question, Turn) else "picture"


def _check_choices(sheet: Sheet, choice: npt.NDArray[Any], subject: str) -> None:
    offered = len(sheet.choices) + len(sheet.instead)
    if len(choice) and not (choice.min() >= PASS and choice.max() < offered):
        raise BadAnswer(
            f"{subject} gave choices from {choice.min()} to {choice.max()}, and the sheet offers "
            f"0..{offered - 1}; let it return places of its choices, or {PASS} for none"
        )


def _check_actions(turn: Turn, choice: npt.NDArray[Any], subject: str) -> None:
    """In a game nobody can pass, nor do what the world does not allow."""
    known = (choice >= 0) & (choice < turn.actions)
    games = np.arange(len(turn))
    allowed = known & turn.valid[games, np.where(known, choice, 0).astype(np.intp)]
    if not allowed.all():
        game = int(np.argmin(allowed))
        raise BadAnswer(
            f"{subject} chose action {choice[game]} in game {game}, which allows "
            f"{np.flatnonzero(turn.valid[game]).tolist()}; let it choose among the actions that "
            "the turn's `valid` has as true"
        )


def _checked_scores(
    question: Question, answers: Answers, subject: str, places: int
) -> npt.NDArray[np.floating[Any]] | None:
    """Return the scores, which are checked whether they were asked for or not."""
    if answers.scores is None:
        return None
    scores, wanted = np.asarray(answers.scores), (len(question), places)
    if scores.shape != wanted:
        raise BadAnswer(
            f"{subject} gave scores of shape {scores.shape}, not {wanted}; let it return a row a "
            f"{_rows(question)} and a column a choice"
        )
    if not np.isfinite(scores).all():
        raise BadAnswer(
            f"{subject} gave NaN or infinite scores; look at its normalisation, and let what "
            "cannot be score very low instead"
        )
    return scores


def _trial_columns(number: int, sheet: Sheet, answers: Answers) -> dict[str, Any]:
    names = np.array([*sheet.choices, *sheet.instead, ""])  # PASS is the last place
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
    if "act" in missing:
        return "give something that plays: dqn, or chance"
    if "study" in missing:
        return "give something that learns: a network's factory, an estimator, or paper-cnn"
    return "pick a subject that does, or settings of the exam that ask for less"
