"""How do two worlds become one?

>>> from snellen.worlds import world
>>> both = Merged(world("nchain"), world("roulette"))
>>> both.size, both.actions
(5, 38)
>>> both.begin(7), bool(both.valid().all())  # an odd seed: roulette
(array([1., 0., 0., 0., 0.], dtype=float32), True)

A game in it is a game of one of them, strictly in turns: of the first on even seeds, of the
second on odd ones, so any run of seeds has as many of each. Observations are as long as the
longer one, the rest filled with zeros; of the actions, as many as of the one that has more,
those which the present game lacks are not valid. So which game it is must be told by what is
seen, as in the paper (Pereyda & Holder 2020, "Merging Tests"). There an action too many counts
as the last one there is: `clamp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snellen.core import Flags, Observation, World


class Merged:
    """Two worlds in one."""

    def __init__(self, first: World, second: World, *, clamp: bool = False) -> None:
        self.parts = (first, second)
        self.name = f"{first.name}+{second.name}"
        self.size = max(first.size, second.size)
        self.actions = max(first.actions, second.actions)
        self.steps = [0, 0]
        """How many were taken in each, ever: games of equal number are not of equal length."""
        self._clamp = clamp
        self._part = 0

    @property
    def limit(self) -> int:
        """That of the present game."""
        return self.parts[self._part].limit

    def begin(self, seed: int) -> Observation:
        """Begin a game of the part whose turn it is, with half the seed."""
        self._part = seed % 2
        return self._padded(self.parts[self._part].begin(seed // 2))

    def step(self, action: int) -> tuple[Observation, float, bool]:
        """Go on with the present game."""
        present = self.parts[self._part]
        self.steps[self._part] += 1
        observation, reward, over = present.step(min(action, present.actions - 1))
        return self._padded(observation), reward, over

    def valid(self) -> Flags:
        """Return what the present game allows; everything, if actions are clamped."""
        own = self.parts[self._part].valid()
        return np.pad(own, (0, self.actions - len(own)), constant_values=self._clamp)

    def _padded(self, observation: Observation) -> Observation:
        padded = np.zeros(self.size, np.float32)
        padded[: len(observation)] = observation
        return padded


def paired(seeds: Iterable[int]) -> list[int]:
    """Return the seeds on which merged worlds play, in turns, what each plays on these.

    >>> paired([10, 11])
    [20, 21, 22, 23]
    """
    return [2 * seed + part for seed in seeds for part in (0, 1)]
