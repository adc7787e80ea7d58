"""Does the scenery change its mind, and which scenery? (Liao et al. 2022)

A thing is cut out of its picture and laid before n scenes that lie ever farther from its own
by meaning: by what goes with what in the scenes themselves. What the model makes of each is
compared with what it makes of the picture as it was, and of two controls: the thing back on
its own ground (what cutting does) and on flat grey (what it knows of the thing alone).

    accuracy         share right, over targets that are right as they were
    on all scenes    share of targets that are right before every one of their scenes
    plausible        accuracy where each scene counts 1 − d, d its distance from the target's own
    variance matrix  how much a signal changes between any two distances, by all pairs of scenes
    effect           of a keyword: accuracy before scenes with it − before those without, within
                     each target; adjusted: other keywords and the distance held still
    verdict          of an assessor that was trained on matrices of models whose invariance is
                     known: invariant, borderline or not, with its probabilities

Intervals are by bootstrap over targets, or Wilson's; a target counts once, however many lessons
were given. A keyword surely hurts if both its effects do, Holm-corrected over all keywords.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from snellen.core import Ability, Attachment, Item, Sheet
from snellen.errors import BadSetting
from snellen.exams.background import cases, results
from snellen.exams.background.cases import CONTROLS, Case, Skipped
from snellen.exams.background.clouds import confidences, modalities
from snellen.exams.background.strips import strip
from snellen.groups import load_groups
from snellen.images.labelled import choices
from snellen.images.scenery import ANOMALIES, AUGMENTATIONS, UNIFORM, examples, world
from snellen.images.things import THINGS
from snellen.seeds import Seed
from snellen.settings import SELECTS
from snellen.stats import log_probabilities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Answers, Flow, Lesson, Record, Result

PROMPT = "What is it?"
PHOTOGRAPHED, PAINTED = 224, 48
"""Sides that pictures are shown at unless somebody says."""
FIRST = 1 + len(CONTROLS)
"""Where in a case the scenes begin."""
PLAIN = "plain"
PROBES = 270
SHOWN = 12
"""Cases of an item whose pictures are kept."""
NAMED = 3
"""Scenes that are named of those that were left out for one reason."""


@dataclass(frozen=True)
class Background:
    """Does the scenery change its mind, and which scenery?"""

    name: ClassVar[str] = "background"
    version: ClassVar[int] = 1
    candidates: ClassVar[tuple[str, ...]] = ("elu-cnn",)
    baselines: ClassVar[tuple[str, ...]] = ()
    quick: ClassVar[Mapping[str, Any]] = {
        "correlations": (round(UNIFORM, 2), 0.95),
        "number": 45,
        "drawn": 400,
        "count": 15,
        "pictures": 1500,
        "epochs": 6,
        "repeats": 1,
    }

    targets: Annotated[
        str,
        Field(description="a folder of labelled pictures of things; empty: the painted world"),
    ] = ""
    column: Annotated[str, Field(description="the column of labels.csv that holds the labels")] = ""
    groups: Annotated[
        str, Field(description="imagenet20 or a JSON file: labels are asked about in these groups")
    ] = ""
    scenes: Annotated[str, Field(description="a folder of pictures to lay things before")] = ""
    tags: Annotated[
        str,
        Field(description="CSV or NPZ of keywords of scenes and targets; empty: colours, layout"),
    ] = ""
    masks: Annotated[
        str, Field(description="a folder of masks, a segmenter as .onnx, or grabcut")
    ] = "grabcut"
    relatives: Annotated[
        str, Field(description="JSON or CSV of synonyms and hyponyms of the labels")
    ] = ""
    most: Annotated[
        int, Field(ge=0, description="targets of photographs at most (0: all)"), SELECTS
    ] = 0
    side: Annotated[
        int, Field(ge=0, le=2048, description="of the squares that are shown (0: fitting)")
    ] = 0
    count: Annotated[int, Field(ge=2, le=1000, description="scenes of each target")] = 31
    choose: Annotated[
        Literal["spread", "subsets", "closest", "random"],
        Field(description="spread over distance; subsets of the target's keywords (paper)"),
    ] = "spread"
    even: Annotated[
        Literal["distance", "ranks"], Field(description="what scenes are spread evenly over")
    ] = "distance"
    length: Annotated[
        Literal["product", "penalty", "hops"], Field(description="of a way between two keywords")
    ] = "product"
    pooling: Annotated[
        Literal["mean", "max", "l2"], Field(description="of the ways to a scene's keywords")
    ] = "mean"
    least_count: Annotated[
        int, Field(ge=0, description="pictures two keywords must share (0: found from the tags)")
    ] = 0
    least_confidence: Annotated[
        float, Field(ge=0, lt=1, description="that one leads to the other (0: found likewise)")
    ] = 0.0
    signals: Annotated[
        bool, Field(description="also look inside of the model, at its last convolution")
    ] = False
    correlations: Annotated[
        tuple[Annotated[float, Field(ge=0, le=1)], ...],
        Field(min_length=1, description="painted: of scenery and class in a lesson (1/9: none)"),
        SELECTS,
    ] = (round(UNIFORM, 2), 0.5, 0.95)  # fmt: skip
    lessons: Annotated[
        tuple[str, ...],
        Field(min_length=1, description="painted: plain, or what is done to it, as flip+jitter"),
        SELECTS,
    ] = (PLAIN,)
    repeats: Annotated[
        int, Field(ge=1, description="painted: each with another lesson"), SELECTS
    ] = 3
    number: Annotated[int, Field(ge=9, le=10_000, description="painted: targets")] = 90
    drawn: Annotated[
        int, Field(ge=20, le=100_000, description="painted: scenes to choose from")
    ] = 600
    pictures: Annotated[int, Field(ge=90, description="painted: in a lesson")] = 2400
    epochs: Annotated[int, Field(ge=1, description="painted: looks at each of them")] = 8
    include: Annotated[
        Literal["right", "all"],
        Field(description="targets that are right as they were (paper), or all"),
        SELECTS,
    ] = "right"
    kernel: Annotated[
        Literal["wide", "middle", "sharp"], Field(description="of the variance matrix"), SELECTS
    ] = "wide"
    differences: Annotated[
        Literal["absolute", "signed"], Field(description="what a variance matrix holds"), SELECTS
    ] = "absolute"
    assessor: Annotated[
        str, Field(description="an .npz that judges matrices (empty: the one that is shipped)"),
        SELECTS,
    ] = ""  # fmt: skip

    def __post_init__(self) -> None:
        if not self.side:
            object.__setattr__(self, "side", PHOTOGRAPHED if self.targets else PAINTED)
        if self.targets and not self.scenes:
            raise BadSetting("targets= needs scenes=, a folder of pictures to lay them before")
        if not self.targets and (given := self.scenes or self.tags or self.groups):
            raise BadSetting(
                f"{given} is given and targets= is not: say which pictures of things to examine, "
                "or leave all of them out for the painted world"
            )
        if self.groups:
            load_groups(self.groups)
        known = {**AUGMENTATIONS, **ANOMALIES}
        for lesson in self.lessons:
            if unknown := [n for n in lesson.split("+") if n not in known and lesson != PLAIN]:
                raise BadSetting(
                    f"no lesson is called {unknown[0]!r}; there are {PLAIN}, {', '.join(known)}"
                )

    @property
    def needs(self) -> frozenset[Ability]:
        """Scores; whoever is to know painted things must be taught them first."""
        taught: set[Ability] = set() if self.targets else {"study"}
        inner: set[Ability] = {"signals"} if self.signals else set()
        return frozenset({"choice", "scores", *taught, *inner})

    def items(self) -> Sequence[Item]:
        """One item for each photographed target, or for each painted lesson."""
        if not self.targets:
            return [
                Item(correlation=rho, lesson=lesson, repeat=repeat)
                for repeat in range(self.repeats)
                for lesson in self.lessons
                for rho in self.correlations
            ]
        cases.check(self)
        around = cases.around(self)
        return [
            Item(target=name, label=label, content=cases.content(self, name), around=around)
            for name, label in cases.targets(self).items()
        ]

    def examine(self, item: Item) -> Flow:
        """Ask about a target before all its sceneries; painted ones all at once, after a lesson."""
        if "target" in item:
            try:
                case = cases.photographed(self, str(item["target"]), str(item["label"]))
            except Skipped as reason:
                return {"skipped": {str(item["target"]): str(reason)}, "cases": []}
            names = choices(self.targets, self.column, self.groups)
            return (yield from self._asked([case], names))
        yield self._lesson(item)
        gap: list[Any] = []
        own, others, truth = cases.probes(self.side, PROBES)
        for images in (own, others):
            answers: Answers = yield Sheet(images, THINGS, truth, prompt=PROMPT)
            gap.append(int(answers.right.sum()))
        told = yield from self._asked(_painted_cases(self), THINGS)
        return {**told, "probed": len(truth), "before own": gap[0], "before others": gap[1]}

    def grade(self, records: Sequence[Record]) -> Result:
        """Say how much scenery matters to each subject, and which."""
        return results.grade(self, records)

    def _asked(self, asked: Sequence[Case], names: tuple[str, ...]) -> Flow:
        """Hand out all pictures of some cases as one sheet; put down what came of each."""
        images = np.concatenate([case.pictures for case in asked])
        counts = [len(case.pictures) for case in asked]
        truth = np.repeat([names.index(case.label) for case in asked], counts)
        asks: set[Ability] = {"choice", "scores", *(("signals",) if self.signals else ())}
        answers: Answers = yield Sheet(images, names, truth, frozenset(asks), _given(asked), PROMPT)
        signals = _signals(answers, truth, inner=self.signals)
        right = answers.right
        told, start = [], 0
        for case, count in zip(asked, counts, strict=True):
            rows = slice(start, start + count)
            start += count
            told.append({
                "target": case.target,
                "label": case.label,
                "scenes": [choice.picture for choice in case.chosen],
                "distances": [round(choice.distance, 4) for choice in case.chosen],
                "words": list(case.words),
                "right": right[rows].astype(int).tolist(),
                "signals": {k: np.round(v[rows], 5).tolist() for k, v in signals.items()},
            })  # fmt: skip
        made: dict[str, Any] = {
            "cases": told,
            "choices": len(names),
            "scenes left out": _by_reason({**cases.left_out(self), **_unread(asked)}),
            "ontology": Attachment(_packed(self), ".npz"),
        }
        for place, case in enumerate(asked[:SHOWN]):
            made[f"strip {place}"] = Attachment(strip(case.pictures), ".jpg")
        return made

    def _lesson(self, item: Item) -> Lesson:
        """Draw objects before scenery that tells of them as asked, and vary the lesson."""
        rho, repeat, varied = float(item["correlation"]), int(item["repeat"]), str(item["lesson"])
        seed = Seed("background", "lesson", rho, repeat)
        made = examples(world(seed, self.pictures, rho, self.side))
        known = {**AUGMENTATIONS, **ANOMALIES}
        for name in varied.split("+") if varied != PLAIN else ():
            made = known[name](made, Seed("background", name, repeat))
        return made.lesson(self.epochs * self.pictures, Seed("background", repeat).number())


@lru_cache(maxsize=1)
def _painted_cases(exam: Background) -> tuple[Case, ...]:
    return tuple(cases.painted(exam, place) for place in range(exam.number))


def _given(asked: Sequence[Case]) -> dict[str, Any]:
    """Say for the log what each picture is: of which target, before what, how far away."""
    columns: dict[str, list[Any]] = {"target": [], "scene": [], "distance": []}
    for case in asked:
        columns["target"] += [case.target] * len(case.pictures)
        columns["scene"] += ["own", *CONTROLS, *(choice.picture for choice in case.chosen)]
        columns["distance"] += [0.0, np.nan, np.nan, *(choice.distance for choice in case.chosen)]
    return {name: np.array(column) for name, column in columns.items()}


def _signals(answers: Answers, truth: Any, *, inner: bool) -> dict[str, Any]:
    """Reduce what the model gave to one number a picture, in several ways."""
    if answers.scores is None:
        return {}
    sure = confidences(np.exp(log_probabilities(answers.scores)), truth)
    made = {f"CONF {name}": column for name, column in sure.items()}
    for position, column in answers.signals.items() if inner else ():
        made |= {f"{position} {name}": values for name, values in modalities(column).items()}
    return made


def _unread(asked: Sequence[Case]) -> dict[str, str]:
    return {scene: reason for case in asked for scene, reason in case.unread.items()}


def _by_reason(scenes: Mapping[str, str]) -> dict[str, Any]:
    """Say how many scenes were left out for each reason, and name some of them."""
    found: dict[str, list[str]] = {}
    for scene, reason in scenes.items():
        found.setdefault(reason, []).append(scene)
    return {reason: [len(names), names[:NAMED]] for reason, names in found.items()}


@lru_cache(maxsize=2)
def _packed(exam: Background) -> bytes:
    """Keep what goes with what among the scenes: a report is made of records alone."""
    return cases.ontology(exam).packed()
