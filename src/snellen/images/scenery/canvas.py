"""What does a painter paint on? A square picture that knows which keyword shows where.

Lengths are in sides of the picture, from its upper left corner, so that a scene looks the
same at any side. Every edge is antialiased: a stroke has a cover from 0 to 1 at each pixel.
A keyword's mask holds the pixels in whose colour it has a part: touched by its strokes and
since then fully covered by nobody else's.

Pixels are single precision, and only sums, products and roots are taken of them, which every
machine rounds alike; curves and sums of products are made in double precision first.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from snellen.images.scenery.dice import Dice

    Plane = npt.NDArray[np.float32]
    Mask = npt.NDArray[np.bool_]

RGB: TypeAlias = tuple[float, float, float]
ALL = slice(None)
LIGHT = (-0.6, -0.8)
"""Where light comes from: the upper left."""


class Mood(NamedTuple):
    """A time of day: what colours the sky has, and by how much all is tinted."""

    high: RGB
    low: RGB
    tint: RGB


MOODS = (
    Mood((70, 140, 225), (190, 222, 245), (1.0, 1.0, 1.0)),
    Mood((40, 105, 205), (150, 200, 240), (1.02, 1.0, 0.97)),
    Mood((95, 165, 215), (225, 235, 235), (1.0, 1.0, 0.98)),
    Mood((110, 120, 185), (252, 190, 140), (1.04, 0.96, 0.88)),
    Mood((150, 162, 178), (205, 212, 218), (0.92, 0.95, 0.99)),
)


class Spot(NamedTuple):
    """Where something stands: the middle of its foot, and its size there."""

    x: float
    y: float
    size: float


class Canvas:
    """A picture in the making."""

    def __init__(
        self, side: int, dice: Dice, horizon: float, ground: tuple[RGB, RGB], *, frost: bool = False
    ) -> None:
        self.side = side
        self.dice = dice
        self.horizon = horizon
        """Where the sky or the wall ends."""
        self.frost = frost
        """Whether it has snowed."""
        self.lines: dict[str, float] = {}
        """Where each ground begins, if not at the horizon."""
        self.standing = (horizon + 0.08, 0.95)
        """Between which lines things have their feet."""
        self.crowd = (1, 3)
        """How many plants of a kind there are."""
        self.lined = ""
        """The keyword that stands all along the wall."""
        self.aisle = 0.0
        """How wide the middle is that is kept free."""
        self.mood = dice.pick(MOODS)
        centres = (np.arange(side, dtype=np.float64) + 0.5) / side
        self.x: Plane = centres.astype(np.float32)[None, :]
        self.y: Plane = centres.astype(np.float32)[:, None]
        upper, lower = (ink(*colour) for colour in ground)
        self.picture: Plane = np.empty((3, side, side), np.float32)
        self.picture[...] = np.where(self.y < horizon, upper, lower)
        self._masks: Mask = np.zeros((0, side, side), bool)
        self._names: list[str] = []
        self._places: list[float] = []
        self.taken: list[float] = []
        """The middles of the stretches of wall where something hangs."""

    def paint(self, keyword: str, painter: Callable[[Canvas], None]) -> Mask:
        """Let a painter paint a keyword, and return where it shows."""
        self._names.append(keyword)
        self._masks = np.concatenate([self._masks, np.zeros((1, self.side, self.side), bool)])
        painter(self)
        return np.asarray(self._masks[-1])

    @property
    def masks(self) -> Mapping[str, Mask]:
        """Where each keyword shows so far."""
        return dict(zip(self._names, self._masks, strict=True))

    def areas(self) -> npt.NDArray[np.float64]:
        """Return the share of the picture in which each keyword shows, in painted order."""
        return np.asarray(self._masks.mean(axis=(1, 2)))

    # --- strokes ---

    def stroke(self, cover: Any, colour: Any, rows: slice = ALL, cols: slice = ALL) -> None:
        """Lay a colour, (3, …) or one number a channel, over a part of the picture."""
        part = self.picture[:, rows, cols]
        part += cover * (colour - part)
        seen = self._masks[:, rows, cols]
        seen[:-1] &= cover < 1
        seen[-1] |= cover > 0

    def box(self, left: float, top: float, right: float, bottom: float, colour: Any) -> None:
        """Fill an upright rectangle."""
        rows, cols = self._window(left, top, right, bottom)
        across = self._span(self.x[:, cols], left, right)
        self.stroke(across * self._span(self.y[rows], top, bottom), colour, rows, cols)

    def panel(self, left: float, top: float, right: float, bottom: float, view: Any) -> None:
        """Show that rectangle of `view`, colours for the whole picture."""
        across = self._span(self.x, left, right)
        self.stroke(across * self._span(self.y, top, bottom), view)

    def disc(
        self, x: float, y: float, wide: float, high: float, colour: Any, *, light: float = 0.0
    ) -> None:
        """Fill an ellipse of those radii, its lit side brighter by up to the share `light`."""
        rows, cols = self._window(x - wide, y - high, x + wide, y + high)
        across, down = (self.x[:, cols] - x) / wide, (self.y[rows] - y) / high
        inside = (1 - np.sqrt(across * across + down * down)) * (min(wide, high) * self.side)
        if light:
            colour = colour * (1 + light * (LIGHT[0] * across + LIGHT[1] * down))
        self.stroke(np.clip(inside + 0.5, 0, 1), colour, rows, cols)

    def polygon(self, colour: Any, *corners: tuple[float, float]) -> None:
        """Fill a convex shape whose corners are told clockwise, as one sees them."""
        xs, ys = zip(*corners, strict=True)
        rows, cols = self._window(min(xs), min(ys), max(xs), max(ys))
        x, y = self.x[:, cols], self.y[rows]
        inside: Any = np.inf
        for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
            over, along = x1 - x0, y1 - y0
            scale = self.side / max((over * over + along * along) ** 0.5, 1e-6)
            edge = (y - y0) * (over * scale) - (x - x0) * (along * scale)
            inside = np.minimum(inside, edge)
        self.stroke(np.clip(inside + 0.5, 0, 1), colour, rows, cols)

    def line(
        self, start: tuple[float, float], end: tuple[float, float], width: float, colour: Any
    ) -> None:
        """Draw a straight line of that width."""
        (x0, y0), (x1, y1) = start, end
        length = max(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5, 1e-6)
        over, down = (y0 - y1) / length * width / 2, (x1 - x0) / length * width / 2
        self.polygon(
            colour,
            (x0 - over, y0 - down),
            (x1 - over, y1 - down),
            (x1 + over, y1 + down),
            (x0 + over, y0 + down),
        )

    def below(self, edge: Any, colour: Any, end: float = 1.0) -> None:
        """Fill from `edge`, a height for each column or one for all, to the line `end`."""
        cover = np.clip((self.y - edge) * self.side + 0.5, 0, 1)
        if end < 1:
            cover = cover * self._span(self.y, 0.0, end)
        self.stroke(cover, colour)

    def _window(self, left: float, top: float, right: float, bottom: float) -> tuple[slice, slice]:
        """Return the rows and columns that a shape may touch, a pixel of margin around it."""
        rows = slice(max(int(top * self.side) - 1, 0), max(int(bottom * self.side) + 2, 0))
        cols = slice(max(int(left * self.side) - 1, 0), max(int(right * self.side) + 2, 0))
        return rows, cols

    def _span(self, centres: Plane, low: float, high: float) -> Any:
        """Return how much of each pixel lies between two lines."""
        half = 0.5 / self.side
        covered = np.minimum(centres + half, high) - np.maximum(centres - half, low)
        return np.clip(covered * self.side, 0, 1)

    # --- chance ---

    def tint(self, colour: RGB, spread: float = 14.0) -> Plane:
        """Return the colour, a little off at random."""
        shade = self.dice.number(-spread, spread)
        return ink(*(part + shade + self.dice.number(-spread, spread) / 2 for part in colour))

    def field(self, rows: int, cols: int) -> Plane:
        """Return (side, side) smooth random values from 0 to 1 over so many cells."""
        lattice = self.dice.numbers(rows + 1, cols + 1)
        smooth = _blend(self.side, rows, smooth=True) @ lattice
        return np.asarray(smooth @ _blend(self.side, cols, smooth=True).T, np.float32)

    def ridge(self, cells: int, *, smooth: bool = True, valleys: float = 1.0) -> Plane:
        """Return (side,) random heights from 0 to 1, curved or with sharp peaks.

        Every other one is lowered to the share `valleys`.
        """
        heights = self.dice.numbers(cells + 1)
        heights[::2] *= valleys
        return np.asarray(_blend(self.side, cells, smooth=smooth) @ heights, np.float32)

    def spots(
        self, low: int, high: int, narrow: float = 0.05, aisle: float | None = None
    ) -> Iterator[Spot]:
        """Name between `low` and `high` places to stand, the farthest first."""
        free = self.aisle if aisle is None else aisle
        count = self.dice.whole(low, high)
        first, last = self.standing
        depths = sorted(self.dice.number() for _ in range(count))
        start = self.dice.number()
        for number, depth in enumerate(depths):
            # strides of the golden section keep neighbours in the list apart
            x = (start + number * 0.618 + self.dice.number(-0.08, 0.08)) % 1
            x = x * (1 - free) + free * (x > 0.5)
            size = 0.45 + 0.55 * depth
            yield Spot(narrow + (1 - 2 * narrow) * x, first + (last - first) * depth, size)

    def place(self) -> float:
        """Return the middle of a stretch of wall where nothing hangs yet."""
        if not self._places:
            thirds = self.free(1 / 6, 1 / 2, 5 / 6) or [1 / 6, 1 / 2, 5 / 6]
            order = np.argsort(self.dice.numbers(len(thirds)), kind="stable")
            self._places = [thirds[i] for i in order]
        self.taken.append(self._places.pop() + self.dice.number(-0.04, 0.04))
        return self.taken[-1]

    def free(self, *middles: float) -> list[float]:
        """Return those stretches of wall where nothing hangs."""
        return [x for x in middles if all(abs(x - there) > 0.15 for there in self.taken)]

    # --- the end ---

    def finished(self) -> npt.NDArray[np.uint8]:
        """Return the picture, (side, side, 3), in the light of the day and with a little grain."""
        grain = self.dice.numbers(self.side, self.side).astype(np.float32) * 6 - 3
        tinted = self.picture * ink(*self.mood.tint) + grain
        whole = np.clip(tinted, 0, 255) + 0.5
        return np.ascontiguousarray(whole.astype(np.uint8).transpose(1, 2, 0))


def ink(red: float, green: float, blue: float) -> Plane:
    """Return a colour that a canvas can be painted with.

    >>> ink(255, 0, 0).shape
    (3, 1, 1)
    """
    return np.array([red, green, blue], np.float32).reshape(3, 1, 1)


def mixed(one: Any, other: Any, share: Any) -> Any:
    """Return colours between two, with that share of the other."""
    return one + share * (other - one)


def stack(colours: Sequence[Plane], which: npt.NDArray[np.intp]) -> Plane:
    """Return the colours (3, …) that a plane of indices picks."""
    table = np.concatenate(colours, axis=1)[:, :, 0]
    return np.asarray(table[:, which])


@lru_cache(maxsize=256)
def _blend(side: int, cells: int, *, smooth: bool) -> npt.NDArray[np.float64]:
    """Return (side, cells + 1) shares in which each pixel mixes its two neighbouring knots."""
    at = (np.arange(side) + 0.5) / side * cells
    low = np.minimum(at.astype(int), cells - 1)
    share = at - low
    if smooth:
        share = share * share * (3 - 2 * share)
    made = np.zeros((side, cells + 1))
    made[np.arange(side), low] = 1 - share
    made[np.arange(side), low + 1] = share
    return made
