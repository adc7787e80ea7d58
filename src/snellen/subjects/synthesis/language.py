"""What can be said of a scene? Numbers, built from a few words by a small grammar.

    number    := aggregate(measure, pairs) | count(flag, pairs) | count(shapes) | clusters(flag)
               | aggregate(attribute, shapes) | contrast(attribute, shapes, shapes)
               | order(attribute, attribute) | figure(shapes)
    pairs     := shapes × shapes | pairs that are the same, different, touching, nested
    shapes    := all | large | small | odd | twinned | inner | outer | touching | apart
    measure   := gap | distance | across | down | tilt | proportion | turn
    flag      := same | mirrored | nested | touching
    attribute := x | y | size | margin | eccentricity | roughness | fellows | contacts
    aggregate := least | most | mean | spread
    figure    := line | spacing | square | mirror | level mirror | half turn | angle | carried
               | centred

Each word costs bits, as many as a choice among its kind takes, so that a long expression
must explain more than a short one. A new word is one function below and enters by its
name. A number that means nothing in a scene (the gap of a single shape) is NaN there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from snellen.subjects.synthesis.board import CONTACT

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.subjects.synthesis.board import Board, Flags, Floats

    Column: TypeAlias = npt.NDArray[Any]
    Function: TypeAlias = Callable[[Any], Any]
    Enter: TypeAlias = Callable[[Function], Function]

Unit: TypeAlias = Literal["px", "degrees", "share", "count"]
NOISE: dict[Unit, float] = {"px": 0.8, "degrees": 3.0, "share": 0.04, "count": 0.0}
"""How far pixels leave a number uncertain."""
ROUGH = 2.25
"""Times that, where different shapes' places are compared: their centres are not where they were
put. Of gaps, which are between outlines, this is not so."""
PLACES = ("distance", "across", "down", "tilt")
"""The measures of centres."""
DISTINCT = 1.4
"""Shapes are large and small where the largest is so many times the smallest, or more."""


@dataclass(frozen=True)
class Word:
    """A word of the language, with what it says in English."""

    name: str
    english: str
    bits: float
    meaning: Callable[[Board], Column]
    unit: Unit = "count"
    rough: bool = False


@dataclass(frozen=True)
class Number:
    """An expression that gives a scene a number."""

    code: str
    english: str
    unit: Unit
    bits: float
    value: Callable[[Board], Floats]
    rough: bool = False
    """Whether it compares the places of different shapes."""

    @property
    def plain(self) -> bool:
        """Whether it just counts pairs of any shapes."""
        return self.code.startswith("count(") and self.code.endswith(", all)")

    @property
    def noise(self) -> float:
        """How far pixels leave it uncertain."""
        return NOISE[self.unit] * (ROUGH if self.rough else 1)

    def __call__(self, board: Board) -> Floats:
        """Work it out for every scene of a board."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = board.once(self.code, self.value)
        return found


@dataclass(frozen=True)
class Figure:
    """A shape that centres may lie in, and how far they are from it."""

    name: str
    english: str
    bits: float
    over: tuple[str, ...]
    """The sets of shapes it is asked of."""
    misfit: Callable[[Floats], Floats]
    """From (scenes, points, 2) to pixels."""


SHAPES: dict[str, Word] = {}
MEASURES: dict[str, Word] = {}
FLAGS: dict[str, Word] = {}
ATTRIBUTES: dict[str, Word] = {}
FIGURES: dict[str, Figure] = {}


def _word(kind: dict[str, Word], english: str, bits: float, unit: Unit = "count") -> Enter:
    def enter(meaning: Function) -> Function:
        name = meaning.__name__.strip("_")
        kind[name] = Word(name, english, bits, partial(_once, meaning), unit)
        return meaning

    return enter


def _once(meaning: Callable[[Board], Column], board: Board) -> Column:
    found: Column = board.once(meaning, meaning)
    return found


# shapes --------------------------------------------------------------------------------------


@_word(SHAPES, "shapes", 1)
def all_(board: Board) -> Flags:
    """Every shape."""
    return np.ones(board.x.shape, bool)


@_word(SHAPES, "large shapes", 2.5)
def large(board: Board) -> Flags:
    """Those above the middle of the sizes, where sizes are distinct."""
    if not board.count:
        return np.zeros(board.x.shape, bool)
    most, least = board.size.max(1, keepdims=True), board.size.min(1, keepdims=True)
    return np.asarray((board.size > np.sqrt(most * least)) & (most > DISTINCT * least))


@_word(SHAPES, "small shapes", 2.5)
def small(board: Board) -> Flags:
    """Those below it."""
    found = SHAPES["large"].meaning(board)
    return ~found & found.any(1, keepdims=True)


@_word(SHAPES, "shapes with a fellow", 3)
def twinned(board: Board) -> Flags:
    """Those that some other shape is the same as."""
    return np.asarray(board.matrix(board.same).any(2))


@_word(SHAPES, "odd shapes", 3)
def odd(board: Board) -> Flags:
    """Those that no other is the same as, where some are the same."""
    found = SHAPES["twinned"].meaning(board)
    return ~found & found.any(1, keepdims=True)


@_word(SHAPES, "inner shapes", 3.5)
def inner(board: Board) -> Flags:
    """Those within another."""
    return _ends(board, board.within, 1)


@_word(SHAPES, "outer shapes", 3.5)
def outer(board: Board) -> Flags:
    """Those with another in them."""
    return _ends(board, board.within, 0)


@_word(SHAPES, "touching shapes", 3.5)
def touching_(board: Board) -> Flags:
    """Those in contact with another."""
    return np.asarray(board.matrix(board.gap <= CONTACT).any(2))


@_word(SHAPES, "free shapes", 4)
def apart(board: Board) -> Flags:
    """Those in contact with none, where some are."""
    found = SHAPES["touching"].meaning(board)
    return ~found & found.any(1, keepdims=True)


def _ends(board: Board, flags: Flags, end: int) -> Flags:
    made = np.zeros((board.count, len(board)), bool)
    np.logical_or.at(made, board.pairs[end], flags.T)
    return made.T


# measures and flags of pairs -----------------------------------------------------------------


@_word(MEASURES, "gap", 1.5, "px")
def gap(board: Board) -> Floats:
    """Between the outlines."""
    return board.gap


@_word(MEASURES, "distance", 1.5, "px")
def distance(board: Board) -> Floats:
    """Between the centres."""
    return np.hypot(_difference(board, board.x), _difference(board, board.y))


@_word(MEASURES, "horizontal distance", 2.5, "px")
def across(board: Board) -> Floats:
    """Between the centres, from left to right."""
    return np.abs(_difference(board, board.x))


@_word(MEASURES, "vertical distance", 2.5, "px")
def down(board: Board) -> Floats:
    """Between the centres, from top to bottom."""
    return np.abs(_difference(board, board.y))


@_word(MEASURES, "slope", 6, "degrees")
def tilt(board: Board) -> Floats:
    """Of the line through the centres, against the horizontal."""
    return np.asarray(np.degrees(np.arctan2(down(board), across(board))))


@_word(MEASURES, "difference in size (octaves)", 5, "share")
def proportion(board: Board) -> Floats:
    """Of sizes, as a logarithm."""
    return np.abs(_difference(board, np.log2(board.size)))


@_word(MEASURES, "turn", 2.5, "degrees")
def turn(board: Board) -> Floats:
    """From one to the other, where they are the same."""
    return board.turn


@_word(FLAGS, "are the same", 1)
def same(board: Board) -> Flags:
    """But for place, turn, size and reflection."""
    return board.same


@_word(FLAGS, "are mirror images", 1.5)
def mirrored(board: Board) -> Flags:
    """Hold of those that only a reflection makes the same."""
    return board.mirrored


@_word(FLAGS, "lie one in the other", 1)
def nested(board: Board) -> Flags:
    """One within the other."""
    return board.within


@_word(FLAGS, "touch", 1.5)
def touching(board: Board) -> Flags:
    """In contact."""
    return np.asarray(board.gap <= CONTACT)


def _difference(board: Board, column: Floats) -> Floats:
    first, second = board.pairs
    return np.asarray(column[:, second] - column[:, first])


# attributes of shapes ------------------------------------------------------------------------


@_word(ATTRIBUTES, "place from left to right", 2, "px")
def x(board: Board) -> Floats:
    """Of the centre."""
    return board.x


@_word(ATTRIBUTES, "place from top to bottom", 2, "px")
def y(board: Board) -> Floats:
    """Of the centre."""
    return board.y


@_word(ATTRIBUTES, "size", 2, "px")
def size(board: Board) -> Floats:
    """Square root of the area."""
    return board.size


@_word(ATTRIBUTES, "distance from the picture's edge", 4, "px")
def margin(board: Board) -> Floats:
    """To the nearest edge."""
    return board.margin


@_word(ATTRIBUTES, "distance from the picture's middle", 3.5, "px")
def eccentricity(board: Board) -> Floats:
    """Of the centre."""
    middle = (board.frame - 1) / 2
    return np.hypot(board.x - middle[:, :1], board.y - middle[:, 1:])


@_word(ATTRIBUTES, "roughness", 4, "share")
def roughness(board: Board) -> Floats:
    """Length of the outline over that of a circle of the same area."""
    return np.asarray(board.ink / (2 * np.sqrt(np.pi) * board.size))


@_word(ATTRIBUTES, "number of fellows", 3, "count")
def fellows(board: Board) -> Floats:
    """How many others are the same."""
    return np.asarray(board.matrix(board.same).sum(2), float)


@_word(ATTRIBUTES, "number of contacts", 3.5, "count")
def contacts(board: Board) -> Floats:
    """How many others it touches."""
    return np.asarray(board.matrix(board.gap <= CONTACT).sum(2), float)


# figures that centres make -------------------------------------------------------------------


def _figure(english: str, bits: float, over: tuple[str, ...]) -> Enter:
    def enter(misfit: Function) -> Function:
        name = misfit.__name__
        FIGURES[name] = Figure(name, english, bits, over, misfit)
        return misfit

    return enter


WIDELY = ("all", "twinned", "large", "small")


@_figure("distance of the {} from a line", 2, WIDELY)
def line(points: Floats) -> Floats:
    """How far the centres lie from the best line."""
    centred = points - points.mean(1, keepdims=True)
    spread = np.einsum("sni,snj->sij", centred, centred) / points.shape[1]
    least = np.linalg.eigvalsh(spread)[:, 0]
    return _if_enough(points, 3, np.sqrt(np.maximum(least, 0)))


@_figure("unevenness of the {} along a line", 3.5, WIDELY)
def spacing(points: Floats) -> Floats:
    """How much the steps along the best line differ."""
    centred = points - points.mean(1, keepdims=True)
    _, axes = np.linalg.eigh(np.einsum("sni,snj->sij", centred, centred))
    steps = np.diff(np.sort(np.einsum("sni,si->sn", centred, axes[..., -1]), axis=1), axis=1)
    return _if_enough(points, 3, np.ptp(steps, axis=1) if steps.shape[1] else np.zeros(len(points)))


@_figure("distance of the {} from a square", 3, WIDELY)
def square(points: Floats) -> Floats:
    """How far the six distances of four centres are from those of a square."""
    if points.shape[1] != 4:
        return np.full(len(points), np.nan)
    apart = np.sort(_distances(points)[:, *np.triu_indices(4, 1)], axis=1)
    side = apart @ np.array([1, 1, 1, 1, 2**0.5, 2**0.5]) / 8
    ideal = side[:, None] * np.array([1, 1, 1, 1, 2**0.5, 2**0.5])
    return np.asarray(np.sqrt(((apart - ideal) ** 2).mean(1)))


@_figure("distance of the {} from their reflection left to right", 3, WIDELY)
def mirror(points: Floats) -> Floats:
    """How far the farthest centre is from the nearest reflected one; the axis is their mean."""
    return _from_image(points, np.array([-1.0, 1.0]))


@_figure("distance of the {} from their reflection top to bottom", 3, WIDELY)
def level_mirror(points: Floats) -> Floats:
    """Reflect them upside down instead."""
    return _from_image(points, np.array([1.0, -1.0]))


@_figure("distance of the {} from themselves after half a turn", 4, WIDELY)
def half_turn(points: Floats) -> Floats:
    """Turn them about their mean instead."""
    return _from_image(points, np.array([-1.0, -1.0]))


def _from_image(points: Floats, signs: Floats) -> Floats:
    centred = points - points.mean(1, keepdims=True)
    apart = np.linalg.norm(centred[:, :, None] * signs - centred[:, None], axis=3)
    found = apart.min(2).max(1) if points.shape[1] else np.zeros(len(points))
    return _if_enough(points, 4, found)


def _distances(points: Floats) -> Floats:
    return np.asarray(np.linalg.norm(points[:, :, None] - points[:, None], axis=3))


def _if_enough(points: Floats, count: int, found: Floats) -> Floats:
    return found if points.shape[1] >= count else np.full(len(points), np.nan)


# expressions ---------------------------------------------------------------------------------

CONTRASTS = tuple(
    (SHAPES[a], SHAPES[b])
    for a, b in (("large", "small"), ("odd", "twinned"), ("inner", "outer"), ("touching", "apart"))
)
ACROSS, COUNTED_ACROSS = 1.5, 2.5
"""How the places of two contrasting sets are to each other is readily said, in bits less than one
of the sets takes; which of their pairs are the same or touch is not."""
AGGREGATES: dict[str, tuple[str, float]] = {
    "least": ("smallest", 1.5),
    "most": ("largest", 4),
    "mean": ("mean", 4),
    "spread": ("variation of the", 1.5),
    "unevenness": ("relative variation of the", 2.5),
}
_KIND = {"pairs": 2.0, "counts": 1.0, "clusters": 2.0, "attributes": 4.0, "figures": 2.5,
         "contrasts": 4.0, "orders": 5.0}  # fmt: skip


@cache
def numbers() -> tuple[Number, ...]:
    """Return every number that the grammar can say, the shortest first."""
    made = [*_of_pairs(), *_counts(), *_clusters(), *_of_shapes(), *_contrasts(), *_orders()]
    return tuple(sorted([*made, *_figures(), *_relations_of_sets()], key=lambda n: n.bits))


def _pair_words() -> Iterator[Word]:
    """Name sets of pairs: within a set of shapes, across two, or by what they are."""
    for a in SHAPES.values():
        yield Word(a.name, f"between {a.english}", a.bits, partial(_both, a, a))
    for a, b in CONTRASTS:
        yield Word(
            f"{a.name} × {b.name}",
            f"between {a.english} and {b.english}",
            a.bits - ACROSS,
            partial(_either, a, b),
            rough=True,
        )
    for flag in FLAGS.values():
        english = f"between shapes that {flag.english}"
        yield Word(f"{flag.name} pairs", english, flag.bits + 1.5, flag.meaning)
    yield Word("different pairs", "between shapes that are different", 3.5, _different, rough=True)


def _of_pairs() -> Iterator[Number]:
    for pairs, measure in itertools.product(_pair_words(), MEASURES.values()):
        for name, (english, bits) in AGGREGATES.items():
            if name == "unevenness" and measure.unit != "px":
                continue
            yield Number(
                f"{name}({measure.name}, {pairs.name})",
                f"the {english} {measure.english} {pairs.english}",
                "share" if name == "unevenness" else measure.unit,
                _KIND["pairs"] + pairs.bits + measure.bits + bits,
                partial(_aggregate, measure, pairs, name),
                pairs.rough and measure.name in PLACES,
            )


def _counts() -> Iterator[Number]:
    for pairs, flag in itertools.product(_pair_words(), FLAGS.values()):
        if flag.name not in pairs.name:
            yield Number(
                f"count({flag.name}, {pairs.name})",
                f"the number of pairs {pairs.english} that {flag.english}",
                "count",
                _KIND["counts"] + pairs.bits + flag.bits + COUNTED_ACROSS * pairs.rough,
                partial(_count_pairs, pairs, flag),
            )
    for shapes in SHAPES.values():
        bits = _KIND["counts"] + shapes.bits
        counted = partial(_count, shapes)
        english = f"the number of {shapes.english}"
        yield Number(f"count({shapes.name})", english, "count", bits, counted)


def _clusters() -> Iterator[Number]:
    """Yield how shapes hang together by a flag: in how many groups, and the largest."""
    for flag in (FLAGS["same"], FLAGS["touching"], FLAGS["nested"]):
        for name, english in (("groups", "number of groups"), ("largest", "largest group")):
            yield Number(
                f"{name}({flag.name})",
                f"the {english} of shapes that {flag.english}",
                "count",
                _KIND["clusters"] + flag.bits,
                partial(_grouped, flag, name == "largest"),
            )


def _of_shapes() -> Iterator[Number]:
    for shapes, attribute in itertools.product(SHAPES.values(), ATTRIBUTES.values()):
        for name, (english, bits) in AGGREGATES.items():
            if name == "unevenness":
                continue
            yield Number(
                f"{name}({attribute.name}, {shapes.name})",
                f"the {english} {attribute.english} of {shapes.english}",
                attribute.unit,
                _KIND["attributes"] + shapes.bits + attribute.bits + bits,
                partial(_aggregate, attribute, shapes, name),
            )


def _contrasts() -> Iterator[Number]:
    for (a, b), attribute in itertools.product(CONTRASTS, ATTRIBUTES.values()):
        yield Number(
            f"mean({attribute.name}, {a.name}) − mean({attribute.name}, {b.name})",
            f"the {attribute.english} of {a.english} less that of {b.english}",
            attribute.unit,
            _KIND["contrasts"] + a.bits + attribute.bits,
            partial(_less, attribute, a, b),
        )


def _orders() -> Iterator[Number]:
    """Yield how far two attributes rise together over all pairs, from −1 to 1."""
    chosen = (ATTRIBUTES[name] for name in ("x", "y", "size", "roughness"))
    for a, b in itertools.combinations(chosen, 2):
        yield Number(
            f"order({a.name}, {b.name})",
            f"how far the {a.english} rises with the {b.english}",
            "share",
            _KIND["orders"] + a.bits + b.bits,
            partial(_concordance, a, b),
        )


def _figures() -> Iterator[Number]:
    for figure in FIGURES.values():
        for shapes in (SHAPES[name] for name in figure.over):
            yield Number(
                f"{figure.name}({shapes.name})",
                "the " + figure.english.format(shapes.english),
                "px",
                _KIND["figures"] + figure.bits + shapes.bits,
                partial(_by_members, shapes, figure.misfit),
            )


def _relations_of_sets() -> Iterator[Number]:
    """Yield how one set of shapes lies to another."""
    for a, b in CONTRASTS:
        bits = _KIND["figures"] + 2 + a.bits
        yield Number(
            f"angle({a.name}; {b.name})",
            f"the angle at the one of {a.english} between two {b.english}",
            "degrees",
            bits,
            partial(_by_sets, a, b, _angle),
        )
        yield Number(
            f"carried({a.name}, {b.name})",
            f"the difference of the steps from {a.english} to {b.english}",
            "px",
            bits,
            partial(_by_sets, a, b, _carried),
        )
        yield Number(
            f"centred({a.name}; {b.name})",
            f"the distance of the one of {a.english} from the middle of a circle of {b.english}",
            "px",
            bits,
            partial(_by_sets, a, b, _centred),
            rough=True,
        )


# meanings of expressions ---------------------------------------------------------------------


def _both(one: Word, other: Word, board: Board) -> Flags:
    first, second = board.pairs
    return np.asarray(one.meaning(board)[:, first] & other.meaning(board)[:, second])


def _either(one: Word, other: Word, board: Board) -> Flags:
    return _both(one, other, board) | _both(other, one, board)


def _different(board: Board) -> Flags:
    return ~board.same


def _count(shapes: Word, board: Board) -> Floats:
    return np.asarray(shapes.meaning(board).sum(1), float)


def _count_pairs(pairs: Word, flag: Word, board: Board) -> Floats:
    return np.asarray((pairs.meaning(board) & flag.meaning(board)).sum(1), float)


def _aggregate(what: Word, which: Word, how: str, board: Board) -> Floats:
    values = what.meaning(board)
    chosen = which.meaning(board) & ~np.isnan(values)
    count = chosen.sum(1)
    if how == "mean":
        total = np.where(chosen, values, 0.0).sum(1)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)
    least = np.where(chosen, values, np.inf).min(1, initial=np.inf)
    if how == "least":
        return np.where(count > 0, least, np.nan)
    most = np.where(chosen, values, -np.inf).max(1, initial=-np.inf)
    if how == "most":
        return np.where(count > 0, most, np.nan)
    if how == "unevenness":
        return np.where((count > 1) & (most > 0), (most - least) / np.maximum(most, 1e-9), np.nan)
    return np.where(count > 1, most - least, np.nan)


def _less(what: Word, one: Word, other: Word, board: Board) -> Floats:
    return _aggregate(what, one, "mean", board) - _aggregate(what, other, "mean", board)


def _grouped(flag: Word, largest: bool, board: Board) -> Floats:
    reach = board.matrix(flag.meaning(board)) | np.eye(board.count, dtype=bool)
    for _ in range(max(board.count - 1, 1).bit_length()):
        reach = (reach.astype(np.uint8) @ reach.astype(np.uint8)) > 0
    sizes = reach.sum(2)
    if largest:
        return np.asarray(sizes.max(1, initial=0), float)
    return np.asarray(np.round((1 / np.maximum(sizes, 1)).sum(1)), float)


def _concordance(one: Word, other: Word, board: Board) -> Floats:
    if board.count < 2:
        return np.full(len(board), np.nan)
    a, b = (_difference(board, word.meaning(board)) for word in (one, other))
    return np.asarray(np.sign(a * b).mean(1))


def _by_members(shapes: Word, work: Callable[[Floats], Floats], board: Board) -> Floats:
    """Apply `work` to the centres of the chosen shapes, scenes with equally many together."""
    chosen = shapes.meaning(board)
    counts, made = chosen.sum(1), np.full(len(board), np.nan)
    for count in np.unique(counts[counts > 1]):
        rows = counts == count
        made[rows] = work(_centres(board, chosen, rows))
    return made


def _by_sets(
    one: Word, other: Word, work: Callable[[Floats, Floats], Floats], board: Board
) -> Floats:
    """Apply `work` to the centres of two sets, scenes with equally many together."""
    a, b = one.meaning(board), other.meaning(board)
    counts, made = np.stack([a.sum(1), b.sum(1)], axis=1), np.full(len(board), np.nan)
    for pair in np.unique(counts[(counts > 0).all(1)], axis=0):
        rows = (counts == pair).all(1)
        made[rows] = work(_centres(board, a, rows), _centres(board, b, rows))
    return made


def _centres(board: Board, chosen: Flags, rows: Flags) -> Floats:
    points = np.stack([board.x[rows], board.y[rows]], axis=2)
    return points[chosen[rows]].reshape(len(points), -1, 2)


def _angle(one: Floats, two: Floats) -> Floats:
    if one.shape[1] != 1 or two.shape[1] != 2:
        return np.full(len(one), np.nan)
    a, b = two[:, 0] - one[:, 0], two[:, 1] - one[:, 0]
    cosine = (a * b).sum(1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    return np.asarray(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def _carried(one: Floats, two: Floats) -> Floats:
    """How much the steps differ that lead from each of one set to its own of the other."""
    count = one.shape[1]
    if count != two.shape[1] or not 2 <= count <= 4:
        return np.full(len(one), np.nan)
    best = np.full(len(one), np.inf)
    for order in itertools.permutations(range(count)):
        steps = two[:, order] - one
        uneven = np.linalg.norm(steps - steps.mean(1, keepdims=True), axis=2).max(1)
        best = np.minimum(best, 2 * uneven)
    return best


def _centred(one: Floats, two: Floats) -> Floats:
    """How far the one is from the middle of the circle through the others.

    Of more than three others it is the circle that fits best, of two the smallest.
    """
    if one.shape[1] != 1 or two.shape[1] < 2:
        return np.full(len(one), np.nan)
    mean = two.mean(1)
    spokes = two - mean[:, None]
    squares = (spokes**2).sum(2)
    uneven = (squares - squares.mean(1, keepdims=True)) / 2
    middle = (np.linalg.pinv(spokes) @ uneven[..., None])[..., 0]  # 2 x · (p − mean) = |p|² − …
    return np.asarray(np.linalg.norm(one[:, 0] - mean - middle, axis=1))
