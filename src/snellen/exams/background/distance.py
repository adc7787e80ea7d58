"""How far is a scene from a target, by what is in them?

The distance from one keyword to another is the length of the best way there. The one from
a target with keywords K_x to a scene with K_b, which the paper leaves open, is

    d(x → b) = mean over k in K_b of min over k' in K_x of dist(k' → k)

so it is nought for a scene that holds nothing new, and directed: a beach is near to a sea
with a beach, and the sea with a beach is farther from it. All lengths are cut at a cap,
which stands for "no way" too, and divided by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from snellen.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snellen.exams.background.ontology import Ontology
    from snellen.exams.background.paths import Square
    from snellen.exams.background.tags import Mask, Tags

Length: TypeAlias = Literal["product", "penalty", "hops"]
"""−log ∏w; 1 − max(0, w₁ − Σ(1 − w_i)^α_i) along the same way; or the number of arrows."""
Pooling: TypeAlias = Literal["mean", "max", "l2"]
"""What is made of the distances to a scene's keywords; l2 is the root of the mean square."""
Weighting: TypeAlias = Literal["even", "rarity", "strength"]
"""What a scene's keywords count: the same, more the rarer among the scenes, or as strong as
they are in it."""
Row: TypeAlias = npt.NDArray[np.float64]
DIGITS = 12
"""Distances are rounded, so that equal ones are equal however their sums were rounded."""
FAINT = 1e-6
"""What a keyword of no strength counts nevertheless."""


@dataclass(frozen=True, eq=False)
class Distances:
    """How far it is from every keyword (row) to every one (column), from 0 to 1."""

    keywords: tuple[str, ...]
    between: Square
    ontology: Ontology
    cap: float
    """The length that counts as 1."""

    @classmethod
    def of(
        cls,
        ontology: Ontology,
        length: Length = "product",
        cap: float | None = None,
        alpha: float | Sequence[float] = 1.0,
    ) -> Distances:
        """Measure all ways of an ontology; the cap is the longest of them unless given."""
        lengths = _lengths(ontology, length, alpha)
        finite = lengths[np.isfinite(lengths)]
        top = float(finite.max(initial=0.0)) or 1.0 if cap is None else cap
        if not top > 0:
            raise BadSetting(f"the cap of distances is above 0, and not {cap}")
        return cls(ontology.keywords, np.minimum(lengths, top) / top, ontology, top)

    @cached_property
    def places(self) -> dict[str, int]:
        """The row of each keyword."""
        return {keyword: place for place, keyword in enumerate(self.keywords)}

    def covering(self, keywords: Iterable[str]) -> Distances:
        """Add keywords that the ontology does not know: as far as can be from all others."""
        wider = tuple(sorted({*self.keywords, *keywords}))
        if wider == self.keywords:
            return self
        between = np.ones((len(wider), len(wider)))
        np.fill_diagonal(between, 0.0)
        known = set(self.keywords)
        at = np.array([place for place, word in enumerate(wider) if word in known], np.intp)
        between[np.ix_(at, at)] = self.between
        return replace(self, keywords=wider, between=between)

    def nearest(self, words: Iterable[str]) -> Row:
        """Return, for every keyword, how far it is from the nearest of these."""
        rows = [self.places[word] for word in words if word in self.places]
        return np.asarray(self.between[rows].min(axis=0, initial=1.0))

    def apart(
        self, target: Iterable[str], scene: Iterable[str], pooling: Pooling = "mean"
    ) -> float:
        """Return the distance from a target's keywords to a scene's."""
        here, there = tuple(target), sorted(set(scene))
        wide = self.covering((*here, *there))
        near = wide.nearest(here)[[wide.places[word] for word in there]]
        if not len(near):
            return float(bool(here))
        pooled = {"mean": near.mean(), "max": near.max(), "l2": np.sqrt((near**2).mean())}
        return round(float(pooled[pooling]), DIGITS)


@dataclass(frozen=True, eq=False)
class Scenes:
    """Tagged scenes in the order of their names, made ready for being searched."""

    pictures: tuple[str, ...]
    has: Mask
    """(keywords of the distances, scenes)."""
    shares: Any
    """SciPy's CSR matrix (scenes, keywords): what each keyword counts; rows add up to 1."""
    distances: Distances

    @classmethod
    def of(cls, tags: Tags, distances: Distances, weighting: Weighting = "even") -> Scenes:
        """Sort scenes and their keywords, so that the order of a database is no matter."""
        used = np.flatnonzero(tags.present.any(axis=0))
        wide = distances.covering(tags.keywords[column] for column in used)
        sorted_tags = tags.taken(sorted(tags.pictures)).over(wide.keywords)
        has = np.ascontiguousarray(sorted_tags.present.T)
        scenes, keywords = np.nonzero(has.T)
        counts = _weights(sorted_tags, weighting)[scenes, keywords]
        shares = csr_matrix((counts, (scenes, keywords)), sorted_tags.present.shape)
        totals = np.repeat(np.asarray(shares.sum(axis=1)).ravel(), np.diff(shares.indptr))
        shares.data /= totals
        return cls(sorted_tags.pictures, has, shares, wide)

    def __len__(self) -> int:
        return len(self.pictures)

    @property
    def ontology(self) -> Ontology:
        """What the distances are made of."""
        return self.distances.ontology

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each scene."""
        return {picture: row for row, picture in enumerate(self.pictures)}

    def words(self, row: int) -> tuple[str, ...]:
        """Return the keywords of a scene, in alphabetical order."""
        return tuple(self.distances.keywords[place] for place in np.flatnonzero(self.has[:, row]))

    def away(self, words: Iterable[str], pooling: Pooling = "mean") -> Row:
        """Return the distance from a target with these keywords to every scene."""
        if pooling not in get_args(Pooling):
            raise BadSetting(
                f"distances are pooled by {', '.join(get_args(Pooling))}, and not {pooling!r}"
            )
        here = tuple(words)
        near = self.distances.nearest(here)
        filled = np.diff(self.shares.indptr) > 0
        away = np.full(len(self), float(bool(here)))
        if pooling == "max":
            starts = self.shares.indptr[:-1][filled]
            if len(starts):
                away[filled] = np.maximum.reduceat(near[self.shares.indices], starts)
        else:
            pooled = self.shares @ (near if pooling == "mean" else near**2)
            away[filled] = (pooled if pooling == "mean" else np.sqrt(pooled))[filled]
        return np.asarray(away.clip(0, 1).round(DIGITS), np.float64)


def _lengths(ontology: Ontology, length: Length, alpha: float | Sequence[float]) -> Square:
    paths = ontology.paths
    if length == "product":
        products = paths.products
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(products))
    if length == "penalty":
        return np.where(np.isfinite(paths.hops), 1 - paths.penalised(alpha), np.inf)
    if length == "hops":
        return paths.hops
    raise BadSetting(f"ways are measured by {', '.join(get_args(Length))}, and not {length!r}")


def _weights(tags: Tags, weighting: Weighting) -> npt.NDArray[np.floating[Any]]:
    """Return (pictures, keywords): what each keyword counts where it is present."""
    if weighting == "even":
        return np.broadcast_to(np.ones(1), tags.present.shape)
    if weighting == "rarity":
        rarity = np.log((len(tags) + 1) / np.maximum(tags.present.sum(axis=0), 1))
        return np.broadcast_to(rarity, tags.present.shape)
    if weighting != "strength":
        raise BadSetting(
            f"keywords are weighted by {', '.join(get_args(Weighting))}, and not {weighting!r}"
        )
    if tags.strengths is None:
        raise BadSetting(
            "scenes cannot be weighted by strength: their tags say only what is present; "
            "load areas or probabilities, or weight them evenly"
        )
    return np.maximum(tags.strengths, FAINT)
