"""What do an agent's similarities say of all tests together?

A map, a tree, how diverse the suite is, and which few of its tests are the most diverse. How
sure that is comes of draws: what would the similarities be if each repeat had counted a
little more, or less?
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

from snellen.exams.kinship import suite
from snellen.figures import Map, Table, Tree
from snellen.seeds import Seed
from snellen.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Figure
    from snellen.exams.kinship.findings import Findings, Runs

Numbers: TypeAlias = npt.NDArray[np.float64]

DRAWS = 1000
FEWEST = 3
"""Of two tests there is nothing to say together that S does not say."""
DECIMALS = 6
"""Of an S; what comes after them is rounding, and no repeat differs from another by it."""
LARGEST = 5
"""The most diverse subset is looked for up to so many tests."""
TOLD = {
    "matched": "S matched (tests alone after as many pictures as a merger has of each)",
    "paper": "S as the paper takes it (tests alone after as many pictures as a whole merger has)",
}


@dataclass(frozen=True, eq=False)
class Similarities:
    """S of every two tests by one agent."""

    subject: str
    tests: tuple[str, ...]
    which: Literal["matched", "paper"]
    pairs: Mapping[tuple[str, str], Interval]
    """S of the pairs that have one, each in the order of the tests."""
    values: Numbers
    """(tests, tests), 1 on the diagonal; NaN where a pair has none."""
    draws: Numbers | None
    """(draws, tests, tests); None where tests were taken once, so that nothing varies."""
    equal: tuple[tuple[str, str], ...]
    """Pairs that are too equally hard for S."""
    missing: tuple[tuple[str, str], ...]
    """Pairs that were not merged."""

    @property
    def gaps(self) -> str:
        """A sentence on the pairs that have no S; empty if all have one."""
        told = []
        for pairs, why in ((self.equal, "Too equally hard for S"), (self.missing, "Not merged")):
            if pairs:
                named = ", ".join(f"{one} and {other}" for one, other in pairs[:4])
                more = f" and {len(pairs) - 4} pairs more" if len(pairs) > 4 else ""
                told.append(f"{why}: {named}{more}")
        return "".join(f" {text}." for text in told)


def similarities(f: Findings, tests: Sequence[str]) -> Similarities | None:
    """Lay S of every two tests out, of mergers in equal parts; None if no two have one.

    It is S matched, unless S paper is known of more pairs: distances on one map must mean one
    thing.
    """
    tests = [name for name in tests if name in f.tests]
    halves = {m: p for m, p in f.pairs.items() if (m.merge, m.share) == ("sampled", 0.5)}
    matched = {m: p for m, p in halves.items() if p.matched is not None}
    which: Literal["matched", "paper"] = "matched" if len(matched) == len(halves) else "paper"
    known = {frozenset((m.first, m.second)): p for m, p in halves.items()}
    values = np.where(np.eye(len(tests), dtype=bool), 1.0, math.nan)
    runs: dict[tuple[int, int], Runs] = {}
    pairs: dict[tuple[str, str], Interval] = {}
    equal, missing = [], []
    for (i, one), (j, other) in combinations(enumerate(tests), 2):
        pair = known.get(frozenset((one, other)))
        k = None if pair is None else pair.matched if which == "matched" else pair.paper
        if pair is None or k is None:
            missing.append((one, other))
        elif not k.defined:
            equal.append((one, other))
        else:
            pairs[one, other] = Interval(*(round(x, DECIMALS) + 0.0 for x in k.s))
            values[i, j] = values[j, i] = pairs[one, other].value
            runs[i, j] = pair.part if which == "matched" else pair.whole
    if not runs:
        return None
    draws = redrawn(runs, len(tests))
    return Similarities(
        f.subject, tuple(tests), which, pairs, values, draws, tuple(equal), tuple(missing)
    )  # fmt: skip


def redrawn(runs: Mapping[tuple[int, int], Runs], tests: int) -> Numbers | None:
    """Draw matrices of S as they could as well have come out; None if any was taken once.

    A draw moves every mean score by Σ g_r (x_r − x̄) ÷ √(n(n − 1)), with one normal g_r for each
    repeat r (Wu 1986). Repeats are common to all pairs, because all that is sat in one shares its
    seeds and pictures. The variance is then that of the mean however few repeats there are: drawing
    n of n with replacement would lose a share 1/n of it. Divided by √(χ²/(n − 1)) the move is
    Student's, so clouds are as wide as the intervals of S. A draw in which the easier test comes
    out as the harder one has no S for that pair.
    """
    if any(len(rows) < 2 for rows in runs.values()):
        return None
    repeats = sorted({repeat for rows in runs.values() for repeat in rows})
    rng = np.random.default_rng(Seed("similarities", tests).number())
    weights = rng.normal(size=(DRAWS, len(repeats)))
    luck = rng.random(DRAWS)
    made = np.full((DRAWS, tests, tests), math.nan)
    made[:, range(tests), range(tests)] = 1.0
    for (i, j), rows in runs.items():
        scores, count = np.array(list(rows.values())), len(rows)
        own = weights[:, [repeats.index(repeat) for repeat in rows]]
        moved = own @ (scores - scores.mean(axis=0)) / math.sqrt(count * (count - 1))
        tails = np.sqrt(2 * special.gammaincinv((count - 1) / 2, luck) / (count - 1))
        made[:, i, j] = made[:, j, i] = _s(scores.mean(axis=0) + moved / tails[:, None])
    return made


def _s(scores: Numbers) -> Numbers:
    """Return S of (draws, 3) scores of two tests and their merger, by equation 3."""
    a, b, ab = scores.T if scores.mean(axis=0)[0] > scores.mean(axis=0)[1] else scores.T[[1, 0, 2]]
    gap = np.where(a > b, a - b, math.nan)
    return np.asarray(np.clip(1 - 2 * (ab - b) / gap, -1, 1).round(DECIMALS) + 0.0)


def landscape(agents: Sequence[Similarities]) -> list[Figure]:
    """Draw what each agent's similarities say, of three tests or more."""
    drawn = [
        figure
        for s in agents
        if len(s.tests) >= FEWEST
        for figure in (_map(s), _tree(s), _diversity(s))
    ]
    return [figure for figure in drawn if figure is not None]


def _map(s: Similarities) -> Map | None:
    found = suite.mapped(s.values, s.draws)
    placed = np.asarray(np.isfinite(found.points).all(axis=1))
    if placed.sum() < FEWEST:
        return None
    fits = f"The plane gets {_percent(found.stress)} of the distances wrong (Kruskal's stress-1)"
    if math.isfinite(found.chance):
        fits += f"; were they dealt to the pairs at random, {_percent(found.chance)}"
    else:
        fits += ", which says little of three tests"
    around = ""
    if len(found.clouds):
        around = (
            f" Dots: {len(found.clouds)} draws of how it could as well have come out, over repeats;"
            " an ellipse holds 95 % of them."
        )
    out = [name for name, stands in zip(s.tests, placed, strict=True) if not stands]
    left = (
        f" There is no place for {', '.join(out)}: too few of their pairs have an S." if out else ""
    )
    return Map(
        name=f"map-{s.subject}",
        title=f"Map of the tests: {s.subject}",
        caption=(
            f"Tests that are alike for {s.subject} lie close: two are 1 − S apart, "
            f"{TOLD[s.which]}. 0: both at once are as hard as the harder alone; 1: halfway, as if "
            "neither disturbed the other, and of such tests no more than three fit on a plane; 2: "
            f"as easy as the easier alone. {fits}.{around} Only distances mean something, left and "
            f"up do not.{left}{s.gaps}"
        ),
        formula="metric scaling of 1 − S (SMACOF), pairs without S left out",
        names=s.tests,
        points=found.points.tolist(),
        clouds=found.clouds.transpose(1, 0, 2).tolist() if len(found.clouds) else (),
        unit="1 − S:",
    )


def _tree(s: Similarities) -> Tree:
    found = suite.clustered(s.values, s.draws)
    pairs = len(s.tests) * (len(s.tests) - 1) // 2
    support = (
        " In blue: the share of draws over repeats in whose tree just these tests are together."
        if s.draws is not None
        else " Scores that were given once do not tell how sure a branch is."
    )
    guessed = (
        f" Pairs without an S ({found.guessed} of {pairs}) count as far apart as their tests are "
        "from the others on average."
        if found.guessed
        else ""
    )
    return Tree(
        name=f"tree-{s.subject}",
        title=f"Tree of the tests: {s.subject}",
        caption=(
            "The nearest tests are joined first, at the mean distance of those on either side; "
            f"distances as on the map.{support}{guessed}"
        ),
        formula="average linkage (UPGMA) of 1 − S",
        names=s.tests,
        merges=found.merges,
        support=found.support if s.draws is not None else (),
        axis="mean 1 − S",
    )


def _diversity(s: Similarities) -> Table:
    count = len(s.tests)
    whole = {"tests": f"all {count}", "which": ", ".join(s.tests)}
    subsets = [_subset(s, size) for size in range(2, min(count - 1, LARGEST) + 1)]
    drawn = (
        "; 95 % intervals over repeats. Chosen: the share of draws in which just these are the "
        "most diverse; next best: what is it in most of the others. The best of many subsets looks "
        "better than it is, by as much as the last column says"
    )
    pairs = math.comb(count, 2)
    gaps = (
        f" {len(s.pairs)} of {pairs} pairs have an S, and only tests of which every two have one "
        "can be the most diverse."
    )
    return Table(
        name=f"diversity-{s.subject}",
        title=f"How diverse the tests are, and which few are the most: {s.subject}",
        caption=(
            f"Diversity: the mean of 1 − S over pairs, {TOLD[s.which]}"
            f"{drawn if s.draws is not None else ''}.{gaps if s.gaps else ''}"
        ),
        formula="mean 1 − S over the pairs that have an S; all subsets compared; looks better by: "
        "mean excess of a draw's best subset over the same subset's own diversity (Efron 1983)",
        cells=[
            {**whole, "diversity": suite.diversity(s.values, s.draws)},
            *(row for row in subsets if row is not None),
        ],
        plain=("diversity",),
    )


def _subset(s: Similarities, size: int) -> dict[str, Any] | None:
    found = suite.most_diverse(s.values, size, s.draws)
    if found is None:
        return None
    row = {
        "tests": f"best {size}",
        "which": ", ".join(s.tests[place] for place in found.tests),
        "diversity": found.diversity,
    }
    if s.draws is None:
        return row
    rival = next((r for r in found.rivals if r[0] != found.tests), None)
    named = ", ".join(s.tests[place] for place in rival[0]) if rival else ""
    next_best = f"{named} ({_percent(rival[1])})" if rival else "none"
    return row | {
        "chosen": _percent(found.chosen),
        "next best": next_best,
        "looks better by": found.optimism,
    }


def _percent(share: float) -> str:
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"
