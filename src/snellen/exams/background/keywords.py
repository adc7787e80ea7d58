"""Which keywords of a scenery hurt, and how surely?

Each target is seen before scenes with a keyword and before others without it, so a keyword's
effect is the difference between them within the target, averaged over targets. Keywords come
in company, and with distance: the adjusted effect holds both still, in a linear model of all
keywords and the distance whose unknowns are the same for all targets (each target has its own
level). Shrinkage keeps apart what the scenes never separate.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

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
SHRINKAGE = 1.0
"""Ridge penalty, in pictures: little beside the hundreds that a keyword usually has."""
DRAWS = 400


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
    """Two-sided by flips of signs over targets, Holm-corrected over all keywords."""

    @property
    def hurts(self) -> bool:
        """Whether it surely lowers accuracy, by itself and beside the other keywords."""
        return self.p < 0.05 and self.plain.high < 0 and self.adjusted.high < 0


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
    adjusted = _adjusted(seen, words)
    found = [
        Effect(word, len(differences[word]), bootstrap(differences[word]), held, float(p))
        for word, held, p in zip(words, adjusted, holm(raw), strict=True)
    ]
    return sorted(found, key=lambda e: (not e.hurts, e.adjusted.value, e.word))


def _adjusted(seen: Sequence[Seen], words: Sequence[str]) -> list[Interval]:
    """Fit all keywords and the distance together; intervals by drawing targets anew."""
    squares, products = zip(*(_moments(one, words) for one in seen), strict=True)
    xx, xy = np.stack(squares), np.stack(products)
    rng = np.random.default_rng(Seed("keywords").number())
    drawn = rng.multinomial(len(seen), np.full(len(seen), 1 / len(seen)), DRAWS)
    draws = np.stack([_solved(np.tensordot(w, xx, 1), w @ xy) for w in drawn.astype(float)])
    whole = _solved(xx.sum(axis=0), xy.sum(axis=0))
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    return [Interval(*map(float, ends)) for ends in zip(whole, low, high, strict=True)][:-1]


def _moments(one: Seen, words: Sequence[str]) -> tuple[Values, Values]:
    """Return XᵀX and Xᵀy of a target, its own level taken off; the distance comes last."""
    columns: list[Any] = [[word in known for known in one.words] for word in words]
    x = np.array([*columns, one.distances], float)
    x -= x.mean(axis=1, keepdims=True)
    return x @ x.T, x @ (one.right - one.right.mean())


def _solved(xx: Values, xy: Values) -> Values:
    return np.asarray(np.linalg.solve(xx + SHRINKAGE * np.eye(len(xx)), xy), np.float64)
