"""Which sessions are to be believed, by the rules that were stated before?

A session is flagged, never deleted: what came of it stays in the export, with the reasons.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.study import entries
from snellen.study.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Trials
    from snellen.sitting import Sitting
    from snellen.study.design import Design, Rules
    from snellen.study.entries import Entry
    from snellen.study.store import Store
    from snellen.study.walk import Reply

CONTROL = "control"
SHOWN = 20
"""Sessions on the experimenter's page."""


@dataclass
class Session:
    """One participant's sittings, in the order in which they were sat."""

    entry: Entry
    sittings: dict[int, Sitting] = field(default_factory=dict)
    """Those that are over, by the place of their task."""
    asked: list[tuple[tuple[int, int, int], Reply]] = field(default_factory=list)
    """Every question that was answered: task, sheet and row, and the reply."""

    def trials(self, purpose: str) -> list[Trials]:
        """Return the answers to all items that were sat for a purpose."""
        return [
            sitting.trials
            for place, sitting in self.sittings.items()
            if self.entry.tasks[place].purpose == purpose
        ]

    @property
    def right(self) -> float:
        """Share of right answers, of those that have a right one."""
        return _right(self.trials("asked"))

    @property
    def gold(self) -> float:
        """Share of right answers to gold items."""
        return _right(self.trials("gold"))

    @property
    def same(self) -> float:
        """Share of equal answers to what was asked again."""
        asked = self.trials("asked")
        first = {k: v for t in asked for k, v in _by_stimulus(t).items()}
        again = {k: v for t in self.trials("again") for k, v in _by_stimulus(t).items()}
        both = [first[k] == again[k] for k in again if k in first]
        return float(np.mean(both)) if both else math.nan

    def quick(self, seconds: float) -> float:
        """Share of questions that were answered in less than so many seconds."""
        times = [r.seconds for r in self.entry.replies if r.choice is not None and r.seconds]
        return float(np.mean([t < seconds for t in times])) if times else math.nan


def session(design: Design, entry: Entry) -> Session:
    """Walk through a session again, and keep every sitting that is over."""
    made = Session(entry)

    def keep(place: int, sitting: Sitting) -> None:
        made.sittings[place] = sitting

    walk = Walk(design.exam, entry.tasks, entry.seed, design.sessions.rest, keep)
    for reply in entry.replies:
        if walk.page.where is not None:
            made.asked.append((walk.page.where, reply))
        walk.take(reply)
    return made


def threshold(rules: Rules, sessions: Sequence[Session]) -> float:
    """Return the share of right answers below which others than the control group are left out.

    Mean of the control group less so many of its standard deviations (Carrasco et al. 2020,
    §5.2: two of them); of fewer than three controls nothing follows.
    """
    shares = [
        s.right
        for s in sessions
        if s.entry.party == CONTROL and s.entry.ended is not None and not math.isnan(s.right)
    ]
    if not rules.control_deviations or len(shares) < 3:
        return -math.inf
    return float(np.mean(shares) - rules.control_deviations * np.std(shares, ddof=1))


def reasons(rules: Rules, made: Session, least: float) -> list[str]:
    """Return why a session is left out; nothing if it is not."""
    found = {
        "not finished": rules.complete and made.entry.ended is None,
        "too quick": made.quick(rules.quick_seconds) > rules.quick_share,
        "gold items wrong": made.gold < rules.gold_right,
        "not consistent": made.same < rules.again_same,
        "below the control group": made.entry.party != CONTROL and made.right < least,
    }
    return [reason for reason, holds in found.items() if holds]


@dataclass(frozen=True)
class Overview:
    """What the experimenter sees."""

    counts: Mapping[str, int]
    items: Mapping[str, int]
    sessions: Sequence[Mapping[str, Any]]
    columns: Sequence[str] = ("began", "replies", "median seconds", "quick", "clock")

    @property
    def least(self) -> int:
        """Sittings of the item that was sat least."""
        return min(self.items.values(), default=0)

    @property
    def most(self) -> int:
        """Sittings of the item that was sat most."""
        return max(self.items.values(), default=0)


def overview(design: Design, store: Store) -> Overview:
    """Count what is there; of the last sessions, say how they went."""
    found = store.read(entries.counts)
    last = store.read(lambda connection: entries.latest(connection, SHOWN))
    return Overview(
        {
            "began": found.began,
            "finished": found.ended,
            "withdrew": found.withdrawn,
            "replies": found.replies,
        },
        {repr(item): found.sat.get(key, 0) for key, item in design.items.items()},
        [_row(entry, design.rules) for entry in last],
    )


def _row(entry: Entry, rules: Rules) -> dict[str, Any]:
    made = Session(entry)
    times = [r.seconds for r in entry.replies if r.choice is not None and r.seconds is not None]
    clocks = Counter("page" if r.dropped is not None else "server" for r in entry.replies)
    quick = made.quick(rules.quick_seconds)
    return {
        "began": _day(entry.began),
        "replies": len(entry.replies),
        "median seconds": f"{np.median(times):.2f}" if times else "–",
        "quick": "–" if math.isnan(quick) else f"{quick:.0%}",
        "clock": clocks.most_common(1)[0][0] if clocks else "–",
    }


def _day(moment: float) -> str:
    return np.datetime_as_string(np.datetime64(int(moment), "s"), unit="D").item()


def _right(trials: Sequence[Trials]) -> float:
    right = [
        choice == truth
        for t in trials
        if "truth" in t
        for choice, truth in zip(t["choice"], t["truth"], strict=True)
    ]
    return float(np.mean(right)) if right else math.nan


def _by_stimulus(trials: Trials) -> dict[int, str]:
    return {int(k): str(v) for k, v in zip(trials["stimulus"], trials["choice"], strict=True)}
