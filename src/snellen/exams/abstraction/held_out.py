"""The better design: held-out shapes, held-out outcomes, a gain with its interval."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from snellen.core import Item, Result, Verdict
from snellen.exams.abstraction.cells import KNOWN, NEW, ORIGINAL, Block, Cell
from snellen.exams.abstraction.shapes import load_shapes, render
from snellen.exams.abstraction.transformations import NONE, transformation
from snellen.figures import Curves, Dots, Gallery, Table
from snellen.seeds import Seed
from snellen.stats import Interval, Mean, corrected, holm, mean_of_repeats, share_variance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Figure, Record
    from snellen.exams.abstraction import Abstraction
    from snellen.exams.abstraction.transformations import Transformation

FEWEST_FOR_NEW = 3
"""Outcomes a transformation must have, its identity apart, for some to be kept out."""
SIGNIFICANT = 0.05
NOTABLE = 0.1
"""A gain that would matter."""
OPEN = " The interval leaves a gain possible: more repeats would tell."
WORSE = " On these, the lesson made it worse."


def items(exam: Abstraction) -> Sequence[Item]:
    """Every transformation at every level, noise and size of lesson, each repeated."""
    return [
        Item(transformation=name, level=level, noise=noise, samples=samples, repeat=repeat)
        for repeat in range(exam.repeats)
        for samples in exam.samples
        for noise in exam.noise
        for level in exam.levels
        for name in exam.transformations
    ]


def cell(exam: Abstraction, item: Item) -> Cell:
    """Show `level` random shapes in the known ways; ask about all, in known and new ways.

    Which shapes and ways depends on the repeat alone, so level 0 is asked the same
    pictures as level k and every subject the same as the others.
    """
    change = transformation(str(item["transformation"]))
    repeat, level, noise = int(item["repeat"]), int(item["level"]), float(item["noise"])
    shapes = load_shapes(exam.shapes)
    count = len(shapes.names)
    seen = Seed("subset", shapes.content, repeat).shuffled(count)[:level]
    known, new = parted_outcomes(change, exam.new_outcomes, repeat)
    asked = exam.tests // 2 if any(new) else exam.tests
    blocks = (
        Block(max(count, exam.tests // 10), NONE, NONE.weights),
        Block(asked, change, known),
        Block(exam.tests - asked, change, new),
    )
    return Cell(
        transformation=change,
        seen=tuple(sorted(int(s) for s in seen)),
        taught=known,
        keep_originals=exam.design == "add",
        samples=int(item["samples"]),
        views=exam.views(int(item["samples"])),
        lesson_noise=noise,
        sheet_noise=noise,
        blocks=blocks,
        lesson_seed=(exam.name, item.key),
        sheet_seed=(exam.name, shapes.content, change.name, noise, repeat),
    )


@lru_cache(maxsize=64)
def parted_outcomes(
    change: Transformation, share: float, repeat: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Part the outcomes that change something into known and new; return both as weights."""
    places = [p for p in range(len(change.outcomes)) if p != change.identity]
    order = Seed("outcomes", change.name, repeat).shuffled(len(places))
    new_count = math.ceil(share * len(places)) if len(places) >= FEWEST_FOR_NEW else 0
    new = {places[p] for p in order[:new_count]}
    known = set(places) - new
    return tuple(
        tuple(w if place in group else 0 for place, w in enumerate(change.weights))
        for group in (known, new)
    )  # type: ignore[return-value]


class Condition(NamedTuple):
    """What a mean over repeats is taken at."""

    subject: str
    transformation: str
    noise: float
    samples: int
    level: int


@dataclass
class Finding:
    """All that is concluded of a subject about a transformation."""

    at: Condition
    means: dict[str, Mean]
    alike: float
    """What likeness to the clean originals gets on the held-out shapes."""
    p: dict[str, float] = field(default_factory=dict)
    """By verdict, one-sided; Holm-corrected once the subject's family is known."""

    def interval(self, part: str) -> Interval | None:
        """Return a mean with its 95 % interval, within what a share or a gain can be."""
        if part not in self.means:
            return None
        return self.means[part].interval(within=(-1.0 if part.endswith("gain") else 0.0, 1.0))

    @property
    def verdict(self) -> str:
        """The first of those tested that holds; else whether a gain is ruled out."""
        held = (name for name, p in self.p.items() if p < SIGNIFICANT)
        return next(held, "not shown" if self.open else "not learned")

    @property
    def open(self) -> bool:
        """Whether the interval leaves a gain possible that would matter."""
        gain = self.interval("held-out gain")
        return gain is None or gain.high > NOTABLE


def grade(exam: Abstraction, records: Sequence[Record]) -> Result:
    """Compare each level with level 0 on the same shapes, repeat by repeat."""
    chance = 1 / len(load_shapes(exam.shapes).names)
    found = findings(exam, records, chance)
    figures: list[Figure] = []
    if records and not found:
        told = "A gain is measured against level 0: sit it and a higher one, as levels=0,8 does."
        subjects = sorted({r.subject for r in records})
        return Result([Verdict(who, told) for who in subjects], [_gallery(exam)])
    if found:
        taught = dict.fromkeys(f.at.subject for f in found if f.at.subject not in exam.baselines)
        figures = [_gains(found), *(_accuracies(found, who, chance) for who in taught)]
        figures.append(_numbers(found, chance))
    if len({f.at.level for f in found}) > 1:
        figures.append(_by_level(found, chance))
    return Result(_verdicts(exam, found, chance), [*figures, _gallery(exam)])


def findings(exam: Abstraction, records: Sequence[Record], chance: float) -> list[Finding]:
    """Return a finding for each subject, transformation and level above 0."""
    by: dict[Condition, dict[int, Record]] = defaultdict(dict)
    for r in records:
        i: Any = r.item
        at = Condition(r.subject, i["transformation"], i["noise"], i["samples"], i["level"])
        by[at][i["repeat"]] = r
    made = [
        _finding(at, repeats, by[at._replace(level=0)], exam.good * (1 - chance) + chance)
        for at, repeats in by.items()
        if at.level > 0 and set(repeats) & set(by.get(at._replace(level=0), {}))
    ]
    for subject in {f.at.subject for f in made}:
        family = [f for f in made if f.at.subject == subject]
        adjusted = iter(holm([p for f in family for p in f.p.values()]))
        for f in family:
            f.p = {name: float(next(adjusted)) for name in f.p}
    return made


def _finding(
    at: Condition, taught: Mapping[int, Record], untaught: Mapping[int, Record], good: float
) -> Finding:
    repeats = sorted(set(taught) & set(untaught))
    pairs = [(taught[r].measures, untaught[r].measures) for r in repeats]
    means: dict[str, Mean] = {}
    for name, kind, seen in (
        ("shown", KNOWN, True),
        ("held-out", KNOWN, False),
        ("new ways", NEW, True),
        ("held-out, new ways", NEW, False),
        ("originals", ORIGINAL, None),
    ):
        after = [_counts(m, "right", kind, m["seen"], seen) for m, _ in pairs]
        before = [_counts(b, "right", kind, m["seen"], seen) for m, b in pairs]
        if not all(total for _, total in after):
            continue  # level 10 holds no shape out; mirrored has no new ways
        means[name] = _mean(after)
        means[f"{name} before"] = _mean(before)
        means[f"{name} gain"] = _mean(after, minus=before)
    alike = [_counts(m, "alike", KNOWN, m["seen"], seen=False) for m, _ in pairs]
    p = {}
    if "held-out" in means:
        every = [_counts(b, "right", KNOWN, (), seen=None) for _, b in pairs]
        p["pre-written"] = _mean(every).above(good)
        p["learned"] = means["held-out gain"].above(0.0)
    p["memorised"] = means["shown gain"].above(0.0)
    return Finding(at, means, _share(alike), p)


def _counts(
    measures: Mapping[str, Any], what: str, kind: str, shown: Sequence[int], seen: bool | None
) -> tuple[int, int]:
    """Return (right, asked) over the shapes that were shown transformed, or were not."""
    asked = measures["asked"].get(kind, [])
    places = [s for s in range(len(asked)) if seen is None or (s in shown) == seen]
    return (
        sum(measures[what].get(kind, [])[s] for s in places),
        sum(asked[s] for s in places),
    )


def _mean(counts: Sequence[tuple[int, int]], minus: Sequence[tuple[int, int]] = ()) -> Mean:
    """Average shares (or differences of shares) over repeats."""
    values = np.array([right / asked for right, asked in counts])
    floors = np.array([share_variance(right, asked) for right, asked in counts])
    if minus:
        values = values - [right / asked for right, asked in minus]
        floors = floors + [share_variance(right, asked) for right, asked in minus]
    return mean_of_repeats(values, float(floors.mean()))


def _share(counts: Sequence[tuple[int, int]]) -> float:
    asked = sum(a for _, a in counts)
    return sum(r for r, _ in counts) / asked if asked else math.nan


def _name(finding: Finding, others: Sequence[Finding], without: str = "") -> str:
    """Name the transformation, and only those conditions in which findings differ.

    The condition `without` is told elsewhere.
    """
    at = finding.at
    conditions = {
        "level": f"{at.level} shown",
        "noise": f"σ={at.noise:g}",
        "samples": f"n={at.samples}",
    }
    told = [
        text
        for part, text in conditions.items()
        if part != without and len({getattr(f.at, part) for f in others}) > 1
    ]
    return f"{at.transformation} ({', '.join(told)})" if told else at.transformation


def _verdicts(exam: Abstraction, found: Sequence[Finding], chance: float) -> list[Verdict]:
    """One sentence a finding; a headline a subject comes first."""
    made = []
    for subject in dict.fromkeys(f.at.subject for f in found):
        own = [f for f in found if f.at.subject == subject]
        groups = {v: [_name(f, own) for f in own if f.verdict == v] for v in TONES}
        told = "; ".join(
            f"{verdict}: {', '.join(names)}" for verdict, names in groups.items() if names
        )
        plain = subject in exam.baselines
        tone: Any = "plain" if plain else next(TONES[v] for v, names in groups.items() if names)
        made.append(Verdict(subject, told + ".", tone))
        made += [] if plain else [Verdict(subject, _sentence(f, own, chance)) for f in own]
    return made


TONES: dict[str, Any] = {
    "learned": "good",
    "pre-written": "fair",
    "memorised": "poor",
    "not learned": "poor",
    "not shown": "plain",
}


def _sentence(f: Finding, own: Sequence[Finding], chance: float) -> str:
    held, gain = f.interval("held-out"), f.interval("held-out gain")
    if held is None or gain is None:
        return (
            f"{_name(f, own)}: every shape was shown, so abstraction cannot be told from memory; "
            f"{f.interval('shown'):%} right on them."
        )
    before = f.means["held-out before"].value
    know = corrected(held.value, chance=chance)
    tested = f.verdict if f.verdict in f.p else "learned"
    return (
        f"{_name(f, own)}: {f.verdict}. On shapes never shown {_participle(f)} it is "
        f"{held:%} right (knowledge {100 * know:.0f} %, mere likeness {100 * f.alike:.0f} %), "
        f"{100 * before:.0f} % before the lesson: a gain of {100 * gain.value:+.0f} points "
        f"[{100 * gain.low:+.0f}, {100 * gain.high:+.0f}]; p = {f.p[tested]:.2g} (of “{tested}”, "
        "after Holm's correction)."
        + (OPEN if f.open and f.verdict in ("memorised", "not shown") else "")
        + (WORSE if gain.high < 0 else "")
    )


def _participle(f: Finding) -> str:
    return {"diagonals": "with diagonals"}.get(f.at.transformation, f.at.transformation)


def _gains(found: Sequence[Finding]) -> Dots:
    names = list(dict.fromkeys(_name(f, found) for f in found))
    subjects = dict.fromkeys(f.at.subject for f in found)
    return Dots(
        name="gain",
        title="What was gained on shapes never shown transformed",
        caption="With 95 % intervals over repeats. A pupil that memorises stays at 0.",
        formula="accuracy(held-out | k shapes shown) − accuracy(same pictures | none shown)",
        groups=names,
        series={who: _row(found, names, who, "held-out gain") for who in subjects},
        null=0.0,
        null_name="no gain",
        axis="learning gain",
        bounds=(-1.0, 1.0),
    )


def _accuracies(found: Sequence[Finding], subject: str, chance: float) -> Dots:
    own = [f for f in found if f.at.subject == subject]
    names = [_name(f, found) for f in own]
    parts = {
        "held-out before the lesson": "held-out before",
        "held-out shapes": "held-out",
        "shapes shown": "shown",
        "shapes shown, in new ways": "new ways",
        "held-out shapes, in new ways": "held-out, new ways",
    }
    series = {told: _row(own, names, subject, part) for told, part in parts.items()}
    return Dots(
        name=f"accuracy-{subject}",
        title=f"{subject}: right answers, by what the lesson had shown",
        caption=(
            "Shapes never shown transformed, shapes that were, and ways of transforming that were "
            "kept out of the lesson; 95 % intervals over repeats."
        ),
        formula="right ÷ asked; outcomes that change nothing are left out",
        groups=names,
        series={told: values for told, values in series.items() if any(values)},
        null=chance,
        reference={"nearest clean original, held-out": [f.alike for f in own]},
    )


def _row(
    found: Sequence[Finding], names: Sequence[str], subject: str, part: str
) -> list[Interval | None]:
    """Lay a subject's intervals out by name."""
    by_name = {_name(f, found): f.interval(part) for f in found if f.at.subject == subject}
    return [by_name.get(name) for name in names]


def _numbers(found: Sequence[Finding], chance: float) -> Table:
    cells = []
    for f in found:
        row: dict[str, Any] = {"subject": f.at.subject, "transformation": _name(f, found)}
        row["verdict"] = f.verdict
        for part in ("shown", "held-out", "held-out gain", "new ways", "held-out, new ways"):
            row[part] = f.interval(part) or ""
        held = f.means.get("held-out")
        row["knowledge"] = corrected(held.value, chance=chance) if held else ""
        row["beyond likeness"] = (
            corrected(held.value, chance=f.alike) if held and f.alike < 1 else ""
        )
        row |= {f"p {name}": p for name, p in f.p.items()}
        row["repeats"] = f.means["shown"].freedom + 1
        cells.append(row)
    return Table(
        name="numbers",
        title="All numbers",
        caption="p-values are one-sided and Holm-corrected over all of a subject's.",
        formula=(
            "knowledge = (accuracy − chance) ÷ (1 − chance); beyond likeness = the same with the "
            "accuracy of the nearest clean original in place of chance"
        ),
        cells=cells,
    )


def _by_level(found: Sequence[Finding], chance: float) -> Curves:
    levels = sorted({0} | {f.at.level for f in found})
    series: dict[str, list[Interval | None]] = {}
    for f in found:
        if (held := f.interval("held-out")) is not None:
            name = f"{f.at.subject}: {_name(f, found, without='level')}"
            row = series.setdefault(name, [None] * len(levels))
            row[levels.index(f.at.level)] = held
            row[0] = row[0] or f.interval("held-out before")
    return Curves(
        name="levels",
        title="Held-out shapes, by how many others were shown transformed",
        caption="95 % intervals over repeats.",
        formula="right ÷ asked on shapes never shown transformed",
        x=levels,
        series=series,
        x_axis="shapes shown transformed",
        y_axis="accuracy on held-out shapes",
        null=chance,
    )


def _gallery(exam: Abstraction) -> Gallery:
    """Show a few shapes clean and in each transformation, as subjects see them."""
    shapes = load_shapes(exam.shapes)
    some = np.arange(min(8, len(shapes.names)))
    shelves = {}
    for name in ("none", *exam.transformations):
        change = NONE if name == "none" else transformation(name)
        seed = Seed("gallery", name)
        outcomes = seed.picks(len(some), change.weights)
        pictures = render(shapes, change, some, outcomes, exam.noise[0], seed, testing=True)
        shelves["original" if name == "none" else name] = (
            pictures,
            [shapes.names[s] for s in some],
        )
    return Gallery(
        name="pictures",
        title="What subjects see",
        caption=f"Each row one way of transforming, with noise σ = {exam.noise[0]:g} (ink is 9).",
        formula="transformed → + N(0, σ) → clipped to 0..10 → whole levels ÷ 9",
        shelves=shelves,
    )
