"""Do cheap proxies rank pairs of tests as their similarity S does?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.core import Verdict
from snellen.exams.kinship.findings import mean_of
from snellen.exams.kinship.proxies import Agreement, both_ways, validated
from snellen.figures import Dots, Table
from snellen.stats import Interval, holm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Figure
    from snellen.exams.kinship.findings import Findings
    from snellen.exams.kinship.landscape import Similarities

Numbers: TypeAlias = npt.NDArray[np.float64]

ALPHA = 0.05


class Proxy(NamedTuple):
    """A cheap stand-in for S."""

    key: str
    name: str
    distance: bool
    """Whether it is lower where tests are more alike."""


PROXIES = (
    Proxy("leep", "LEEP", distance=False),
    Proxy("logme", "LogME", distance=False),
    Proxy("fisher", "Fisher", distance=True),
    Proxy("transport", "transport", distance=True),
)
TOLD = """\
It was taught one test of a pair and shown pictures of the other, then the other way round; the \
numbers are means of both. LEEP: which share of what there is to know of the shown labels its \
answers foretell; LogME: how much better its features explain them than how common each is, in \
nats: both are higher where tests are more alike. Fisher: how differently both tests lean on the \
features, from 0 to 1; transport: how far pictures and labels of one must be moved to become the \
other's, from 0 to about 1: both are lower where tests are more alike."""


@dataclass(frozen=True, eq=False)
class Standing:
    """How one agent's proxies stand to its S."""

    subject: str
    tests: tuple[str, ...]
    inside: str
    """Where inside of the agent features were taken; empty: they are its answers'."""
    values: Mapping[str, Mapping[tuple[str, str], Interval]]
    """By proxy and pair, with its interval over repeats."""
    s: Similarities | None
    agreements: Mapping[str, Agreement]
    """By proxy; none where there is no S."""

    @property
    def adjusted(self) -> dict[str, float]:
        """The p-value of each agreement, for all proxies having been tried (Holm)."""
        known = {name: a.p for name, a in self.agreements.items() if math.isfinite(a.p)}
        return dict(zip(known, map(float, holm(list(known.values()))), strict=True))

    @property
    def reach(self) -> float:
        """The least p-value that a perfect proxy could have, for all having been tried."""
        count = max((a.tests for a in self.agreements.values()), default=0)
        return len(self.agreements) / math.factorial(min(count, 7))


def standing(f: Findings, tests: Sequence[str], s: Similarities | None) -> Standing | None:
    """Compare what an agent's proxies say with its S; None if it was asked for none."""
    tests = [name for name in tests if name in f.looked]
    values = {proxy.key: _of_pairs(f, tests, proxy.key) for proxy in PROXIES}
    if not any(values.values()):
        return None
    agreements = {} if s is None else {p.key: _agreement(p, values[p.key], s) for p in PROXIES}
    first = next(iter(f.looked[tests[0]].values()))
    return Standing(f.subject, tuple(tests), str(first["inside"]), values, s, agreements)


def _of_pairs(f: Findings, tests: Sequence[str], key: str) -> dict[tuple[str, str], Interval]:
    """Look from both tests at the other, in the same repeats."""
    made = {}
    for one, other in combinations(tests, 2):
        seen = []
        for repeat in sorted(set(f.looked[one]) & set(f.looked[other])):
            there = f.looked[one][repeat]["targets"].get(other, {}).get(key)
            back = f.looked[other][repeat]["targets"].get(one, {}).get(key)
            if there is not None and back is not None:
                seen.append(both_ways(there, back))
        if seen:
            made[one, other] = mean_of(seen).interval()
    return made


def _agreement(
    proxy: Proxy, values: Mapping[tuple[str, str], Interval], s: Similarities
) -> Agreement:
    held = np.full(s.values.shape, math.nan)
    for (one, other), interval in values.items():
        if one in s.tests and other in s.tests:
            i, j = s.tests.index(one), s.tests.index(other)
            held[i, j] = held[j, i] = interval.value
    return validated(held, s.values, s.draws, distance=proxy.distance)


def proxied(agents: Sequence[Standing]) -> list[Figure]:
    """Draw the proxies of every pair, and how they agree with S."""
    if not agents:
        return []
    figures: list[Figure] = [_values(a) for a in agents]
    judged = [
        a for a in agents if any(math.isfinite(x.spearman.value) for x in a.agreements.values())
    ]
    if judged:
        figures += [_correlations(judged), _judgement(judged)]
    return figures


def _values(a: Standing) -> Table:
    rows = []
    for one, other in combinations(a.tests, 2):
        row: dict[str, object] = {"pair": f"{one}, {other}"}
        if a.s is not None:
            equal = (one, other) in a.s.equal
            row[f"S {a.s.which}"] = "too equal" if equal else a.s.pairs.get((one, other), "")
        row |= {p.name: a.values[p.key].get((one, other), "") for p in PROXIES}
        rows.append(row)
    inside = f"what goes on inside of it, at position {a.inside}"
    looked = inside if a.inside else "the logarithms of its probabilities"
    return Table(
        name=f"proxies-{a.subject}",
        title=f"Likeness without mergers, by proxies: {a.subject}",
        caption=f"{TOLD} Features are {looked}. 95 % intervals over repeats.",
        formula="LEEP: 1 + LEEP/H(labels) (Nguyen 2020); LogME above that of no features (You "
        "2021); Fisher: 1 − cosine of gains' information (Achille 2019); transport: debiased, "
        "labels by their classes' normals, in units of the features' variance (Alvarez-Melis 2020)",
        cells=rows,
        plain=("S matched", "S paper", *(p.name for p in PROXIES)),
    )


def _correlations(agents: Sequence[Standing]) -> Dots:
    groups, rho, tau = [], [], []
    for a in agents:
        for proxy in PROXIES:
            found = a.agreements[proxy.key]
            groups.append(proxy.name if len(agents) == 1 else f"{proxy.name}: {a.subject}")
            rho.append(_shown(found.spearman))
            tau.append(_shown(found.kendall))
    return Dots(
        name="agreement",
        title="Do the proxies rank pairs as S does?",
        caption=(
            "Rank correlations of each proxy with S over pairs, turned so that 1 is full "
            "agreement, 0 none. 95 % intervals over tests drawn anew, because pairs that share a "
            "test are no independent witnesses, and over draws of S: with an unsure S nothing can "
            "agree surely. There are none with fewer than five tests."
        ),
        formula="Spearman's ρ, Kendall's τ; bootstrap over tests",
        groups=groups,
        series={"Spearman": rho, "Kendall": tau},
        null=0.0,
        null_name="no agreement",
        axis="rank correlation with S",
        percent=False,
        bounds=(-1.0, 1.0),
    )


def _shown(found: Interval) -> Interval | None:
    return found if math.isfinite(found.value) else None


def _judgement(agents: Sequence[Standing]) -> Table:
    rows = []
    for a in agents:
        adjusted = a.adjusted
        for proxy in PROXIES:
            found = a.agreements[proxy.key]
            rows.append({
                "subject": a.subject,
                "proxy": proxy.name,
                "Spearman": found.spearman,
                "Kendall": found.kendall,
                "p": found.p,
                "p (Holm)": adjusted.get(proxy.key, math.nan),
                "pairs": found.pairs,
                "tests": found.tests,
            })  # fmt: skip
    return Table(
        name="agreement-numbers",
        title="How surely the proxies agree with S",
        caption="p: how often a proxy agrees as well when the tests' names are exchanged in it, "
        "one-sided; Holm: for all proxies having been tried. "
        + " ".join(dict.fromkeys(_too_few(a) for a in agents if a.reach > ALPHA)),
        formula="Mantel's test on ranks (1967), all ways of naming up to seven tests",
        cells=rows,
        plain=("Spearman", "Kendall"),
    )


def _too_few(a: Standing) -> str:
    count = max(x.tests for x in a.agreements.values())
    return (
        f"{count} tests can be named in {math.factorial(count)} ways, so that no proxy gets below "
        f"{a.reach:.2g}, however good; it takes five."
    )


def proxy_verdict(a: Standing) -> Verdict | None:
    """Say in a sentence whether proxies may stand for mergers."""
    adjusted = a.adjusted
    if not adjusted:
        return None
    pairs = max(x.pairs for x in a.agreements.values())
    surely = [p for p in PROXIES if adjusted.get(p.key, 1.0) < ALPHA]
    best = max(adjusted, key=lambda key: a.agreements[key].spearman.value)
    named = next(p.name for p in PROXIES if p.key == best)
    rho = a.agreements[best].spearman.value
    if surely:
        told = ", ".join(f"{p.name} (ρ = {a.agreements[p.key].spearman:.2f})" for p in surely)
        text = f"{told} surely rank{'s' * (len(surely) == 1)} them as S does (Holm)"
    elif a.reach > ALPHA:
        text = f"{named} comes closest to ranking them as S does (ρ = {rho:.2f})"
        text += ", which so few tests cannot tell from luck"
    else:
        text = f"none surely ranks them as S does (Holm; {named} the most, ρ = {rho:.2f})"
    return Verdict(a.subject, f"Cheap proxies, of {pairs} pairs: {text}.")
