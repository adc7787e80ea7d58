"""Which scenes should a target be put before?

Four ways to choose. `subsets` is the authors': scenes that share as many of the target's
five foremost keywords as can be, all subsets of these in turn, so that 2⁵ − 1 = 31 scenes
come ever farther from it. `spread` says outright how they lie over distance. `closest` and
`random` are the baselines. Whatever the way, no scene is taken that shows the thing itself.

No way depends on the order of the database: equally near scenes come by name or, in
`spread`, by lot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from snellen.errors import BadSetting
from snellen.exams.background.relatives import Relatives
from snellen.seeds import Seed

if TYPE_CHECKING:
    from snellen.core import Indices
    from snellen.exams.background.distance import Pooling, Row, Scenes

FOREMOST = 5
"""Keywords of a target whose subsets are sought."""
SWAPS = 10
"""Associates that may stand in for a keyword."""
Even: TypeAlias = Literal["distance", "quantile"]
"""Whether scenes are spread evenly over distance, or over the ranks of all scenes by it."""
Found: TypeAlias = tuple[np.intp, str]
"""The row of a scene, and why it was taken."""


@dataclass(frozen=True)
class Target:
    """What is known of a picture whose background is to be replaced."""

    name: str
    words: tuple[str, ...]
    """Its keywords, strongest first."""
    things: tuple[str, ...] = ()
    """What its foreground is called."""


class Choice(NamedTuple):
    """A scene, how far it is from the target, and why it was taken."""

    picture: str
    distance: float
    why: str


@dataclass(frozen=True)
class Span:
    """How `spread` lays scenes over distance."""

    even: Even = "distance"
    least: float = 0.0
    most: float = 1.0
    """Scenes nearer or farther than these are left out."""

    def __post_init__(self) -> None:
        if self.even not in get_args(Even) or not 0 <= self.least <= self.most <= 1:
            raise BadSetting(
                f"scenes are spread evenly by {' or '.join(get_args(Even))}, from a least to a "
                f"most distance between 0 and 1, not {self}"
            )


@dataclass(frozen=True, eq=False)
class Search:
    """All that may be asked about one target: scenes it may be put before, nearest first.

    A set of them is a whole number, a bit each, so the nearest one is the lowest bit.
    """

    scenes: Scenes
    target: Target
    relatives: Relatives = field(default_factory=Relatives)
    pooling: Pooling = "mean"
    without: Collection[str] = ()
    """Pictures that must not be taken; the target itself never is."""
    seed: int = 0
    span: Span = field(default_factory=Span)

    @cached_property
    def barred(self) -> frozenset[str]:
        """Keywords that name the foreground."""
        names = self.target.things
        known = {*self.scenes.distances.keywords, *self.target.words}
        return self.relatives.barred(names, known) if names else frozenset()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The target's keywords without those of its foreground."""
        return tuple(word for word in self.target.words if word not in self.barred)

    @cached_property
    def away(self) -> Row:
        """How far every scene is, in the order of their names."""
        return self.scenes.away(self.words, self.pooling)

    @cached_property
    def open(self) -> Indices:
        """Scenes that may be taken, by name."""
        places, rows = self.scenes.distances.places, self.scenes.rows
        barred = [places[word] for word in self.barred if word in places]
        left = np.logical_not(self.scenes.has[barred].any(axis=0))
        left[[rows[name] for name in {self.target.name, *self.without} if name in rows]] = False
        return np.flatnonzero(left)

    @cached_property
    def ranked(self) -> Indices:
        """Scenes that may be taken, by distance and then by name."""
        return np.asarray(self.open[_sorted_places(self.away[self.open])], np.intp)

    @cached_property
    def foremost(self) -> tuple[str, ...]:
        """The first keywords, filled up with the surest associates of all of them."""
        first = [word for word in self.words if word in self.scenes.distances.places][:FOREMOST]
        more = self.scenes.ontology.associates(self.words, self.barred)
        return tuple([*first, *more][:FOREMOST])

    def holding(self, word: str) -> int:
        """Return the set of scenes that have a keyword."""
        if word not in self._held:
            place = self.scenes.distances.places[word]
            bits = np.packbits(self.scenes.has[place][self.ranked], bitorder="little")
            self._held[word] = int.from_bytes(bits.tobytes(), "little")
        return self._held[word]

    def stand_ins(self, word: str) -> list[tuple[float, str]]:
        """Return associates of a foremost keyword, surest first, each after −confidence."""
        if word not in self._stand_ins:
            ontology = self.scenes.ontology
            new = ontology.associates([word], {*self.foremost, *self.barred})[:SWAPS]
            self._stand_ins[word] = [(-ontology.confidence(word, each), each) for each in new]
        return self._stand_ins[word]

    @cached_property
    def _stand_ins(self) -> dict[str, list[tuple[float, str]]]:
        return {}

    @cached_property
    def _held(self) -> dict[str, int]:
        return {}


Method: TypeAlias = Callable[[Search, int], Iterator[Found]]


def choose(search: Search, count: int, method: str = "subsets") -> list[Choice]:
    """Choose scenes for a target; fewer than asked for only if there are no more."""
    if method not in METHODS:
        raise BadSetting(f"scenes are chosen by {', '.join(METHODS)}, and not {method!r}")
    if count < 1:
        raise BadSetting(f"at least one scene is chosen, and not {count}")
    return [
        Choice(search.scenes.pictures[row], float(search.away[row]), why)
        for row, why in islice(METHODS[method](search, count), count)
    ]


def closest(search: Search, count: int) -> Iterator[Found]:
    """Take the nearest scenes."""
    for rank, row in enumerate(search.ranked[:count], 1):
        yield row, f"number {rank} of {len(search.ranked)} by distance"


def at_random(search: Search, count: int) -> Iterator[Found]:
    """Take any scenes, whatever is in them."""
    lots = _seed(search, "random").bits(len(search.open))
    for place in _sorted_places(lots)[:count]:
        yield search.open[place], f"drawn by lot from {len(lots)}"


def spread(search: Search, count: int) -> Iterator[Found]:
    """Take the scenes nearest to goals that are evenly spaced; equally near ones by lot."""
    span, away = search.span, search.away[search.ranked]
    first, last = np.searchsorted(away, span.least), np.searchsorted(away, span.most, "right")
    within = away[first:last]
    lots = _Lots(within, search.ranked[first:last], _seed(search, "spread"), len(search.scenes))
    count = min(count, len(within))
    if span.even == "quantile":
        for place in np.rint(np.linspace(0, len(within) - 1, count)).astype(int):
            share = 100 * (place + 1) / len(within)
            yield lots.drawn(place), f"{share:.0f} % of {len(within)} are no farther"
        return
    free = _Free(within)
    for goal in np.linspace(within[0], within[-1], count) if count else ():
        place = free.taken(float(goal))
        yield lots.drawn(place), f"the nearest left to a distance of {goal:.3f}"


def subsets(search: Search, _count: int) -> Iterator[Found]:
    """Take, for each subset of the foremost keywords, the nearest scene that holds all of it.

    Large subsets come first. One that is rarer among the scenes than the ontology's
    thresholds ask for, or all of whose scenes are used, gets one of its keywords swapped for
    an associate, the surest first; if that does not help, it is left out. More scenes than
    subsets: all once more.
    """
    groups = [
        group
        for size in range(len(search.foremost), 0, -1)
        for group in combinations(search.foremost, size)
    ]
    unused, before = (1 << len(search.ranked)) - 1, 0
    while unused:
        if unused == before:  # no subset has any scene left
            yield (
                search.ranked[_lowest(unused)],
                "the nearest left: none of the foremost keywords is in it",
            )
            unused &= unused - 1
        before = unused
        for group in groups:
            found, why = _holding_all(search, group, unused)
            if found:
                yield search.ranked[_lowest(found)], why
                unused ^= found & -found


METHODS: dict[str, Method] = {
    "subsets": subsets,
    "spread": spread,
    "random": at_random,
    "closest": closest,
}


def _holding_all(search: Search, group: tuple[str, ...], unused: int) -> tuple[int, str]:
    """Return unused scenes that hold all of a group, or else all but one, and say which."""
    held = _common(search, group)
    ontology, scenes = search.scenes.ontology, len(search.scenes)
    rare = ontology.least_count * scenes / max(ontology.pictures, 1)
    if held & unused and held.bit_count() >= rare:
        return held & unused, f"has {' + '.join(group)}"
    for gone, new, rest in _swaps(search, group):
        if found := rest & search.holding(new) & unused:
            swapped = " + ".join(new if word == gone else word for word in group)
            return found, f"has {swapped} ({new} for {gone})"
    return held & unused, f"has {' + '.join(group)}, as few do"


def _swaps(search: Search, group: tuple[str, ...]) -> list[tuple[str, str, int]]:
    """Name keywords to give up, associates to take instead, surest first, and who has the rest."""
    found = []
    for word in group:
        rest = _common(search, tuple(other for other in group if other != word))
        found += [(faint, word, new, rest) for faint, new in search.stand_ins(word)]
    return [(word, new, rest) for _, word, new, rest in sorted(found)]


def _common(search: Search, group: tuple[str, ...]) -> int:
    held = (1 << len(search.ranked)) - 1
    for word in group:
        held &= search.holding(word)
    return held


def _lowest(chosen: int) -> int:
    """Return the rank of the nearest of a set of scenes."""
    return (chosen & -chosen).bit_length() - 1


class _Free:
    """Rising values, of which the nearest to a goal that was not yet taken is sought."""

    def __init__(self, values: Row) -> None:
        self.values = values
        self.left: dict[int, int] = {}
        """From places that are taken to the next one down that may not be."""
        self.right: dict[int, int] = {}

    def taken(self, goal: float) -> int:
        """Take the nearest; of equally near ones the lower."""
        above = int(np.searchsorted(self.values, goal))
        low, high = _end(self.left, above - 1), _end(self.right, above)
        if high >= len(self.values):
            place = low
        elif low < 0:
            place = high
        else:
            nearer = goal - self.values[low] <= self.values[high] - goal
            place = low if nearer else high
        self.left[place], self.right[place] = place - 1, place + 1
        return place


class _Lots:
    """Scenes by rising distance, of which equally far ones change places by lot."""

    def __init__(self, away: Row, rows: Indices, seed: Seed, scenes: int) -> None:
        self.away, self.rows = away, rows
        self.lots = seed.bits(scenes)[rows]
        self.left: dict[int, list[np.intp]] = {}

    def drawn(self, place: int) -> np.intp:
        """Draw one that is as far as the one at `place`, and was not drawn before."""
        start = int(np.searchsorted(self.away, self.away[place]))
        if start not in self.left:
            end = int(np.searchsorted(self.away, self.away[place], "right"))
            order = np.argsort(self.lots[start:end], kind="stable")
            self.left[start] = list(self.rows[start:end][order])
        return self.left[start].pop()


def _sorted_places(values: npt.NDArray[Any]) -> Indices:
    """Return where the values in order stand, equal ones as they stood: a stable argsort.

    NumPy sorts values far faster than it finds a stable order of them, so places of equal
    values are sorted afterwards, as whole numbers.
    """
    order = np.argsort(values)
    ordered = values[order]
    runs = np.cumsum(np.concatenate(([0], ordered[1:] != ordered[:-1]))[: len(values)])
    runs *= len(values)
    return np.asarray(np.sort(runs + order) - runs, np.intp)


def _end(links: dict[int, int], place: int) -> int:
    """Follow links to where none leads on, and make all of them lead there."""
    end = place
    while end in links:
        end = links[end]
    while place != end:
        links[place], place = end, links[place]
    return end


def _seed(search: Search, purpose: str) -> Seed:
    return Seed("scenes", purpose, search.seed, search.target.name)
