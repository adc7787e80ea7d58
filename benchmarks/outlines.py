"""Claim: what the generator knows of a picture can be read off its pixels, in under 3 ms.

For each problem of the Synthetic Visual Reasoning Test, against the generator's own notes:
CPU ms a picture, pictures with the right number of shapes, pairs of different shapes taken
for the same and the reverse, pairs whose reflection is wrong, and errors of angle and scale.

    python benchmarks/outlines.py [pictures of each problem] [problem …]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from snellen.images.outlines import Scene, parse
from snellen.images.svrt import PROBLEMS, draw

SEED = 2021
"""Of pictures on which nothing was tuned."""
HEADINGS = """\
    CPU ms a picture   right   false   false   wrong     degrees off     scale off %  centre
  #    mean      max count %  same %  diff %  mirr %    mean    95 %    mean    95 %  px off"""


@dataclass
class Tally:
    """What was right and wrong about the pictures of a problem."""

    seconds: list[float] = field(default_factory=list)
    counted: list[bool] = field(default_factory=list)
    taken_for_same: list[bool] = field(default_factory=list)
    taken_for_different: list[bool] = field(default_factory=list)
    wrongly_mirrored: list[bool] = field(default_factory=list)
    degrees: list[float] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)
    away: list[float] = field(default_factory=list)

    def told(self) -> str:
        shares = self.taken_for_same, self.taken_for_different, self.wrongly_mirrored
        parts = [
            f"{1e3 * mean(self.seconds):8.2f} {1e3 * max(self.seconds):8.2f}",
            f"{100 * mean(self.counted):8.2f}",
            *(f"{100 * mean(share):8.3f}" for share in shares),
            f"{mean(self.degrees):8.2f}{quantile(self.degrees):8.2f}",
            f"{100 * mean(self.scales):8.2f}{100 * quantile(self.scales):8.2f}",
            f"{mean(self.away):8.2f}",
        ]
        return "".join(parts)


def mean(values: list) -> float:
    return float(np.mean(values)) if values else np.nan


def quantile(values: list) -> float:
    return float(np.quantile(values, 0.95)) if values else np.nan


def matched(scene: Scene, x: np.ndarray, y: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Say which shape of the scene each true one is: of about its place, and of its size."""
    place = np.hypot(scene.around[:, 0] - x[:, None], scene.around[:, 1] - y[:, None])
    cost = place + 10 * abs(np.log(scene.radius / size[:, None]))
    return linear_sum_assignment(cost)[1]


def compare(problem: int, tally: Tally, scene: Scene, notes: dict[str, np.ndarray]) -> None:
    x, y, size, identity = notes["x"], notes["y"], notes["size"], notes["identity"]
    tally.counted.append(len(scene.x) == len(x))
    if not tally.counted[-1]:
        return
    at = matched(scene, x, y, size)
    tally.away += np.hypot(scene.around[at, 0] - x, scene.around[at, 1] - y).tolist()
    for i in range(len(x)):
        for j in range(i):
            pair = at[i], at[j]
            if identity[i] != identity[j]:
                tally.taken_for_same.append(bool(scene.same[pair]))
                continue
            tally.taken_for_different.append(not scene.same[pair])
            if not scene.same[pair]:
                continue
            mirrored = bool(notes["mirrored"][i] != notes["mirrored"][j])
            tally.wrongly_mirrored.append(bool(scene.mirrored[pair] != mirrored))
            if scene.mirrored[pair] != mirrored:
                continue
            turn = np.degrees(notes["angle"][j] - notes["angle"][i])
            if mirrored and problem == 20:  # in the bisector of the centres
                turn = 2 * np.degrees(np.arctan2(y[j] - y[i], x[j] - x[i]))
            tally.degrees.append(abs((scene.angle[pair] - turn + 180) % 360 - 180))
            tally.scales.append(abs(scene.scale[pair] / (size[j] / size[i]) - 1))


def main(count: int, problems: tuple[int, ...]) -> None:
    for problem in problems:
        parse(draw(problem, [0], 0).images[0])  # what is compiled or loaded is so now
    print(HEADINGS)
    everything = []
    for problem in problems:
        scenes, tally = draw(problem, [i % 2 for i in range(count)], SEED), Tally()
        for i, image in enumerate(scenes.images):
            start = time.process_time()
            scene = parse(image)
            tally.seconds.append(time.process_time() - start)
            there = slice(scenes.truth.count[i])
            names = ("x", "y", "size", "identity", "mirrored", "angle")
            compare(problem, tally, scene, {k: getattr(scenes.truth, k)[i, there] for k in names})
        everything += tally.seconds
        print(f"{problem:3d}{tally.told()}", flush=True)
    print(f"all{1e3 * mean(everything):8.2f} {1e3 * max(everything):8.2f}")


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 400,
        tuple(map(int, sys.argv[2:])) or PROBLEMS,
    )
