"""How do a cart and its pole move, many at once?

The equations and constants are those of Barto, Sutton & Anderson (1983) in the form that
gymnasium has them. A state is a row: position, its speed, angle (radians from upright, to the
right), its speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.core import Flags

States: TypeAlias = npt.NDArray[np.float64]
"""(n, 4)"""
GRAVITY, CART, POLE, HALF_LENGTH = 9.8, 1.0, 0.1, 0.5
FORCE, TICK = 10.0, 0.02
FARTHEST, STEEPEST = 2.4, np.radians(12.0)
GAINS = (0.3, 0.6, 5.0, 1.3)
"""Of a balancer that pushes right where gains times state is positive: the linear-quadratic ones of
the upright cart, with angles weighed ten times and pushes as ten times the rest, rounded."""


def begun(seeds: Sequence[int]) -> States:
    """Return the first state of a game for each seed: nearly upright, nearly at rest."""
    return np.array([Seed("cartpole", seed).floats(4) for seed in seeds]).reshape(-1, 4) / 10 - 0.05


def pushed(states: States, right: Flags) -> States:
    """Return where a push to the right, or to the left, leads in a fiftieth of a second."""
    x, dx, angle, turning = states.T
    mass = CART + POLE
    sine, cosine = np.sin(angle), np.cos(angle)
    push = np.where(right, FORCE, -FORCE)
    drive = (push + POLE * HALF_LENGTH * turning**2 * sine) / mass
    turn = (GRAVITY * sine - cosine * drive) / (HALF_LENGTH * (4 / 3 - POLE * cosine**2 / mass))
    speedup = drive - POLE * HALF_LENGTH * turn * cosine / mass
    moved = x + TICK * dx, dx + TICK * speedup, angle + TICK * turning, turning + TICK * turn
    return np.stack(moved, axis=1)


def fallen(states: States) -> Flags:
    """Tell which games are over: the cart too far out, or the pole too steep."""
    return np.asarray((abs(states[:, 0]) > FARTHEST) | (abs(states[:, 2]) > STEEPEST))


def balanced(states: States) -> Flags:
    """Tell where a good balancer pushes right: it loses no game (see the tests)."""
    return np.asarray(states @ np.array(GAINS) > 0)
