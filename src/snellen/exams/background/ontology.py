"""Which keywords go together in the world's scenes, and which lead on to which?

An ontology is a directed graph of keywords. The weight of an arrow a → b is how often
pictures with a have b as well, supp(ab) ÷ supp(a) (Liao et al. 2022, eq. 1 and 2). Only
pairs are needed, so nothing is mined: one sparse product of the table of tags with itself
counts all of them exactly.

Rare and faint arrows must go, or after two steps everything leads to everything. Unless
they are given, the thresholds are found from the tags: see `thresholds`.
"""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from snellen.errors import BadSetting, UnknownName, Unloadable
from snellen.exams.background.paths import Paths
from snellen.figures import Matrix, Table
from snellen.stats import wilson

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from snellen.exams.background.paths import Square
    from snellen.exams.background.tags import Tags

Counts: TypeAlias = npt.NDArray[np.int64]
LEVELS = 5
"""Expansions in the paper."""
SUPPORTS, CONFIDENCES = (0.003, 0.005, 0.01), (0.1, 0.15, 0.2, 0.3)
"""Thresholds that are tried: shares of all pictures, and of those with the first keyword."""
TWICE = 2
"""What was seen together once may be chance."""
MEANINGFUL = 4.0
"""So many of the five levels should bring something new."""
SAMPLE = 500
"""Pictures whose expansions are looked at while thresholds are sought."""


@dataclass(frozen=True)
class Thresholds:
    """How often and how surely keywords must go together, and what comes of it."""

    count: int
    confidence: float
    sizes: tuple[float, ...]
    """Keywords of a picture before and after each expansion, on average."""

    @property
    def levels(self) -> float:
        """How many expansions bring something new: the exponential of the entropy of growth.

        It is 5 if each of five brings as many keywords, and 1 if one brings all.
        """
        growth = np.diff(self.sizes)
        shares = growth[growth > 0] / growth.sum() if growth.sum() > 0 else np.ones(1)
        return math.exp(-float((shares * np.log(shares)).sum())) if growth.sum() > 0 else 0.0

    def __str__(self) -> str:
        sizes = " ".join(f"{size:.0f}" for size in self.sizes)
        return (
            f"keywords go together that share {self.count} pictures or more, at a confidence of "
            f"{self.confidence:.2g} or more; a picture's keywords and {len(self.sizes) - 1} "
            f"expansions: {sizes} ({self.levels:.1f} levels bring something new)"
        )


@dataclass(frozen=True, eq=False)
class Ontology:
    """Keywords in the order of the alphabet, and how many pictures share which.

    >>> from snellen.exams.background.tags import Tags
    >>> seen = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1], [0, 1, 1], [0, 0, 1]], bool)
    >>> world = Ontology.of(Tags(tuple("12345"), ("sea", "sky", "tree"), seen), 1, 0.4)
    >>> world.confidence("sea", "sky"), world.confidence("sky", "sea")
    (1.0, 0.5)
    >>> print(world.explain("sea", "tree"))
    sea → sky → tree (0.5): sky in 100 % of 2 pictures with sea; tree in 50 % of 4 with sky
    """

    keywords: tuple[str, ...]
    pairs: Counts
    """(keywords, keywords): pictures that have both; a keyword's own in the diagonal."""
    pictures: int
    least_count: int
    least_confidence: float

    def __post_init__(self) -> None:
        size = len(self.keywords)
        if self.pairs.shape != (size, size) or list(self.keywords) != sorted(set(self.keywords)):
            raise ValueError(
                f"{size} keywords, sorted and distinct, come with as many rows and columns of "
                f"counts; these have the shape {self.pairs.shape}"
            )
        own = self.pairs.diagonal()
        if size and (own.min() < 1 or own.max() > self.pictures):
            raise ValueError(f"a keyword has from 1 to all {self.pictures} pictures")
        if (self.pairs != self.pairs.T).any() or (self.pairs > np.minimum.outer(own, own)).any():
            raise ValueError("two keywords cannot share more pictures than either has")
        if self.least_count < 1 or not 0 <= self.least_confidence <= 1:
            raise BadSetting(
                "an ontology's least count is 1 or more and its least confidence from 0 to 1, "
                f"not {self.least_count} and {self.least_confidence}"
            )

    @classmethod
    def of(
        cls, tags: Tags, least_count: int | None = None, least_confidence: float | None = None
    ) -> Ontology:
        """Count what goes together in tagged pictures; find the thresholds that are not given."""
        keywords, pairs = _counted(tags)
        if least_count is None or least_confidence is None:
            every = cls(keywords, pairs, len(tags), 1, 0.0)
            found = thresholds(every, tags, least_count, least_confidence)
            least_count, least_confidence = found.count, found.confidence
        return cls(keywords, pairs, len(tags), least_count, least_confidence)

    def at(self, least_count: int, least_confidence: float) -> Ontology:
        """Return the same counts under other thresholds."""
        return replace(self, least_count=least_count, least_confidence=least_confidence)

    @cached_property
    def places(self) -> dict[str, int]:
        """The row of each keyword."""
        return {keyword: place for place, keyword in enumerate(self.keywords)}

    @cached_property
    def confidences(self) -> Square:
        """Of all pairs, whatever the thresholds: pictures with both ÷ those with the row's."""
        return np.asarray(self.pairs / self.pairs.diagonal()[:, None])

    @cached_property
    def weights(self) -> Square:
        """Of the arrows, from row to column: confidences that pass the thresholds, else 0."""
        kept = (self.pairs >= self.least_count) & (self.confidences >= self.least_confidence)
        np.fill_diagonal(kept, val=False)
        return np.where(kept, self.confidences, 0.0)

    @cached_property
    def paths(self) -> Paths:
        """The best ways along the arrows."""
        return Paths(self.weights)

    def support(self, *keywords: str) -> float:
        """Return the share of pictures that have a keyword, or both of two."""
        first, last = self._place(keywords[0]), self._place(keywords[-1])
        return float(self.pairs[first, last] / self.pictures)

    def confidence(self, a: str, b: str) -> float:
        """Return which share of the pictures with `a` has `b` as well."""
        return float(self.confidences[self._place(a), self._place(b)])

    def expansions(
        self, keywords: Iterable[str], levels: int = LEVELS
    ) -> tuple[frozenset[str], ...]:
        """Return the keywords, then with all that one arrow leads to, two, … (eq. 3).

        What the ontology does not know is kept and leads nowhere.
        """
        made = [frozenset(keywords)]
        for _ in range(levels):
            rows = [self.places[keyword] for keyword in made[-1] if keyword in self.places]
            found = np.flatnonzero(self.weights[rows].any(axis=0))
            made.append(made[-1] | {self.keywords[place] for place in found})
        return tuple(made)

    def sizes(self, tags: Tags, levels: int = LEVELS) -> npt.NDArray[np.int64]:
        """Return (pictures, 1 + levels): how many keywords each has after each expansion."""
        held = tags.over(self.keywords).present.astype(np.float32)
        links = (self.weights > 0).astype(np.float32)
        made = [held.sum(axis=1)]
        for _ in range(levels):
            held = np.maximum(held, held @ links > 0)
            made.append(held.sum(axis=1))
        return np.stack(made, axis=1).astype(np.int64)

    def associates(self, keywords: Sequence[str], without: Collection[str] = ()) -> list[str]:
        """Return all that arrows of these lead to, by summed confidence, then by name."""
        rows = [self.places[keyword] for keyword in keywords if keyword in self.places]
        summed = self.weights[rows].sum(axis=0)
        order = np.argsort(-summed, kind="stable")[: np.count_nonzero(summed)]
        barred = {*keywords, *without}
        return [word for place in order if (word := self.keywords[place]) not in barred]

    def explain(self, a: str, b: str) -> str:
        """Tell how `a` leads to `b`, in words."""
        start, end = self._place(a), self._place(b)
        way = self.paths.along(start, end)
        if start == end:
            return f"{a} is {b}"
        if not way:
            return (
                f"{a} does not lead to {b}: they share {self.pairs[start, end]} of "
                f"{self.pairs[start, start]} pictures with {a}, and no arrows of at least "
                f"{self.least_count} pictures and confidence {self.least_confidence:.2g} join them"
            )
        words = [self.keywords[place] for place in way]
        product = float(self.paths.products[start, end])
        told = [
            f"{self.keywords[v]} in {100 * self.confidences[u, v]:.0f} % of {self.pairs[u, u]} "
            f"{'pictures ' if u == start else ''}with {self.keywords[u]}"
            for u, v in pairwise(way)
        ]
        return f"{' → '.join(words)} ({product:.2g}): {'; '.join(told)}"

    def saved(self, path: str | Path) -> Path:
        """Write an .npz; `load_ontology` reads it."""
        place = Path(path)
        if place.suffix != ".npz":
            raise BadSetting(f"an ontology is saved as .npz, not as {place.name!r}")
        place.write_bytes(self.packed())
        return place

    def packed(self) -> bytes:
        """Return the bytes of an .npz: the same ontology, the same bytes."""
        held = io.BytesIO()
        np.savez_compressed(
            held,
            keywords=np.array(self.keywords, np.str_),
            pairs=self.pairs,
            pictures=np.int64(self.pictures),
            least_count=np.int64(self.least_count),
            least_confidence=np.float64(self.least_confidence),
        )
        return held.getvalue()

    def _place(self, keyword: str) -> int:
        if keyword not in self.places:
            near = get_close_matches(keyword, self.keywords, 3) or self.keywords[:3]
            raise UnknownName(
                f"no picture of the ontology has the keyword {keyword!r}; "
                f"there is {', '.join(map(repr, near)) or 'none at all'}"
            )
        return self.places[keyword]


def load_ontology(source: str | Path | bytes) -> Ontology:
    """Read what `Ontology.saved` wrote, or `packed` returned."""
    place = "what was packed" if isinstance(source, bytes) else Path(source).expanduser()
    try:
        data = source if isinstance(source, bytes) else Path(place).read_bytes()
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return Ontology(
                tuple(map(str, file["keywords"])),
                file["pairs"].astype(np.int64, casting="safe"),
                int(file["pictures"]),
                int(file["least_count"]),
                float(file["least_confidence"]),
            )
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise Unloadable(
            f"{place} cannot be read as an ontology: {error}; make it anew from its tags"
        ) from error


def thresholds(
    ontology: Ontology,
    tags: Tags,
    least_count: int | None = None,
    least_confidence: float | None = None,
) -> Thresholds:
    """Find the lowest thresholds under which expansion still comes in levels.

    Of all pairs of usual ones, the one that lets most keywords be reached while four of
    five levels bring something new; failing that, the one with the most levels. What is
    given is not sought. Pictures are sampled by name, so their order does not matter.
    """
    by_name = sorted(tags.pictures)
    sample = tags.taken(by_name[:: -(-len(by_name) // SAMPLE)] if by_name else [])
    least = {max(TWICE, math.ceil(share * ontology.pictures)) for share in SUPPORTS}
    tried = [
        Thresholds(count, confidence, tuple(map(float, sizes.sum(axis=0) / max(len(sample), 1))))
        for count in (sorted(least) if least_count is None else [least_count])
        for confidence in (CONFIDENCES if least_confidence is None else [least_confidence])
        for sizes in [ontology.at(count, confidence).sizes(sample)]
    ]
    enough = [found for found in tried if found.levels >= MEANINGFUL]
    if enough:
        return max(enough, key=lambda found: found.sizes[-1])
    return max(tried, key=lambda found: found.levels)


def strongest_keywords(ontology: Ontology, most: int = 20) -> Matrix:
    """Show the confidences between the keywords of most pictures."""
    counts = ontology.pairs.diagonal()
    top = np.argsort(-counts, kind="stable")[:most]
    names = [ontology.keywords[place] for place in top]
    values = ontology.confidences[np.ix_(top, top)].copy()
    np.fill_diagonal(values, np.nan)
    return Matrix(
        name="ontology",
        title="What goes together in the scenes",
        caption=f"Percent of pictures with the row's keyword that have the column's, too, for the "
        f"{len(top)} commonest of {len(ontology.keywords)} keywords in {ontology.pictures} "
        "pictures.",
        formula="conf(a → b) = pictures with a and b ÷ pictures with a",
        row_names=names,
        column_names=names,
        values=values.tolist(),
        bounds=(0.0, 1.0),
    )


def strongest_rules(ontology: Ontology, most: int = 20) -> Table:
    """List the arrows of the highest confidence, the lower ends of their intervals counting."""
    cells: list[dict[str, Any]] = []
    for a, b in zip(*np.nonzero(ontology.weights), strict=True):
        both, own = int(ontology.pairs[a, b]), int(ontology.pairs[a, a])
        usual = ontology.pairs[b, b] / ontology.pictures
        cells.append(
            {
                "scenes with": ontology.keywords[a],
                "have": ontology.keywords[b],
                "pictures": both,
                "confidence": wilson(both, own),
                "lift": round(float(both / own / usual), 2),
            }
        )
    cells.sort(key=lambda cell: (-cell["confidence"].low, cell["scenes with"], cell["have"]))
    return Table(
        name="ontology-rules",
        title="What leads to what most surely",
        caption=f"The first {min(most, len(cells))} of {len(cells)} arrows: at least "
        f"{ontology.least_count} pictures with both, and a confidence of at least "
        f"{ontology.least_confidence:.2g}.",
        formula="lift = confidence ÷ share of all pictures that have the second keyword; "
        "95 % Wilson intervals",
        cells=cells[:most],
    )


def _counted(tags: Tags) -> tuple[tuple[str, ...], Counts]:
    """Count pictures with each pair of keywords: those that occur, in alphabetical order."""
    used = np.flatnonzero(tags.present.any(axis=0))
    order = np.array(sorted(used, key=lambda column: tags.keywords[column]), np.intp)
    place = np.full(len(tags.keywords), -1, np.intp)
    place[order] = np.arange(len(order))
    rows, columns = np.nonzero(tags.present)
    table = csr_matrix(
        (np.ones(len(rows), np.int64), (rows, place[columns])), (len(tags), len(order))
    )
    pairs = (table.T @ table).toarray()
    return tuple(tags.keywords[column] for column in order), np.asarray(pairs, np.int64)
