"""How hard are the tests, and how alike, by every agent that was taught them?"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.core import Result, Verdict
from snellen.errors import SnellenError
from snellen.exams.kinship.agreement import proxied, proxy_verdict, standing
from snellen.exams.kinship.findings import (
    findings,
    mean_interval,
    mean_of,
    undisturbed,
)
from snellen.exams.kinship.games import ceilings
from snellen.exams.kinship.landscape import landscape, similarities
from snellen.exams.kinship.measure import Kinship, Unpaired, equation_3
from snellen.exams.kinship.pictures import called, picture_test, stitched
from snellen.figures import Curves, Dots, Gallery, Matrix, Table
from snellen.stats import Interval, Mean, bootstrap, holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.core import Figure, Record
    from snellen.exams.kinship import Kinship as Exam
    from snellen.exams.kinship.findings import Findings

FORMULA = "S = 1 − 2(V_AB − V_B)/(V_A − V_B), A the easier; Fieller's interval over repeats"
ALPHA = 0.05
SHOWN = 8


def grade(exam: Exam, records: Sequence[Record]) -> Result:
    """Conclude from the records, whichever of them are there."""
    found = [f for f in findings(exam, records) if f.tests]
    tests = [name for name in map(called, exam.tests) if any(name in f.tests for f in found)]
    agents = [f for f in found if f.subject not in exam.baselines]
    if not tests:
        return Result()
    figures: list[Figure | None] = [_difficulty(found, tests)]
    for f in agents:
        figures += [_heat(f, tests, "paper", exam), _heat(f, tests, "matched", exam)]
    if exam.played:
        figures += [_unguarded(f, tests) for f in found]
    figures += [_nulls(f) for f in agents]
    alike = {f.subject: similarities(f, tests) for f in agents}
    standings = [a for f in agents if (a := standing(f, tests, alike[f.subject])) is not None]
    figures += landscape([s for s in alike.values() if s is not None])
    figures += proxied(standings)
    figures += [_sweep(f, names) for f in agents for names in combinations(tests, 2)]
    figures += [_panel(agents), _complexity(agents), _selves(agents), _numbers(found)]
    figures += [_examples(exam, records), _ceilings(tests)]
    verdicts = [_verdict(f, exam) for f in found]
    verdicts += [v for a in standings if (v := proxy_verdict(a)) is not None]
    verdicts.sort(key=lambda v: [f.subject for f in found].index(v.subject))
    return Result(verdicts, [f for f in figures if f is not None])


def _verdict(f: Findings, exam: Exam) -> Verdict:
    scores = {test: f.interval(test) for test in f.tests}
    hardest = min(scores, key=lambda test: scores[test].value)
    parts = [f"hardest for it is {hardest} (V = {scores[hardest]:%})."]
    if exam.played:
        parts.append(_learnt(f))
    pairs = [p for p in f.pairs.values() if p.matched is not None and p.loss is not None]
    if f.subject in exam.baselines or not pairs:
        return Verdict(f.subject, " ".join(parts))
    adjusted = holm([p.matched.p for p in pairs if p.matched])
    surely = [p for p, q in zip(pairs, adjusted, strict=True) if q < ALPHA and p.loss]
    parts.append(
        f"Of {len(pairs)} mergers, {len(surely)} differ surely (Holm) from teaching each part "
        "alone" + (": " if surely else ".")
        + "; ".join(f"{p.merger} loses {_points(p.loss)}" for p in surely[:4] if p.loss)
        + ("." if surely else "")
    )  # fmt: skip
    both = [p for p in pairs if p.paper.defined and p.halving and p.halving.defined]
    if both:
        raw = float(np.mean([p.paper.s.value for p in both]))
        null = float(np.mean([p.halving.s.value for p in both if p.halving]))
        parts.append(
            f"S as the paper takes it averages {raw:.2f} over {len(both)} pairs, of which "
            f"{null:.2f} is the smaller lesson alone."
        )
    unsure = [p for p in pairs if not p.surest.defined]
    if unsure:
        parts.append(f"Too equally hard for S: {', '.join(str(p.merger) for p in unsure[:4])}.")
    return Verdict(f.subject, " ".join(parts))


def _learnt(f: Findings) -> str:
    """Say which games it surely plays better than by lot, and which not."""
    adjusted = holm([f.score(test).above(0) for test in f.tests])
    better = [test for test, p in zip(f.tests, adjusted, strict=True) if p < ALPHA]
    others = [test for test in f.tests if test not in better]
    return (
        f"Surely better than random play (Holm) at {len(better)} of {len(f.tests)} games"
        + (f": {', '.join(better)}" if better else "")
        + (f"; not at {', '.join(others)}, where S says nothing" if others else "")
        + "."
    )


def _difficulty(found: Sequence[Findings], tests: Sequence[str]) -> Dots:
    return Dots(
        name="difficulty",
        title="How hard each test is (the paper's Table 1)",
        caption="1 − V after the whole lesson; 95 % intervals over repeats.",
        formula="1 − share of right answers; Student's interval over repeats",
        groups=list(tests),
        series={
            f.subject: [_less(f.interval(t)) if t in f.tests else None for t in tests]
            for f in found
        },
        axis="difficulty",
    )


def _less(v: Interval) -> Interval:
    return Interval(1 - v.value, 1 - v.high, 1 - v.low)


def _heat(f: Findings, tests: Sequence[str], which: str, exam: Exam) -> Matrix | None:
    """Draw S of every pair of tests: the paper's Table 2 and Figure 5."""
    cells: dict[tuple[str, str], Kinship] = {}
    for merger, pair in f.pairs.items():
        k = pair.paper if which == "paper" else pair.matched
        if k is not None and (merger.merge, merger.share) == ("sampled", 0.5):
            cells[merger.first, merger.second] = cells[merger.second, merger.first] = k
    if not cells:
        return None
    values = [[1.0 if a == b else _value(cells.get((a, b))) for b in tests] for a in tests]
    notes = [["1\n(defined)" if a == b else _note(cells.get((a, b))) for b in tests] for a in tests]
    unit = "steps" if exam.played else "pictures"
    lessons = {
        "paper": f"V alone after as many {unit} as the whole merger has, as in the paper: S then "
        "also holds what halving a lesson costs",
        "matched": f"V alone after as many {unit} as the merger has of each test: nought is an "
        "agent whose parts do not disturb each other",
    }[which]
    return Matrix(
        name=f"s-{which}-{f.subject}",
        title=f"Similarity, S {which}: {f.subject} (the paper's Table 2)",
        caption=f"{lessons}. 95 % intervals; “=” where both tests are too equally hard for S.",
        formula=FORMULA,
        row_names=list(tests),
        column_names=list(tests),
        values=values,
        notes=notes,
        diverging=True,
        percent=False,
        bounds=(-1.0, 1.0),
    )


def _unguarded(f: Findings, tests: Sequence[str]) -> Matrix | None:
    """Draw S of games as the paper did, whether the gap between two is real or not: Figure 5."""
    cells = {
        (m.first, m.second): equation_3(*np.mean(list(p.whole.values()), axis=0).tolist())
        for m, p in f.pairs.items()
    }
    if all(math.isnan(s) for s in cells.values()):  # no pair, or ties alone
        return None
    size = float(np.nanmean(np.abs(list(cells.values()))))
    values = [
        [1.0 if a == b else cells.get((a, b), cells.get((b, a), math.nan)) for b in tests]
        for a in tests
    ]
    return Matrix(
        name=f"s-unguarded-{f.subject}",
        title=f"S as the paper drew it: {f.subject} (its Figure 5)",
        caption=f"Without asking whether two games differ in difficulty at all; mean |S| is "
        f"{size:.2f}. Random play has such a map too, and what both have in common means nothing.",
        formula="S of the mean scores over repeats, by equation 3",
        row_names=list(tests),
        column_names=list(tests),
        values=values,
        diverging=True,
        percent=False,
        bounds=(-1.0, 1.0),
    )


def _ceilings(tests: Sequence[str]) -> Table | None:
    """Say how far pictures of a pole can take anybody."""
    found = ceilings(tuple(tests))
    if not found:
        return None
    return Table(
        name="ceilings",
        title="How far pictures of a pole can take anybody",
        caption="A single frame hides how fast things move, so frames that look alike want "
        "different pushes. Nobody who sees no more can be right more often than between the last "
        "two columns.",
        formula="share of pictures that occur with both labels; right by each picture's commonest "
        "label (too high), and by the labels of one half about the other (too low)",
        cells=[
            {"test": name, "with both labels": c.both, "at least": c.least, "at most": c.most}
            for name, c in found.items()
        ],
    )


def _value(k: Kinship | None) -> float:
    return k.s.value if k is not None and k.defined else math.nan


def _note(k: Kinship | None) -> str:
    if k is None:
        return ""
    if not k.defined:
        return "="
    ends = "" if math.isnan(k.s.low) else f"\n[{k.s.low:.2f}, {k.s.high:.2f}]"
    return f"{k.s.value:.2f}{ends}"


def _nulls(f: Findings) -> Dots | None:
    """Set S as the paper takes it beside what halving the lesson does, and S matched."""
    pairs = {
        str(m): p for m, p in f.pairs.items() if p.halving and p.paper.defined and m.share == 0.5
    }
    if not pairs:
        return None

    def shown(k: Kinship | None) -> Interval | None:
        return k.s if k is not None and k.defined else None

    return Dots(
        name=f"nulls-{f.subject}",
        title=f"What S measures: {f.subject}",
        caption=(
            "S as the paper takes it; the S that comes of smaller lessons alone, were the parts "
            "of a merger learnt undisturbed; and S against baselines of the same smaller "
            "lessons, whose null is nought."
        ),
        formula=f"{FORMULA}; halving alone: V_AB = qV_A + (1 − q)V_B after the smaller lessons",
        groups=list(pairs),
        series={
            "S paper": [shown(p.paper) for p in pairs.values()],
            "halving alone": [shown(p.halving) for p in pairs.values()],
            "S matched": [shown(p.matched) for p in pairs.values()],
        },
        null=0.0,
        null_name="parts undisturbed",
        axis="S",
        percent=False,
        bounds=(-1.0, 1.0),
    )


def _sweep(f: Findings, names: tuple[str, str]) -> Curves | None:
    """Draw V_AB by the share of the first test, beside the null diagonal: Figure 3."""
    runs = {
        (m, taught): told
        for (m, taught), told in sorted(f.merged.items())
        if (m.first, m.second) == names and m.merge == "sampled" and len(told) > 1
    }
    if len({m.share for m, _ in runs}) < 3:
        return None
    first, second = (f.score(name) for name in names)
    x = [0.0, *(m.share for m, _ in runs), 1.0]
    ends = [m.interval(within=(0, 1)) for m in (second, first)]
    null = [Unpaired(first, second, first).weighted(p, 1 - p, 0) for p in x]
    smaller = [undisturbed(*f.parts(m, taught), m.share) for m, taught in runs]
    return Curves(
        name=f"shares-{f.subject}-{'-'.join(names)}",
        title=f"By the share of {names[0]} in a merger with {names[1]}: {f.subject} (Figure 3)",
        caption=(
            "V of the merger, its share of the first test the same in lesson and questions; what "
            "its parts score when each is taught alone the same pictures; and the straight line "
            "that both would follow if smaller lessons cost nothing. 95 % intervals over repeats."
        ),
        formula="V_AB = p·a + (1 − p)·b, a and b the scores of its parts; null: pV_A + (1 − p)V_B",
        x=x,
        series={
            "merged": [ends[0], *map(mean_interval, runs.values()), ends[1]],
            "each part alone": [
                ends[0],
                *(mean_interval(told) if len(told) > 1 else None for told in smaller),
                ends[1],
            ],
            "null": [Interval(mean.value, math.nan, math.nan) for mean in null],
        },
        x_axis=f"share of {names[0]}",
        y_axis="V",
    )


def _panel(agents: Sequence[Findings]) -> Table | None:
    """Give S of each pair as an interval over agents: S depends on who is asked."""
    if len(agents) < 2:
        return None
    rows = []
    for merger in dict.fromkeys(m for f in agents for m in f.pairs):
        known = [f.pairs[merger].surest for f in agents if merger in f.pairs]
        values = [k.s.value for k in known if k.defined]
        if values:
            own = {
                f.subject: f.pairs[merger].surest.s
                for f in agents
                if merger in f.pairs and f.pairs[merger].surest.defined
            }
            over = bootstrap(values) if len(values) > 2 else math.nan
            rows.append({"merger": str(merger), **own, "over agents": over})
    return Table(
        name="agents",
        title="S matched, agent by agent",
        caption="S is a property of tests and of who learns them; the last column is the mean over "
        "agents with its interval, from three of them on.",
        formula=FORMULA,
        cells=rows,
        plain=("over agents", *(f.subject for f in agents)),
    )


def _complexity(agents: Sequence[Findings]) -> Dots | None:
    """Draw V alone and merged, agent by agent, for the first pair: the paper's Figure 2."""
    if len(agents) < 3:
        return None
    merger = next((m for f in agents for m in f.pairs), None)
    if merger is None:
        return None
    mergers = [m for m in agents[0].pairs if (m.first, m.second) == (merger.first, merger.second)]
    series: dict[str, list[Interval | None]] = {
        name: [f.interval(name) if name in f.tests else None for f in agents]
        for name in (merger.first, merger.second)
    }
    for m in mergers:
        told = [next((r for (own, _), r in f.merged.items() if own == m), {}) for f in agents]
        series[str(m)] = [mean_interval(r) if len(r) > 1 else None for r in told]
    return Dots(
        name="complexity",
        title="By agent: both tests and their merger (the paper's Figure 2)",
        caption="An agent is sufficient where the merger lies between both tests.",
        formula="share of right answers; Student's interval over repeats",
        groups=[f.subject for f in agents],
        series=series,
        axis="V",
    )


def _selves(agents: Sequence[Findings]) -> Table | None:
    """Merge each test with itself: what S(A, A) = 1 hides."""
    rows = []
    for f in agents:
        for (m, taught), told in f.merged.items():
            alone = f.alone.get((m.first, taught), {})
            common = sorted(set(told) & set(alone))
            if m.first == m.second and len(common) > 1:
                change = mean_of([told[r]["score"] - alone[r]["score"] for r in common])
                rows.append({
                    "subject": f.subject,
                    "test": m.first,
                    "labels": m.labels,
                    "V alone": f.interval(m.first),
                    "V with itself": mean_interval(told),
                    "difference": change.interval(),
                })  # fmt: skip
    if not rows:
        return None
    return Table(
        name="selves",
        title="Each test merged with itself",
        caption="S(A, A) = 1 by definition. Measured: with shared labels the merger is the test "
        "itself; with separate ones each picture has two right names that cannot be told apart.",
        formula="V of a merger of two disjoint halves of one test",
        cells=rows,
    )


def _examples(exam: Exam, records: Sequence[Record]) -> Gallery | None:
    """Hang some pictures of each test, if they are still where they were, and of mergers."""
    shelves: dict[str, tuple[Any, list[str]]] = {}
    taught = {str(r.item["test"]): str(r.item["content"]) for r in records if "test" in r.item}
    for spec in exam.tests:
        try:
            test = picture_test(spec)
        except SnellenError:  # numbers from a file, games, or pictures that were moved
            continue
        if taught.get(test.name) == test.content:
            images, labels = test.lesson(SHOWN, 0)
            shelves[test.name] = images, [test.classes[label] for label in labels]
    names = list(shelves)
    if "stitched" in exam.merge:
        for one, other in combinations(names, 2):
            (left, own), (right, others) = shelves[one], shelves[other]
            texts = [f"{a}, {b}" for a, b in zip(own, others, strict=True)]
            shelves[f"{one} + {other}"] = stitched(left, right), texts
    if not shelves:
        return None
    return Gallery(
        name="examples",
        title="What the tests show",
        caption="Some pictures of the first lesson of each test. A sampled merger mixes them.",
        formula="as they are taught: grey, 32 × 32",
        shelves=shelves,
    )


def _numbers(found: Sequence[Findings]) -> Table:
    def known(k: Kinship | None) -> Any:
        return k.s if k is not None and k.defined else "" if k is None else "too equal"

    rows = []
    for f in found:
        pairs = list(f.pairs.items())
        tested = [p.matched.p for _, p in pairs if p.matched]
        adjusted = iter(holm(tested))
        for merger, p in pairs:
            easier = merger.second if p.paper.swapped else merger.first
            rows.append({
                "subject": f.subject,
                "merger": str(merger),
                "easier": easier,
                "V_A − V_B": p.paper.gap,
                "S paper": known(p.paper),
                "halving alone": known(p.halving),
                "S matched": known(p.matched),
                "loss": p.loss.interval() if p.loss else "",
                "p (Holm)": float(next(adjusted)) if p.matched else "",
                **{
                    f"loss of {which}": (
                        p.losses[name].interval() if name in p.losses else ""
                    )
                    for which, name in (("first", merger.first), ("second", merger.second))
                },
                "sufficient": p.paper.sufficient,
                "repeats": p.repeats,
            })  # fmt: skip
    return Table(
        name="pairs",
        title="All pairs in numbers",
        caption="Loss: what the parts would score alone after the same pictures, less what they "
        "score merged, with p of there being none; sufficient: whether V_A ≥ V_AB ≥ V_B.",
        formula=f"{FORMULA}; loss = qV_A + (1 − q)V_B − V_AB, matched; paired t-test",
        cells=rows,
        plain=("S paper", "halving alone", "S matched"),
    )


def _points(loss: Mean) -> str:
    interval = Interval(*(100 * x for x in loss.interval()))
    return f"{interval} points"
