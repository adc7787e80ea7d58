"""What is in generated pictures, according to their generator?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.images.svrt.parsings import Parsing, Shape

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from snellen.core import Images, Indices


@dataclass(frozen=True, eq=False)
class Truth:
    """A row for every picture, a column for every shape, in random order.

    Pictures with fewer shapes than others have noughts in the columns left over.
    """

    count: Indices
    """Shapes in each picture."""
    x: Indices
    y: Indices
    """Where the middle of the contour was put."""
    identity: Indices
    """From 1, in order of appearance; shapes that are alike but for place, size, angle and
    handedness share it."""
    size: npt.NDArray[np.float64]
    mirrored: npt.NDArray[np.bool_]
    """Against the first shape drawn of its identity."""
    angle: npt.NDArray[np.float64]
    """By which the contour was turned, in radians."""


@dataclass(frozen=True, eq=False)
class Scenes:
    """Pictures of a problem, with all that is true of them."""

    images: Images
    """(n, 128, 128, 1): white 255, outlines 0."""
    labels: Indices
    truth: Truth
    contains: Indices
    """A row for every pair: picture, shape outside, shape inside."""
    borders: Indices
    """A row for every pair: picture, and two shapes no more than two steps apart."""

    def __len__(self) -> int:
        return len(self.images)

    def parsing(self, i: int) -> Parsing:
        """Return the corrected parsing of Yihe et al. (2021, §2.1), from the truth.

        Theirs gave the scale as 1 wherever a shape was mirrored, and with it the category.
        Here it always is the size; its sign is the handedness against the first shape of
        the same identity, as a picture shows no more than that.
        """
        count, truth = int(self.truth.count[i]), self.truth
        handed: dict[int, bool] = {}
        shapes = []
        for at in range(count):
            identity, mirrored = int(truth.identity[i, at]), bool(truth.mirrored[i, at])
            sign = 1 if mirrored == handed.setdefault(identity, mirrored) else -1
            size = sign * float(truth.size[i, at])
            shapes.append(Shape(int(truth.x[i, at]), int(truth.y[i, at]), identity, size))
        return Parsing(tuple(shapes), _pairs(self.contains, i), _pairs(self.borders, i))


def _pairs(rows: Indices, image: int) -> tuple[tuple[int, int], ...]:
    start, end = rows[:, 0].searchsorted((image, image + 1))
    return tuple((int(one), int(other)) for _, one, other in rows[start:end])
