"""How does a painter throw dice? A seed's numbers, one after the other, as plain floats.

Plain floats leave the arrays that they meet in single precision, whichever NumPy it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from snellen.seeds import Seed

T = TypeVar("T")
AT_ONCE = 256


class Dice:
    """Random numbers in the order in which they are asked for."""

    def __init__(self, seed: Seed) -> None:
        self._seed = seed
        self._left: list[float] = []

    def number(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return a number from `low` to below `high`."""
        if not self._left:
            self._left = self._seed.floats(AT_ONCE).tolist()
        return low + (high - low) * self._left.pop()

    def whole(self, low: int, high: int) -> int:
        """Return one of `low` to `high`, both of them among it."""
        return low + int(self.number() * (high - low + 1))

    def chance(self, share: float) -> bool:
        """Say yes in that share of the cases."""
        return self.number() < share

    def pick(self, options: Sequence[T]) -> T:
        """Return one of them."""
        return options[int(self.number() * len(options))]

    def numbers(self, *shape: int) -> npt.NDArray[np.float64]:
        """Return that many numbers from 0 to below 1."""
        return self._seed.floats(int(np.prod(shape))).reshape(shape)
