"""Claim: two frames a picture let a small network balance CartPole twice as long as one frame.

It is `lenet`, taught 6,000 moments ten times over in the paper's 32 × 32 pixels, which then plays
20 games of up to 200 steps. The two frames share the picture, a column of each in turn, and for
comparison as two halves. Printed as well: how often pictures carry both labels and how often one
could be right at most, by how much of the play is random, with corners on whole pixels (as the
paper's were drawn) and where they belong; and what a picture costs beside drawing all of it and
averaging that down (claim: a twentieth or less).

    python benchmarks/cartpole.py [--quick]
"""

from __future__ import annotations

import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import snellen
from snellen.core import Lesson
from snellen.images.cartpole import CHOICES, ceiling, drive, full, moments, pictures, shown

TAUGHT, VIEWS, GAMES = 6000, 60_000, 20


def halves(images: np.ndarray) -> np.ndarray:
    """Put the columns of each frame together."""
    return np.concatenate([images[:, :, ::2], images[:, :, 1::2]], axis=2)


def played(frames: int, framed: object) -> tuple[float, float]:
    """Return the mean share of the limit that a taught network lasts, and its standard error."""
    games = moments(TAUGHT, 1)
    images = framed(shown(games, frames))
    pupil = snellen.subject("lenet").study(Lesson(images, games.labels, CHOICES, VIEWS, 1))
    driving, answers = drive(range(GAMES), frames=frames, framed=framed), None
    try:
        while True:
            answers = pupil.answer(driving.send(answers).blind())
    except StopIteration as end:
        return float(end.value.mean()), float(end.value.std() / GAMES**0.5)


def cost(draw: object, count: int) -> float:
    """Return the CPU microseconds of a picture, the best of several."""
    states, best = moments(count, 1).now, float("inf")
    for _ in range(5):
        start = time.process_time()
        draw(states)
        best = min(best, time.process_time() - start)
    return 1e6 * best / count


def main(*, quick: bool) -> None:
    small = cost(pictures, 512)
    large = cost(lambda states: full(states)[:, 150:350, 265:335].reshape(-1).mean(), 16)
    print(f"a picture: {small:.0f} µs, the whole {large:.0f} µs: ratio {small / large:.3f}")
    print("random pushes, frames, corners: both labels; right at most, at least (20,000 moments)")
    for wander in (1.0, 0.6, 0.25):
        games = moments(20_000, 3, wander=wander)
        for frames in (1, 2):
            for whole in (True, False):
                found = ceiling(shown(games, frames, whole=whole), games.labels)
                print(
                    f"{wander:4.2f}, {frames}, {'whole' if whole else 'exact'}: "
                    f"{found.both:.3f}; {found.most:.3f}, {found.least:.3f}"
                )
    if quick:
        return
    ways = {"one frame": (1, np.asarray), "two, halves": (2, halves), "two": (2, np.asarray)}
    lasted = {}
    for name, (frames, framed) in ways.items():
        lasted[name], error = played(frames, framed)
        print(f"{name}: {lasted[name]:.3f} ± {error:.3f} of 200 steps", flush=True)
    print(f"ratio: {lasted['two'] / lasted['one frame']:.1f} (claim: 2)")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
