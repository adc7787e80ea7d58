"""Who finds which rule, compared with people, with what was published, and with chance?"""

from __future__ import annotations

import csv
import io
import textwrap
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image
from scipy import stats as scipy_stats

from snellen.core import PEOPLE as OURS
from snellen.core import Result, Verdict
from snellen.exams.reasoning.success import (
    PICTURES,
    RUN,
    alpha_of,
    passing,
    passing_interval,
)
from snellen.figures import Boxes, Curves, Dots, Gallery, Matrix, Table
from snellen.stats import Interval, Mean, bootstrap, holm, mean_of_repeats, share_variance, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.core import Figure, Record
    from snellen.exams.reasoning import Reasoning

SOLVED = 0.9
"""From this α on a problem counts as solved (Ellis et al. 2015)."""
CHANCE, USUAL = 0.5, 3
GALLERIES = 6
PEOPLE = "people (Fleuret et al. 2011)"
PLACES = (0, 1, 2, 3, 4, 6, 8, 11, 14, 19, 24, 29, 34)
"""Of the human protocol, from 0, at which a curve is drawn."""
THEIRS = "best synthesis of the paper"
NETWORKS = "best CNN of Table 6"


@dataclass
class Findings:
    """What one subject made of each problem."""

    subject: str
    tested: dict[tuple[int, int], list[Record]] = field(default_factory=lambda: defaultdict(list))
    """In the machine protocol, by problem and number of examples."""
    sat: dict[tuple[int, int], list[Record]] = field(default_factory=lambda: defaultdict(list))
    """In the human protocol, told the truth or as it is."""

    @property
    def examples(self) -> list[int]:
        """Numbers of examples that it was taught."""
        return sorted({number for _, number in self.tested})

    @property
    def usual(self) -> int:
        """The number of examples that is told first: the paper's 3, where there are any."""
        return USUAL if USUAL in self.examples else self.examples[0]

    def problems(self, examples: int) -> list[int]:
        """Return the problems that it was tested on after so many examples."""
        return sorted(problem for problem, count in self.tested if count == examples)

    def shares(self, problem: int, examples: int) -> list[float]:
        """Return the share of right answers of each repeat."""
        found = self.tested[problem, examples]
        return [r.measures["right"] / r.measures["asked"] for r in found]

    def alpha(self, problem: int, examples: int) -> Interval | None:
        """Return the mean share over repeats with its interval."""
        shares = self.shares(problem, examples) if (problem, examples) in self.tested else []
        return self._mean(problem, examples).interval(within=(0, 1)) if shares else None

    def above_chance(self, problem: int, examples: int) -> float:
        """Return the one-sided p of being right on no more than half."""
        return self._mean(problem, examples).above(CHANCE)

    def overall(self, examples: int) -> Interval:
        """Return the mean α over problems, with its interval over them; of one, its own."""
        problems = self.problems(examples)
        if len(problems) == 1:
            return self._mean(problems[0], examples).interval(within=(0, 1))
        return bootstrap([float(np.mean(self.shares(p, examples))) for p in problems])

    def passing(self, examples: int) -> Interval:
        """Return the mean chance of passing over problems, likewise."""
        alphas = [a for p in self.problems(examples) if (a := self.alpha(p, examples)) is not None]
        if len(alphas) == 1:
            return passing_interval(alphas[0])
        return bootstrap([passing(a.value) for a in alphas])

    def beta(self, problem: int) -> Interval | None:
        """Return the share of rounds of the human protocol that were passed."""
        rounds = [
            r.measures["passed"] for (p, _), rs in self.sat.items() if p == problem for r in rs
        ]
        return wilson(sum(rounds), len(rounds)) if rounds else None

    def course(self, place: int) -> Interval:
        """Return the share of right answers at a place; who passed before counts as right."""
        rounds = [r.measures["answers"] for records in self.sat.values() for r in records]
        right = [bool(answers[place]) if place < len(answers) else True for answers in rounds]
        return wilson(sum(right), len(right))

    def _mean(self, problem: int, examples: int) -> Mean:
        found = self.tested[problem, examples]
        floor = np.mean([share_variance(r.measures["right"], r.measures["asked"]) for r in found])
        return mean_of_repeats(self.shares(problem, examples), float(floor))


@cache
def published() -> dict[int, dict[str, float]]:
    """Return Table 6 and the types of Table 3 by problem; what is not given is left out."""
    text = (files("snellen.exams.reasoning") / "published.csv").read_text("utf-8")
    return {
        int(row["problem"]): {k: float(v) for k, v in row.items() if k != "problem" and v}
        for row in csv.DictReader(io.StringIO(text))
    }


def references(problem: int) -> dict[str, float]:
    """Return published chances of passing: β of people, β*(α) of the others."""
    row = published()[problem]
    networks = [row[name] for name in ("LeNet", "GoogLeNet", "vanilla CNN") if name in row]
    made = {PEOPLE: row.get("people"), THEIRS: row.get("corrected")}
    made[NETWORKS] = passing(max(networks)) if networks else None
    return {name: value for name, value in made.items() if value is not None}


def grade(exam: Reasoning, records: Sequence[Record]) -> Result:
    """Conclude from the records, whichever of them are there."""
    found = _findings(exam, records)
    tested = [f for f in found if f.tested]
    figures: list[Figure] = []
    if tested:
        figures += [_by_problem(tested, found), _spread(tested), *_planes(tested, exam)]
        figures += _learning(tested, exam)
    figures += _human(found)
    if tested:
        figures += [*_correlation(tested, exam), _rules(tested, exam), *_galleries(tested, exam)]
        figures += [_numbers(tested)]
    figures.append(_success_curve())
    return Result([_verdict(f, exam) for f in found], [f for f in figures if f is not None])


def _findings(exam: Reasoning, records: Sequence[Record]) -> list[Findings]:
    made: dict[str, Findings] = {}
    for r in sorted(records, key=lambda r: (r.subject in exam.baselines, r.item["repeat"])):
        own = made.setdefault(r.party, Findings(r.party))
        where = own.tested if r.item["protocol"] == "machine" else own.sat
        where[int(r.item["problem"]), int(r.item["examples"])].append(r)
    return list(made.values())


def _verdict(f: Findings, exam: Reasoning) -> Verdict:
    parts, tone, score = [], "plain", None
    if f.tested:
        count = f.usual
        score = f.overall(count).value
        problems = f.problems(count)
        alphas = {p: a for p in problems if (a := f.alpha(p, count)) is not None}
        solved = [p for p, a in alphas.items() if a.value >= SOLVED]
        surely = holm([f.above_chance(p, count) for p in problems]) < 0.05
        known = [row["people"] for p in problems if "people" in (row := published()[p])]
        people = f", where people do in {100 * np.mean(known):.0f} %" if known else ""
        parts.append(
            f"after {count} + {count} examples it is right on {f.overall(count):%} of new pictures "
            f"(chance: 50 %). It would pass the test that people sit in {f.passing(count):%} of "
            f"cases{people}. Solved (α ≥ 90 %): {len(solved)} of {len(problems)} problems; surely "
            f"above chance (Holm): {int(surely.sum())}."
        )
        weak = sorted((p for p in problems if p not in solved), key=lambda p: alphas[p].value)[:4]
        if weak and f.subject not in exam.baselines:
            parts.append("Weakest: " + ", ".join(f"#{p} {alphas[p]:%}" for p in weak) + ".")
        tone = "good" if len(solved) == len(problems) else "fair" if solved else "poor"
    if f.sat:
        rounds = [r.measures["passed"] for found in f.sat.values() for r in found]
        passed = wilson(sum(rounds), len(rounds))
        parts.append(f"The test that people sit was passed in {passed:%} of {len(rounds)} rounds.")
    tone = "plain" if f.subject in exam.baselines else tone
    return Verdict(f.subject, " ".join(parts), tone, score)  # type: ignore[arg-type]


def _by_problem(found: Sequence[Findings], everybody: Sequence[Findings]) -> Dots:
    """Draw the paper's Figure 2: the chance of passing, problem by problem."""
    sat = [f for f in everybody if f.sat and f.subject == OURS]
    problems = sorted({p for f in found for p in f.problems(f.usual)})
    return Dots(
        name="problems",
        title="Who would pass, problem by problem (the paper's Figure 2)",
        caption=(
            "Probability of being right 7 times running within 35 pictures, for one who is right "
            "as often as on the new pictures here; 95 % intervals over repeats. Vertical bars: "
            "people. Published machines stand in the next figure."
        ),
        formula="β*(α), by the Markov chain of equations 1–3; α is the mean over repeats",
        groups=[f"#{p}" for p in problems],
        series={
            f.subject: [
                passing_interval(a) if (a := f.alpha(p, f.usual)) is not None else None
                for p in problems
            ]
            for f in found
        }
        | {f"{f.subject}, who sat it": [f.beta(p) for p in problems] for f in sat},
        reference={PEOPLE: [references(p).get(PEOPLE) for p in problems]},
        null=passing(CHANCE),
        null_name="chance, 11 %",
        axis="β*",
    )


def _spread(found: Sequence[Findings]) -> Boxes:
    """Draw Figure 2's histograms: how the chances of passing are spread over problems."""
    problems = sorted({p for f in found for p in f.problems(f.usual)})
    rows = {
        f.subject: [passing(a.value) for p in problems if (a := f.alpha(p, f.usual)) is not None]
        for f in found
    }
    for source in (PEOPLE, THEIRS, NETWORKS):
        values = [references(p)[source] for p in problems if source in references(p)]
        rows |= {source: values} if values else {}
    told = ", ".join(f"{who} {bootstrap(values):%}" for who, values in rows.items())
    return Boxes(
        name="spread",
        title="Chances of passing over the problems",
        caption=f"Least, quartiles, most; the mean as a diamond. Means: {told}.",
        formula="β of people, β*(α) of machines; bootstrap over problems",
        groups=[textwrap.fill(who, 16) for who in rows],
        series={"": list(rows.values())},
        axis="chance of passing",
    )


def _planes(found: Sequence[Findings], exam: Reasoning) -> list[Matrix]:
    """Draw Figure 3: means over the problems of a type, by what their rules are about."""
    rows = {
        f.subject: {
            p: passing(a.value)
            for p in f.problems(f.usual)
            if (a := f.alpha(p, f.usual)) is not None
        }
        for f in found
        if f.subject not in exam.baselines
    }
    asked = {p for values in rows.values() for p in values}
    if not asked:
        return []
    rows[PEOPLE] = {p: references(p)[PEOPLE] for p in asked if PEOPLE in references(p)}
    types = sorted({(published()[p]["places"], published()[p]["shapes"]) for p in asked})
    names = [f"places {int(b)}, shapes {int(a)}" for b, a in types]
    values, notes = [], []
    for of_problem in rows.values():
        cells = [
            [
                v
                for p, v in of_problem.items()
                if (published()[p]["places"], published()[p]["shapes"]) == t
            ]
            for t in types
        ]
        values.append([float(np.mean(c)) if c else float("nan") for c in cells])
        notes.append([f"{100 * np.mean(c):.0f}\n({len(c)})" if c else "" for c in cells])
    return [
        Matrix(
            name="types",
            title="By what the rule is about (the paper's Figure 3)",
            caption=(
                "Mean chance of passing over the problems of a type, and their number. Shapes: "
                "0 no matter, 1 similar in size, 2 identical, 3 up to a transformation. Places: 0 "
                "no matter, 1 in contact or inside, 2 on a line or the like, 3 at equal distances."
            ),
            formula="mean of β*(α), or of β, over the problems of a type of Table 3",
            row_names=list(rows),
            column_names=names,
            values=values,
            notes=notes,
            bounds=(0.0, 1.0),
        )
    ]


def _learning(found: Sequence[Findings], exam: Reasoning) -> list[Figure]:
    """Draw Figure 4: how much more examples help."""
    counts = sorted({count for f in found for count in f.examples})
    if len(counts) < 2:
        return []
    curves = Curves(
        name="learning",
        title="Learning curves (the paper's Figure 4)",
        caption="Mean α over the problems; 95 % intervals over problems.",
        formula="α after so many examples of each category; bootstrap over problems",
        x=counts,
        series={
            f.subject: [f.overall(count) if count in f.examples else None for count in counts]
            for f in found
        },
        x_axis="examples of each category",
        y_axis="α",
        null=CHANCE,
        log_x=max(counts) > 20,
    )
    tables: list[Figure] = [
        Matrix(
            name=f"learning-{f.subject}",
            title=f"Learning, problem by problem: {f.subject}",
            caption="α after so many examples of each category.",
            formula="mean share of right answers over repeats",
            row_names=[f"#{p}" for p in f.problems(f.usual)],
            column_names=[str(count) for count in f.examples],
            values=[
                [a.value if (a := f.alpha(p, count)) else float("nan") for count in f.examples]
                for p in f.problems(f.usual)
            ],
            bounds=(0.5, 1.0),
        )
        for f in found
        if len(f.examples) > 1 and f.subject not in exam.baselines
    ]
    return [curves, *tables]


def _human(found: Sequence[Findings]) -> list[Figure]:
    sitters = [f for f in found if f.sat]
    if not sitters:
        return []
    problems = sorted({p for f in sitters for p, _ in f.sat})
    return [
        Dots(
            name="human",
            title="Who passed the test that people sit",
            caption=(
                f"Share of repeats with {RUN} right answers running within {PICTURES} pictures, "
                "the truth told after each; 95 % Wilson intervals."
            ),
            formula="β = repeats passed ÷ repeats",
            groups=[f"#{p}" for p in problems],
            series={f.subject: [f.beta(p) for p in problems] for f in sitters},
            reference={PEOPLE: [references(p).get(PEOPLE) for p in problems]},
            null=passing(CHANCE),
            null_name="chance, 11 %",
            axis="β",
        ),
        Curves(
            name="course",
            title="How it went, picture by picture, in the test that people sit",
            caption=(
                "Share of right answers at each place, over all rounds and problems; rounds that "
                "were passed before count as right. 95 % Wilson intervals."
            ),
            formula="(right at this place + passed before) ÷ rounds",
            x=[place + 1 for place in PLACES],
            series={f.subject: [f.course(place) for place in PLACES] for f in sitters},
            x_axis="picture",
            y_axis="right",
            null=CHANCE,
        ),
    ]


def _correlation(found: Sequence[Findings], exam: Reasoning) -> list[Table]:
    """Ask whether what is hard for people is hard for the subject."""
    cells = []
    for f in found:
        problems = [p for p in f.problems(f.usual) if "people" in published()[p]]
        if len(problems) < 5 or f.subject in exam.baselines:
            continue
        own = np.array([passing(f.alpha(p, f.usual).value) for p in problems])  # type: ignore[union-attr]
        pairs = np.stack([own, [published()[p]["people"] for p in problems]], axis=1)
        cells.append(
            {
                "subject": f.subject,
                "problems": len(problems),
                "Pearson r": _correlated(pairs, ranks=False),
                "Spearman ρ": _correlated(pairs, ranks=True),
            }
        )
    return [
        Table(
            name="correlation",
            title="Is it hard for people too?",
            caption=(
                "Correlation of the chance of passing with that of people over the problems, with "
                "95 % bootstrap intervals over problems. With 23 problems, most of them easy, "
                "little follows from it."
            ),
            formula="r and ρ of β*(α) and β",
            cells=cells,
            plain=["Pearson r", "Spearman ρ"],
        )
    ] if cells else []  # fmt: skip


def _correlated(pairs: Any, *, ranks: bool) -> Interval:
    def of(drawn: Any) -> Any:
        made = []
        for rows in drawn:
            x, y = rows.T
            if ranks:
                x, y = scipy_stats.rankdata(x), scipy_stats.rankdata(y)
            made.append(np.corrcoef(x, y)[0, 1] if x.std() > 0 and y.std() > 0 else 0.0)
        return np.array(made)

    return bootstrap(pairs, of)


def _rules(found: Sequence[Findings], exam: Reasoning) -> Table:
    """Say what rule each subject that can tell found first."""
    cells = []
    for f in found:
        for (problem, count), records in sorted(f.tested.items()):
            program = str(records[0].measures.get("program", ""))
            if program and count == f.usual and f.subject not in exam.baselines:
                lines = [line for line in program.splitlines() if line.strip()]
                said = {"rule": lines[0].strip(), "code": " ".join(lines[1:2]).strip()}
                cells.append({"subject": f.subject, "problem": f"#{problem}", **said})
    return Table(
        name="rules",
        title="The rules that were found",
        caption="In the first repeat; the first line of the program, in words and in code.",
        formula="as the subject says it, in the note of its answers",
        cells=cells or [{"subject": "–", "problem": "–", "rule": "nobody says rules"}],
    )


def _galleries(found: Sequence[Findings], exam: Reasoning) -> list[Gallery]:
    """Hang examples and mistakes of the problems on which a subject is weakest."""
    from snellen.exams.reasoning import CHOICES, pictures

    talkers = [f for f in found if f.subject not in exam.baselines]
    if not talkers:
        return []
    f = talkers[0]
    count = f.usual
    order = sorted(f.problems(count), key=lambda p: (float(np.mean(f.shares(p, count))), p))
    made = []
    for problem in order[:GALLERIES]:
        images, labels = pictures("lesson", problem, 0, 8)
        shelves = {
            CHOICES[c]: (images[labels == c], [""] * int((labels == c).sum())) for c in (1, 0)
        }
        shelves |= _wrong(f.tested[problem, count])
        made.append(
            Gallery(
                name=f"problem-{problem}",
                title=f"#{problem}: α of {f.subject} {f.alpha(problem, count):%}",
                caption=(
                    "Examples of both categories, and pictures that were put into the wrong one: "
                    "shapes taken for the same in one colour, with what tipped the scales."
                ),
                formula="pictures of the first repeat; mistakes of the first repeats that made any",
                shelves=shelves,
                large=True,
            )
        )
    return made


def _wrong(records: Sequence[Record]) -> dict[str, tuple[Any, list[str]]]:
    for r in records:
        if "mistakes" in r.measures:
            with Image.open(io.BytesIO(r.measures["mistakes"].data)) as file:
                strip = np.asarray(file.convert("RGB"))
            side = strip.shape[0]
            shown = np.stack(np.split(strip, strip.shape[1] // side, axis=1))
            texts = [
                textwrap.fill(f"is {truth}. {reason}", 34)
                for truth, reason in zip(r.measures["truths"], r.measures["reasons"], strict=True)
            ]
            return {"taken for\nthe other": (shown, texts)}
    return {}


def _numbers(found: Sequence[Findings]) -> Table:
    cells: list[dict[str, Any]] = []
    for f in found:
        for (problem, count), records in sorted(f.tested.items()):
            alpha = f.alpha(problem, count)
            assert alpha is not None
            people = published()[problem].get("people")
            cells.append(
                {
                    "subject": f.subject,
                    "problem": f"#{problem}",
                    "examples": count,
                    "repeats": len(records),
                    "α": alpha,
                    "β*(α)": passing_interval(alpha),
                    "people β": people if people is not None else "–",
                    "people α*(β)": alpha_of(people) if people is not None else "–",
                    "seconds an item": float(np.mean([r.seconds for r in records])),
                }
            )
    return Table(
        name="numbers",
        title="All numbers",
        caption=(
            "α*(β) of Stabinger et al. takes whoever fails for a guesser, and so overrates people "
            "and underrates machines; β*(α) asks the same of both."
        ),
        formula="α = right ÷ asked, Student's interval over repeats; β*(α) by the Markov chain",
        cells=cells,
    )


def _success_curve() -> Curves:
    """Draw Figure 1: what share of right answers is worth in the human protocol."""
    x = [round(v, 3) for v in np.linspace(0, 1, 41)]
    return Curves(
        name="passing",
        title="What α is worth in the test that people sit (the paper's Figure 1)",
        caption=(
            f"{RUN} right answers running within {PICTURES} pictures; beside it what Stabinger et "
            "al. (2016) assume: who passes knows, and who fails guesses."
        ),
        formula="β*(α) = Q₇(35), Q(n) = M Q(n−1); [2α − 1]₊",
        x=x,
        series={
            "β*(α)": [Interval(*[passing(v)] * 3) for v in x],
            "Stabinger et al.": [Interval(*[max(2 * v - 1, 0.0)] * 3) for v in x],
        },
        x_axis="α",
        y_axis="chance of passing",
    )
