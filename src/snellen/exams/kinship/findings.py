"""What did each subject score on the tests, alone and merged?"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from snellen.exams.kinship.measure import Kinship, Paired, kinship
from snellen.stats import Interval, Mean, mean_of_repeats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Record
    from snellen.exams.kinship import Kinship as Exam


Runs: TypeAlias = "Mapping[int, tuple[float, float, float]]"
"""V of the first test, of the second and of their merger, by repeat."""


class Merger(NamedTuple):
    """Which two tests were merged, and how."""

    first: str
    second: str
    merge: str = "sampled"
    share: float = 0.5
    labels: str = "separate"

    @property
    def parts(self) -> tuple[float, float]:
        """The share of the whole lesson that each test brings."""
        return (1.0, 1.0) if self.merge == "stitched" else (self.share, 1 - self.share)

    def __str__(self) -> str:
        notes = [] if self.share == 0.5 else [f"{100 * self.share:.0f} % {self.first}"]
        notes += [text for text in (self.merge, self.labels) if text not in ("sampled", "separate")]
        return f"{self.first} + {self.second}" + (f" ({', '.join(notes)})" if notes else "")


@dataclass(frozen=True)
class Pair:
    """Two tests and their merger by one subject: what follows from the scores."""

    merger: Merger
    paper: Kinship
    """Both tests alone after as many pictures as the whole merger had."""
    matched: Kinship | None
    """Both after as many pictures as the merger had of each."""
    halving: Kinship | None
    """What S would be if nothing but that happened: the null of S paper."""
    losses: Mapping[str, Mean]
    """What each test loses by being taught together with the other, matched."""
    loss: Mean | None
    """Of both, weighted."""
    whole: Runs
    """What S paper is made of."""
    part: Runs
    """What S matched is made of; nothing where it is not known."""

    @property
    def repeats(self) -> int:
        """How often everything was sat that the surest S is made of."""
        return len(self.part or self.whole)

    @property
    def surest(self) -> Kinship:
        """The matched one where there is one."""
        return self.matched or self.paper


@dataclass
class Findings:
    """What one subject scored on tests alone and merged, by repeat."""

    subject: str
    alone: dict[tuple[str, int], dict[int, Any]] = field(default_factory=lambda: defaultdict(dict))
    merged: dict[tuple[Merger, int], dict[int, Any]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    looked: dict[str, dict[int, Any]] = field(default_factory=lambda: defaultdict(dict))
    """What it made of the pictures of other tests after it was taught one."""

    @property
    def tests(self) -> list[str]:
        """Tests that it sat alone."""
        return list(dict.fromkeys(name for name, _ in self.alone))

    def whole(self, test: str) -> int:
        """Return the largest lesson of a test."""
        return max(taught for name, taught in self.alone if name == test)

    def parts(self, merger: Merger, taught: int) -> tuple[dict[int, Any], dict[int, Any]]:
        """Return what each test scored alone after as many pictures as a merger has of it."""
        first, second = (int(taught * part) for part in merger.parts)
        return (
            self.alone.get((merger.first, first), {}),
            self.alone.get((merger.second, second), {}),
        )

    def score(self, test: str) -> Mean:
        """Return the mean score of a test after its largest lesson."""
        return mean_score(self.alone[test, self.whole(test)])

    def interval(self, test: str) -> Interval:
        """Return the mean score of a test after its largest lesson, with its interval."""
        return mean_interval(self.alone[test, self.whole(test)])

    @cached_property
    def pairs(self) -> dict[Merger, Pair]:
        """What is known of each merger of different tests that was sat often enough."""
        made = {
            merger: self._pair(merger, taught)
            for merger, taught in self.merged
            if merger.first != merger.second
        }
        return {merger: pair for merger, pair in made.items() if pair is not None}

    def _pair(self, merger: Merger, taught: int) -> Pair | None:
        both, names = self.merged[merger, taught], (merger.first, merger.second)
        whole = [self.alone.get((name, taught), {}) for name in names]
        runs, share = _together(whole[0], whole[1], both), merger.share
        if not runs:
            return None
        paper = kinship(paired(runs), share)
        parts = self.parts(merger, taught)
        matched = _together(parts[0], parts[1], both)
        if not matched:
            return Pair(merger, paper, None, None, {}, None, runs, {})
        halved = _together(whole[0], whole[1], undisturbed(parts[0], parts[1], share))
        return Pair(
            merger,
            paper,
            kinship(paired(matched), share),
            kinship(paired(halved), share) if halved and merger.merge == "sampled" else None,
            {
                name: _mean_difference(part, both, name)
                for name, part in zip(names, parts, strict=True)
                if all(name in told["parts"] for told in both.values())
            },
            paired(matched).weighted(share, 1 - share, -1),
            runs,
            matched,
        )


def findings(exam: Exam, records: Sequence[Record]) -> list[Findings]:
    """Sort records by subject, baselines last."""
    made: dict[str, Findings] = {}
    for r in sorted(records, key=lambda r: (r.subject in exam.baselines, r.item["repeat"])):
        own, item = made.setdefault(r.subject, Findings(r.subject)), r.item
        repeat, taught = int(item["repeat"]), int(item["taught"])
        if "source" in item:
            seen = own.looked[str(item["source"])].setdefault(repeat, dict(r.measures))
            # sat before other tests were added: what the exam asks for now comes first
            seen["targets"] = {**r.measures["targets"], **seen["targets"]}
        elif "test" in item:
            own.alone[str(item["test"]), taught][repeat] = r.measures
        else:
            first, second, merge, labels = (
                str(item[name]) for name in ("first", "second", "merge", "labels")
            )
            merger = Merger(first, second, merge, float(item["share"]), labels)
            own.merged[merger, taught][repeat] = r.measures
    return list(made.values())


def wanting(exam: Exam, records: Sequence[Record]) -> dict[tuple[str, str], int]:
    """Return pairs whose S is less sure than was asked, with the repeats that they need.

    The error falls with the root of the repeats; an estimate from few of them is poor, so no
    pair is repeated more than twice as often as before at a time.
    """
    wanted: dict[tuple[str, str], int] = {}
    if not exam.error:
        return wanted
    for found in findings(exam, records):
        for merger, pair in found.pairs.items():
            k, names = pair.surest, (merger.first, merger.second)
            if found.subject in exam.baselines or not k.defined or k.error <= exam.error:
                continue
            needed = math.ceil(pair.repeats * (k.error / exam.error) ** 2)
            count = min(needed, 2 * pair.repeats, exam.most)
            if count > pair.repeats:
                wanted[names] = max(count, wanted.get(names, 0))
    return wanted


def paired(runs: Runs) -> Paired:
    """Return scores by test, of all repeats."""
    a, b, ab = zip(*runs.values(), strict=True)
    return Paired(a, b, ab)


def _together(first: Mapping[int, Any], second: Mapping[int, Any], both: Mapping[int, Any]) -> Runs:
    """Line up the repeats that all three have."""
    common = sorted(set(first) & set(second) & set(both))
    return {r: (first[r]["score"], second[r]["score"], both[r]["score"]) for r in common}


def undisturbed(
    first: Mapping[int, Any], second: Mapping[int, Any], share: float
) -> dict[int, Any]:
    """Return what a merger scores whose parts are learnt as they are alone, by repeat."""
    return {
        r: {
            "score": share * first[r]["score"] + (1 - share) * second[r]["score"],
            "variance": share**2 * first[r]["variance"] + (1 - share) ** 2 * second[r]["variance"],
        }
        for r in sorted(set(first) & set(second))
    }


def _mean_difference(alone: Mapping[int, Any], both: Mapping[int, Any], name: str) -> Mean:
    common = sorted(set(alone) & set(both))
    return mean_of([alone[r]["score"] - both[r]["parts"][name][0] for r in common])


def mean_score(told: Mapping[int, Any]) -> Mean:
    """Return the mean score over repeats, no surer than its questions allow."""
    floor = float(np.mean([m["variance"] for m in told.values()]))
    return mean_of_repeats([m["score"] for m in told.values()], floor)


def mean_interval(told: Mapping[int, Any]) -> Interval:
    """Return it with its interval, which is not known of a number that was given once."""
    found = mean_score(told)
    if len(told) == 1 and not next(iter(told.values()))["variance"]:
        return Interval(found.value, math.nan, math.nan)
    share = all(0 <= m["score"] <= 1 for m in told.values())  # games may go worse than by lot
    return found.interval(within=(0, 1) if share else (-math.inf, math.inf))


def mean_of(values: Sequence[float]) -> Mean:
    """Return the mean of one number a repeat; its error is unknown where there is but one."""
    return Paired(values, values, values).weighted(1, 0, 0)
