"""Boosted stumps on the numbers of a parsing, or on pixels: the papers' baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from snellen.core import Ability, Answers
from snellen.errors import Unable, extra
from snellen.subjects.classifier import joined

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.core import Lesson, Sheet

MOST_SHAPES, MOST_PAIRS = 8, 8
SIDE = 32
"""Of pictures that are boosted by their pixels."""


def load(
    *,
    on: Literal["corrected", "sasquatch", "pixels"] = "corrected",
    stumps: int = 50,
    name: str = "",
) -> AdaBoost:
    """Boost stumps on the numbers of a parsing, or on=pixels (Yihe et al. 2021, Table 4)."""
    with extra("sklearn", "AdaBoost"):
        import sklearn.ensemble  # noqa: F401 — said now rather than in the middle of a run
    return AdaBoost(name or f"adaboost-{on}", on, stumps)


@dataclass(frozen=True, eq=False)
class AdaBoost:
    """A pupil that boosts stumps anew after each lesson, on all lessons so far."""

    gives: ClassVar[frozenset[Ability]] = frozenset({"choice", "scores", "study"})

    name: str
    on: Literal["corrected", "sasquatch", "pixels"]
    stumps: int
    lessons: tuple[Lesson, ...] = ()
    taught: Any = None

    @property
    def untaught(self) -> bool:
        """Before its first lesson it knows nothing."""
        return self.taught is None

    @property
    def fingerprint(self) -> str:
        """Its recipe."""
        return f"adaboost-1-{self.on}-{self.stumps}"

    def study(self, lesson: Lesson) -> AdaBoost:
        """Fit stumps to all lessons so far."""
        from sklearn.ensemble import AdaBoostClassifier

        whole = joined((*self.lessons, lesson))
        pupil = AdaBoostClassifier(n_estimators=self.stumps, random_state=lesson.seed)
        if len(np.unique(whole.labels)) > 1:
            pupil.fit(self._numbers(whole.images), whole.labels)
        return replace(self, lessons=(*self.lessons, lesson), taught=pupil)

    def answer(self, sheet: Sheet) -> Answers:
        """Score the choices by the votes of the stumps."""
        if self.taught is None:
            raise Unable(f"subject {self.name!r} was asked before it was taught")
        scores = np.zeros((len(sheet), len(sheet.choices)))
        if hasattr(self.taught, "classes_"):
            scores[:, self.taught.classes_] = self.taught.predict_proba(self._numbers(sheet.images))
        else:  # all pictures so far were of one category
            scores[:, self.lessons[-1].labels[-1]] = 1.0
        return Answers(scores.argmax(axis=1), scores)

    def _numbers(self, images: Any) -> npt.NDArray[np.float64]:
        if self.on == "pixels":
            from PIL import Image

            white = 1 if images.dtype == np.uint8 else 255
            grey = np.asarray((images.mean(axis=3) * white).clip(0, 255), np.uint8)
            small = [Image.fromarray(g).resize((SIDE, SIDE), Image.Resampling.BOX) for g in grey]
            return np.stack([np.asarray(s, float).ravel() for s in small])
        return np.stack([self._of_parsing(image) for image in images])

    def _of_parsing(self, image: Any) -> npt.NDArray[np.float64]:
        """Strip a parsing of its words: four numbers a shape, then the places in each relation."""
        from snellen.subjects.synthesis.readings import read

        assert self.on != "pixels"
        found = read(image, self.on)
        shapes = [(s.x, s.y, s.identity, s.scale) for s in found.shapes[:MOST_SHAPES]]
        pairs = (found.contains[:MOST_PAIRS], found.borders[:MOST_PAIRS])
        parts: list[tuple[Any, int, int]] = [(shapes, MOST_SHAPES, 4)]
        parts += [(rows, MOST_PAIRS, 2) for rows in pairs]
        columns = [np.array([len(found.shapes), len(found.contains), len(found.borders)], float)]
        for rows, most, wide in parts:
            column = np.full((most, wide), -1.0)
            if rows:
                column[: len(rows)] = rows
            columns.append(column.ravel())
        return np.concatenate(columns)
