"""What does a picture say in the words of the published synthesizer?

Two readings of the same pixels. `sasquatch` is blind to turns and reflections, as the
parser of Ellis et al. (2015); `corrected` tells shapes that are the same up to these, with
their real sizes, negative when mirrored, as the parsings of Yihe et al. (2021) did, but
from what is to be seen and not from what the generator knew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from snellen.images.outlines import parse
from snellen.images.svrt.parsings import Parsing, Shape, sasquatch

if TYPE_CHECKING:
    from snellen.images.outlines import Scene

Reading: TypeAlias = Literal["corrected", "sasquatch"]
EQUAL = 0.05
"""Sizes of the same shape that differ by less than this share are one size."""
BORDER = 3.0
"""Outlines no further apart than two steps, in pixels between their pixels' centres."""


def read(image: Any, reading: Reading) -> Parsing:
    """Parse a picture of any size, grey or colour."""
    if reading == "corrected":
        return corrected(parse(image))
    white = 255 if image.dtype == np.uint8 else 1.0
    return sasquatch(np.asarray(image.min(axis=2) * (255 / white), np.uint8))


def corrected(scene: Scene) -> Parsing:
    """Put a scene into the words of a parsing."""
    identities: list[int] = []
    shapes: list[Shape] = []
    for i in range(len(scene.x)):
        fellow = next((j for j in range(i) if scene.same[i, j]), None)
        identity = max(identities, default=0) + 1 if fellow is None else identities[fellow]
        identities.append(identity)
        leader = identities.index(identity)
        size = _size(scene, i, [s.scale for s in shapes if s.identity == identity])
        sign = -1 if leader != i and scene.mirrored[leader, i] else 1
        shapes.append(
            Shape(round(float(scene.x[i])), round(float(scene.y[i])), identity, sign * size)
        )
    pairs = [(i, j) for i in range(len(shapes)) for j in range(len(shapes)) if i != j]
    return Parsing(
        tuple(shapes),
        tuple((i, j) for i, j in pairs if scene.inside[j, i]),
        tuple((i, j) for i, j in pairs if i < j and scene.gap[i, j] <= BORDER),
    )


def _size(scene: Scene, i: int, known: list[float]) -> float:
    """Return a shape's size, exactly that of a fellow if they are equal but for pixels."""
    size = round(float(np.sqrt(scene.area[i])), 1)
    return next((abs(k) for k in known if abs(abs(k) / size - 1) < EQUAL), size)
