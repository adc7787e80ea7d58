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
"""Below one in so many of the random scenes the law holds; it is read off one in so many."""
FEWEST = 40
"""From fewer scenes no law is read off."""
STRAIGHT = 5.0
"""Scenes' worth of trust in a power of 1, as a single distance has: of few scenes the power alone
(the estimate of Hill, 1975) is too uncertain to be carried on far."""
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
    for i in np.flatnonzero((noise > 0) & (known >= FEWEST)):
        count = known[i] // BODY
        edge, inner = ranked[i, known[i] // TAIL], ranked[i, count] + noise[i]
        if ranked[i, 0] < 0 or inner <= edge + noise[i]:
            continue
        steps = np.log(inner / (ranked[i, :count] + noise[i])).sum()
        power = min((count + STRAIGHT) / (steps + STRAIGHT), STEEPEST)
        at_inner = (count + 0.5) / (chance.shape[1] + 1)
        law = at_inner * ((values[i] + noise[i]) / inner) ** power
        made[i] = np.where(values[i] < edge, law, made[i])
    return np.maximum(made, LEAST)
