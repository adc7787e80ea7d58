"""Claim: drawing SVRT pictures is faster than the public generator, which is written in C++.

Its rates, on one core of the same kind of machine, stand beside ours: of drawing only, and of
drawing with parsings. Ours come in three steps: drawing, drawing with all that is true of the
pictures (what `draw` returns), and the same with a parsing of each.

    python benchmarks/svrt.py
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

from snellen.images.svrt import PROBLEMS, draw
from snellen.images.svrt.board import blank
from snellen.images.svrt.problems import DRAWN

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5
SECONDS = 0.1
"""A round is about as long."""
PUBLIC = {
    1: (4426, 947),
    3: (64, 62),
    5: (9907, 416),
    7: (10183, 225),
    11: (188, 172),
    13: (144, 98),
    16: (19566, 221),
    20: (12431, 1027),
    23: (986, 376),
}
"""Images a second of the public generator: drawing only, with parsings."""
EASEL = blank()


def only(problem: int, count: int) -> None:
    EASEL.dice[0] = 1
    EASEL.counts[1] = 0
    for i in range(count):
        DRAWN[problem](EASEL, i % 2)


def with_truth(problem: int, count: int) -> None:
    draw(problem, np.arange(count) % 2, seed=0)


def with_parsings(problem: int, count: int) -> None:
    scenes = draw(problem, np.arange(count) % 2, seed=0)
    for i in range(count):
        scenes.parsing(i)


def seconds(work: Callable[[int, int], None], problem: int, count: int) -> float:
    start = time.process_time()
    work(problem, count)
    return time.process_time() - start


def rate(work: Callable[[int, int], None], problem: int) -> float:
    work(problem, 2)
    count = max(20, int(SECONDS * 50 / seconds(work, problem, 50)))
    return count / statistics.median(seconds(work, problem, count) for _ in range(ROUNDS))


print("images a second   drawing   with truth  with parsings    public: drawing  with parsings")
for problem in PROBLEMS:
    ours = [rate(work, problem) for work in (only, with_truth, with_parsings)]
    theirs = "".join(f"{count:14,}" for count in PUBLIC.get(problem, ()))
    print(f"{f'#{problem}':>15} {ours[0]:9,.0f} {ours[1]:12,.0f} {ours[2]:14,.0f}     {theirs}")
