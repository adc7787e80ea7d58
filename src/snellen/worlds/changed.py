"""How is a world seen, or paid for, otherwise than it comes?

>>> from snellen.worlds import world
>>> _ = (odd := flawed(world("nchain", scalar=True))).begin(1)
>>> odd.step(1)[1]  # turning back pays 2, or 0 after a slip, and here twice
4.0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from snellen.core import Flags, Observation, World


def _same(observation: Observation) -> Observation:
    return observation


@dataclass(frozen=True)
class Changed:
    """A world of which each reward is multiplied, and each observation seen through something."""

    world: World
    pay: float
    through: Callable[[Observation], Observation] = _same

    @property
    def name(self) -> str:
        """As it was."""
        return self.world.name

    @property
    def size(self) -> int:
        """As it was."""
        return self.world.size

    @property
    def actions(self) -> int:
        """As many as there were."""
        return self.world.actions

    @property
    def limit(self) -> int:
        """As it was."""
        return self.world.limit

    def begin(self, seed: int) -> Observation:
        """Begin, seen through whatever it is."""
        return self.through(self.world.begin(seed))

    def step(self, action: int) -> tuple[Observation, float, bool]:
        """Go on, paid in another coin."""
        observation, reward, over = self.world.step(action)
        return self.through(observation), self.pay * reward, over

    def valid(self) -> Flags:
        """As it was."""
        return self.world.valid()


def flawed(world: World) -> Changed:
    """Return a world as the paper's player met it: seen in whole bytes, and paid twice.

    So the heat map of Pereyda & Holder (2020, Figure 5) was made: a cart's speed of −0.03 is
    seen as 0, one of −1 as 255.
    """
    return Changed(world, 2.0, _bytes)


def _bytes(observation: Observation) -> Observation:
    """Cut off the fraction and keep the last eight bits, alike on every machine."""
    return observation.astype(np.int64).astype(np.uint8).astype(np.float32)
