"""How little of a picture is enough to name it still? (Carrasco et al. 2020)

A picture is reduced, a step at a time, as long as it is named rightly: fewer colours, fewer
pixels, less of its border, or all of these together. What is left when every further step
would make the answer wrong is its minimal-entropy positive image (MEPI).

    entropy         bytes of the picture without loss (PNG at level 9, or what `entropy` says)
    entropy ratio   entropy(MEPI) ÷ entropy(original); smaller is more laconic
    step            leads to a picture of lower entropy; a path is of rightly named ones only
    precision       share of one subject's MEPIs that another names rightly

For people the same is asked upwards (`direction=up`): from a void picture to the first that
they can name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from snellen.core import CHOICE, Ability, Attachment, Item, Sheet
from snellen.digests import digest
from snellen.exams.laconic import crowd, results, sets
from snellen.exams.laconic.lattice import Lattice, whole
from snellen.exams.laconic.search import (
    METHODS,
    PROMPT,
    Beam,
    Method,
    Search,
    fitting,
    least,
    straight,
)
from snellen.exams.laconic.upwards import climb, climbable, void
from snellen.groups import load_groups
from snellen.images.entropy import MEASURES, as_png, encoder, entropy
from snellen.images.labelled import asked_labels, choices, open_collection
from snellen.images.reductions import ways
from snellen.settings import SELECTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from snellen.core import Answers, Flow, Record, Result
    from snellen.exams.laconic.search import Node
    from snellen.images.labelled import Collection
    from snellen.images.photos import Picture

SQUARE, SMALL_SQUARE = 224, 32
"""Where pictures are shown: what most models take, and what the procedural pupil takes."""


@dataclass(frozen=True)
class Laconic:
    """How little of a picture is enough to name it still?"""

    name: ClassVar[str] = "laconic"
    version: ClassVar[int] = 1
    needs: ClassVar[frozenset[Ability]] = CHOICE
    candidates: ClassVar[tuple[str, ...]] = ("tutored", "tutored,width=4")
    baselines: ClassVar[tuple[str, ...]] = ("chance",)
    quick: ClassVar[Mapping[str, Any]] = {"per_class": 3}
    people: ClassVar[Mapping[str, Any]] = {
        "settings": {"direction": ("up",)},
        "about": {"title": "How little do you need to see?"},
        "sessions": {"each": 8, "distinct": ("picture",), "rest": 4},
    }

    pictures: Annotated[
        str,
        Field(description="a folder (of class folders, or with labels.csv) or .npz; empty: drawn"),
        SELECTS,
    ] = ""
    column: Annotated[
        str, Field(description="the column of labels.csv that holds the labels"), SELECTS
    ] = ""
    groups: Annotated[
        str,
        Field(description="imagenet20 or a JSON file: labels are asked about in these groups"),
        SELECTS,
    ] = ""
    per_class: Annotated[
        int, Field(ge=0, description="pictures of each class (0: all there are)"), SELECTS
    ] = 15
    reductions: Annotated[
        tuple[str, ...],
        Field(min_length=1, description="also blur, jpeg, frequencies, and joint: combined+blur"),
        SELECTS,
    ] = ("colour", "resolution", "crop", "combined")
    direction: Annotated[
        tuple[Literal["down", "up"], ...],
        Field(
            description="down from the picture, or up from nothing, as people must; empty: only "
            "those of mepis"
        ),
        SELECTS,
    ] = ("down",)
    mepis: Annotated[
        str,
        Field(description="a set of MEPIs that everybody is asked about too"),
        SELECTS,
    ] = ""
    mepis_each: Annotated[
        int,
        Field(ge=0, description="MEPIs in an item (0: all of an owner's), for people: 26"),
        SELECTS,
    ] = 0
    side: Annotated[
        int, Field(ge=0, le=2048, description="of the square pictures are shown at (0: fitting)")
    ] = 0
    neutral: Annotated[int, Field(ge=0, le=255, description="the grey that crops leave")] = 127
    search: Annotated[
        Literal["beam", "powell", "exhaustive"],
        Field(description="how several ways are searched; powell is the paper's"),
    ] = "beam"
    beam: Annotated[
        int, Field(ge=0, le=1024, description="pictures kept in a beam (0: fitting)")
    ] = 0
    caution: Annotated[
        float, Field(ge=0, description="what margin is worth in a beam, in e-folds of entropy")
    ] = Beam.caution
    budget: Annotated[
        int, Field(ge=0, description="questions that one search may ask (0: what it takes)")
    ] = 0
    guard: Annotated[
        float, Field(ge=0, le=1, description="share of the original's margin that must be left")
    ] = 0.0
    rungs: Annotated[
        int, Field(ge=0, description="steps of each way at most (0: all); exhaustive wants 6")
    ] = 0
    strict: Annotated[
        bool, Field(description="whether the very next step must lower the entropy (the paper)")
    ] = False
    entropy: Annotated[
        tuple[str, ...],
        Field(min_length=1, description="the first counts, the others are set beside it"),
    ] = ("png", "webp", "zlib_raw", "delentropy")

    def __post_init__(self) -> None:
        if not self.side:
            small = not self.pictures or self.pictures.endswith(".npz")
            object.__setattr__(self, "side", SMALL_SQUARE if small else SQUARE)
        for name in self.reductions:
            ways(name)
        for name in self.entropy:
            entropy(name)
        if self.groups:
            load_groups(self.groups)

    @property
    def collection(self) -> Collection:
        """Where the pictures are."""
        return open_collection(self.pictures, self.column)

    def items(self) -> Sequence[Item]:
        """One item for each picture and reduction, and for each other's MEPIs of a reduction."""
        labels = asked_labels(self.pictures, self.column, self.groups)
        among = digest(choices(self.pictures, self.column, self.groups))
        by_class: dict[str, list[str]] = {}
        for name, label in labels.items():
            by_class.setdefault(label, []).append(name)
        most = max(map(len, by_class.values()), default=0)
        chosen = [
            (found[place], label)
            for place in range(min(most, self.per_class or most))
            for label, found in by_class.items()
            if place < len(found)
        ]
        made = [
            Item(
                reduction=reduction, picture=name, label=label,
                content=self.collection.content(name), among=among,
                **({"direction": direction} if direction == "up" else {}),
            )
            for direction in self.direction
            for name, label in chosen
            for reduction in self.reductions
        ]  # fmt: skip
        return [*made, *sets.items(self.mepis, among, self.mepis_each)]

    def examine(self, item: Item) -> Flow:
        """Look for a picture's MEPI, or ask about those that others left."""
        names = choices(self.pictures, self.column, self.groups)
        if "owner" in item:
            return (yield from sets.examine(self.mepis, item, names, self.side))
        picture = _read(self.pictures, self.column, str(item["picture"]))
        found_ways = ways(str(item["reduction"]))
        if "direction" in item:
            return (yield from self._upwards(item, picture, names))
        lattice = Lattice(picture, found_ways, self.side, self.neutral, self.rungs, self.strict)
        truth = names.index(str(item["label"]))
        search = Search(lattice, names, truth, self.budget, self.guard)
        found = yield from least(search, self.method(lattice))
        if found is None:
            return {"right": False}
        nothing = whole(void(picture), self.side)[None]
        answers: Answers = yield Sheet(nothing, names, prompt=PROMPT)
        guess = [*names, ""][int(answers.choice[0])]
        return {**self._account(item, search, found), "void": guess}

    def _upwards(self, item: Item, picture: Picture, names: tuple[str, ...]) -> Flow:
        """Let somebody ask for more, and put down what they could name at last."""
        found_ways, truth = ways(str(item["reduction"])), names.index(str(item["label"]))
        lattice = climbable(picture, found_ways, self.side, self.neutral)
        made = yield from climb(lattice, names, truth)
        state = made.states[-1]
        told = {"right": made.named == names[truth], "named": made.named, "asked": len(made.states)}
        if not told["right"]:
            return told
        left = void(picture) if state is None else lattice.picture(state)
        bits = [0 if s is None else lattice.bits(s) for s in made.states]
        return {
            **told,
            **self._entropies(item, left),
            "values": {} if state is None else lattice.values(state),
            "margin": math.nan,
            "minimal": False,  # nobody can be asked about less once they have seen it
            "path": [
                [None if s is None else list(s), b] for s, b in zip(made.states, bits, strict=True)
            ],
            "void": names[truth] if state is None else "",
            "original": Attachment(as_png(lattice.shown(lattice.start)), ".png"),
        }

    def _entropies(self, item: Item, left: Picture) -> dict[str, Any]:
        """Measure what is left of a picture, and the picture."""
        name = str(item["picture"])
        return {
            "bytes": {measure: entropy(measure)(left) for measure in self.entropy},
            "bytes before": _entropies(self.pictures, self.column, name, self.entropy),
            "size": list(left.shape[:2]),
            "encoder": encoder(self.entropy[0]),
            "mepi": Attachment(as_png(left), ".png"),
        }

    def method(self, lattice: Lattice) -> Method:
        """Say how a lattice is searched."""
        if self.search != "beam":
            return METHODS[self.search]
        if len(lattice.ways) == 1:
            return straight
        return Beam(self.beam, self.caution) if self.beam else fitting(lattice.ways, self.caution)

    def grade(self, records: Sequence[Record]) -> Result:
        """Compare subjects by the entropy that they need."""
        return results.grade(self, records)

    def sequel(self, records: Sequence[Record], folder: Path) -> Mapping[str, Any] | None:
        """Once several subjects have left MEPIs, ask everybody about everybody's."""
        asked = [r for r in records if "owner" not in r.item]
        stand = crowd.together(asked, self.entropy[0])
        own = [r for r in stand if r.measures.get("mepi") is not None]
        if len({r.subject for r in own}) < 2:
            return None
        return {"mepis": str(sets.write(own, folder / "mepis"))}

    def _account(self, item: Item, search: Search, found: Node) -> dict[str, Any]:
        """Put down the MEPI with its certificate: the path, and the steps that fail."""
        lattice, start = search.lattice, found.path[0]
        left = lattice.picture(found.state)
        steps = [(s, search.replies.get(lattice.key(s))) for s in lattice.steps(found.state)]
        return {
            "right": True,
            **self._entropies(item, left),
            "values": lattice.values(found.state),
            "margin": found.margin,
            "margin before": start.margin,
            "asked": len(search.replies),
            "minimal": search.is_minimal(found),
            "path": [[list(node.state), node.bits, node.margin] for node in found.path],
            "failing": [[list(s), reply.margin] for s, reply in steps if reply is not None],
            "curve": [list(point) for point in search.curve],
            "original": Attachment(as_png(lattice.shown(lattice.start)), ".png"),
        }


@lru_cache(maxsize=8)
def _read(pictures: str, column: str, name: str) -> Picture:
    return open_collection(pictures, column).read(name)


@lru_cache(maxsize=64)
def _entropies(
    pictures: str, column: str, name: str, measures: tuple[str, ...]
) -> dict[str, float]:
    return {measure: MEASURES[measure](_read(pictures, column, name)) for measure in measures}
