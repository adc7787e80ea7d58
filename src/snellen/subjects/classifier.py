"""What is the same about all models: pictures in, a score for each label out.

A frozen model is a `Classifier` around a forward function; one that studies is a
`Learner` around a function that teaches. What kind of model it is makes no other
difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.core import PASS, Ability, Answers, Lesson
from snellen.errors import BadAnswer, Unable
from snellen.seeds import Seed
from snellen.subjects.outputs import Outputs
from snellen.subjects.preprocessing import Preprocessing

if TYPE_CHECKING:
    from snellen.core import Indices, Sheet

Forward: TypeAlias = Callable[[npt.NDArray[np.float32]], npt.NDArray[Any]]
"""From preprocessed pictures to (n, labels) scores."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Classifier:
    """A model that is asked as it is."""

    gives: ClassVar[frozenset[Ability]] = frozenset({"choice", "scores"})

    name: str
    fingerprint: str
    forward: Forward
    reading: Preprocessing
    outputs: Outputs = field(default_factory=Outputs)
    batch: int = 64
    device: str = "cpu"

    @property
    def labels(self) -> tuple[str, ...]:
        """What it can be asked about; empty: the choices, in the order of its outputs."""
        return self.outputs.choices

    def answer(self, sheet: Sheet) -> Answers:
        """Score the choices; choose the highest, unless it lies outside all of them."""
        scores, outside = self.scores(sheet)
        return Answers(np.where(outside, PASS, scores.argmax(axis=1)), scores)

    def study(self, lesson: Lesson) -> Classifier:  # noqa: ARG002
        """Refuse: it is frozen."""
        raise Unable(
            f"subject {self.name!r} is frozen and cannot study; give its factory without weights"
        )

    def scores(self, sheet: Sheet) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """Return (n, choices) scores, a batch at a time, and who answered none of them."""
        parts = [(np.empty((0, len(sheet.choices))), np.empty(0, bool))]
        for start in range(0, len(sheet), self.batch):
            x = self.reading(sheet.images[start : start + self.batch])
            out = np.asarray(self.forward(x))
            if out.ndim != 2 or len(out) != len(x):
                raise BadAnswer(
                    f"subject {self.name!r} answered {len(x)} pictures with an output of shape "
                    f"{out.shape}; it should be ({len(x)}, labels)"
                )
            parts.append(self.outputs.scores(out, sheet.choices, self.name))
        parts = parts[1:] or parts
        scores, outside = (np.concatenate(column) for column in zip(*parts, strict=True))
        if not np.isfinite(scores).all():
            raise BadAnswer(
                f"subject {self.name!r} gave NaN or infinite scores; look at its weights, and at "
                "how it wants its pictures: white, mean, std"
            )
        return scores, outside


@dataclass(frozen=True, eq=False, kw_only=True)
class Learner:
    """A model that is taught first; every lesson adds to those before."""

    gives: ClassVar[frozenset[Ability]] = frozenset({"choice", "scores", "study"})

    name: str
    fingerprint: str
    teach: Callable[[Lesson], Forward]
    """Teach a fresh copy a lesson; the same lesson gives the same copy."""
    reading: Preprocessing
    batch: int = 64
    device: str = "cpu"
    lessons: tuple[Lesson, ...] = ()
    taught: Classifier | None = None

    @property
    def untaught(self) -> bool:
        """Before its first lesson it knows nothing, unless it came with knowledge."""
        return self.taught is None

    def study(self, lesson: Lesson) -> Learner:
        """Teach a fresh copy all lessons so far."""
        lessons = (*self.lessons, lesson)
        whole = joined(lessons)
        taught = Classifier(
            name=self.name,
            fingerprint=self.fingerprint,
            forward=self.teach(whole),
            reading=self.reading,
            outputs=Outputs(whole.choices),
            batch=self.batch,
            device=self.device,
        )
        return replace(self, lessons=lessons, taught=taught)

    def answer(self, sheet: Sheet) -> Answers:
        """Answer as the taught copy."""
        if self.taught is None:
            raise Unable(f"subject {self.name!r} was asked before it was taught")
        return self.taught.answer(sheet)


def joined(lessons: tuple[Lesson, ...]) -> Lesson:
    """Return all lessons as one; looks add up, and the last one gives the seed."""
    if len(lessons) == 1:
        return lessons[0]
    return Lesson(
        np.concatenate([lesson.images for lesson in lessons]),
        np.concatenate([lesson.labels for lesson in lessons]),
        lessons[-1].choices,
        sum(lesson.views or len(lesson) for lesson in lessons),
        lessons[-1].seed,
        lessons[-1].key,
    )


def batches(count: int, lesson: Lesson, batch: int) -> Iterator[Indices]:
    """Yield places of pictures, each epoch in a new order, as long as the lesson lasts."""
    left, order = lesson.views or count, Seed("order", lesson.seed)
    while left > 0:
        places = order.shuffled(count)[:left]
        left -= len(places)
        yield from (places[start : start + batch] for start in range(0, len(places), batch))
