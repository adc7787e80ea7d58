"""Did it learn the transformation, or memorise the pictures? (Hudáky et al. 2021)

A pupil is taught ten shapes; some of them it also sees transformed: turned, moved,
resized, crossed out or mirrored. Then it is asked about the others, transformed in
the same ways, and about ways that it never saw. A pupil that abstracts gains on
shapes that it never saw transformed; one that memorises gains only on those it saw.

    accuracy(held-out)  right ÷ asked, over shapes never shown transformed,
                        outcomes that change nothing left out
    learning gain       accuracy(held-out | k shapes shown) − accuracy(same shapes | none shown)
    knowledge           (accuracy − chance) ÷ (1 − chance), chance = 1 ÷ number of shapes

Verdicts, each by a one-sided test over repeats, Holm-corrected over all of a subject's:
pre-written (knowledge of all shapes at level 0 above `good`), learned (gain above 0),
memorised (gain on shown shapes only). Where none holds: not learned, or not shown where
the interval leaves a gain of more than 10 points possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from snellen.core import HUMAN, Ability, Item
from snellen.exams.abstraction import held_out, paper
from snellen.exams.abstraction.cells import tally
from snellen.exams.abstraction.shapes import load_shapes
from snellen.exams.abstraction.transformations import transformation
from snellen.settings import SELECTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Flow, Record, Result
    from snellen.exams.abstraction.cells import Cell

DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "held-out": {
        "levels": (0, 8),
        "noise": (2.0,),
        "samples": (2000,),
        "repeats": 10,
        "design": "add",
        "budget": "steps",
    },
    "paper": {
        "levels": (0, 2, 5, 8, 10),
        "noise": (0.0, 2.0, 4.0, 6.0),
        "samples": (250, 500, 1000, 2000, 5000, 10_000),
        "repeats": 5,
        "design": "replace",
        "budget": "epochs",
    },
}
BATCH = 200


@dataclass(frozen=True)
class Abstraction:
    """Did it learn the transformation, or memorise the pictures?"""

    name: ClassVar[str] = "abstraction"
    version: ClassVar[int] = 1
    needs: ClassVar[frozenset[Ability]] = HUMAN
    candidates: ClassVar[tuple[str, ...]] = ("paper-cnn",)
    baselines: ClassVar[tuple[str, ...]] = ("chance", "nearest")
    quick: ClassVar[Mapping[str, Any]] = {
        "transformations": ("rotated", "mirrored"),
        "samples": (1000,),
        "repeats": 5,
        "steps": 150,
        "tests": 1000,
    }

    people: ClassVar[Mapping[str, Any]] = {
        "settings": {"levels": (0, 5), "samples": (48,), "repeats": 10, "tests": 40},
        "about": {"title": "Which shape is it?", "minutes": 10},
        "sessions": {"each": 2, "distinct": ("transformation",), "rest": 1},
    }

    mode: Annotated[
        Literal["held-out", "paper"],
        Field(description="our design, or Tables 1-13 of the paper as they were made"),
    ] = "held-out"
    transformations: Annotated[
        tuple[str, ...],
        Field(min_length=1, description="which; rotated+moved does one after the other"),
        SELECTS,
    ] = ("rotated", "moved", "resized", "diagonals", "mirrored")
    levels: Annotated[
        tuple[Annotated[int, Field(ge=0)], ...],
        Field(description="how many shapes are shown transformed (empty: the mode's)"),
        SELECTS,
    ] = ()
    noise: Annotated[
        tuple[Annotated[float, Field(ge=0, le=100)], ...],
        Field(description="standard deviation, ink being 9 (empty: the mode's)"),
        SELECTS,
    ] = ()
    samples: Annotated[
        tuple[Annotated[int, Field(ge=10, le=1_000_000)], ...],
        Field(description="pictures in a lesson (empty: the mode's)"),
        SELECTS,
    ] = ()
    repeats: Annotated[
        int,
        Field(ge=0, description="times, each with its own subset and seed (0: the mode's)"),
        SELECTS,
    ] = 0
    tables: Annotated[
        tuple[Annotated[int, Field(ge=1, le=13)], ...],
        Field(description="paper mode: which tables"),
        SELECTS,
    ] = tuple(range(1, 14))
    design: Annotated[
        Literal["auto", "add", "replace"],
        Field(description="transformed copies beside the originals, or in their place"),
    ] = "auto"
    budget: Annotated[
        Literal["auto", "steps", "epochs"],
        Field(description="a lesson lasts a fixed number of steps, or of epochs"),
    ] = "auto"
    steps: Annotated[int, Field(ge=1, description=f"of {BATCH} pictures each")] = 500
    epochs: Annotated[int, Field(ge=1, description="looks at each picture")] = 10
    tests: Annotated[
        int, Field(ge=20, description="pictures asked (paper mode: as many as in the lesson)")
    ] = 2000
    new_outcomes: Annotated[
        float, Field(ge=0, lt=1, description="share of outcomes kept out of the lesson")
    ] = 0.25
    shapes: Annotated[
        str, Field(description="an .npz or a folder of small pictures in place of the ten glyphs")
    ] = ""
    good: Annotated[
        float, Field(gt=0, lt=1, description="knowledge above which a subject needs no lesson"),
        SELECTS,
    ] = 0.75  # fmt: skip

    def __post_init__(self) -> None:
        for field, value in DEFAULTS[self.mode].items():
            if getattr(self, field) in ((), "auto", 0):
                object.__setattr__(self, field, value)
        for name in self.transformations:
            transformation(name)
        count = len(load_shapes(self.shapes).names)
        if max(self.levels) > count:
            raise ValueError(f"levels go up to {count}, the number of shapes")

    def items(self) -> Sequence[Item]:
        """One item for each cell and repeat."""
        made = paper.items(self) if self.mode == "paper" else held_out.items(self)
        content = load_shapes(self.shapes).content
        return [Item(item, pictures=content) for item in made] if content else made

    def cell(self, item: Item) -> Cell:
        """Say what is shown and asked in an item."""
        return paper.cell(self, item) if self.mode == "paper" else held_out.cell(self, item)

    def views(self, samples: int) -> int:
        """How many pictures a pupil may look at in all."""
        return self.steps * BATCH if self.budget == "steps" else self.epochs * samples

    def examine(self, item: Item) -> Flow:
        """Teach, ask, and count."""
        shapes, cell = load_shapes(self.shapes), self.cell(item)
        yield cell.lesson(shapes)
        sheet = cell.sheet(shapes)
        answers = yield sheet
        return tally(sheet, answers, shapes, cell.seen)

    def grade(self, records: Sequence[Record]) -> Result:
        """Say of each subject and transformation which of these it was."""
        grade = paper.grade if self.mode == "paper" else held_out.grade
        content = load_shapes(self.shapes).content
        return grade(self, [r for r in records if r.item.get("pictures", "") == content])
