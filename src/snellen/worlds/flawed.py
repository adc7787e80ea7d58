"""What became of a world on its way to the paper's player?

The heat map of Pereyda & Holder (2020, Figure 5) was made with observations cast to whole
bytes, so that −0.03 is 0 and −1 is 255, and with every reward counted twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from snellen.core import Flags, Observation, World


class Flawed:
    """A world as the paper's player met it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.name, self.size, self.actions = world.name, world.size, world.actions

    @property
    def limit(self) -> int:
        """As it is."""
        return self._world.limit

    def begin(self, seed: int) -> Observation:
        """Begin, seen in whole bytes."""
        return _bytes(self._world.begin(seed))

    def step(self, action: int) -> tuple[Observation, float, bool]:
        """Go on, paid twice."""
        observation, reward, over = self._world.step(action)
        return _bytes(observation), 2 * reward, over

    def valid(self) -> Flags:
        """As it is."""
        return self._world.valid()


def _bytes(observation: Observation) -> Observation:
    """Cut off the fraction and keep the last eight bits, alike on every machine."""
    return observation.astype(np.int64).astype(np.uint8).astype(np.float32)
