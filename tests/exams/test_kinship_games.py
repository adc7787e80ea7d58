"""Games as tests: practised, merged by turns, and scored beside random play."""

import numpy as np
import pytest
from click.testing import CliRunner

import snellen
from snellen.cli import main
from snellen.core import Answers, Practice, Turn
from snellen.errors import BadSetting, Unable
from snellen.exams.kinship.games import Balancing, ceilings
from snellen.sitting import Sitting, admit, conduct
from snellen.subjects.chance import Chance
from snellen.worlds.scores import SCORES


def exam(**values):
    usual = {"tests": ("nchain", "roulette"), "steps": 200, "games": 3, "repeats": 2, "most": 2}
    return snellen.exam("kinship", **{**usual, **values})


class Forward:
    """Plays the first action always: on the chain that is the best there is."""

    name, fingerprint = "forward", "forward"
    gives = frozenset({"act"})

    def __init__(self):
        self.practices, self.turns = [], []

    def practise(self, practice: Practice):
        self.practices.append(practice)
        return self

    def act(self, turn: Turn):
        self.turns.append(turn)
        return Answers(np.zeros(len(turn), np.intp))

    def study(self, lesson):
        raise AssertionError(lesson)

    answer = study


def test_games_need_somebody_who_plays_and_pictures_somebody_who_learns():
    assert exam().needs == {"act"}
    assert exam().candidates == ("dqn",)
    assert snellen.exam("kinship").candidates == ("elu-cnn",)
    with pytest.raises(Unable, match="needs \\['act'\\]"):
        admit(exam(), snellen.subject("nearest"))


def test_a_score_is_nought_at_random_play_and_one_at_the_best():
    asked, player = exam(games=40), Forward()
    alone = next(i for i in asked.items() if i.get("test") == "nchain")
    found = conduct(asked, player, alone).measures
    assert found["score"] > 0.9  # forward pays 10 a step at the end of the chain
    by_lot = conduct(asked, Chance(), alone).measures
    assert abs(by_lot["score"]) < 4 * by_lot["variance"] ** 0.5
    assert found["parts"]["nchain"][2] == 40


def test_merged_games_are_practised_in_turns_and_each_is_scored():
    asked, player = exam(), Forward()
    merged = next(i for i in asked.items() if "first" in i)
    found = conduct(asked, player, merged).measures
    (practice,) = player.practices
    assert practice.steps == 200
    assert practice.world.name == "nchain+roulette"
    assert practice.world.actions == 38
    assert set(found["parts"]) == {"nchain", "roulette"}
    a, b = (score for score, _, _ in found["parts"].values())
    assert found["score"] == pytest.approx((a + b) / 2)


def test_lessons_of_a_part_are_half_as_long_and_repeats_begin_alike():
    asked, player = exam(), Forward()
    items = [i for i in asked.items() if i["repeat"] == 0]
    for item in items:
        conduct(asked, player, item)
    assert sorted(p.steps for p in player.practices) == [100, 100, 200, 200, 200]
    assert len({p.seed for p in player.practices}) == 1


def test_as_the_paper_played_them_states_are_numbers_and_actions_are_clamped():
    asked, player = exam(as_published=True), Forward()
    merged = next(i for i in asked.items() if "first" in i)
    conduct(asked, player, merged)
    assert player.practices[0].world.size == 1
    assert all(turn.valid.all() for turn in player.turns)


def test_games_are_merged_with_games_alone():
    for values, told in (
        ({"tests": ("nchain", "glyphs")}, "'nchain' and 'glyphs' cannot be merged"),
        ({"tests": ("glyphs", "nchain")}, "'glyphs' and 'nchain' cannot be merged"),
        ({"shares": (0.25,)}, "half each"),
        ({"merge": ("stitched",)}, "'nchain' is played"),
        ({"proxies": True}, "'nchain' is played"),
        ({"tests": ("cartpole-pictures", "glyphs"), "selves": True}, "is played"),
    ):
        with pytest.raises(BadSetting, match=told):
            exam(**values).items()


def test_numbers_of_others_may_be_of_games_and_pictures(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("test,value\nmnist,.99\nnchain,.1\nmnist+nchain,.5\n")
    done = CliRunner().invoke(main, ["kinship-from", str(table), "--into", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output


def test_a_report_says_which_games_are_played_better_than_by_lot():
    asked = exam(games=10, repeats=3, most=3)
    items, who = asked.items(), (Forward(), Chance())
    result = asked.grade([conduct(asked, subject, item) for subject in who for item in items])
    told = {v.subject: v.text for v in result.verdicts}
    assert "Surely better than random play (Holm) at 1 of 2 games: nchain" in told["forward"]
    assert "at 0 of 2 games" in told["chance"]
    names = [figure.name for figure in result.figures]
    assert {"s-unguarded-forward", "s-unguarded-chance"} <= set(names)


class Balancer:
    """Knows which of two pictures it was shown more often: enough to follow the protocol."""

    name, fingerprint = "balancer", "balancer"
    gives = frozenset({"choice", "study"})

    def study(self, lesson):
        self.lesson = lesson
        return self

    def answer(self, sheet):
        return Answers(np.full(len(sheet), sheet.choices.index(next(
            name for name in sheet.choices if name.endswith("left")))))  # fmt: skip


def test_balancing_is_taught_by_pictures_and_scored_by_playing():
    asked = exam(tests=("cartpole-pictures", "glyphs"), size=60, epochs=1, questions=100, repeats=2)
    player = Balancer()
    alone = next(i for i in asked.items() if i.get("test") == "cartpole-pictures")
    record = conduct(asked, player, alone)
    assert player.lesson.choices == ("left", "right")
    assert 0.02 < record.measures["score"] < 0.1  # whoever always pushes left falls soon
    merged = next(i for i in asked.items() if "first" in i)
    both = conduct(asked, player, merged).measures
    assert set(both["parts"]) == {"cartpole-pictures", "glyphs"}
    assert player.lesson.choices[:2] == ("cartpole-pictures: left", "cartpole-pictures: right")


def test_one_frame_hides_what_two_frames_show():
    found = ceilings(("cartpole-pictures", "cartpole-pictures-2", "glyphs"))
    assert set(found) == {"cartpole-pictures", "cartpole-pictures-2"}
    assert Balancing("cartpole-pictures-2").lesson(4, 0)[0].shape == (4, 32, 32, 1)
    for c in found.values():
        assert c.least <= c.most


def test_a_sitting_of_games_keeps_no_trials():
    asked = exam()
    sitting = Sitting(asked, asked.items()[0])
    assert isinstance(sitting.step, Practice)
    sitting.advance()
    assert isinstance(sitting.step, Turn)
    assert sitting.trials == {}


@pytest.mark.parametrize("name", SCORES)
def test_the_best_is_better_than_by_lot(name):
    assert SCORES[name].reference > SCORES[name].random
