"""Which rules do a few pictures of two categories suggest, and what do they say of others?

Every number of the language is weighed for each category (`evidence`), its expression's
bits are taken off, and the best rules answer together, each by how well a new picture's
number goes with those of the pictures of either category. The category that a rule is
about, its own, is taken at its word; the other may hold anything. A picture without what
all pictures of a category strikingly have (a pair that is the same, say) is not of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from snellen.subjects.synthesis.board import MOST, boards, stacked
from snellen.subjects.synthesis.chance import thrown
from snellen.subjects.synthesis.evidence import KIND_BITS, strikes, weigh
from snellen.subjects.synthesis.language import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.images.outlines import Scene
    from snellen.subjects.synthesis.board import Board, Floats
    from snellen.subjects.synthesis.language import Number
    from snellen.subjects.synthesis.surprise import Kind

THROWS, FEWEST = 960, 240
"""Random scenes in all, and of pictures full of ink."""
FULL = 700
"""Pixels of outline in a picture from which throwing takes too long: its cost is their square."""
KEPT = 60
"""Rules that answer together: the best."""
TRUST = 0.7
"""What evidence is worth, as rules that say nearly the same are not independent."""
STRIKING = 3.0
"""Bits by which what a category has in common must outdo its expression."""
SURE = 0.99
"""No rule is surer than this."""
MEMORY = {False: 0.2, True: 0.7}
"""Pictures' worth of chance in the counts of a rule's own category, and of the other."""
EXACT = 0.5
"""How often a number that is small in a category is 0 there by law."""
SCALES = 16
"""How finely the scales of what is merely small are told apart; none is likelier than another."""
ELSEWHERE = 0.3
"""How much of the other category may be as chance makes it."""


@dataclass(frozen=True, eq=False)
class Rule:
    """A number that tells the categories apart."""

    number: Number
    kind: Kind
    own: int
    """The category that keeps to a range."""
    bits: float
    """Of the evidence, less those of the expression."""
    values: tuple[Floats, Floats]
    """Of the pictures of category 0, and of 1."""
    chance: Floats
    """Of random scenes."""

    def share(self, board: Board) -> Floats:
        """Return how likely each scene is of the own category."""
        values = self.number(board)
        own = self._log_density(values, self.own, loose=False)
        other = self._log_density(values, 1 - self.own, loose=True)
        return np.clip(1 / (1 + np.exp(np.clip(other - own, -30, 30))), 1 - SURE, SURE)

    def _log_density(self, values: Floats, category: int, *, loose: bool) -> Floats:
        seen, chance = self.values[category], self.chance[np.isfinite(self.chance)]
        known = seen[np.isfinite(seen)]
        missing = (len(seen) - len(known) + 0.25) / (len(seen) + 0.5)
        if self.number.unit == "count":
            dense = _counted(values, known, chance, MEMORY[loose])
        else:
            noise = self.number.noise
            dense = _measured(values, known, chance, noise, loose=loose)
            if self.kind == "low" and not loose and len(known) and chance.min(initial=0) >= 0:
                nothing = _nothing(known, chance, noise)
                dense = (1 - nothing) * dense + nothing * _half_normal(values / noise) / noise
        logs = np.where(np.isnan(values), np.log(missing), np.log(1 - missing) + np.log(dense))
        return np.asarray(logs)


@dataclass(frozen=True, eq=False)
class Belief:
    """What was learned of two categories."""

    rules: tuple[Rule, ...]
    """The best first."""
    weights: Floats
    """How much each rule's answer counts; they add up to 1."""
    common: tuple[Rule, ...]
    """Counts that are strikingly above 0 in all pictures of a category."""

    def probability(self, scenes: Sequence[Scene]) -> Floats:
        """Return how likely each scene is of category 1."""
        made = np.full(len(scenes), 0.5)
        if self.rules:
            for places, board in boards(scenes):
                made[places] = self._of_board(board)
        return made

    def _of_board(self, board: Board) -> Floats:
        belongs = np.ones((2, len(board)))
        for rule in self.common:
            doubt = 1 / (1 + 2.0**rule.bits)
            lacks = rule.number(board) == 0
            belongs[rule.own] = np.where(
                lacks, np.minimum(belongs[rule.own], doubt), belongs[rule.own]
            )
        total = np.zeros(len(board))
        for weight, rule in zip(self.weights, self.rules, strict=True):
            share = rule.share(board) * belongs[rule.own]
            total += weight * (share if rule.own == 1 else 1 - share)
        return total


class Told(NamedTuple):
    """Every number that differs from all shorter ones, of the pictures and of random scenes."""

    said: list[Number]
    values: Floats
    """(numbers, pictures)"""
    chance: Floats
    """(numbers, random scenes)"""


def learn(told: Told, categories: Sequence[int]) -> Belief:
    """Weigh every rule that the language can say against the pictures seen."""
    said, values, chance = told
    if not said:
        return Belief((), np.zeros(0), ())
    of = [np.asarray(categories) == category for category in (0, 1)]
    noise = np.array([number.noise for number in said])
    counts = np.array([number.unit == "count" for number in said])
    length = np.array([number.bits for number in said])

    def rule(place: Any, kind: Kind, own: int, bits: float) -> Rule:
        both = (values[place, of[0]], values[place, of[1]])
        return Rule(said[place], kind, own, float(bits), both, chance[place])

    rules: list[Rule] = []
    common: list[Rule] = []
    for own in (own for own in (0, 1) if of[own].any()):
        best = np.full(len(said), -np.inf)
        kinds: list[Kind] = ["low"] * len(said)
        for kind in ("low", "high", "near"):
            cost = length + np.where(counts, KIND_BITS[kind, True], KIND_BITS[kind, False])
            bits = weigh(values, chance, noise, of[own], kind, counts) - cost
            for place in np.flatnonzero(bits > best):
                kinds[place] = kind
            best = np.maximum(best, bits)
        rules += [rule(i, kinds[i], own, best[i]) for i in np.argsort(-best, kind="stable")[:KEPT]]
        had = strikes(values, chance, of[own]) - length
        common += [
            rule(i, "high", own, had[i]) for i in np.flatnonzero(had > STRIKING) if said[i].plain
        ]
    rules = sorted(rules, key=lambda r: -r.bits)[:KEPT]
    logs = np.array([r.bits for r in rules]) * np.log(2) * TRUST
    return Belief(tuple(rules), np.exp(logs - logsumexp(logs)), tuple(common))


def tell(scenes: Sequence[Scene], seed: int = 0) -> Told:
    """Work out every number; of those that come out the same, keep the shortest."""
    thrown_boards = stacked(thrown(scenes, _throws(scenes), seed))
    gathered = boards(scenes)
    said: list[Number] = []
    rows, by_chance, seen = [], [], set()
    for number in numbers() if thrown_boards else ():
        row = np.full(len(scenes), np.nan)
        for places, board in gathered:
            row[places] = number(board)
        if np.isnan(row).all():
            continue
        random = np.concatenate([number(board) for board in thrown_boards])
        key = np.round(np.concatenate([row, random]), 6).tobytes()
        if key not in seen:
            seen.add(key)
            said.append(number)
            rows.append(row)
            by_chance.append(random)
    return Told(said, np.array(rows), np.array(by_chance))


def _throws(scenes: Sequence[Scene]) -> int:
    """Return how many random scenes to throw for each picture that has shapes."""
    inks = [sum(map(len, scene.outlines[:MOST])) for scene in scenes if len(scene.x)]
    fullest = max(inks, default=0)
    total = THROWS if fullest <= FULL else max(THROWS * FULL**2 // fullest**2, FEWEST)
    return -(-total // max(len(inks), 1))


def _counted(values: Floats, known: Floats, chance: Floats, memory: float) -> Floats:
    """Return how likely counts are: as often as seen, and a little as chance has it."""
    usual = ((chance == values[:, None]).sum(1) + 0.5) / (len(chance) + 1)
    seen = (known == values[:, None]).sum(1)
    return np.asarray((seen + memory * usual) / (len(known) + memory))


def _measured(
    values: Floats, known: Floats, chance: Floats, noise: float, *, loose: bool
) -> Floats:
    """Return how dense measures are: Student's t about those seen, no sharper than the noise."""
    ends = np.percentile(chance, [25, 50, 75]) if len(chance) > 3 else np.array([-5, 0, 5]) * noise
    usual = (ends[2] - ends[0]) / 1.35 + noise
    if len(known):
        middle, freedom = known.mean(), len(known)
        floor = noise**2 + (0.15 * usual) ** 2 * loose
        spread = ((known - middle) ** 2).sum() + floor
        scale = max(spread / freedom * (1 + 1 / freedom), floor) ** 0.5
    else:
        middle, freedom, scale = ends[1], 3, usual
    dense = _student((values - middle) / scale, freedom) / scale
    if loose and len(chance):
        width = max(noise, usual / 6)
        near = (np.abs(chance - values[:, None]) <= width).sum(1) + 0.5
        dense = (1 - ELSEWHERE) * dense + ELSEWHERE * near / (len(chance) + 1) / (2 * width)
    return np.asarray(dense)


def _nothing(known: Floats, chance: Floats, noise: float) -> float:
    """Return how likely numbers never below 0 are 0, but for noise, and not just small.

    Small means: as far from 0 as anything between the noise and what is usual by chance.
    """
    usual = np.median(chance) if len(chance) else 5 * noise
    scales = np.geomspace(noise, max(float(usual), 2 * noise), SCALES)
    logs = -len(known) * np.log(scales) - (known**2).sum() / (2 * scales**2)
    odds = EXACT / (1 - EXACT) * np.exp(logs[0] - logsumexp(logs)) * SCALES
    return float(odds / (1 + odds))


def _half_normal(x: Floats) -> Floats:
    return np.asarray(2 * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))


def _student(x: Floats, freedom: int) -> Floats:
    logs = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - 0.5 * np.log(freedom * np.pi)
    return np.asarray(np.exp(logs - (freedom + 1) / 2 * np.log1p(x**2 / freedom)))
