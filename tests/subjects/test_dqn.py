"""A player that practises: what it learns, that it is told what it may do, that it repeats."""

import numpy as np
import pytest

pytest.importorskip("torch")

from snellen import doctor, settings
from snellen.core import Answers, Lesson, Practice, Sheet, Turn
from snellen.errors import BadAnswer, BadSetting, Unable
from snellen.subjects.dqn import Dqn, Network, _Memory, _Move
from snellen.testing import check_subject
from snellen.worlds import world
from snellen.worlds.merged import Merged
from snellen.worlds.playing import held_out, played


def test_it_keeps_a_player_s_promises():
    check_subject(Dqn())


def test_short_practice_in_a_chain_is_worth_twice_a_player_by_lot():
    taught = Dqn().practise(Practice(world("nchain"), 2000, seed=1))
    assert (
        played(lambda: world("nchain"), held_out(5), taught.act).returns.mean() > 3000
    )  # by lot 1311, at best 3666


def test_it_learns_when_each_action_of_three_is_barred_half_the_time():
    """The best that is valid pays; the best of all is often barred."""

    class Doors:
        name, actions, size, limit = "doors", 3, 3, 20

        def begin(self, seed):
            self._lots = np.random.default_rng(seed)
            return self._shut()

        def step(self, action):
            assert self._open[action]
            return self._shut(), float(action), False

        def valid(self):
            return self._open

        def _shut(self):
            self._open = self._lots.random(3) < 0.5
            self._open[0] = True
            return self._open.astype(np.float32)

    taught = Dqn(gamma=0.0, ahead=1).practise(Practice(Doors(), 1500))
    found = played(Doors, held_out(20), taught.act).returns.mean()
    assert found == pytest.approx(20 * (2 / 2 + 1 / 4), rel=0.1)  # 2 if open, else 1 if open


def test_practice_is_repeated_exactly_and_differs_with_its_seed():
    one, same, other = (
        Dqn().practise(Practice(world("roulette"), 300, seed=seed)) for seed in (1, 1, 2)
    )
    assert one.values.weights.numpy().tobytes() == same.values.weights.numpy().tobytes()
    assert (one.values.weights != other.values.weights).any()


def test_practice_leaves_others_randomness_alone():
    import torch

    before = torch.random.get_rng_state()
    Dqn().practise(Practice(world("roulette"), 100))
    assert (torch.random.get_rng_state() == before).all()


def test_practice_leaves_the_player_as_it_was():
    pupil = Dqn()
    taught = pupil.practise(Practice(world("roulette"), 50))
    assert pupil.values is None
    assert taught.fingerprint == pupil.fingerprint


def test_practice_takes_as_many_steps_as_it_says():
    both = Merged(world("nchain"), world("roulette"))
    Dqn().practise(Practice(both, 1500))
    assert sum(both.steps) == 1500
    assert min(both.steps) > 0


def test_what_shapes_a_player_shapes_its_fingerprint():
    assert Dqn(lr=0.01).fingerprint != Dqn().fingerprint
    assert Dqn(name="mine").fingerprint == Dqn().fingerprint


def test_settings_are_checked_as_all_are():
    made = settings.make(Dqn, {"hidden": "8", "double": "false"}, who="x")
    assert (made.hidden, made.double) == (8, False)
    with pytest.raises(BadSetting, match="hidden: 0 is not at least 1"):
        settings.make(Dqn, {"hidden": 0}, who="x")


def test_the_doctor_asks_it_about_no_pictures():
    found = doctor.examine("snellen.subjects.dqn:Dqn")
    assert found.fit
    assert ("pictures", "none: it plays games") in found.findings


TURN = Turn(np.zeros((1, 3), np.float32), np.ones((1, 2), bool), np.zeros(1, np.uint64))


def test_who_has_not_practised_or_practised_elsewhere_is_told_so():
    with pytest.raises(Unable, match="has not practised; yield a Practice"):
        Dqn().act(TURN)
    taught = Dqn().practise(Practice(world("roulette"), 20))
    with pytest.raises(Unable, match=r"of \(1, 38\) and is to play with \(3, 2\); let it practise"):
        taught.act(TURN)


def test_it_neither_studies_nor_answers_pictures():
    images = np.zeros((2, 4, 4, 1), np.uint8)
    with pytest.raises(Unable, match="learns by playing only"):
        Dqn().study(Lesson(images, np.zeros(2, int), ("a",)))
    with pytest.raises(Unable, match="only plays"):
        Dqn().answer(Sheet(images, ("a",)))


def test_a_diverging_practice_is_refused():
    with pytest.raises(BadAnswer, match="diverged; try a smaller lr="):
        Dqn(lr=1e30).practise(Practice(world("nchain"), 300))


# its parts -----------------------------------------------------------------------------------


def test_both_ways_of_judging_agree():
    import torch

    network = Network(5, 16, 3, seed=2)
    network.scale = np.linspace(0.5, 2, 5).astype(np.float32)
    seen = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    judged = network.judged(network.weights, torch.from_numpy(seen * network.scale))
    np.testing.assert_allclose(network(seen), judged.numpy(), rtol=1e-4, atol=1e-6)


def test_rewards_are_waited_for_and_what_is_over_counts_for_nothing():
    """Two steps ahead, γ = ½, rewards 1, 2, 4: the first move brings 1 + 2/2 and ¼ of the rest."""

    def remembered(*, over):
        memory = _Memory(5, 1, 2, Dqn(gamma=0.5, ahead=2))
        for step, reward in enumerate((1.0, 2.0, 4.0)):
            seen, later = np.float32([step]), np.float32([step + 1])
            last = step == 2
            move = _Move(seen, step % 2, reward)
            memory.add(move, later, np.array([True, last]), over=over and last, left=last)
        return memory, memory._columns

    memory, kept = remembered(over=True)
    assert len(memory) == 3
    assert kept.seen[:3, 0].tolist() == [0, 1, 2]
    assert kept.later[:3, 0].tolist() == [2, 3, 3]
    assert kept.rewards[:3].tolist() == [2, 4, 4]
    assert kept.actions[:3].tolist() == [0, 1, 0]
    assert kept.valid[:3].tolist() == [[True, False], [True, True], [True, True]]
    assert kept.counts[:3].tolist() == [0.25, 0, 0]
    assert remembered(over=False)[1].counts[:3].tolist() == [0.25, 0.25, 0.5]


def test_a_full_memory_forgets_the_oldest():
    memory = _Memory(4, 1, 2, Dqn(ahead=1, batch=64))
    for step in range(7):
        seen = np.float32([step])
        memory.add(_Move(seen, 0, 0.0), seen, np.ones(2, bool), over=False, left=False)
    assert len(memory) == 4
    assert set(next(memory.batches(0)).seen[:, 0]) == {3, 4, 5, 6}


def test_it_answers_with_what_it_expects():
    taught = Dqn().practise(Practice(world("nchain"), 200))
    seen = np.eye(5, dtype=np.float32)
    valid = np.array([[True, False], [False, True], [True, True], [True, True], [True, True]])
    answers = taught.act(Turn(seen, valid, np.arange(5)))
    assert isinstance(answers, Answers)
    assert answers.choice[:2].tolist() == [0, 1]
    assert (answers.choice[2:] == answers.scores[2:].argmax(axis=1)).all()
