"""How does a picture of few grey levels look through Gaussian noise?

The paper adds N(0, σ) to every pixel, clips to 0..10 and truncates. A picture has
ten levels of ink and the outcome eleven values, so the outcome's distribution is a
short table, and a pixel costs sixteen random bits and a few comparisons instead of
a normal variate. Each probability is right to within 2^-17.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.seeds import Seed

    Levels = npt.NDArray[np.uint8]

TOP = 10
CHUNK = 1 << 16
"""Pixels worked on at a time, so that they stay in the cache."""


def noisy(pictures: Levels, sigma: float, seed: Seed) -> Levels:
    """Return pictures of levels 0..9 with noise on every pixel, as levels 0..10."""
    if sigma == 0:
        return pictures
    flat = pictures.reshape(-1)
    made = np.empty_like(flat)
    for start in range(0, len(flat), CHUNK):
        part = flat[start : start + CHUNK]
        bits = seed.shorts(len(part))
        out = made[start : start + CHUNK]
        _count_edges(bits, 0, sigma, out)  # nearly every pixel is background
        inked = np.flatnonzero(part != 0)
        out[inked] = _table(sigma)[part[inked], bits[inked]]
    return made.reshape(pictures.shape)


def _count_edges(bits: npt.NDArray[np.uint16], ink: int, sigma: float, out: Levels) -> None:
    """Set `out` to how many of the ink's edges each of `bits` reaches."""
    out[...] = 0
    reached = np.empty(len(bits), bool)
    for edge in _edges(sigma)[ink]:
        if edge < 1 << 16:
            np.greater_equal(bits, np.uint16(edge), out=reached)
            np.add(out, reached.view(np.uint8), out=out)


@lru_cache
def _edges(sigma: float) -> npt.NDArray[np.int64]:
    """Return, by ink and k = 1..10, 2^16 · P(outcome < k), where Φ((k − ink)/σ) is that P."""
    ink, k = np.arange(TOP)[:, None], np.arange(1, TOP + 1)
    below = np.asarray(special.ndtr((k - ink) / sigma))
    return np.asarray(np.rint(below * (1 << 16)), np.int64)


@lru_cache
def _table(sigma: float) -> Levels:
    """Return the outcome by ink and sixteen random bits."""
    bits = np.arange(1 << 16)
    return np.stack([np.searchsorted(e, bits, side="right") for e in _edges(sigma)]).astype(
        np.uint8
    )
