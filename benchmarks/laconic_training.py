"""Question: does a network that is also taught minimal pictures need less, and at what price?

The future work of Carrasco et al. (2020, §6) as a recipe. A small network is taught; the
minimal pictures (MEPIs, combined) of some of its own lesson are found; a second network is
taught the same lesson with these mixed in, for the same number of looks. Compared on pictures
neither has seen: accuracy, and what share of a picture's bytes is enough, for each reduction,
on the pictures that both name rightly. Intervals are bootstraps over pictures, each the mean
over the repeats (lesson, networks and pictures drawn anew).

    pip install 'snellen[torch]'
    python benchmarks/laconic_training.py [--npz cifar10.npz] [--repeats 3]
"""

from __future__ import annotations

import argparse
import io
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import snellen
from snellen.core import Lesson, Sheet
from snellen.exams.laconic.lattice import whole
from snellen.images.datasets import load_pictures
from snellen.images.things import draw_things
from snellen.seeds import Seed
from snellen.stats import bootstrap
from snellen.subjects.networks import small_cnn

SIDE, LOOKS, BATCH = 32, 60_000, 64
TAUGHT, ASKED = 5000, 1000
MINED, MEASURED = 20, 6
"""Pictures of each class whose MEPIs are taught, and on which need is measured."""
MIXED = 0.25
"""Share of the looks that MEPIs get."""
REDUCTIONS = ("colour", "resolution", "crop", "combined")


def pictures(npz: str, repeat: int):
    """Return pictures to teach and pictures to ask about, with their labels."""
    if not npz:
        images, labels = draw_things(Seed("laconic training", repeat), TAUGHT + ASKED, SIDE)
        return (images[:TAUGHT], labels[:TAUGHT]), (images[TAUGHT:], labels[TAUGHT:])
    held = load_pictures(npz)
    parts = []
    for places, count in ((held.teaching, TAUGHT), (held.testing, ASKED)):
        some = places[Seed("laconic training", repeat).shuffled(len(places))[:count]]
        parts.append((held.images[some], held.labels[some]))
    return parts[0], parts[1]


def taught(lesson: Lesson, name: str):
    pupil = snellen.subject(small_cnn, name=name, lr=2e-3, batch=BATCH, size=SIDE, device="cpu")
    return pupil.study(lesson)


def needs(subject, images, labels, folder: Path, **settings):
    """Let a subject sit the exam on these pictures; return its records of those it gets right."""
    file = folder / "pictures.npz"
    order = np.argsort(labels, kind="stable")  # a name is a place, the same for both networks
    np.savez(
        file, x_train=images[:1], y_train=labels[:1], x_test=images[order], y_test=labels[order]
    )
    exam = snellen.exam("laconic", pictures=str(file), entropy="png", side=SIDE, **settings)
    records = snellen.sit(exam, subject)
    return {(r.item["reduction"], r.item["picture"]): r for r in records if r.measures["right"]}


def mixed_in(lesson: Lesson, mepis: list) -> Lesson:
    """Add MEPIs as they were shown, so often that they get their share of the looks."""
    channels = lesson.images.shape[3]
    shown = []
    for record in mepis:
        with Image.open(io.BytesIO(record.measures["mepi"].data)) as file:
            small = np.asarray(file)
        small = small[..., None] if small.ndim == 2 else small
        shown.append(np.broadcast_to(whole(small, SIDE), (SIDE, SIDE, channels)))
    times = round(MIXED / (1 - MIXED) * len(lesson) / len(shown))
    images = np.concatenate([lesson.images, np.tile(np.stack(shown), (times, 1, 1, 1))])
    places = np.array([lesson.choices.index(record.item["label"]) for record in mepis])
    return Lesson(
        images,
        np.concatenate([lesson.labels, np.tile(places, times)]),
        lesson.choices,
        LOOKS,
        lesson.seed,
    )


def one_repeat(npz: str, repeat: int):
    """Return who was right on each picture, before and after, and paired ratios by reduction."""
    (images, labels), (asked, truth) = pictures(npz, repeat)
    names = tuple(str(label) for label in range(labels.max() + 1))
    lesson = Lesson(images, labels, names, LOOKS, Seed("lesson", repeat).number())
    before = taught(lesson, "before")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        mined = needs(before, images, labels, place, reductions="combined", per_class=MINED)
        after = taught(mixed_in(lesson, list(mined.values())), "after")
        right = [s.answer(Sheet(asked, names)).choice == truth for s in (before, after)]
        found = [
            needs(s, asked, truth, place, reductions=REDUCTIONS, per_class=MEASURED)
            for s in (before, after)
        ]
    shared = found[0].keys() & found[1].keys()
    ratios = {
        reduction: [
            tuple(_ratio(f[key]) for f in found) for key in sorted(shared) if key[0] == reduction
        ]
        for reduction in REDUCTIONS
    }
    return np.stack(right, 1).astype(float), ratios, len(mined)


def _ratio(record) -> float:
    return record.measures["bytes"]["png"] / record.measures["bytes before"]["png"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--npz", default="")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    runs = [one_repeat(asked.npz, repeat) for repeat in range(asked.repeats)]
    right = np.concatenate([r for r, _, _ in runs])
    print(f"{asked.npz or 'procedural things'}: {asked.repeats} repeats, "
          f"{sum(n for _, _, n in runs)} MEPIs taught")  # fmt: skip
    for name, column in (("before", right[:, 0]), ("after", right[:, 1])):
        print(f"  accuracy {name}: {bootstrap(column):%}")
    change = bootstrap(right[:, 1] - right[:, 0])
    print(f"  change of accuracy: {100 * change.value:+.1f} points "
          f"[{100 * change.low:+.1f}, {100 * change.high:+.1f}]")  # fmt: skip
    for reduction in REDUCTIONS:
        pairs = np.array([pair for _, ratios, _ in runs for pair in ratios[reduction]])
        change = bootstrap(np.log(pairs[:, 1] / pairs[:, 0]))
        low, middle, high = np.exp([change.low, change.value, change.high])
        before, after = np.exp(np.log(pairs).mean(axis=0))
        print(
            f"  {reduction}: needs {100 * before:.1f} % before, {100 * after:.1f} % after: "
            f"{middle:.2f} × [{low:.2f}, {high:.2f}] over {len(pairs)} pictures"
        )


if __name__ == "__main__":
    main()
