"""How are gymnasium's games played as worlds?

Their own wrappers are left out: they check each step (six times the cost of one), and a limit
of steps is for whoever plays to keep, who so can tell a game that was lost from one that was
left. CliffWalking has no limit of its own; ours is that of Taxi, 200 steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from snellen.errors import extra
from snellen.worlds.toys import seen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.core import Flags, Observation


class _Known(NamedTuple):
    """What gymnasium calls a game, the newest version first, and how it is set up."""

    ids: tuple[str, ...]
    limit: int
    options: Mapping[str, Any] = {}


GYMS: dict[str, _Known] = {
    "cartpole-v0": _Known(("CartPole-v1",), 200),  # v0 is v1 with another limit
    "cartpole-v1": _Known(("CartPole-v1",), 500),
    "mountain-car": _Known(("MountainCar-v0",), 200),
    "acrobot": _Known(("Acrobot-v1",), 500),
    "frozen-lake": _Known(("FrozenLake-v1",), 100, {"map_name": "4x4"}),
    "frozen-lake-8x8": _Known(("FrozenLake-v1",), 200, {"map_name": "8x8"}),
    "taxi": _Known(("Taxi-v4", "Taxi-v3"), 200),
    "cliff-walking": _Known(("CliffWalking-v1", "CliffWalking-v0"), 200),
}


class Gym:
    """A game of gymnasium's."""

    def __init__(self, name: str, *, scalar: bool = False) -> None:
        with extra("rl", f"the world {name!r}"):
            import gymnasium
        known = GYMS[name]
        there = next((i for i in known.ids if i in gymnasium.registry), known.ids[0])
        made: Any = gymnasium.make(there, disable_env_checker=True, **known.options)
        self.name, self.limit = name, known.limit
        self._game = made.unwrapped
        self.actions = int(self._game.action_space.n)
        space: Any = self._game.observation_space
        self._states = int(getattr(space, "n", 0))
        self._scalar = scalar
        self.size = 1 if scalar and self._states else self._states or int(space.shape[0])

    def begin(self, seed: int) -> Observation:
        """Begin anew."""
        return self._seen(self._game.reset(seed=seed)[0])

    def step(self, action: int) -> tuple[Observation, float, bool]:
        """Go on."""
        state, reward, over, _, _ = self._game.step(int(action))
        return self._seen(state), float(reward), bool(over)

    def valid(self) -> Flags:
        """All of them, always, though some may achieve nothing."""
        return np.ones(self.actions, np.bool_)

    def _seen(self, state: Any) -> Observation:
        if self._states:
            return seen(int(state), self._states, scalar=self._scalar)
        return np.asarray(state, np.float32)
