"""Claim: a 128 × 128 variance matrix of 1.7 million points takes less than 3 s on one core.

For each kernel of the paper: CPU seconds (the best of five) for 1,712 targets with 31 sceneries
each, and on small clouds how far the matrix is from the formula summed point by point, in
values that go from 0 to 1: as it stands (points move by up to half a cell of the finer grid),
and for points that lie in the middle of their cells already, which is the arithmetic alone.

    python benchmarks/variance_matrix.py [targets] [sceneries]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time

import numpy as np

from snellen.exams.background.clouds import Cloud, cloud
from snellen.exams.background.matrices import FINE, KERNELS, SIDE, Kernel, variance_matrix

SMALL = 100, 8
"""Targets and sceneries of the clouds that are summed point by point."""


def random_cloud(targets: int, sceneries: int, seed: int) -> Cloud:
    rng = np.random.default_rng(seed)
    distances = rng.random((targets, sceneries + 1))
    distances[:, 0] = 0
    return cloud(distances, rng.random(distances.shape))


def point_by_point(points: Cloud, kernel: Kernel) -> np.ndarray:
    """Sum the formula as it is written, an element at a time."""
    made = np.empty((SIDE, SIDE))
    middles = (np.arange(SIDE) + 0.5) / SIDE
    for i, j in np.ndindex(made.shape):
        away = np.hypot(points.x - middles[i], points.y - middles[j]) * SIDE
        phi = np.exp(-(away**2) / (2 * kernel.sigma**2)) * (away <= kernel.radius + 1e-9)
        edge = np.partition(away, kernel.nearest - 1)[kernel.nearest - 1]
        inside, at = away < edge - 1e-9, abs(away - edge) <= 1e-9
        rest = (kernel.nearest - inside.sum()) * points.v[at].mean()
        near = (points.v[inside].sum() + rest) / kernel.nearest
        made[i, j] = (near + phi @ points.v) / (1 + phi.sum())
    return made


def snapped(points: Cloud) -> Cloud:
    cells = SIDE * FINE
    x, y = ((np.floor(at * cells) + 0.5) / cells for at in (points.x, points.y))
    return Cloud(x, y, points.v)


def seconds(points: Cloud, kernel: Kernel) -> float:
    taken = []
    for _ in range(5):
        start = time.process_time()
        variance_matrix(points, kernel)
        taken.append(time.process_time() - start)
    return min(taken)


def main(targets: int, sceneries: int) -> None:
    start = time.process_time()
    points = random_cloud(targets, sceneries, 0)
    print(f"{len(points):,} points, made in {time.process_time() - start:.2f} s")
    few = random_cloud(*SMALL, 1)
    print(f"kernel   CPU s    off by, of {len(few):,} points: most     mean   in mid-cell")
    for name, kernel in KERNELS.items():
        made = variance_matrix(few, kernel).values
        off = np.abs(made - point_by_point(few, kernel))
        exact = np.abs(made - point_by_point(snapped(few), kernel)).max()
        print(
            f"{name:7s} {seconds(points, kernel):6.2f} {off.max():34.1e} {off.mean():8.1e}"
            f" {exact:13.1e}"
        )


if __name__ == "__main__":
    main(*map(int, [*sys.argv[1:], *("1712", "31")[len(sys.argv) - 1 :]][:2]))
