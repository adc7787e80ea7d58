"""Claim: resampling benchmarks, not pairs, gives a proxy's agreement an interval that holds.

Benchmarks are drawn at random, with a similarity S and a proxy of known rank correlation over
all pairs. How often does the 95 % interval of Spearman's correlation hold that value: when
benchmarks are resampled, as `validated` does, and when pairs are, as if they were independent?

    python benchmarks/agreement.py [suites of each size]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys

import numpy as np
from scipy import stats

from snellen.exams.kinship.proxies import validated

SIZES = (6, 8, 12, 20)
REPEATS = 200


def suite(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a proxy and S: nearness of points, and of the same points seen through noise."""
    truly = rng.normal(size=(size, 3))
    seen = truly + 0.7 * rng.normal(size=(size, 3))
    proxy, s = (-np.linalg.norm(at[:, None] - at[None], axis=2) for at in (seen, truly))
    return proxy, s


def of_pairs(rng: np.random.Generator, x: np.ndarray, s: np.ndarray) -> tuple[float, float]:
    """Return the interval that takes pairs for independent."""
    upper = np.triu_indices(len(x), 1)
    one, other = x[upper], s[upper]
    made = []
    for _ in range(REPEATS):
        who = rng.integers(len(one), size=len(one))
        made.append(stats.spearmanr(one[who], other[who]).statistic)
    low, high = np.quantile(made, [0.025, 0.975])
    return float(low), float(high)


def main(suites: int) -> None:
    rng = np.random.default_rng(0)
    x, s = suite(rng, 1500)
    upper = np.triu_indices(1500, 1)
    truth = float(stats.spearmanr(x[upper], s[upper]).statistic)
    print(f"true correlation {truth:.3f}; % of 95 % intervals that hold it, of {suites}")
    print("benchmarks   benchmarks resampled   pairs resampled")
    for size in SIZES:
        ours = theirs = 0
        for n in range(suites):
            x, s = suite(rng, size)
            found = validated(x, s, repeats=REPEATS, seed=n).spearman
            low, high = of_pairs(rng, x, s)
            ours += found.low <= truth <= found.high
            theirs += low <= truth <= high
        print(f"{size:10}{100 * ours / suites:23.0f}{100 * theirs / suites:18.0f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
