"""Claim: 20,000 scenes and 1,000 targets stay under 4 GB; a corrupt picture is told and skipped.

A few hundred small photographs are painted and stand, by hard links, for 20,000 scenes and
1,000 targets with masks. One scene and one target are corrupt. All scenes are looked at (once
for their colours and layout, once more under given tags), all targets are named with their
content, and some of the targets sit the exam before 31 scenes each, at the full 224 × 224.
Printed: wall seconds of each part, what was left out and why, and the most memory that the
process has held, also once all masks and as many scenes are kept as ever are.

    python benchmarks/background_memory.py [targets that sit] [scenes] [targets]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import csv
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from snellen.core import Answers
from snellen.engine import sit_all
from snellen.exams.background import Background, cases, results
from snellen.images.compositing import KEPT_BYTES
from snellen.images.scenery import KEYWORDS, draw_scenes, world
from snellen.images.things import THINGS
from snellen.seeds import Seed

SCENES, TARGETS, SIT = 20_000, 1_000, 100
DISTINCT, SIDE = 200, 96


class Guesses:
    """Costs nothing and answers by the first pixel."""

    name = fingerprint = "guesses"
    gives = frozenset({"choice", "scores"})

    def answer(self, sheet):
        choice = sheet.images[:, 0, 0, 0].astype(np.intp) % len(sheet.choices)
        return Answers(choice, np.eye(len(sheet.choices))[choice])


def main() -> None:
    given = [int(text) for text in sys.argv[1:]]
    sit, scenes, targets = [*given, *(SIT, SCENES, TARGETS)[len(given) :]]
    with tempfile.TemporaryDirectory() as made:
        root, start = Path(made), time.perf_counter()
        laid_out(root, scenes, targets)
        start = lap(start, f"{scenes} scenes and {targets} targets laid out")
        exam = Background(
            targets=str(root / "targets"), scenes=str(root / "scenes"), masks=str(root / "masks"),
            include="all",
        )  # fmt: skip
        first = next(iter(cases.targets(replace(exam, most=1))))  # it is among any greater number
        spoil(root / "targets" / first)
        for asked in (exam, replace(exam, tags=str(root / "tags.csv"))):
            print("tags from a file:" if asked.tags else "tags by looking:")
            examined(asked, sit)
        keep_all(exam)
        print(f"most memory held, with all that is ever kept: {held():.2f} GB; wanted: under 4")


def laid_out(root: Path, scenes: int, targets: int) -> None:
    """Paint a few pictures and link to them by many names; spoil one of each kind."""
    drawn = draw_scenes(Seed("memory", "scenes"), DISTINCT, SIDE)
    things = world(Seed("memory", "targets"), DISTINCT, side=SIDE)
    for folder in ("scenes", "targets", "masks", "painted"):
        (root / folder).mkdir()
    for place in range(DISTINCT):
        painted = root / "painted"
        Image.fromarray(drawn.pictures[place]).save(painted / f"s{place}.jpg", quality=90)
        Image.fromarray(things.pictures[place]).save(painted / f"t{place}.jpg", quality=90)
        alpha = np.rint(255 * things.alphas[place]).astype(np.uint8)
        Image.fromarray(alpha).save(painted / f"m{place}.png")
    rng = np.random.default_rng(Seed("memory", "tags").number())
    lines = [("picture", "keywords")]
    for place in range(scenes):
        name = f"{place:05}.jpg"
        (root / "scenes" / name).hardlink_to(root / "painted" / f"s{place % DISTINCT}.jpg")
        words = [KEYWORDS[k] for k in np.flatnonzero(drawn.present[place % DISTINCT])]
        words += [f"tag {k:03}" for k in rng.integers(0, 450, 5)]
        lines.append((name, ";".join(dict.fromkeys(words))))
    for place in range(targets):
        label, name = THINGS[things.labels[place % DISTINCT]], f"t{place:04}"
        for folder, kind, suffix in (("targets", "t", "jpg"), ("masks", "m", "png")):
            (root / folder / label).mkdir(exist_ok=True)
            there = root / folder / label / f"{name}.{suffix}"
            there.hardlink_to(root / "painted" / f"{kind}{place % DISTINCT}.{suffix}")
        words = [KEYWORDS[k] for k in np.flatnonzero(things.scenes.present[place % DISTINCT])]
        lines.append((f"{label}/{name}.jpg", ";".join(words)))
    with (root / "tags.csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    spoil(root / "scenes" / "00007.jpg")


def spoil(picture: Path) -> None:
    picture.unlink()
    picture.write_bytes(b"no picture")


def examined(exam: Background, sit: int) -> None:
    start = time.perf_counter()
    print(f"  {len(exam.items())} items", end="; ")
    start = lap(start, "named")
    cases.ontology(exam)
    start = lap(start, "  all scenes made ready")
    part = replace(exam, most=sit)
    records = sit_all(part, Guesses())
    start = lap(start, f"  {len(records)} targets sat")
    result = results.grade(part, records)
    lap(start, "  graded")
    spoilt = next((f for f in result.figures if f.name == "left-out"), None)
    for cell in spoilt.cells if spoilt else ():
        print(f"  left out: {cell['how many']} {cell['picture']}: {cell['reason']}"[:110])


def keep_all(exam: Background) -> None:
    """Fill what is kept between targets up to its bounds."""
    for target in cases.targets(exam):
        try:
            cases._mask(  # noqa: SLF001 — what is kept is no business of a user
                exam.masks, exam.targets, exam.column, target, exam.side
            )
        except cases.SnellenError:
            continue
    pixels = cases._library(exam).pixels  # noqa: SLF001
    fit = KEPT_BYTES // (3 * exam.side**2)
    for name in cases.scene_files(exam.scenes)[8 : 8 + fit]:
        pixels[name]
    masks = cases._mask.cache_info().currsize  # noqa: SLF001
    print(f"kept: {masks} masks, {len(pixels.kept)} scenes")


def lap(start: float, what: str) -> float:
    print(f"{what}: {time.perf_counter() - start:.1f} s; most memory so far {held():.2f} GB")
    return time.perf_counter()


def held() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
