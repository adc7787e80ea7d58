"""What is a return worth, between that of random play and that of the best?

>>> round(normalised("cliff-walking", -30), 3)
0.992

Random play is uniform over the actions. It and the best are exact where a world has states that
can be counted: by dynamic programming over as many steps as the limit allows (see the tests).
Elsewhere random play is a mean (of 100,000 games of CartPole, ± .04; of 1,000 of Acrobot, ± .4,
and of MountainCar, which none ended early), and the reference is the limit of a game that pays
for each step, or what the world's makers call solved. A best by dynamic programming is that of a
player who knows the rules and counts the steps, so nobody's expectation lies above it; that of
"solved" can be exceeded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from snellen.worlds.changed import Changed

if TYPE_CHECKING:
    from snellen.core import World


class Scores(NamedTuple):
    """Returns that others are measured by."""

    random: float
    reference: float
    source: str
    """Where the reference comes from."""


EXACT = "the best possible, by dynamic programming"
SOLVED = "gymnasium's threshold of solving it"
SCORES = {
    "cartpole-v0": Scores(22.2, 200.0, "the limit of its steps"),
    "cartpole-v1": Scores(22.2, 500.0, "the limit of its steps"),
    "mountain-car": Scores(-200.0, -110.0, SOLVED),
    "acrobot": Scores(-498.9, -100.0, SOLVED),
    "frozen-lake": Scores(0.01394, 0.74419, EXACT),
    "frozen-lake-8x8": Scores(0.0019014, 0.91322, EXACT),
    "taxi": Scores(-771.09, 7.93, EXACT),
    "cliff-walking": Scores(-2079.12, -13.0, EXACT),
    "nchain": Scores(1311.25, 3665.83, EXACT),
    "roulette": Scores(-0.93053, 0.0, "the best possible: to leave at once"),
}


def normalised(world: str, mean_return: float) -> float:
    """Return 0 for what random play brings, 1 for the reference."""
    scores = SCORES[world]
    return (mean_return - scores.random) / (scores.reference - scores.random)


def scaled(world: World) -> Changed:
    """Return the world paid so that from random play to the reference is 1.

    Of two merged worlds neither is then learned at the other's expense because it pays in
    hundreds. A game's return is the normalised one once `normalised(world.name, 0)` is added.
    """
    scores = SCORES[world.name]
    return Changed(world, 1 / (scores.reference - scores.random))
