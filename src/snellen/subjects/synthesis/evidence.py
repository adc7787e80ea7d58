"""How much do the pictures speak for a rule, against the world and against chance?

A rule says of the pictures of one category, its own, that a number lies within a range;
of the others, that it lies in another range, no narrower. A range that random scenes hit
with probability p, and n pictures every time, is worth (1/p)ⁿ: the size principle of
Tenenbaum & Griffiths (2001). What holds of all the pictures is the world's doing: only
what a rule explains beyond that counts for it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from snellen.subjects.synthesis.surprise import (
    LEAST,
    deviations,
    no_further,
    no_nearer,
    with_tail,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.subjects.synthesis.board import Flags, Floats
    from snellen.subjects.synthesis.surprise import Kind

OUTLIER = 0.005
"""How often a picture is not what its category says, or was not read rightly."""
WORLDLY = 1e-6
"""How often a picture is not of this world: its regularities have hardly any exceptions."""
STEPS = 32
"""Widths of a range, on a logarithmic scale."""
CHOSEN = {True: 1.0, False: 4.0}
"""Bits for choosing the two widths: of a count, and of another number."""
CLOSE, AT_ZERO = 3.0, 2.0
"""What lies within so many times the noise of 0 is 0: that width need not be chosen, and the bits
are those of the other width alone."""
KIND_BITS: dict[tuple[Kind, bool], float] = {
    ("low", True): 1.0, ("high", True): 1.0, ("near", True): 1.0,
    ("low", False): 1.0, ("high", False): 1.0, ("near", False): 10.0,
}  # fmt: skip
"""Bits for the kind of range, of a count or of another number. Near means: near to any value
that the pictures happen to share, and costs what it takes to say which."""


class Ranges(NamedTuple):
    """Pairs of widths that a rule may have: of its own range, and of the other's."""

    own: npt.NDArray[np.intp]
    """Places among the widths."""
    other: npt.NDArray[np.intp]
    far: Flags
    """Whether the other's range lies at the far end, or begins where the own one ends."""


@cache
def widths() -> Floats:
    """Return the shares of random scenes that a range may cover."""
    return np.geomspace(LEAST, 1.0, STEPS)


@cache
def ranges() -> Ranges:
    """Return the pairs of which the own range is no wider than the other."""
    size = widths()
    beyond = [(i, j, False) for i in range(STEPS) for j in range(STEPS) if size[j] >= 2 * size[i]]
    apart = [
        (i, j, True)
        for i in range(STEPS)
        for j in range(i, STEPS)
        if size[i] + size[j] <= 1 + LEAST
    ]
    own, other, far = np.array(beyond + apart).T
    return Ranges(own, other, far.astype(bool))


def weigh(
    values: Floats, chance: Floats, noise: Floats, own: Flags, kind: Kind, counts: Flags
) -> Floats:
    """Return (numbers,) bits of evidence that pictures of `own` keep to a range of that kind.

    `values` (numbers, pictures) and `chance` (numbers, random scenes) hold the numbers.
    """
    centre = _middles(values[:, own]) if kind == "near" else np.zeros(len(values))
    apart = deviations(values, kind, centre[:, None])
    if kind == "near":
        apart[:, own] = _from_the_others(values[:, own])
    by_chance = deviations(chance, kind, centre[:, None])
    near = no_further(apart, by_chance, noise)
    if kind == "low":
        near = with_tail(near, values, chance, noise)
    far = no_nearer(apart[:, ~own], by_chance, noise)
    pair = ranges()
    both = _log_within(near[:, own], OUTLIER)[:, pair.own] + np.where(
        pair.far, _log_within(far, OUTLIER)[:, pair.other], _log_beyond(near[:, ~own], pair)
    )
    most = both.max(1)
    if kind == "near":
        most = np.where(counts, np.maximum(most, _log_of_two(near, values, chance, own)), most)
    world = np.maximum(_log_within(near, WORLDLY).max(1), 0)
    world = np.maximum(world, _log_where_it_means(near, values, chance))
    world = np.maximum(world, _log_of_law(near))
    bits = (most - world) / np.log(2)
    chosen = np.where(counts, CHOSEN[True], CHOSEN[False])
    if kind == "low":
        nothing = (values[:, own] <= CLOSE * noise[:, None]).all(1) & ~(chance < 0).any(1)
        chosen = np.where(nothing & ~counts, AT_ZERO, chosen)
    return np.asarray(bits - chosen)


def strikes(values: Floats, chance: Floats, own: Flags) -> Floats:
    """Return (numbers,) bits by which counts that are above 0 in all of `own` beat chance."""
    rare = ((chance > 0).sum(1) + 0.5) / (chance.shape[1] + 1)
    always = (values[:, own] > 0).all(1)
    return np.where(always, -own.sum() * np.log2(np.minimum(rare, 1.0)), -np.inf)


def _log_within(shares: Floats, outlier: float) -> Floats:
    """Return (numbers, widths): how likely all pictures are, thrown evenly over each width."""
    size = widths()
    inside = (shares[:, :, None] <= size).sum(1)
    count = shares.shape[1]
    logs = inside * np.log((1 - outlier) / size + outlier) + (count - inside) * np.log(outlier)
    return np.asarray(logs)


def _log_of_law(shares: Floats) -> Floats:
    """Return how likely all pictures are under one law by which small shares are common.

    The density is a power of the share. Where numbers only lie more or less far along, as the
    pictures of a world do, it leaves little to tell the categories apart by.
    """
    logs, count = np.log(np.maximum(shares, LEAST)), shares.shape[1]
    power = np.minimum(count / np.maximum(-logs.sum(1), 1e-9), 1.0)
    return np.asarray(count * np.log(power) + (power - 1) * logs.sum(1))


def _log_of_two(near: Floats, values: Floats, chance: Floats, own: Flags) -> Floats:
    """Return how likely pictures are of which the others share a count too, a commoner one."""
    theirs = values[:, ~own]
    apart = np.abs(chance - _middles(theirs)[:, None])
    shares = no_further(_from_the_others(theirs), apart, np.zeros(len(values)))
    mine, others = (_log_within(s, OUTLIER).max(1) for s in (near[:, own], shares))
    return np.where(
        mine / max(own.sum(), 1) >= others / max((~own).sum(), 1), mine + others, -np.inf
    )


def _log_where_it_means(shares: Floats, values: Floats, chance: Floats) -> Floats:
    """Return how likely the pictures in which a number means anything are together.

    So a rule about what only one category has earns nothing by what all such things share.
    """
    known = np.isfinite(values)
    meaning = (np.isfinite(chance).sum(1) + 0.5) / (chance.shape[1] + 1)
    inside = (known[:, :, None] & (shares[:, :, None] <= widths())).sum(1)
    within = np.log((1 - WORLDLY) / np.minimum(widths() / meaning[:, None], 1.0) + WORLDLY)
    logs = inside * within + (known.sum(1)[:, None] - inside) * np.log(WORLDLY)
    return np.where(known.all(1), 0.0, logs.max(1))


def _log_beyond(shares: Floats, pair: Ranges) -> Floats:
    """Return (numbers, pairs): the same, between the ends of the own and the other width."""
    size = widths()
    up_to = (shares[:, :, None] <= size).sum(1)
    inside = up_to[:, pair.other] - up_to[:, pair.own]
    room = np.where(pair.far, 1.0, size[pair.other] - size[pair.own])
    dense = np.log((1 - OUTLIER) / room + OUTLIER)
    return np.asarray(inside * dense + (shares.shape[1] - inside) * np.log(OUTLIER))


def _middles(values: Floats) -> Floats:
    """Return medians; NaN of nothing but NaN."""
    known = np.isfinite(values).any(1)
    made = np.full(len(values), np.nan)
    if values.shape[1]:
        made[known] = np.nanmedian(values[known], axis=1)
    return made


def _from_the_others(values: Floats) -> Floats:
    """Return how far each value is from the middle of the others: none speaks for itself."""
    made = np.full(values.shape, np.nan)
    for i in range(values.shape[1]):
        made[:, i] = np.abs(values[:, i] - _middles(np.delete(values, i, axis=1)))
    return made
