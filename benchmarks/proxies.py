"""Claim: each proxy of similarity takes under 10 s of CPU for 5,000 pictures of 128 features.

CPU seconds, the best of three, of every proxy on one core, for 10 classes and for 100; then why
transport is blurred as much as it is: how far (in units of the features' variance) two draws of
one benchmark seem to lie from each other, a noisy copy, and another benchmark, by the blur.

    python benchmarks/proxies.py [pictures] [features]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from snellen.exams.kinship.proxies import (
    fisher_distance,
    fisher_embedding,
    leep_share,
    logme_gain,
    transport_distance,
    validated,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Side = tuple[np.ndarray, np.ndarray]

ROUNDS = 3
BLURS = (0.05, 0.2, 0.5, 1.0, 2.0)


def pictures(benchmark: int, draw: int, count: int, features: int, classes: int) -> Side:
    """Return features and labels; classes lie apart about as much as they spread."""
    middles = np.random.default_rng(benchmark).normal(size=(classes, features)) * 0.3
    rng = np.random.default_rng((benchmark, draw))
    labels = rng.integers(classes, size=count)
    return middles[labels] + rng.normal(size=(count, features)), labels


def seconds(work: Callable[[], object]) -> float:
    took = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        took.append(time.process_time() - start)
    return min(took)


def speed(count: int, features: int) -> None:
    print(f"CPU seconds for {count:,} pictures of {features} features, by classes")
    print(f"{'':20}{'10':>8}{'100':>8}")
    sides = [[pictures(b, 0, count, features, classes) for b in (1, 2)] for classes in (10, 100)]
    theta = [np.random.default_rng(0).dirichlet(np.ones(k), count) for k in (10, 100)]
    embedded = fisher_embedding(*sides[0][0])
    work: dict[str, Callable[[int], object]] = {
        "LogME": lambda k: logme_gain(*sides[k][0]),
        "LEEP": lambda k: leep_share(theta[k], sides[k][0][1]),
        "Fisher embedding": lambda k: fisher_embedding(*sides[k][0]),
        "Fisher distance": lambda _: fisher_distance(embedded, embedded[::-1]),
        "transport, full": lambda k: transport_distance(*sides[k]),
        "transport, diagonal": lambda k: transport_distance(*sides[k], form="diagonal"),
    }
    for name, of in work.items():
        took = [seconds(lambda of=of, k=k: of(k)) for k in (0, 1)]
        print(f"{name:20}{took[0]:8.3f}{took[1]:8.3f}", flush=True)
    rng = np.random.default_rng(0)
    one, other = (np.triu(rng.normal(size=(50, 50)), 1) for _ in range(2))
    took = seconds(lambda: validated(one + one.T, other + other.T))
    print(f"{'validated, 50 tests':20}{took:8.3f}")


def blurred(features: int) -> None:
    print("\ntransport ÷ variance, of 1,000 pictures and another draw of the same benchmark,")
    print("that draw with noise of half the spread, and another benchmark")
    print("blur    redrawn   noisy   other")
    first, again, other = (pictures(*bd, 1000, features, 10) for bd in ((1, 0), (1, 1), (2, 0)))
    noise = np.random.default_rng(0).normal(size=again[0].shape) / 2
    variance = first[0].var(axis=0).sum()
    for blur in BLURS:
        told = [
            transport_distance(first, side, blur=blur) / variance
            for side in (again, (again[0] + noise, again[1]), other)
        ]
        print(f"{blur:4g}   " + "".join(f"{value:8.3f}" for value in told), flush=True)


if __name__ == "__main__":
    pictures_asked = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    features_asked = int(sys.argv[2]) if len(sys.argv) > 2 else 128
    speed(pictures_asked, features_asked)
    blurred(features_asked)
