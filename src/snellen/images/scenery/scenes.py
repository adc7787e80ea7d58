"""What does a scene of that kind look like, and what is in it?

Its keywords are drawn first, each as likely as the kind's table says; then it is painted until
each of them shows. Painting again, rather than dropping what others hide, is what keeps the
keywords as likely as the table says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.errors import UnknownName
from snellen.images.scenery.canvas import Canvas
from snellen.images.scenery.dice import Dice
from snellen.images.scenery.kinds import CHANCES, KEYWORDS, KINDS, PAINTERS
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from snellen.core import Images, Indices
    from snellen.images.scenery.canvas import Mask
    from snellen.images.scenery.kinds import Kind
    from snellen.seeds import Bits

SIDE = 64
SHOWS = 0.004
"""A keyword in a scene has at least this share of its pixels."""
TRIES = 100
"""Nearly every scene shows all that is in it at the first."""
PLACES = {word: place for place, word in enumerate(KEYWORDS)}
NAMED = {kind.name: place for place, kind in enumerate(KINDS)}


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture, and the truth about what is drawn in it."""

    picture: npt.NDArray[np.uint8]
    kind: str
    masks: Mapping[str, Mask]
    """Where each keyword shows that is there at all; edges belong to both their sides."""


@dataclass(frozen=True, eq=False)
class Scenes:
    """Many scenes, a row each; `scene` draws one of them again with its masks."""

    pictures: Images
    kinds: Indices
    """Which of `KINDS` each is of."""
    areas: npt.NDArray[np.float32]
    """(n, keywords): in what share of the picture each keyword shows; 0: it is not there."""
    numbers: Bits
    """What each was drawn from."""

    def __len__(self) -> int:
        return len(self.pictures)

    @property
    def present(self) -> Mask:
        """Say, (n, keywords), which keywords are in which scene."""
        return np.asarray(self.areas > 0)

    def scene(self, place: int) -> Scene:
        """Draw one of them again, with its masks."""
        kind, side = KINDS[self.kinds[place]].name, self.pictures.shape[1]
        return draw_scene(kind, int(self.numbers[place]), side)


def draw_scene(kind: str, number: int, side: int = SIDE) -> Scene:
    """Draw the scene of that kind and number.

    >>> scene = draw_scene("beach", 3)
    >>> scene.picture.shape, "sand" in scene.masks
    ((64, 64, 3), True)
    """
    if kind not in NAMED:
        raise UnknownName(f"there is no kind of scene called {kind!r}; there is {', '.join(NAMED)}")
    _, canvas = _painted(NAMED[kind], number, side)
    return Scene(canvas.finished(), kind, canvas.masks)


def draw_scenes(
    seed: Seed, count: int, side: int = SIDE, kinds: Indices | Sequence[int] | None = None
) -> Scenes:
    """Draw scenes of the given kinds, or of all kinds equally often at random."""
    which = seed.picks(count, [1] * len(KINDS)) if kinds is None else np.asarray(kinds, np.intp)
    numbers = seed.bits(count)
    pictures = np.empty((count, side, side, 3), np.uint8)
    areas = np.zeros((count, len(KEYWORDS)), np.float32)
    for i in range(count):
        words, canvas = _painted(int(which[i]), int(numbers[i]), side)
        pictures[i] = canvas.finished()
        areas[i, [PLACES[word] for word in words]] = canvas.areas()
    return Scenes(pictures, which, areas, numbers)


def _painted(place: int, number: int, side: int) -> tuple[list[str], Canvas]:
    """Return a kind's keywords as they fall, and a canvas on which each of them shows."""
    seed = Seed("scene", KINDS[place].name, number)
    drawn = seed.floats(len(KEYWORDS)) < CHANCES[place]
    words = [KEYWORDS[i] for i in np.flatnonzero(drawn)]
    for _ in range(TRIES):
        canvas = _paint(KINDS[place], words, Dice(seed), side)
        if (canvas.areas() >= SHOWS).all():
            return words, canvas
    raise AssertionError(f"{words} cannot all be seen in one {KINDS[place].name}")


def _paint(kind: Kind, words: Sequence[str], dice: Dice, side: int) -> Canvas:
    horizon = dice.number(*kind.horizon)
    canvas = Canvas(side, dice, horizon, kind.ground, frost=kind.frost)
    canvas.lines = {word: dice.number(*ends) for word, ends in kind.lines.items()}
    first, last = kind.standing
    canvas.standing = (horizon + (1 - horizon) * first, horizon + (1 - horizon) * last)
    canvas.crowd, canvas.aisle, canvas.lined = kind.crowd, kind.aisle, kind.lined
    for word in words:
        canvas.paint(word, PAINTERS[word])
    return canvas
