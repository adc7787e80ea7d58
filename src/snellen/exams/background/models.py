"""Which models does a run hold, and what is there to judge each of them by?

A model is a subject after one kind of lesson, or as it came. It is known by a short key made of
its settings, fingerprint and lesson: what people say of it is filed under that, so that their
files tell nobody whom they are about, and stay true while a run grows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from snellen import settings
from snellen.digests import digest
from snellen.errors import Unable
from snellen.exams.background import Background
from snellen.exams.background.assessor import worst_case
from snellen.exams.background.results import FEW_TARGETS, JUDGED, Findings, findings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Record
    from snellen.exams.background.matrices import VarianceMatrix


@dataclass(frozen=True, eq=False)
class Model:
    """One model's answers, and what follows from them."""

    key: str
    name: str
    exam: Background
    found: Findings
    lesson: str = ""
    """What was done to the lesson it was taught by; empty: it came as it is."""
    correlation: float | None = None
    """Of scenery and class in that lesson."""

    @property
    def why_not(self) -> str:
        """Say why it cannot be judged; empty: it can."""
        count = len(self.found.used)
        if count < FEW_TARGETS:
            return f"{count} of {len(self.found.told)} targets count, and {FEW_TARGETS} are needed"
        missing = [signal for signal in JUDGED if signal not in self.found.names]
        return f"its records lack {missing[0]}" if missing else ""

    @property
    def worst(self) -> float:
        """The share of targets that it gets right before all their scenes."""
        rows = self.found.right
        every = max(len(row) for row in rows)
        return worst_case([[*map(bool, row), *[True] * (every - len(row))] for row in rows])

    @property
    def gap(self) -> float | None:
        """Painted: the share right before own sceneries less that before others; else None."""
        if not self.found.gaps:
            return None
        own, others, probed = (sum(column) for column in zip(*self.found.gaps, strict=True))
        return float((own - others) / probed)

    @cached_property
    def features(self) -> dict[str, float]:
        """What an assessor judges by."""
        return self.found.features(self.exam, JUDGED)

    def matrices(self) -> dict[str, VarianceMatrix]:
        """Return the variance matrices that these features are of."""
        return self.found.matrices(self.exam, JUDGED)


def models(records: Sequence[Record]) -> list[Model]:
    """Find all models of this exam among records, in the order of their names."""
    grouped: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for record in {r.key: r for r in records if r.exam == Background.name and not r.error}.values():
        lesson = (record.item.get("lesson", ""), record.item.get("correlation"))
        shaping = sorted(record.settings.items())
        grouped[digest(repr(shaping), record.fingerprint, *lesson), *lesson].append(record)
    made = [_model(key, lesson, rho, group) for (key, lesson, rho), group in grouped.items()]
    often = Counter(model.name for model in made)
    return sorted(
        (replace(m, name=f"{m.name} ({m.key[:6]})") if often[m.name] > 1 else m for m in made),
        key=lambda model: model.name,
    )


def judgeable(found: Sequence[Model]) -> tuple[list[Model], dict[str, str]]:
    """Part those that can be judged from the others, with reasons for these, by name."""
    left_out = {model.name: model.why_not for model in found if model.why_not}
    fit = [model for model in found if model.name not in left_out]
    if not fit:
        first = next(iter(left_out.items()), None)
        why = f"; {first[0]}: {first[1]}" if first else ""
        raise Unable(
            f"there are {len(found)} models of the exam {Background.name!r} here, and none can be "
            f"judged{why}; make some with: snellen run {Background.name} -m MODEL --into RUN"
        )
    return fit, left_out


def _model(key: str, lesson: Any, rho: Any, records: Sequence[Record]) -> Model:
    shaping: Mapping[str, Any] = records[0].settings
    exam = settings.make(Background, shaping, who=Background.name)
    (found,) = findings(exam, records)
    name = records[0].subject
    if rho is None:
        return Model(key, name, exam, found)
    name += f", taught at {float(rho):.2f}, {lesson}"
    return Model(key, name, exam, found, str(lesson), float(rho))
