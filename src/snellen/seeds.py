"""Where does chance come from?

Every random number of an exam comes from a seed made of names and numbers:

>>> Seed("abstraction", "rotated", 3).bits(2)
array([13908675105093025512, 15778619831468168911], dtype=uint64)

Only the raw bits of a counter-based generator are used, and whole-number arithmetic on
them, because NumPy keeps those the same for ever; `Generator`'s own methods may
change between releases (NEP 19), and with them everybody's stimuli.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from snellen.core import Indices

    Bits: TypeAlias = npt.NDArray[np.uint64]


class Seed:
    """A stream of bits that the given parts name, and smaller draws made of it."""

    def __init__(self, *parts: str | float) -> None:
        digest = hashlib.blake2b(repr(parts).encode(), digest_size=16).digest()
        self._source = np.random.Philox(key=int.from_bytes(digest, "little"))

    def bits(self, count: int) -> Bits:
        """Return that many 64-bit words."""
        return np.asarray(self._source.random_raw(count), np.uint64)

    def shorts(self, count: int) -> npt.NDArray[np.uint16]:
        """Return that many 16-bit words."""
        words = self.bits(-(-count // 4)).astype("<u8", copy=False)
        return words.view("<u2")[:count].astype(np.uint16, copy=False)

    def floats(self, count: int) -> npt.NDArray[np.float64]:
        """Return numbers evenly spread from 0 to below 1."""
        return (self.bits(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def number(self) -> int:
        """Return a whole number that any library takes for a seed."""
        return int(self.bits(1)[0] >> np.uint64(33))

    def shuffled(self, count: int) -> Indices:
        """Return 0..count-1 in random order."""
        return np.asarray(np.argsort(self.bits(count), kind="stable"), np.intp)

    def picks(self, count: int, weights: Sequence[int]) -> Indices:
        """Draw `count` places, each as often as its whole-number weight says."""
        edges = np.cumsum(np.asarray(weights, np.uint64))
        # high 32 bits × total ≫ 32: uniform to within 2^-32, in exact integers
        spots = ((self.bits(count) >> np.uint64(32)) * edges[-1]) >> np.uint64(32)
        return np.asarray(np.searchsorted(edges, spots, side="right"), np.intp)
