"""How does one get from one keyword to another, and how strong is the way?

Ways follow the arrows of an ontology, whose weights are confidences. The best way is the
one of the greatest product of weights (Dijkstra on −log w); of equal ones, the shorter.
The paper's second form, w₁ − Σ_{i≥2} (1 − w_i)^α_i, is no sum over a path that Dijkstra
could minimise: it is evaluated on the best way as defined before (Liao et al. 2022, §4).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csgraph, csr_matrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snellen.core import Indices

Square: TypeAlias = npt.NDArray[np.float64]
"""From each keyword (row) to each (column)."""
STEP = 1e-9
"""What an arrow costs besides −log w: next to nothing, so that a shorter way wins a draw."""


@dataclass(frozen=True, eq=False)
class Paths:
    """The best ways between all pairs of keywords.

    >>> chain = np.zeros((4, 4))
    >>> chain[[0, 1, 2], [1, 2, 3]] = 0.9, 0.8, 0.7
    >>> paths = Paths(chain)
    >>> paths.along(0, 3), paths.along(3, 0)
    ([0, 1, 2, 3], [])
    >>> float(paths.products[0, 3].round(3)), float(paths.penalised()[0, 3].round(3))
    (0.504, 0.4)
    """

    weights: Square
    """Of the arrows; 0 where there is none."""

    @cached_property
    def before(self) -> Indices:
        """The keyword before the last on the way from row to column; negative: no way."""
        rows, columns = np.nonzero(self.weights)
        costs = STEP - np.log(self.weights[rows, columns])
        graph = csr_matrix((costs, (rows, columns)), self.weights.shape)
        _, before = csgraph.dijkstra(graph, return_predecessors=True)
        return np.asarray(before, np.intp)

    @cached_property
    def hops(self) -> Square:
        """The least number of arrows, whatever their weights; infinite where there is no way."""
        graph = csr_matrix(self.weights > 0)
        return np.asarray(csgraph.dijkstra(graph, unweighted=True), np.float64)

    @cached_property
    def products(self) -> Square:
        """The product of weights along the best way; 0 where there is none."""
        made = (np.isfinite(self.hops)).astype(np.float64)
        for step in self._steps():
            made[step.there] *= step.weights
        return made

    def penalised(self, alpha: float | Sequence[float] = 1.0) -> Square:
        """Return max(0, w₁ − Σ_{i≥2} (1 − w_i)^α_i) along the best way.

        The paper prints min for max, which is never positive. Of several α the last holds
        for all further arrows.
        """
        alphas = np.atleast_1d(np.asarray(alpha, float))
        if alphas.min() < 1:
            raise ValueError(f"every alpha is at least 1, and not {alphas.min():g}")
        made = np.where(np.eye(len(self.weights), dtype=bool), 1.0, 0.0)
        for step in self._steps():
            later = step.position >= 2
            powers = alphas[np.clip(step.position - 2, 0, len(alphas) - 1)]
            made[step.there] += np.where(later, -((1 - step.weights) ** powers), step.weights)
        return np.maximum(made, 0)

    def along(self, start: int, end: int) -> list[int]:
        """Return the best way, both ends included; empty if there is none."""
        way = [end]
        while way[-1] != start:
            if (previous := int(self.before[start, way[-1]])) < 0:
                return []
            way.append(previous)
        return way[::-1]

    def _steps(self) -> Iterator[_Step]:
        """Walk all ways at once from their ends: one arrow of each that is not yet done."""
        starts, ends = np.nonzero((self.before >= 0) & ~np.eye(len(self.before), dtype=bool))
        here, lengths = ends, self._lengths(starts, ends)
        for walked in range(int(lengths.max(initial=0))):
            left = lengths > walked
            starts, ends, here, lengths = (column[left] for column in (starts, ends, here, lengths))
            before = self.before[starts, here]
            yield _Step((starts, ends), self.weights[before, here], lengths - walked)
            here = before

    def _lengths(self, starts: Indices, ends: Indices) -> Indices:
        lengths, here = np.zeros(len(starts), np.intp), ends
        while (away := here != starts).any():
            lengths += away
            here = np.where(away, self.before[starts, here], here)
        return lengths


@dataclass(frozen=True, eq=False)
class _Step:
    """An arrow of each of many ways."""

    there: tuple[Indices, Indices]
    """Where the ways start and end."""
    weights: npt.NDArray[np.float64]
    position: Indices
    """Which arrow of its way it is, from 1."""
