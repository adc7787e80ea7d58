"""Claim: rendering at once makes at least 200 × the noisy images a second of drawing by pixels.

Two ways of drawing one by one in NumPy are measured in the same run: pixel by pixel, as the
paper describes its noise ("for each pixel, a random number was generated"), and a picture at a
time with whole-array noise, which is as well as one can do without drawing many at once.

    python benchmarks/rendering.py
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

from snellen.exams.abstraction.shapes import Glyphs, render
from snellen.exams.abstraction.transformations import transformation
from snellen.images.glyphs import HALF, INK, SIDE, STROKES
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = 10_000
ROUNDS = 7
TURNED = transformation("rotated")


def strokes(rng: np.random.Generator) -> tuple[str, str]:
    horizontal, vertical = STROKES[rng.integers(10)].split()
    for _ in range(rng.integers(4)):
        horizontal, vertical = vertical, horizontal[::-1]
    return horizontal, vertical


def pixel_by_pixel(count: int, sigma: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    made = []
    for _ in range(count):
        horizontal, vertical = strokes(rng)
        picture = np.zeros((SIDE, SIDE))
        for place in range(3):
            for along in range(14 - HALF, 14 + HALF + 1):
                if horizontal[place] == "1":
                    picture[14 + (place - 1) * HALF, along] = INK
                if vertical[place] == "1":
                    picture[along, 14 + (place - 1) * HALF] = INK
        if sigma:
            for row in range(SIDE):
                for column in range(SIDE):
                    noisy = picture[row, column] + np.random.normal(0, sigma)  # noqa: NPY002
                    picture[row, column] = int(min(10, max(0, noisy)))
        made.append(picture / INK)
    return np.array(made)


def picture_by_picture(count: int, sigma: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    made = []
    for _ in range(count):
        horizontal, vertical = strokes(rng)
        picture = np.zeros((SIDE, SIDE))
        for place in range(3):
            line = 14 + (place - 1) * HALF
            if horizontal[place] == "1":
                picture[line, 14 - HALF : 14 + HALF + 1] = INK
            if vertical[place] == "1":
                picture[14 - HALF : 14 + HALF + 1, line] = INK
        if sigma:
            noise = rng.normal(0, sigma, (SIDE, SIDE))
            picture = np.clip(picture + noise, 0, 10).astype(int)
        made.append(picture / INK)
    return np.array(made)


def at_once(count: int, sigma: float) -> np.ndarray:
    seed = Seed("benchmark")
    which, outcomes = seed.picks(count, (1,) * 10), seed.picks(count, TURNED.weights)
    return render(Glyphs(), TURNED, which, outcomes, sigma, seed, testing=False)


def rate(draw: Callable[[int, float], np.ndarray], count: int, sigma: float) -> float:
    draw(10, sigma)
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        draw(count, sigma)
        seconds.append(time.process_time() - start)
    return count / statistics.median(seconds)


for sigma in (0.0, 2.0):
    ours = rate(at_once, COUNT, sigma)
    print(f"noise {sigma:g}: at once {ours:,.0f} images a second on one core")
    for draw, count in ((pixel_by_pixel, 100), (picture_by_picture, 2000)):
        theirs = rate(draw, count, sigma)
        print(f"  {draw.__name__}: {theirs:,.0f} a second; ratio {ours / theirs:.0f}")
