"""Claim: a scene is decoded, squashed and gets its thing in under 5 ms at 224 × 224.

So what surrounds a model costs at most a quarter of it from 20 ms a picture on. Give a folder of
photographs, and a model if there is one, to be told the share in this very run; the pictures stand
in for targets and for scenes, a disc in the middle for the mask.

    python benchmarks/compositing.py photos/ onnx:model.onnx,size=224
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snellen import plugins
from snellen.core import Sheet
from snellen.images.compositing import Squashed, cut, ground
from snellen.images.photos import SUFFIXES, read_squashed

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = (224, 224)
SCENES = 31
TARGETS = 4
ROUNDS = 5


def disc() -> np.ndarray:
    y, x = np.mgrid[: SIZE[0], : SIZE[1]] + 0.5
    return np.clip(60.5 - np.hypot(y - SIZE[0] / 2, x - SIZE[1] / 2), 0, 1).astype(np.float32)


def best(work: Callable[[], object], count: int) -> float:
    """Return the least CPU time of some rounds, in ms for each of `count`."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return 1e3 * min(seconds) / count


def composites(files: list[Path], shelf: Squashed, target: int) -> np.ndarray:
    picture = read_squashed(files[target], SIZE)
    scenes = np.stack([shelf[str(file)] for file in files[target : target + SCENES]])
    return cut(picture, disc()).on(scenes)


def read(name: str) -> np.ndarray:
    return read_squashed(Path(name), SIZE)


def main(folder: str, model: str = "") -> None:
    files = [f for f in sorted(Path(folder).iterdir()) if f.suffix.lower() in SUFFIXES]
    files = files[:: max(1, len(files) // (SCENES + TARGETS))]
    fresh = best(lambda: composites(files, Squashed(read), 0), SCENES)
    shelf = Squashed(read)
    kept = best(lambda: composites(files, shelf, 0), SCENES)
    picture = read(str(files[0]))
    print(f"a composite, its scene read for the first time: {fresh:.2f} ms of CPU")
    print(f"a composite, its scene on the shelf: {kept:.2f} ms")
    empty = best(lambda: ground(picture, disc()), 1)
    print(f"the thing painted out of its own ground: {empty:.1f} ms")
    clean = best(lambda: cut(picture, disc(), 1, cleaned=True), 1)
    print(f"its edge feathered and cleaned: {clean:.1f} ms")
    if model:
        inside(model, files, fresh)


def inside(model: str, files: list[Path], fresh: float) -> None:
    subject = plugins.subject(model)
    sheet = Sheet(composites(files, Squashed(read), 0), choices(subject))
    spent = best(lambda: subject.answer(sheet), len(sheet))
    print(f"{subject.name}: {spent:.1f} ms a picture; outside of it {fresh / spent:.0%} of that")


def choices(subject: object) -> tuple[str, ...]:
    """Return what it can be asked about, whatever its outputs stand for."""
    known = getattr(subject, "labels", ())
    blank = subject.reading(np.zeros((1, *SIZE, 3), np.uint8))
    return known or tuple(str(n) for n in range(subject.forward(blank).shape[1]))


main(*sys.argv[1:])
