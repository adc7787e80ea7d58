"""How does compiled code throw dice?

A stream of chance is one 64-bit word in an array, so that compiled functions can pass it
on and move it forward. The generator is SplitMix64 (Steele et al. 2014): a counter and a
mixing function, in whole-number arithmetic that is the same on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from snellen.images.compiled import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    Dice: TypeAlias = npt.NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)
TIMES = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
ELEVEN = np.uint64(11)


@compiled
def mixed(z: Any) -> Any:
    """Spread the bits of a word, or of an array of words, over the whole of it."""
    z = (z ^ (z >> SHIFTS[0])) * TIMES[0]
    z = (z ^ (z >> SHIFTS[1])) * TIMES[1]
    return z ^ (z >> SHIFTS[2])


@compiled
def word(dice: Dice) -> Any:
    """Return 64 random bits."""
    dice[0] += STEP
    return mixed(dice[0])


@compiled
def uniform(dice: Dice, low: float, high: float) -> float:
    """Return a number from `low` to below `high`."""
    return low + (high - low) * float(word(dice) >> ELEVEN) * 2.0**-53


@compiled
def below(dice: Dice, count: int) -> int:
    """Return one of 0..count-1."""
    return int(uniform(dice, 0.0, 1.0) * count)


@compiled
def in_disc(dice: Dice) -> tuple[float, float]:
    """Return a point of the unit disc."""
    while True:  # each round ends it with π/4
        bits = word(dice)
        x = (bits >> HALF) * 2.0**-31 - 1
        y = (bits & LOW) * 2.0**-31 - 1
        if x * x + y * y <= 1:
            return x, y
