"""What do many scenes look like side by side? Equally many shapes each, a row a scene.

The language of rules speaks of boards only, so that one expression is worked out for all
pictures at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from snellen.images.outlines import Scene

Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Grid: TypeAlias = npt.NDArray[np.int64]
MOST = 12
"""Of more shapes, the largest are thought about."""
CONTACT = 1.5
"""Outlines no further apart than this touch: their pixels adjoin, at a corner at least."""


@dataclass(frozen=True, eq=False)
class Board:
    """Scenes of n shapes, the largest first; pairs (i, j) have i < j."""

    frame: Floats
    """(scenes, 2) width and height of the pictures."""
    x: Floats
    """(scenes, n)"""
    y: Floats
    size: Floats
    """Square root of the area."""
    ink: Floats
    margin: Floats
    """Pixels between the shape and the nearest edge of the picture."""
    gap: Floats
    """(scenes, pairs)"""
    within: Flags
    """Whether the second of the pair lies in the first."""
    same: Flags
    mirrored: Flags
    turn: Floats
    """Degrees from 0 to 180, NaN where not the same."""
    known: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What was worked out before."""

    def __len__(self) -> int:
        return len(self.x)

    @property
    def count(self) -> int:
        """How many shapes each scene has."""
        return int(self.x.shape[1])

    @property
    def pairs(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The first and the second of each pair."""
        return np.triu_indices(self.count, 1)

    def once(self, key: Any, work: Callable[[Board], Any]) -> Any:
        """Work something out when it is first asked for."""
        if key not in self.known:
            self.known[key] = work(self)
        return self.known[key]

    def matrix(self, of_pairs: Any) -> Any:
        """Lay a column of pairs out as (scenes, n, n), the same both ways."""
        first, second = self.pairs
        made = np.zeros((len(self), self.count, self.count), of_pairs.dtype)
        made[:, first, second] = made[:, second, first] = of_pairs
        return made


def boards(scenes: Sequence[Scene]) -> list[tuple[npt.NDArray[np.intp], Board]]:
    """Gather scenes by how many shapes they have; return their places with each board."""
    counts = np.array([min(len(scene.x), MOST) for scene in scenes], np.intp)
    made = []
    for count in np.unique(counts):
        places = np.flatnonzero(counts == count)
        made.append((places, _board([scenes[int(place)] for place in places], int(count))))
    return made


def stacked(parts: Sequence[Board]) -> list[Board]:
    """Lay boards of equally many shapes one below the other; those of fewer shapes come first."""
    columns = [column.name for column in fields(Board) if column.name != "known"]
    made = []
    for count in sorted({part.count for part in parts}):
        alike = [part for part in parts if part.count == count]
        joined: dict[str, Any] = {
            c: np.concatenate([getattr(p, c) for p in alike]) for c in columns
        }
        made.append(Board(**joined))
    return made


def _board(scenes: Sequence[Scene], count: int) -> Board:
    first, second = np.triu_indices(count, 1)

    def column(take: Callable[[Scene], Any]) -> Any:
        return np.stack([np.asarray(take(scene)) for scene in scenes])

    height, width = column(lambda s: s.side).astype(float).T
    box = column(lambda s: s.box[:count]).astype(float).reshape(len(scenes), count, 4)
    edges = np.stack([width - 1, height - 1], axis=1)[:, None]
    margin = np.minimum(box[..., :2], edges - box[..., 2:]).min(axis=2)
    return Board(
        frame=np.stack([width, height], axis=1),
        x=column(lambda s: s.x[:count]),
        y=column(lambda s: s.y[:count]),
        size=np.sqrt(column(lambda s: s.area[:count]).astype(float)),
        ink=column(lambda s: s.ink[:count]).astype(float),
        margin=margin,
        gap=column(lambda s: s.gap[first, second]),
        within=column(lambda s: s.inside[second, first]),
        same=column(lambda s: s.same[first, second]),
        mirrored=column(lambda s: s.mirrored[first, second]),
        turn=np.abs(column(lambda s: s.angle[first, second])),
    )
