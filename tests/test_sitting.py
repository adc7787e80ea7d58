"""What comes back from a subject is checked before it is believed."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from snellen.core import Answers, Item, Practice, Record, Result, Sheet, Turn
from snellen.errors import BadAnswer, Unable
from snellen.show import contact_sheet
from snellen.sitting import admit, conduct, in_step, mark
from snellen.subjects.chance import Chance
from snellen.testing import check_exam, check_subject
from snellen.worlds import world
from snellen.worlds.playing import held_out, play

IMAGES = np.zeros((2, 4, 4, 1), np.uint8)
FIRST = np.array([0, 0])


def sheet(*asks):
    return Sheet(IMAGES, ("a", "b", "c"), np.array([0, 1]), asks=frozenset({"choice", *asks}))


@pytest.mark.parametrize(
    ("asked", "answers", "told"),
    [
        (sheet(), Answers(np.array([0])), r"choices of shape \(1,\); let it return one index"),
        (sheet(), Answers(np.array([0, 3])), r"offers 0\.\.2; let it return places"),
        (sheet("scores"), Answers(FIRST), "gave no scores, and the sheet asks for them; let"),
        (sheet("signals"), Answers(FIRST), "gave no signals, and the sheet asks for them; let"),
        (sheet(), Answers(FIRST, np.zeros((2, 2))), r"\(2, 2\), not \(2, 3\); let it return"),
        (sheet(), Answers(FIRST, [[0.0] * 3, [np.nan] * 3]), "NaN or infinite scores; look"),
        (sheet(), Answers(FIRST, np.full((2, 3), -np.inf)), "very low instead"),
    ],
)
def test_answers_that_do_not_fit_are_refused_by_name_and_with_the_remedy(asked, answers, told):
    with pytest.raises(BadAnswer, match=f"^subject 'who' .*{told}"):
        mark(asked, answers, "who")


def test_what_may_be_replied_instead_is_numbered_after_the_choices():
    asked = Sheet(IMAGES, ("a", "b"), np.array([0, 1]), instead=("more", "all of it"))
    marked = mark(asked, Answers(np.array([3, 1])), "who")
    assert marked.right.tolist() == [False, True]
    with pytest.raises(BadAnswer, match=r"offers 0\.\.3"):
        mark(asked, Answers(np.array([4, 1])), "who")
    assert asked.blind().instead == asked.instead
    plain = Sheet(IMAGES, ("a", "b"))
    assert (plain.ids() != asked.ids()).all()  # another question
    assert (plain.ids() == Sheet(IMAGES, ("a", "b"), instead=()).ids()).all()


def test_items_in_step_are_asked_together_only_where_the_same_is_offered():
    @dataclass
    class Two:
        name, version, needs = "two", 1, frozenset({"choice"})

        def examine(self, item):
            answers = yield Sheet(IMAGES, ("a",), instead=item["instead"])
            return {"choice": answers.choice.tolist()}

    class Last:
        name, gives, fingerprint = "last", frozenset({"choice"}), "last"

        def answer(self, sheet):
            return Answers(np.full(len(sheet), len(sheet.instead)))

    items = [{"instead": ()}, {"instead": ("x", "y")}]
    found = [r.measures["choice"] for _, r in in_step(Two(), Last(), items)]
    assert found == [[0, 0], [2, 2]]


def test_marked_answers_keep_what_was_given_and_gain_the_truth():
    scores = np.eye(3)[:2]
    marked = mark(sheet(), Answers(np.array([0, -1]), scores, seconds=np.ones(2)), "who")
    assert marked.right.tolist() == [True, False]
    assert marked.scores is scores
    assert marked.seconds.tolist() == [1, 1]


# games ---------------------------------------------------------------------------------------


def turn(*valid, size=1):
    return Turn(np.zeros((len(valid), size), np.float32), np.array(valid), np.arange(len(valid)))


EITHER_OR_LAST = turn([True, True, True], [False, False, True])


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (
            Answers(np.array([0])),
            r"2 games with choices of shape \(1,\); let it return one index a g",
        ),
        (Answers(np.array([0, 1])), r"action 1 in game 1, which allows \[2\]; let it choose among"),
        (
            Answers(np.array([-1, 2])),
            r"action -1 in game 0, which allows \[0, 1, 2\]; let it choose",
        ),
        (Answers(np.array([3, 2])), r"action 3 in game 0, which allows"),
        (Answers(np.array([0, 2]), np.zeros((2, 2))), r"\(2, 2\), not \(2, 3\); .* row a game"),
        (Answers(np.array([0, 2]), np.full((2, 3), np.nan)), "NaN or infinite scores; look"),
    ],
)
def test_actions_that_a_game_does_not_allow_are_refused(answers, told):
    with pytest.raises(BadAnswer, match=f"^subject 'who' .*{told}"):
        mark(EITHER_OR_LAST, answers, "who")


def test_valid_actions_are_handed_on_as_they_are():
    marked = mark(EITHER_OR_LAST, Answers(np.array([1, 2]), np.eye(3)[:2]), "who")
    assert marked.choice.tolist() == [1, 2]
    assert marked.scores.tolist() == [[1, 0, 0], [0, 1, 0]]


@dataclass(frozen=True)
class Casino:
    """Practise, play, and name a picture in between."""

    name: ClassVar = "casino"
    version: ClassVar = 1
    needs: ClassVar = frozenset({"choice", "act"})
    candidates: ClassVar = ("chance",)
    baselines: ClassVar = ()
    quick: ClassVar = {}

    games: int = 3

    def items(self):
        return [Item(repeat=r) for r in range(3)]

    def examine(self, item):
        yield Practice(world("roulette"), 5, seed=item["repeat"])
        yield Sheet(IMAGES, ("a", "b"), np.array([0, 1]))
        seeds = held_out(self.games, item["repeat"])
        games = yield from play(lambda: world("roulette"), seeds)
        return {"returns": games.returns.tolist(), "lengths": games.lengths.tolist()}

    def grade(self, records):
        return Result()


class Secretive(Casino):
    needs: ClassVar = frozenset({"choice"})


def test_games_are_practised_and_played_and_their_moves_are_no_trials():
    exam = Casino()
    check_exam(exam)
    for item in exam.items():
        record = conduct(exam, Chance(), item)
        assert isinstance(record, Record)
        assert len(record.measures["returns"]) == 3
        assert max(record.measures["lengths"]) <= 100
        assert len(record.trials["choice"]) == len(IMAGES)


def test_games_of_many_items_go_on_as_if_each_were_played_alone():
    exam = Casino()
    together = dict(in_step(exam, Chance(), exam.items()))
    for item in exam.items():
        assert together[item].measures == conduct(exam, Chance(), item).measures


def test_turns_of_the_same_player_are_taken_together():
    asked = []

    class Counting(Chance):
        def act(self, turn):
            asked.append(len(turn))
            return super().act(turn)

    exam = Casino()
    assert len(list(in_step(exam, Counting(), exam.items()))) == 3
    assert asked[0] == 9


def test_who_breaks_the_rules_of_one_game_fails_that_item_alone():
    class Cheat(Chance):
        def act(self, turn):
            lot = super().act(turn)
            cheats = turn.dice >> 16 >= held_out(3, repeat=1)[0]
            return Answers(lot.choice + 38 * cheats)

    exam = Casino()
    found = dict(in_step(exam, Cheat(), exam.items()))
    kinds = [isinstance(found[item], BadAnswer) for item in exam.items()]
    assert kinds == [False, True, True]


def test_who_does_not_play_is_refused_with_advice():
    class Reader:
        name, gives, fingerprint = "reader", frozenset({"choice"}), "reader"

    with pytest.raises(
        Unable, match=r"needs \['act'\], and it gives .*; give something that plays"
    ):
        admit(Casino(), Reader())


def test_a_player_that_breaks_a_promise_is_found_out():
    class Forgetful(Chance):
        def act(self, turn):
            return Answers(np.zeros(len(turn), np.intp))

    with pytest.raises(BadAnswer, match="chose action 0 in game 0"):
        check_subject(Forgetful())


def test_an_exam_must_announce_its_games():
    with pytest.raises(AssertionError, match="an exam with games needs 'act'"):
        check_exam(Secretive())


def test_a_contact_sheet_leaves_games_out():
    assert contact_sheet(Casino()).startswith(b"\x89PNG")
