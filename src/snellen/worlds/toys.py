"""How are the two games played that gymnasium has no more?"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.seeds import Seed

if TYPE_CHECKING:
    from snellen.core import Flags, Observation


class NChain:
    """Five places in a row: go on to the last, where staying pays 10, or turn back for 2.

    One action in five slips, and the other one happens (Strens 2000). It never ends of itself.
    """

    name: ClassVar = "nchain"
    actions: ClassVar = 2
    limit: ClassVar = 1000
    PLACES: ClassVar = 5
    SLIP: ClassVar = 0.2
    FORWARD: ClassVar = 0

    def __init__(self, *, scalar: bool = False) -> None:
        self._scalar = scalar
        self.size = 1 if scalar else self.PLACES

    def begin(self, seed: int) -> Observation:
        """Begin at the first place."""
        self._slips = iter((Seed(self.name, seed).floats(self.limit) < self.SLIP).tolist())
        self._place = 0
        return self._seen()

    def step(self, action: int) -> tuple[Observation, float, bool]:
        """Go on or turn back, or slip."""
        if (action == self.FORWARD) == next(self._slips):
            self._place = 0
            return self._seen(), 2.0, False
        last = self._place == self.PLACES - 1
        self._place += not last
        return self._seen(), 10.0 * last, False

    def valid(self) -> Flags:
        """Both, always."""
        return np.ones(self.actions, np.bool_)

    def _seen(self) -> Observation:
        return seen(self._place, self.PLACES, scalar=self._scalar)


class Roulette:
    """Bet on 0, which pays 35, or on the parity of a number, which pays 1; or leave the table.

    Thirty-seven of the 38 actions lose 1/37 on average, so the best is to leave at once.
    """

    name: ClassVar = "roulette"
    actions: ClassVar = 38
    size: ClassVar = 1
    limit: ClassVar = 100
    LEAVE: ClassVar = 37

    def __init__(self, *, scalar: bool = False) -> None:
        self._seen = np.full(1, 0 if scalar else 1, np.float32)  # there is but one state

    def begin(self, seed: int) -> Observation:
        """Sit down."""
        self._balls = iter(Seed(self.name, seed).picks(self.limit, [1] * 37).tolist())
        return self._seen

    def step(self, action: int) -> tuple[Observation, float, bool]:
        """Bet, or leave."""
        if action == self.LEAVE:
            return self._seen, 0.0, True
        ball = next(self._balls)
        if action == 0:
            return self._seen, 35.0 if ball == 0 else -1.0, False
        return self._seen, 1.0 if ball and ball % 2 == action % 2 else -1.0, False

    def valid(self) -> Flags:
        """All of them, always."""
        return np.ones(self.actions, np.bool_)


def seen(state: int, states: int, *, scalar: bool) -> Observation:
    """Show which of several states it is: by a 1 in its place, or as a number.

    >>> seen(2, 4, scalar=False), seen(2, 4, scalar=True)
    (array([0., 0., 1., 0.], dtype=float32), array([2.], dtype=float32))
    """
    if scalar:
        return np.array([state], np.float32)
    shown = np.zeros(states, np.float32)
    shown[state] = 1
    return shown
