"""Can it find the hidden rule from a handful of examples? (Yihe et al. 2021)

The Synthetic Visual Reasoning Test (Fleuret et al. 2011): pictures of random outlines in two
categories, + and -, told apart by a rule that nobody says. All that is given are examples.

    α        share of new pictures that are put into the right category
    β*(α)    probability of being right 7 times running within 35 pictures, as people must be
             to pass, for one who is right with probability α each time; chance: 11.34 %
    β        share of people (or of repeats of the human protocol) who pass
    α*(β)    (1 + β)/2: what Stabinger et al. (2016) set beside α instead

In the machine protocol a lesson of so many examples of each category is followed by a sheet
of new pictures. In the human protocol one example of each is shown, and then pictures one by
one, each followed by the truth, until 7 answers in a row are right or 35 are given. As it is
(as-is) whoever was taught the examples of the machine protocol is asked so, and never told.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from PIL import Image
from pydantic import Field

from snellen.core import CHOICE, HUMAN, Ability, Attachment, Item, Lesson, Sheet
from snellen.errors import BadSetting
from snellen.exams.reasoning import results
from snellen.exams.reasoning.success import PICTURES, passed
from snellen.images.svrt import PROBLEMS, draw, positive
from snellen.seeds import Seed
from snellen.settings import SELECTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Answers, Flow, Images, Indices, Record, Result

CHOICES = ("-", "+")
PROMPT = "To which category does the picture belong?"
MISTAKES = 4
"""Pictures of an item that are kept because they were put into the wrong category."""


@dataclass(frozen=True)
class Reasoning:
    """Can it find the hidden rule from a handful of examples?"""

    name: ClassVar[str] = "reasoning"
    version: ClassVar[int] = 1
    needs: ClassVar[frozenset[Ability]] = HUMAN
    candidates: ClassVar[tuple[str, ...]] = ("synthesis", "nearest,to=lesson")
    baselines: ClassVar[tuple[str, ...]] = ("chance",)
    quick: ClassVar[Mapping[str, Any]] = {"problems": (1, 4, 10, 12), "repeats": 4, "tests": 40}
    people: ClassVar[Mapping[str, Any]] = {
        "settings": {"protocol": ("human",), "repeats": 20},  # 20 people, as Fleuret et al.
        "about": {"title": "Which pictures belong together?", "minutes": 15},
        "sessions": {"each": 6, "distinct": ("problem",), "rest": 2},
    }

    problems: Annotated[
        tuple[int, ...],
        Field(min_length=1, description="of the 23, and 101, the paper's own"),
        SELECTS,
    ] = PROBLEMS
    examples: Annotated[
        tuple[Annotated[int, Field(ge=1, le=100_000)], ...],
        Field(min_length=1, description="of each category in a lesson; several make a curve"),
        SELECTS,
    ] = (3,)
    repeats: Annotated[
        int, Field(ge=1, description="how often, each time with other pictures"), SELECTS
    ] = 10
    protocol: Annotated[
        tuple[Literal["machine", "human", "as-is"], ...],
        Field(min_length=1, description="human: a picture at a time, the truth after each"),
        SELECTS,
    ] = ("machine",)
    tests: Annotated[int, Field(ge=2, le=10_000, description="new pictures of a sheet")] = 94
    looks: Annotated[
        int, Field(ge=0, description="at pictures of a lesson (0: 50 at each, 3,000 at least)")
    ] = 0

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.problems) - set(PROBLEMS)):
            raise BadSetting(
                f"there is no problem {unknown[0]}; there are 1 to 23, and 101: the paper's own"
            )

    def items(self) -> Sequence[Item]:
        """One item for each problem, number of examples and repeat, in each protocol."""
        return [
            Item(protocol=protocol, problem=problem, examples=examples, repeat=repeat)
            for repeat in range(self.repeats)
            for protocol in self.protocol
            for examples in ((1,) if protocol == "human" else self.examples)
            for problem in self.problems
        ]

    def examine(self, item: Item) -> Flow:
        """Teach some examples, then ask: all at once, or one at a time with the truth."""
        problem, repeat = int(item["problem"]), int(item["repeat"])
        lesson = self._lesson(problem, repeat, int(item["examples"]))
        yield lesson
        if item["protocol"] != "machine":
            return (yield from self._human(problem, repeat, lesson, item["protocol"] == "human"))
        images, truth = pictures("tests", problem, repeat, self.tests)
        answers: Answers = yield Sheet(images, CHOICES, truth, asks=CHOICE, prompt=PROMPT)
        return {
            "right": int(answers.right.sum()),
            "asked": len(truth),
            "program": answers.note,
            **mistakes(images, answers),
        }

    def grade(self, records: Sequence[Record]) -> Result:
        """Compare with people, with what was published, and with chance."""
        return results.grade(self, records)

    def _lesson(self, problem: int, repeat: int, examples: int) -> Lesson:
        images, labels = pictures("lesson", problem, repeat, 2 * examples)
        looks = self.looks or max(50 * len(images), 3000)
        return Lesson(images, labels, CHOICES, looks, Seed("reasoning", problem, repeat).number())

    def _human(self, problem: int, repeat: int, lesson: Lesson, told: bool) -> Flow:
        images, truth = pictures("tests", problem, repeat, PICTURES)
        right: list[bool] = []
        for place in range(PICTURES):
            one = slice(place, place + 1)
            answers: Answers = yield Sheet(images[one], CHOICES, truth[one], prompt=PROMPT)
            right.append(bool(answers.right[0]))
            if passed(right):
                break
            if told:
                yield Lesson(images[one], truth[one], CHOICES, lesson.views // 2, lesson.seed)
        return {"passed": passed(right), "answers": right}


def pictures(what: str, problem: int, repeat: int, count: int) -> tuple[Images, Indices]:
    """Draw pictures of a problem, half of them +, in an order that tells nothing.

    More pictures begin with the same ones: each pair of places holds one of each category.
    """
    seed = Seed("reasoning", what, problem, repeat)
    first = (seed.bits(-(-count // 2)) & np.uint64(1)).astype(np.intp)
    labels = np.stack([first, 1 - first], axis=1).ravel()[:count]
    category = labels if positive(problem) else 1 - labels
    scenes = draw(problem, category.tolist(), Seed("reasoning", what, problem, repeat).number())
    return scenes.images, labels


def mistakes(images: Images, answers: Answers) -> dict[str, Any]:
    """Keep some pictures that went wrong, as the subject draws them and with its reasons."""
    places = np.flatnonzero(~answers.right)[:MISTAKES]
    if not len(places):
        return {}
    drawn = answers.signals.get("drawn", images)
    strip = np.concatenate([np.broadcast_to(drawn[p], (*images.shape[1:3], 3)) for p in places], 1)
    held = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(strip)).save(held, "PNG")
    told = answers.signals.get("reason", np.full(len(images), ""))
    return {
        "mistakes": Attachment(held.getvalue(), ".png"),
        "reasons": [str(told[p]) for p in places],
        "truths": [CHOICES[answers.truth[p]] for p in places] if answers.truth is not None else [],
    }
