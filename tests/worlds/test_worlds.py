"""Games whose rules, random play and best play are known."""

import functools

import numpy as np
import pytest

from snellen.errors import UnknownName
from snellen.subjects.chance import Chance
from snellen.testing import check_world
from snellen.worlds import WORLDS, world
from snellen.worlds.changed import flawed
from snellen.worlds.merged import Merged, paired
from snellen.worlds.playing import held_out, played
from snellen.worlds.scores import SCORES, normalised, scaled

gymnasium = pytest.importorskip("gymnasium")


CHANCE = Chance().act


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("scalar", [False, True])
def test_a_world_keeps_its_promises(name, scalar):
    check_world(world(name, scalar=scalar))


def test_a_misspelt_world_is_told_apart_from_none():
    with pytest.raises(UnknownName, match=r"called 'cartpole'; did you mean 'cartpole-v"):
        world("cartpole")
    with pytest.raises(UnknownName, match=r"there are cartpole-v0, .*roulette"):
        world("x")


# what random play brings ----------------------------------------------------------------------


@functools.cache
def rules(name):
    """Return (states, actions, states) of going on and (states, actions) of rewards."""
    if name == "nchain":
        go = np.zeros((5, 2, 5))
        pay = np.zeros((5, 2))
        for place in range(5):
            for action, forward in enumerate((0.8, 0.2)):
                go[place, action, min(place + 1, 4)] += forward
                go[place, action, 0] += 1 - forward
                pay[place, action] = forward * 10 * (place == 4) + (1 - forward) * 2
        return go, pay, np.eye(5)[0]
    game = world(name)._game
    states, actions = game.observation_space.n, game.action_space.n
    go, pay = np.zeros((states, actions, states)), np.zeros((states, actions))
    for state in range(states):
        for action in range(actions):
            for share, later, reward, over in game.P[state][action]:
                pay[state, action] += share * reward
                go[state, action, later] += share * (not over)
    return go, pay, np.asarray(game.initial_state_distrib)


COUNTABLE = ("frozen-lake", "frozen-lake-8x8", "taxi", "cliff-walking", "nchain")


@pytest.mark.parametrize("name", COUNTABLE)
def test_random_and_best_play_are_what_dynamic_programming_says(name):
    go, pay, first = rules(name)
    best, lot = np.zeros(len(pay)), np.zeros(len(pay))
    for _ in range(world(name).limit):
        best = (pay + go @ best).max(axis=1)
        lot = (pay + go @ lot).mean(axis=1)
    assert first @ lot == pytest.approx(SCORES[name].random, rel=1e-4)
    assert first @ best == pytest.approx(SCORES[name].reference, rel=1e-4)


def test_roulette_loses_a_thirty_seventh_of_each_bet():
    bets = sum((37 / 38) ** n for n in range(1, 101))
    assert -bets / 37 == pytest.approx(SCORES["roulette"].random, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "games"),
    [
        ("cartpole-v0", 300),
        ("mountain-car", 4),
        ("acrobot", 6),
        ("frozen-lake", 300),
        ("taxi", 20),
        ("cliff-walking", 20),
        ("nchain", 30),
        ("roulette", 300),
    ],
)
def test_chance_plays_as_randomly_as_the_table_says(name, games):
    returns = played(lambda: world(name), held_out(games), CHANCE).returns
    error = max(returns.std() / games**0.5, 5.0 if name == "acrobot" else 1e-3)
    assert abs(returns.mean() - SCORES[name].random) < 4 * error


def test_every_world_can_be_normalised():
    assert set(SCORES) == set(WORLDS)
    for name, scores in SCORES.items():
        assert normalised(name, scores.random) == 0
        assert normalised(name, scores.reference) == 1
        assert scores.random < scores.reference


@pytest.mark.parametrize("name", ["nchain", "roulette", "cliff-walking"])
def test_returns_of_a_scaled_world_are_the_normalised_ones(name):
    check_world(scaled(world(name)))
    plain = played(lambda: world(name), held_out(4), CHANCE).returns
    found = played(lambda: scaled(world(name)), held_out(4), CHANCE).returns
    wanted = [normalised(name, brought) for brought in plain]
    np.testing.assert_allclose(found + normalised(name, 0), wanted, atol=1e-12)


def test_thresholds_are_those_of_gymnasium():
    for name, there in (("mountain-car", "MountainCar-v0"), ("acrobot", "Acrobot-v1")):
        spec = gymnasium.spec(there)
        assert spec.reward_threshold == SCORES[name].reference
        assert spec.max_episode_steps == world(name).limit
    for name, there in (("cartpole-v1", "CartPole-v1"), ("frozen-lake", "FrozenLake-v1")):
        assert gymnasium.spec(there).max_episode_steps == world(name).limit


# rules ---------------------------------------------------------------------------------------


def test_nchain_pays_as_its_rules_say():
    game = world("nchain", scalar=True)
    place, slips, steps = 0, 0, 0
    for seed in range(10):
        place = game.begin(seed)[0]
        for step in range(game.limit):
            action = step % 7 == 6  # now and then back, mostly forward
            later, reward, over = game.step(int(action))
            went_back = later[0] == 0
            assert reward == (2 if went_back else 10 if place == 4 else 0)
            assert went_back or later[0] == min(place + 1, 4)
            assert not over
            slips, steps, place = slips + (went_back != action), steps + 1, later[0]
    assert slips / steps == pytest.approx(0.2, abs=4 * (0.16 / steps) ** 0.5)


def test_roulette_pays_as_its_rules_say():
    game = world("roulette")
    paid = {action: [] for action in (0, 1, 2)}
    for seed in range(60):
        for action, rewards in paid.items():
            game.begin(seed)
            rewards += [game.step(action)[1] for _ in range(game.limit)]
        balls = np.array([paid[action][-game.limit :] for action in (0, 1, 2)])
        zero = balls[0] == 35
        assert (balls[1:, zero] == -1).all()
        assert (balls[1, ~zero] == -balls[2, ~zero]).all()
    assert np.mean(np.array(paid[0]) == 35) == pytest.approx(1 / 37, abs=0.01)
    assert set(paid[0]) == {35.0, -1.0}
    assert set(paid[1]) == {1.0, -1.0}
    assert game.step(37)[1:] == (0.0, True)


def test_a_game_is_that_of_gymnasium():
    theirs = gymnasium.make("CartPole-v1")
    ours = world("cartpole-v0")
    first, _ = theirs.reset(seed=3)
    assert (ours.begin(3) == first).all()
    over, steps = False, 0
    while not over:
        seen, reward, over, _, _ = theirs.step(steps % 2)
        mine = ours.step(steps % 2)
        assert (mine[0] == seen).all()
        assert mine[1:] == (reward, over)
        steps += 1


def test_a_limit_is_for_whoever_plays_to_keep():
    games = played(lambda: world("mountain-car"), held_out(2), CHANCE)
    assert games.lengths.tolist() == [200, 200]


# playing -------------------------------------------------------------------------------------


def test_games_in_step_are_the_games_one_by_one():
    seeds = held_out(5, repeat=2)
    together = played(lambda: world("roulette"), seeds, CHANCE)
    alone = [played(lambda: world("roulette"), [seed], CHANCE) for seed in seeds]
    assert together.returns.tolist() == [g.returns[0] for g in alone]
    assert together.lengths.tolist() == [g.lengths[0] for g in alone]
    assert len(set(together.lengths)) > 1


def test_held_out_seeds_of_repeats_do_not_meet():
    assert not set(held_out(50, 0)) & set(held_out(50, 1))


# merged --------------------------------------------------------------------------------------


def pair(**options):
    return Merged(world("nchain"), world("roulette"), **options)


@pytest.mark.parametrize("clamp", [False, True])
def test_a_merged_world_keeps_its_promises(clamp):
    check_world(pair(clamp=clamp))


def test_merged_games_take_turns_and_are_those_of_the_parts():
    games = played(pair, paired(held_out(4)), lambda turn: act_alike(turn, 1))
    for part, name in enumerate(("nchain", "roulette")):
        alone = played(lambda name=name: world(name), held_out(4), lambda turn: act_alike(turn, 1))
        assert games.returns[part::2].tolist() == alone.returns.tolist()
        assert games.lengths[part::2].tolist() == alone.lengths.tolist()


def act_alike(turn, action):
    from snellen.core import Answers

    return Answers(np.full(len(turn), action))


def test_what_a_game_lacks_is_zero_and_invalid():
    both = pair()
    assert both.begin(0).tolist() == [1, 0, 0, 0, 0]
    assert both.valid().tolist() == [True, True] + [False] * 36
    assert both.limit == 1000
    both.step(0)
    assert both.begin(1).tolist() == [1, 0, 0, 0, 0]
    assert both.valid().all()
    assert both.limit == 100
    assert both.steps == [1, 0]


def test_clamping_takes_an_action_too_many_for_the_last():
    clamped, plain = pair(clamp=True), world("nchain")
    assert clamped.valid().all()
    clamped.begin(10)
    plain.begin(5)
    for action in (0, 30, 0, 0, 1, 37):
        seen, reward, _ = clamped.step(action)
        mine = plain.step(min(action, 1))
        assert seen.tolist() == mine[0].tolist()
        assert reward == mine[1]


def test_a_flawed_world_is_seen_in_bytes_and_pays_twice():
    class Slope:
        name, size, actions, limit = "slope", 4, 1, 5

        def begin(self, seed):
            return np.array([-0.03, -1.2, 2.9, 300], np.float32)

        def step(self, action):
            return self.begin(0), 1.5, False

        def valid(self):
            return np.ones(1, bool)

    odd = flawed(Slope())
    check_world(odd)
    assert odd.begin(0).tolist() == [0, 255, 2, 44]
    assert odd.step(0)[1] == 3
