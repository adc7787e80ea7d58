"""Does a plugin keep its promises? Contracts that anyone can run on their own.

from snellen.testing import check_exam, check_subject, check_world

def test_mine():
check_exam(Mine(pictures=3))
check_subject(Pupil())
check_world(Maze())
"""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen import settings
from snellen.core import (
    Answers,
    Attachment,
    Exam,
    Lesson,
    Player,
    Practice,
    Result,
    Sheet,
    Subject,
    Turn,
)
from snellen.log import jsonable
from snellen.seeds import Seed
from snellen.sitting import Sitting, conduct, mark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snellen.core import Flags, Item, Observation, Record, Step, World


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
    assert {"choice", "act"} & subject.gives, "a subject answers sheets, or plays"
    if "act" in subject.gives:
        _check_player(subject)
    if "choice" in subject.gives:
        _check_answering(subject)


def check_world(world: World, steps: int = 50) -> None:
    """Raise `AssertionError` unless `world` keeps the promises of `core.World`."""
    assert world.name, "a world has a name"
    first, again = (list(_moments(world, steps)) for _ in range(2))
    assert world.limit >= 1, "a game has some steps"
    for (seen, reward, over), (seen_again, reward_again, over_again) in zip(
        first, again, strict=True
    ):
        assert seen.shape == (world.size,), "an observation is as long as the world says"
        assert seen.dtype == np.float32, "an observation is float32"
        np.testing.assert_array_equal(seen, seen_again, err_msg="same seed, same game")
        assert (reward, over) == (reward_again, over_again), "same seed, same game"
        assert np.isfinite(reward), "a reward is a number"


def _moments(world: World, steps: int) -> Iterator[tuple[Observation, float, bool]]:
    """Play two games on one seed and the next, by lot, and yield what came."""
    lots = iter(Seed("contract", "world").floats(2 * steps).tolist())
    for seed in (5, 6):
        yield world.begin(seed), 0.0, False
        for _ in range(steps):
            valid = world.valid()
            assert valid.shape == (world.actions,), "each action is valid or not"
            assert valid.dtype == np.bool_, "each action is valid or not"
            assert valid.any(), "a game that is not over allows something"
            allowed = np.flatnonzero(valid)
            yield (moment := world.step(int(allowed[int(next(lots) * len(allowed))])))
            if moment[2]:
                break


def _check_answering(subject: Subject) -> None:
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


def _check_player(subject: Subject) -> None:
    assert isinstance(subject, Player), "who gives 'act' has all that core.Player names"
    seen = Seed("contract").floats(12 * 3).reshape(12, 3).astype(np.float32)
    valid = np.arange(12)[:, None] % 4 != np.arange(3)
    turn = Turn(seen, valid, np.arange(12, dtype=np.uint64))
    taught = [subject.practise(Practice(_Corridor(), 80, seed=5)) for _ in range(2)]
    first, again = (player.act(turn) for player in taught)
    mark(turn, first, subject.name)
    _check_same(first, again, "the same practice, the same player")
    _check_same(first, taught[0].act(turn), "asked twice, it acts the same")
    assert taught[0].fingerprint == subject.fingerprint, "a fingerprint does not change by practice"
    if first.scores is not None:
        best = np.where(turn.valid, first.scores, -np.inf).max(axis=1)
        assert (first.scores[np.arange(12), first.choice] == best).all(), "it does what pays most"


class _Corridor:
    """A step to the right pays; the third of three actions may only be taken at the left end."""

    name, actions, size, limit = "corridor", 3, 3, 20

    def begin(self, seed: int) -> Observation:
        self._place = seed % 2
        return self._seen()

    def step(self, action: int) -> tuple[Observation, float, bool]:
        assert self.valid()[action], "a player takes only valid actions in its practice"
        self._place = max(0, self._place + (1, -1, 0)[action])
        return self._seen(), float(action == 0), self._place == 8

    def valid(self) -> Flags:
        return np.array([True, True, self._place == 0])

    def _seen(self) -> Observation:
        return np.array([self._place / 8, self._place == 0, 1], np.float32)


def _check_item(exam: Exam, item: Item) -> Record:
    """Sit it twice with the same answers: the same is asked, of the kind that was announced."""
    sittings = [Sitting(exam, item) for _ in range(2)]
    for sitting in sittings:
        while (step := sitting.step) is not None:
            sitting.advance(_checked_reply(exam, step))
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


def _checked_reply(exam: Exam, step: Step) -> Answers | None:
    """Check that a step is of a kind that was announced, and answer it if it asks."""
    match step:
        case Lesson():
            assert "study" in exam.needs, "an exam that teaches needs 'study'"
            return None
        case Practice() | Turn():
            assert "act" in exam.needs, "an exam with games needs 'act'"
            return _scripted_actions(step) if isinstance(step, Turn) else None
        case Sheet():
            assert step.asks <= exam.needs, "a sheet asks no more than the exam needs"
            assert len(step), "a sheet has pictures"
            return _scripted(step)
    raise AssertionError(f"a flow yields lessons, sheets, practice and turns, not {type(step)}")


class _Scripted:
    """Answers by the stimulus' id, so that nothing but the stimulus matters."""

    name = "scripted"
    gives: Any = frozenset({"choice", "scores", "signals", "study", "act"})
    fingerprint = "scripted"

    def answer(self, sheet: Sheet) -> Answers:
        return _scripted(sheet)

    def study(self, lesson: Lesson) -> _Scripted:  # noqa: ARG002
        return self

    def practise(self, practice: Practice) -> _Scripted:  # noqa: ARG002
        return self

    def act(self, turn: Turn) -> Answers:
        return _scripted_actions(turn)


def _scripted(sheet: Sheet) -> Answers:
    choice = (sheet.ids() % np.uint64(len(sheet.choices))).astype(np.intp)
    scores = np.zeros((len(sheet), len(sheet.choices)))
    scores[np.arange(len(sheet)), choice] = 1.0
    return Answers(choice, scores, {"probe": scores}, np.ones(len(sheet)))


def _scripted_actions(turn: Turn) -> Answers:
    """Score actions by what is seen, so that nothing but the observation matters."""
    waves = np.arange(1, turn.actions + 1) * turn.observations.sum(axis=1, dtype=float)[:, None]
    scores = np.where(turn.valid, np.cos(waves), -2.0)
    return Answers(scores.argmax(axis=1), scores)


def _check_same(one: Answers, other: Answers, promise: str) -> None:
    np.testing.assert_array_equal(one.choice, other.choice, err_msg=promise)
    if one.scores is not None and other.scores is not None:
        np.testing.assert_array_equal(one.scores, other.scores, err_msg=promise)


__all__ = ["check_exam", "check_subject", "check_world", "conduct"]
