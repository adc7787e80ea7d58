"""What is the same about all models: pictures in, a score for each label out.

A frozen model is a `Classifier` around a forward function; one that studies is a
`Learner` around a function that teaches. What kind of model it is makes no other
difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.core import PASS, Ability, Answers, Lesson
from snellen.errors import BadAnswer, Unable
from snellen.seeds import Seed
from snellen.subjects.outputs import Outputs
from snellen.subjects.positions import Watched, told_apart
from snellen.subjects.preprocessing import Preprocessing

if TYPE_CHECKING:
    from snellen.core import Column, Indices, Sheet

Forward: TypeAlias = Callable[[npt.NDArray[np.float32]], npt.NDArray[Any]]
"""From preprocessed pictures to (n, labels) scores."""
GIVES: frozenset[Ability] = frozenset({"choice", "scores"})
WATCHED: frozenset[Ability] = frozenset({"signals"})
STUDIES: frozenset[Ability] = frozenset({"study"})


class Model(NamedTuple):
    """The ways in which a model can be run."""

    forward: Forward
    watched: Watched | None = None
    """The same pass, with an eye on what goes on inside."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Classifier:
    """A model that is asked as it is."""

    name: str
    fingerprint: str
    forward: Forward
    watched: Watched | None = None
    reading: Preprocessing
    outputs: Outputs = field(default_factory=Outputs)
    batch: int = 64
    device: str = "cpu"

    @property
    def gives(self) -> frozenset[Ability]:
        """What can be asked of it: signals too, if there is something to see inside."""
        return GIVES | WATCHED if self.watched else GIVES

    @property
    def labels(self) -> tuple[str, ...]:
        """What it can be asked about; empty: the choices, in the order of its outputs."""
        return self.outputs.choices

    def answer(self, sheet: Sheet) -> Answers:
        """Score the choices; choose the highest, unless it lies outside all of them.

        Signals, if the sheet asks for them, are the values at each position as they are:
        (pictures, channels, height, width) or (pictures, features).
        """
        seen: dict[str, list[Column]] = {}
        scores, outside = self._scores(sheet, seen)
        signals = {name: np.concatenate(parts) for name, parts in seen.items()}
        return Answers(np.where(outside, PASS, scores.argmax(axis=1)), scores, signals)

    def study(self, lesson: Lesson) -> Classifier:  # noqa: ARG002
        """Refuse: it is frozen."""
        raise Unable(
            f"subject {self.name!r} is frozen and cannot study; give its factory without weights"
        )

    def _scores(
        self, sheet: Sheet, seen: dict[str, list[Column]]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """Return (n, choices) scores, a batch at a time, and who answered none of them."""
        parts = [(np.empty((0, len(sheet.choices))), np.empty(0, bool))]
        watched = self.watched if "signals" in sheet.asks | sheet.welcomes else None
        for start in range(0, len(sheet), self.batch):
            x = self.reading(sheet.images[start : start + self.batch])
            result, inside = watched(x) if watched else (self.forward(x), {})
            out = np.asarray(result)
            for name, values in inside.items():
                seen.setdefault(name, []).append(told_apart(values, len(x), name, self.name))
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

    name: str
    fingerprint: str
    teach: Callable[[Lesson], Model]
    """Teach a fresh copy a lesson; the same lesson gives the same copy."""
    watchable: bool = False
    """Whether there is something to see inside of the copies."""
    reading: Preprocessing
    batch: int = 64
    device: str = "cpu"
    lessons: tuple[Lesson, ...] = ()
    taught: Classifier | None = None

    @property
    def gives(self) -> frozenset[Ability]:
        """What can be asked of it, once it is taught."""
        return GIVES | STUDIES | (WATCHED if self.watchable else frozenset())

    @property
    def untaught(self) -> bool:
        """Before its first lesson it knows nothing, unless it came with knowledge."""
        return self.taught is None

    def study(self, lesson: Lesson) -> Learner:
        """Teach a fresh copy all lessons so far."""
        lessons = (*self.lessons, lesson)
        whole = joined(lessons)
        model = self.teach(whole)
        taught = Classifier(
            name=self.name,
            fingerprint=self.fingerprint,
            forward=model.forward,
            watched=model.watched,
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
