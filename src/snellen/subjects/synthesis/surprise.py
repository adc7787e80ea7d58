"""How often does chance deviate as little?

Numbers are set against those of random scenes. Below the least of them the share is
carried on by the power law that the lower tail follows: what holds to the pixel and
depends on many places at once is more surprising than a few hundred throws can show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from snellen.subjects.synthesis.board import Floats

Kind: TypeAlias = Literal["low", "high", "near"]
"""A range is all that is small, all that is large, or all that is near to something."""
LEAST = 1e-5
"""No share is taken to be less."""
TAIL, BODY = 20, 5
"""The law is read off between one in so many of the random scenes, and one in so many."""
STEEPEST = 6.0


def deviations(values: Floats, kind: Kind, centre: Floats | float) -> Floats:
    """Return how far values lie from the inner end, or from the centre, of a range."""
    if kind == "near":
        return np.asarray(np.abs(values - centre))
    return values if kind == "low" else -values


def no_further(apart: Floats, chance: Floats, noise: Floats) -> Floats:
    """Return (numbers, pictures): the share of random scenes that deviate no more.

    `apart` (numbers, pictures) and `chance` (numbers, scenes) hold deviations, NaN where a
    number means nothing; such pictures deviate more than any.
    """
    total = chance.shape[1] + 1
    count = (chance[:, None, :] <= (apart + noise[:, None])[:, :, None]).sum(2)
    return np.where(np.isnan(apart), 1.0, np.minimum((count + 0.5) / total, 1.0))


def no_nearer(apart: Floats, chance: Floats, noise: Floats) -> Floats:
    """Return (numbers, pictures): the share of random scenes that deviate no less."""
    total = chance.shape[1] + 1
    nearer = (chance[:, None, :] < (apart - noise[:, None])[:, :, None]).sum(2)
    missing = np.isnan(chance).sum(1)[:, None]
    count = np.where(np.isnan(apart), missing, chance.shape[1] - nearer)
    return np.asarray(np.minimum((count + 0.5) / total, 1.0))


def with_tail(shares: Floats, values: Floats, chance: Floats, noise: Floats) -> Floats:
    """Carry the shares of small values of numbers that are never below 0 on into the tail."""
    ranked = np.sort(chance, axis=1)  # NaN comes last
    known = np.isfinite(ranked).sum(1)
    made = shares.copy()
    for i in np.flatnonzero((noise > 0) & (known >= 2 * TAIL)):
        edge, inner = ranked[i, known[i] // TAIL], ranked[i, known[i] // BODY]
        if ranked[i, 0] < 0 or inner <= edge:
            continue
        power = np.log(TAIL / BODY) / np.log((inner + noise[i]) / (edge + noise[i]))
        at_edge = (known[i] // TAIL + 0.5) / (chance.shape[1] + 1)
        law = at_edge * ((values[i] + noise[i]) / (edge + noise[i])) ** min(power, STEEPEST)
        made[i] = np.where(values[i] < edge, np.minimum(made[i], law), made[i])
    return np.maximum(made, LEAST)
