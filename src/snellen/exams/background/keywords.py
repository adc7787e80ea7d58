"""Which keywords of a scenery hurt, and how surely?

Each target is seen before scenes with a keyword and before others without it, so a keyword's
effect is the difference between them within the target, averaged over targets. Keywords come
in company, and with distance: the adjusted effect holds both still, in a linear model of all
keywords and the distance whose unknowns are the same for all targets (each target has its own
level). A little shrinkage settles what the scenes never separate. A keyword surely hurts if
both effects say so, each corrected for how many keywords were tried.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from snellen.seeds import Seed
from snellen.stats import Interval, bootstrap, holm, sign_flip

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

LEAST_TARGETS = 8
"""A keyword is judged if so many targets were seen with and without it."""
MOST = 80
"""Keywords that are judged: those of most targets."""
SHRINKAGE = 0.1
"""Ridge penalty, in pictures: next to nothing beside the hundreds that a keyword usually has."""
DRAWS = 400
LEAST_HARM = 0.01
"""A point of accuracy: of what hurts, shrinkage leaves up to that with its constant company."""
ROUNDING = 1e-9
"""Effects smaller than this are none."""


@dataclass(frozen=True)
class Seen:
    """One target before its scenes: what each shows, how far it is, and whether it was right."""

    words: Sequence[frozenset[str]]
    distances: Values
    right: Values


@dataclass(frozen=True)
class Effect:
    """What a keyword does to accuracy, in shares."""

    word: str
    targets: int
    """So many were seen both with and without it."""
    plain: Interval
    adjusted: Interval
    p: float
    """Two-sided, the greater of two: of the plain effect by flips of signs over targets, of the
    adjusted one by its spread over draws; each Holm-corrected over all keywords."""

    @property
    def hurts(self) -> bool:
        """Whether it surely lowers accuracy, by itself and beside the other keywords."""
        return self.p < 0.05 and self.plain.high < 0 and self.adjusted.high < -LEAST_HARM

    @property
    def moves(self) -> bool:
        """Whether anything came of it at all."""
        return abs(self.plain.value) > ROUNDING or abs(self.adjusted.value) > ROUNDING


def effects(seen: Sequence[Seen]) -> list[Effect]:
    """Judge the commonest keywords; the one that hurts most surely comes first."""
    differences: dict[str, list[float]] = defaultdict(list)
    for one in seen:
        for word in set().union(*one.words):
            has = np.array([word in words for words in one.words])
            if has.any() and not has.all():
                differences[word].append(float(one.right[has].mean() - one.right[~has].mean()))
    enough = [word for word, found in differences.items() if len(found) >= LEAST_TARGETS]
    words = sorted(enough, key=lambda word: (-len(differences[word]), word))[:MOST]
    if not words:
        return []
    raw = [sign_flip(differences[word]) for word in words]
    adjusted, beside = _adjusted(seen, words)
    p = np.maximum(holm(raw), holm(beside))
    found = [
        Effect(word, len(differences[word]), bootstrap(differences[word]), held, float(both))
        for word, held, both in zip(words, adjusted, p, strict=True)
    ]
    return sorted(found, key=lambda e: (not e.hurts, e.adjusted.value, e.word))


def _adjusted(seen: Sequence[Seen], words: Sequence[str]) -> tuple[list[Interval], Values]:
    """Fit all keywords and the distance together; intervals and p by drawing targets anew."""
    squares, products = zip(*(_moments(one, words) for one in seen), strict=True)
    xx, xy = np.stack(squares), np.stack(products)
    rng = np.random.default_rng(Seed("keywords").number())
    drawn = rng.multinomial(len(seen), np.full(len(seen), 1 / len(seen)), DRAWS)
    draws = np.stack([_solved(np.tensordot(w, xx, 1), w @ xy) for w in drawn.astype(float)])
    whole = _solved(xx.sum(axis=0), xy.sum(axis=0))
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    spread = np.maximum(draws.std(axis=0), ROUNDING)
    p = 2 * special.stdtr(len(seen) - 1, -np.abs(whole) / spread)
    made = [Interval(*map(float, ends)) for ends in zip(whole, low, high, strict=True)]
    return made[:-1], p[:-1]


def _moments(one: Seen, words: Sequence[str]) -> tuple[Values, Values]:
    """Return XᵀX and Xᵀy of a target, its own level taken off; the distance comes last."""
    columns: list[Any] = [[word in known for known in one.words] for word in words]
    x = np.array([*columns, one.distances], float)
    x -= x.mean(axis=1, keepdims=True)
    return x @ x.T, x @ (one.right - one.right.mean())


def _solved(xx: Values, xy: Values) -> Values:
    return np.asarray(np.linalg.solve(xx + SHRINKAGE * np.eye(len(xx)), xy), np.float64)
