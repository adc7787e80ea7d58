"""How much does scenery matter to each subject, and which?

A target counts once, however many lessons' pupils were asked about it: what is said of it is
averaged first, and intervals are over targets.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.core import Result, Verdict
from snellen.errors import SnellenError, Unloadable
from snellen.exams.background.assessor import LEVELS, Assessor
from snellen.exams.background.cases import CONTROLS
from snellen.exams.background.clouds import cloud, most_targets, relative
from snellen.exams.background.features import features, joined
from snellen.exams.background.keywords import Effect, Seen, effects
from snellen.exams.background.matrices import KERNELS, density, raster, variance_matrix
from snellen.exams.background.ontology import (
    load_ontology,
    strongest_keywords,
    strongest_rules,
)
from snellen.exams.background.strips import cut_up
from snellen.figures import Curves, Dots, Gallery, Table
from snellen.seeds import Seed
from snellen.stats import Interval, bootstrap, wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from snellen.core import Figure, Record
    from snellen.exams.background import Background
    from snellen.exams.background.clouds import Floats
    from snellen.exams.background.matrices import VarianceMatrix

OWN, FIRST = 0, 1 + len(CONTROLS)
BINS = 6
FEW_TARGETS = 5
"""With fewer no matrix is judged."""
WORST = 8
TONES = dict(zip(LEVELS, ("poor", "fair", "good"), strict=True))
IN_WORDS = {
    "CONF true": "probability",
    "CONF margin": "lead",
    "CONF right": "right or wrong",
}
"""What signals are called where they are shown."""
MOST_PANELS = 4
JUDGED = ("CONF max", "CONF true", "CONF margin", "CONF right")
"""Signals that every model gives in the same unit: what the shipped assessor judges by."""
SHIPPED = "assessor.npz"


@dataclass
class Findings:
    """One subject, after one kind of lesson where it was given any."""

    who: str
    subject: str
    chance: float
    include: str
    told: list[Any] = field(default_factory=list)
    strips: list[tuple[Any, Any]] = field(default_factory=list)
    """Cases with their pictures in a row."""
    skipped: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, tuple[int, list[str]]] = field(default_factory=dict)
    """Scenes that could not be used, by reason: how many, and some of their names."""
    gaps: list[tuple[int, int, int]] = field(default_factory=list)
    """Painted: right before classes' own sceneries, before others, and how many were asked."""
    ontology: Any = None
    """Of its scenes, as it was kept."""
    _made: dict[tuple[str, str, bool], VarianceMatrix] = field(default_factory=dict)

    @cached_property
    def used(self) -> list[Any]:
        """Cases that count: those that were right as they were, or all."""
        return [c for c in self.told if self.include == "all" or c["right"][OWN]]

    @cached_property
    def right(self) -> list[Floats]:
        """Of each case, whether each scene was answered rightly."""
        return [np.array(case["right"][FIRST:], float) for case in self.used]

    @property
    def count(self) -> int:
        """How many targets count."""
        return len({case["target"] for case in self.used})

    @property
    def original(self) -> Interval:
        """Share of targets that are right as they were."""
        return _share(self.told, [case["right"][OWN] for case in self.told])

    def control(self, name: str) -> Interval:
        """Share of the targets that count that are right as a control."""
        place = 1 + CONTROLS.index(name)
        return _share(self.used, [case["right"][place] for case in self.used])

    @property
    def composites(self) -> Interval:
        """Share right before scenes, by targets."""
        return _mean(self.used, [float(right.mean()) for right in self.right])

    @property
    def everywhere(self) -> Interval:
        """Share of targets that are right before all their scenes."""
        return _share(self.used, [bool(right.all()) for right in self.right])

    @property
    def plausible(self) -> Interval:
        """Accuracy where a scene counts the more the nearer it is."""
        shares = []
        for case, right in zip(self.used, self.right, strict=True):
            weights = np.maximum(1 - np.array(case["distances"]), 1e-6)
            shares.append(float(weights @ right / weights.sum()))
        return _mean(self.used, shares)

    def loss(self, control: str = "") -> Interval:
        """How much lower accuracy is before scenes than as a control, or than as it was."""
        place = 1 + CONTROLS.index(control) if control else OWN
        pairs = zip(self.used, self.right, strict=True)
        lost = [case["right"][place] - float(right.mean()) for case, right in pairs]
        return bootstrap(_by_target(self.used, lost))

    def signal(self, name: str) -> tuple[Floats, Floats]:
        """Return (targets, n + 1) distances and values of a signal, the target itself first."""
        count = max(len(case["distances"]) for case in self.used) + 1
        d, s = np.full((2, len(self.used), count), np.nan)
        for row, case in enumerate(self.used):
            values = case["signals"][name]
            own = len(case["distances"]) + 1
            d[row, :own] = [0.0, *case["distances"]]
            s[row, :own] = [values[OWN], *values[FIRST:]]
        return d, s if name.startswith("CONF") else relative(s)

    @property
    def names(self) -> list[str]:
        """Signals that all cases have."""
        return list(self.used[0]["signals"]) if self.used else []

    @cached_property
    def effects(self) -> list[Effect]:
        """What each keyword does."""
        seen: dict[str, list[tuple[Any, Floats]]] = defaultdict(list)
        for case, right in zip(self.used, self.right, strict=True):
            seen[case["target"]].append((case, right))
        return effects(
            [
                Seen(
                    [
                        frozenset(filter(None, words.split(";")))
                        for case, _ in asked
                        for words in case["words"]
                    ],
                    np.concatenate([case["distances"] for case, _ in asked]),
                    np.concatenate([right for _, right in asked]),
                )
                for asked in seen.values()
            ]
        )

    def matrices(self, exam: Background, names: Sequence[str]) -> dict[str, VarianceMatrix]:
        """Return the variance matrix of each signal."""
        kernel, signed = KERNELS[exam.kernel], exam.differences == "signed"
        made = {}
        for name in names:
            key = name, exam.kernel, signed
            if key not in self._made:
                points = cloud(*self.signal(name), signed=signed)
                self._made[key] = variance_matrix(points, kernel)
            made[name] = self._made[key]
        return made

    def features(self, exam: Background, names: Sequence[str]) -> dict[str, float]:
        """Return what an assessor judges by."""
        kernel, made = KERNELS[exam.kernel], {}
        most = most_targets(len(self.used), Seed("background", "most"))
        for name, matrix in self.matrices(exam, names).items():
            d, s = self.signal(name)
            signed = exam.differences == "signed"
            lesser = variance_matrix(cloud(d[most], s[most], signed=signed), kernel)
            made[name] = features(matrix.values, lesser.values)
        return joined(made)


def _by_target(told: Sequence[Any], values: Sequence[float]) -> list[float]:
    """Average what was found of each target, of whichever lessons' pupils."""
    found: dict[str, list[float]] = defaultdict(list)
    for case, value in zip(told, values, strict=True):
        found[case["target"]].append(float(value))
    return [sum(own) / len(own) for own in found.values()]


def _share(told: Sequence[Any], flags: Sequence[float]) -> Interval:
    """Return a share of targets with Wilson's interval."""
    shares = _by_target(told, flags)
    return wilson(sum(shares), len(shares))


def _mean(told: Sequence[Any], shares: Sequence[float]) -> Interval:
    """Return the mean of shares over targets; if all are 0 or 1, no draw would show any doubt."""
    means = _by_target(told, shares)
    if means and sum(means) in (0, len(means)):
        return wilson(sum(means), len(means))
    return bootstrap(means)


def findings(exam: Background, records: Sequence[Record]) -> list[Findings]:
    """Sort records by subject and, where they were taught, by lesson."""
    made: dict[str, Findings] = {}
    for r in sorted(records, key=lambda r: (_lesson_key(r), r.fingerprint, r.item.key)):
        who = r.subject + _lesson_of(exam, r)
        own = made.setdefault(who, Findings(who, r.subject, math.nan, exam.include))
        if "choices" in r.measures:
            own.chance = 1 / r.measures["choices"]
        own.ontology = own.ontology or r.measures.get("ontology")
        for reason, (count, names) in r.measures.get("scenes left out", {}).items():
            before, known = own.left_out.get(reason, (0, []))
            both = sorted({*known, *names})
            own.left_out[reason] = max(before, count, len(both)), both
        told = r.measures["cases"]
        own.strips += [
            (case, r.measures[f"strip {place}"])
            for place, case in enumerate(told)
            if f"strip {place}" in r.measures
        ]
        own.told += told
        own.skipped |= r.measures.get("skipped", {})
        if "probed" in r.measures:
            own.gaps.append(
                (r.measures["before own"], r.measures["before others"], r.measures["probed"])
            )
    return list(made.values())


def _lesson_key(r: Record) -> tuple[Any, ...]:
    return r.subject, str(r.item.get("lesson", "")), float(r.item.get("correlation", 0))


def _lesson_of(exam: Background, r: Record) -> str:
    if "correlation" not in r.item:
        return ""
    varied = r.item["lesson"]
    after = f" after {varied}" if varied != "plain" or len(exam.lessons) > 1 else ""
    return f", taught at {float(r.item['correlation']):.2f}{after}"


@dataclass(frozen=True)
class Judgement:
    """What an assessor says of one subject, or why it says nothing."""

    chances: Mapping[str, float]
    why_not: str = ""

    @property
    def score(self) -> float:
        """Invariant counts 1, borderline ½."""
        return sum(k * p for k, p in enumerate(self.chances.values())) / (len(LEVELS) - 1)


def judged(f: Findings, exam: Background) -> Judgement:
    """Have the assessor judge the subject's matrices."""
    if f.count < FEW_TARGETS:
        return Judgement({}, f"only {f.count} of {FEW_TARGETS} targets that it takes count")
    usual = replace(exam, kernel="wide", differences="absolute")  # as it was trained
    try:
        assessor = load_assessor(exam.assessor)
        names = list(dict.fromkeys(name.rpartition(" ")[0] for name in assessor.names))
        if missing := [name for name in names if name not in f.names]:
            return Judgement({}, f"the assessor asks for {missing[0]}")
        chances = assessor.probabilities(f.features(usual, names))
    except SnellenError as error:
        return Judgement({}, str(error))
    return Judgement(dict(zip(LEVELS, map(float, chances), strict=True)))


@lru_cache(maxsize=4)
def load_assessor(path: str) -> Assessor:
    """Return the assessor of that file, or the one that is shipped."""
    if path:
        return Assessor.load(Path(path).expanduser())
    shipped = Path(str(files("snellen.exams.background") / SHIPPED))
    if not shipped.is_file():
        raise Unloadable("no assessor comes with this version; give one with assessor=FILE")
    return Assessor.load(shipped)


def grade(exam: Background, records: Sequence[Record]) -> Result:
    """Conclude from the records, whichever of them are there."""
    found = findings(exam, records)
    known = [f for f in found if f.used]
    figures: list[Figure | None] = []
    verdicts = []
    for f in found:
        judgement = judged(f, exam) if f.used else Judgement({}, "no target counts")
        verdicts.append(_verdict(f, judgement, exam))
    if known:
        figures += [_parts(known), _by_distance(known)]
        for f in known:
            figures += [_hurting(f), _pictures_of_hurt(f)]
        for f in known:
            shown = [name for name in JUDGED[1:] if name in f.names]
            shown += [n for n in f.names if not n.startswith("CONF") and n.endswith(" max")]
            if f.count >= FEW_TARGETS and shown:
                figures.append(_matrix_figure(f, exam, shown))
        if rested := [f for f in known if f.count >= FEW_TARGETS and f.names]:
            figures.append(_density_figure(rested, exam))
        figures.append(_numbers(known))
    figures += [_skipped(found), *_ontology(found), _keywords(known)]
    return Result(verdicts, [figure for figure in figures if figure is not None])


def _verdict(f: Findings, judgement: Judgement, exam: Background) -> Verdict:
    if not f.told:
        why = next(iter(f.skipped.values()), "no target was asked about")
        return Verdict(
            f.who,
            f"nothing can be said: all {len(f.skipped)} targets were left out, the first because "
            f"{why}.",
        )
    asked = len({case["target"] for case in f.told})
    if not f.used:
        text = f"nothing can be said: of {asked} targets none was right as it was."
        return Verdict(f.who, text, "poor")
    tone, score, parts = "plain", None, [f"not judged: {judgement.why_not}."]
    if judgement.chances:
        level = max(judgement.chances, key=lambda name: judgement.chances[name])
        others = ", ".join(f"{n} {p:.2f}" for n, p in judgement.chances.items() if n != level)
        who = "the given assessor" if exam.assessor else "an assessor trained on painted worlds"
        sure = f"{judgement.chances[level]:.2f}"
        parts = [f"{level} to scenery, says {who} (probability {sure}; {others})."]
        tone, score = TONES[level], judgement.score
    counted = "all of which count" if exam.include == "all" else f"and the {f.count} that are count"
    parts.append(
        f"It is right on {f.original:%} of {asked} targets as they were, {counted}. Before other "
        f"scenes it is still right {f.composites:%} of the time; {f.everywhere:%} of the targets "
        f"it gets right before every scene. Controls: {f.control('re-pasted'):%} back on their "
        f"own ground, {f.control('alone'):%} alone on grey."
    )
    parts += _harm(f)
    if f.skipped:
        parts.append(f"{len(f.skipped)} targets were left out; the table says why.")
    return Verdict(f.who, " ".join(parts), tone, score)  # type: ignore[arg-type]


def _harm(f: Findings) -> list[str]:
    """Say which keywords hurt, if any can be told apart."""
    if not f.effects:
        return ["No keyword was in enough scenes, and missing from others, to be judged."]
    worst = [e for e in f.effects if e.hurts]
    if not worst:
        return [f"None of {len(f.effects)} keywords surely hurts."]
    told = ", ".join(f"{e.word} {_points(e.adjusted)}" for e in worst[:3])
    more = f", and {len(worst) - 3} more" if len(worst) > 3 else ""
    among = f"Of {len(f.effects)} keywords, these surely hurt"
    return [f"{among}, in points of accuracy with all else held still: {told}{more}."]


def _points(share: Interval) -> str:
    return f"{Interval(*(100 * x for x in share))}"


def _parts(found: Sequence[Findings]) -> Dots:
    rows: dict[str, Callable[[Findings], Interval]] = {
        "as they were": lambda f: f.original,
        "on their own ground": lambda f: f.control("re-pasted"),
        "alone on grey": lambda f: f.control("alone"),
        "before plausible scenes": lambda f: f.plausible,
        "before scenes": lambda f: f.composites,
        "before every scene": lambda f: f.everywhere,
    }
    chances = {f.chance for f in found if not math.isnan(f.chance)}
    return Dots(
        name="parts",
        title="What scenery does, beside what cutting does",
        caption=(
            "What is named rightly. First, of all targets, those as they were photographed or "
            "painted. Then, of the targets that count: cut out and laid back on their own ground, "
            "where only the cut shows; alone on flat grey; before other scenes, where plausible "
            "means that a scene counts the more the nearer it is to the target's own; and the "
            "share of targets that are right before every one of their scenes. 95 % intervals: "
            "Wilson's for shares of targets, else by bootstrap over targets."
        ),
        formula="right ÷ asked; plausible: Σ(1 − d)·right ÷ Σ(1 − d) within each target",
        groups=list(rows),
        series={f.who: [of(f) for of in rows.values()] for f in found},
        null=chances.pop() if len(chances) == 1 else None,
    )


def _by_distance(found: Sequence[Findings]) -> Curves:
    """Draw accuracy by semantic distance; bins hold as many pictures each."""
    every = np.concatenate([np.array(c["distances"]) for f in found for c in f.used])
    # ends that are distances themselves: no bin is empty
    edges = np.unique(np.quantile(every, np.linspace(0, 1, BINS + 1), method="inverted_cdf"))
    bins = max(len(edges) - 1, 1)
    middles = [float(every[_binned(every, edges) == b].mean()) for b in range(bins)]
    series = {}
    for f in found:
        rows = {case["target"]: np.zeros((bins, 2)) for case in f.used}
        for case, right in zip(f.used, f.right, strict=True):
            places = _binned(np.array(case["distances"]), edges)
            for b in range(bins):
                rows[case["target"]][b] += right[places == b].sum(), (places == b).sum()
        table = np.stack(list(rows.values()))
        series[f.who] = [_ratio(table[:, b]) for b in range(bins)]
    chances = {f.chance for f in found if not math.isnan(f.chance)}
    return Curves(
        name="distance",
        title="Accuracy as scenes become unlike the target's own",
        caption="Semantic distance is 0 if all that is in a scene is in the target's own, too, and "
        "1 if nothing in it goes with anything there. Targets that count; 95 % intervals by "
        "bootstrap over targets.",
        formula="right ÷ asked among scenes of a bin; bins hold equally many pictures",
        x=middles,
        series=series,
        x_axis="semantic distance",
        y_axis="accuracy",
        null=chances.pop() if len(chances) == 1 else None,
    )


def _binned(distances: Floats, edges: Floats) -> Any:
    return np.clip(np.searchsorted(edges, distances, side="right") - 1, 0, max(len(edges) - 2, 0))


def _ratio(rows: Floats) -> Interval | None:
    """Return right ÷ asked over targets, which are drawn anew whole."""
    if not rows[:, 1].any():
        return None

    def share(drawn: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return drawn[..., 0].sum(axis=1) / drawn[..., 1].sum(axis=1)

    return bootstrap(rows, share)


def _hurting(f: Findings) -> Dots | None:
    """Draw the keywords that matter most, both ways."""
    moving = [e for e in f.effects if e.moves]
    by_size = sorted(moving, key=lambda e: (not e.hurts, -abs(e.adjusted.value)))[:WORST]
    shown = sorted(by_size, key=lambda e: e.adjusted.value)
    if not shown:
        return None
    return Dots(
        name=f"keywords-{f.who}",
        title=f"Which keywords matter: {f.who}",
        caption=(
            f"Of {len(f.effects)} keywords of scenes, the {len(shown)} with the largest adjusted "
            "effects; * marks those that surely hurt. Difference: accuracy before scenes with the "
            "keyword less that before scenes without it, within each target. Adjusted: with all "
            "other keywords and the distance held still, so that a keyword does not answer for "
            "its company. 95 % intervals over targets."
        ),
        formula="mean over targets of the difference; ridge regression with a level per target; "
        "*: both intervals below 0, the adjusted one by a point at least, and Holm's p < .05",
        groups=[f"{e.word}{' *' if e.hurts else ''}" for e in shown],
        series={"difference": [e.plain for e in shown], "adjusted": [e.adjusted for e in shown]},
        null=0.0,
        null_name="no effect",
        axis="effect on accuracy",
        bounds=None,
    )


def _pictures_of_hurt(f: Findings) -> Gallery | None:
    """Hang composites that went wrong before the keywords that hurt most, beside the targets."""
    wanted = [e.word for e in f.effects if e.hurts][:3] or [
        e.word for e in f.effects if e.plain.value < 0
    ][:2]
    shelves = {word: shelf for word in wanted if (shelf := _shelf(f, word))}
    if not shelves:
        return None
    hurt = any(e.hurts for e in f.effects)
    sure = "These surely hurt." if hurt else "None surely hurts; these go along with most errors."
    return Gallery(
        name=f"hurt-{f.who}",
        title=f"Taken for something else: {f.who}",
        caption=f"Pairs: a target as it was, with its right name, and before a scene with the "
        f"keyword on the left, where it was taken for something else; d is how far the scene is "
        f"from its own. {sure}",
        formula="among the first targets of a run",
        shelves=shelves,
    )


def _shelf(f: Findings, word: str) -> tuple[Any, list[str]] | None:
    """Pair the first targets that were right as they were with a wrong answer before a keyword."""
    pictures: list[Any] = []
    texts: list[str] = []
    for case, strip in f.strips:
        wrong = [
            place
            for place, words in enumerate(case["words"])
            if word in words.split(";") and not case["right"][FIRST + place]
        ]
        if wrong and case["right"][OWN]:
            row = cut_up(strip.data)
            pictures += [row[OWN], row[FIRST + wrong[0]]]
            texts += [case["label"], f"wrong, d = {case['distances'][wrong[0]]:.2f}"]
        if len(pictures) >= WORST:
            break
    return (np.stack(pictures), texts) if pictures else None


def _matrix_figure(f: Findings, exam: Background, names: Sequence[str]) -> Figure:
    made = f.matrices(exam, names)
    return raster(
        {IN_WORDS.get(name, name): matrix for name, matrix in made.items()},
        name=f"matrices-{f.who}",
        title=f"How much its mind changes between two scenes: {f.who}",
        caption=(
            "Each place stands for two scenes by their semantic distances from the target's own; "
            "its colour is by how much a signal differs between them, over all targets: the "
            "probability of the right answer, its lead over the next best, whether it was given. "
            "A model that does not mind scenery is dark all over. Paler where there are fewer "
            "pairs."
        ),
        formula="variance matrix: Gaussian RBF of |S_j − S_k| at (d_j, d_k) over all pairs of "
        "all targets",
    )


def _density_figure(found: Sequence[Findings], exam: Background) -> Figure:
    shown = {f.who: f.matrices(exam, f.names[:1])[f.names[0]] for f in found[:MOST_PANELS]}
    covered = min(matrix.covered for matrix in shown.values())
    return density(
        shown,
        name="density",
        title="What the matrices rest on",
        caption=f"How many pairs of pictures there are at each two distances. Pairs lie in "
        f"{100 * covered:.0f} % of a matrix' elements; the others are guessed from around.",
        formula="count of points of the cloud by block of elements",
    )


def _keywords(found: Sequence[Findings]) -> Table | None:
    rows = [
        {
            "subject": f.who,
            "keyword": e.word,
            "effect": e.plain,
            "adjusted": e.adjusted,
            "p (Holm)": e.p,
            "targets": e.targets,
            "hurts": "yes" if e.hurts else "",
        }
        for f in found
        if any(e.moves for e in f.effects)
        for e in f.effects
    ]
    if not rows:
        return None
    return Table(
        name="keywords",
        title="All keywords in numbers",
        caption="Those that surely hurt come first. Subjects that no keyword moves are left out.",
        formula="as in the figures; p: two-sided, Holm-corrected, the greater of both effects'",
        cells=rows,
    )


def _numbers(found: Sequence[Findings]) -> Table:
    rows = []
    for f in found:
        row: dict[str, Any] = {
            "subject": f.who,
            "targets": len({case["target"] for case in f.told}),
            "that count": f.count,
            "lost": f.loss(),
            "against own ground": f.loss("re-pasted"),
            "against grey": f.loss("alone"),
        }
        if f.gaps:
            # each lesson's pupil is asked about the same objects: they count once
            own, others, asked = (sum(c) / len(f.gaps) for c in zip(*f.gaps, strict=True))
            row |= {
                "before usual scenery": wilson(own, round(asked)),
                "before unusual": wilson(others, round(asked)),
            }
        rows.append(row)
    return Table(
        name="losses",
        title="What other scenes cost",
        caption="Accuracy before other scenes is lower by so much than on the target as it was, "
        "and than on either control; below 0, it is higher. Painted worlds: also what is right of "
        "new objects before the scenery that their class is usually seen with, and before others.",
        formula="paired differences; bootstrap over targets",
        cells=rows,
    )


def _skipped(found: Sequence[Findings]) -> Table | None:
    targets: dict[str, set[str]] = defaultdict(set)
    scenes: dict[str, tuple[int, set[str]]] = {}
    for f in found:
        for target, reason in f.skipped.items():
            targets[reason].add(target)
        for reason, (count, names) in f.left_out.items():
            before, known = scenes.get(reason, (0, set()))
            scenes[reason] = max(before, count), known | set(names)
    told = [("target", reason, len(names), sorted(names)) for reason, names in targets.items()]
    told += [("scene", reason, count, sorted(names)) for reason, (count, names) in scenes.items()]
    if not told:
        return None
    return Table(
        name="left-out",
        title="Pictures that were left out",
        caption="Targets: the picture or its mask cannot be read, the mask is no good to cut "
        "along, or no scene fits. Scenes: they cannot be read, or nothing is known of them.",
        formula="a mask's gate: area 3–70 %, soft share below 15 %, mostly in one piece, touching "
        "two sides at most",
        cells=[
            {"picture": kind, "reason": reason, "how many": count, "such as": ", ".join(names[:3])}
            for kind, reason, count, names in sorted(told, key=lambda row: (row[0], -row[2], row))
        ],
    )


def _ontology(found: Sequence[Findings]) -> list[Figure]:
    """Show what goes with what in the scenes, as the first subject's records have it."""
    kept = [f.ontology.data for f in found if f.ontology]
    if not kept:
        return []
    ontology = load_ontology(kept[0])
    return [strongest_keywords(ontology), strongest_rules(ontology)]
