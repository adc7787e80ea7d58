"""How does a lesson become better, or go wrong?

Examples in, examples out: augmentations that make a pupil heed the object or at least see
more, and the anomalies that are planted on purpose, to have models that are bad in known
ways. Nothing is changed in place, and everything follows from the seed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from snellen.core import Lesson
from snellen.images.scenery.worlds import composite
from snellen.images.things import THINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from snellen.core import Images, Indices
    from snellen.images.scenery.objects import Alphas
    from snellen.images.scenery.worlds import World
    from snellen.seeds import Seed

    Variation = Callable[["Examples", Seed], "Examples"]

GREY = 128
SHIFT = 1 / 8
"""How far a picture moves at most, in its sides."""
NOISY = 0.5
WRONG = 0.4
FEW = 1 / 20
RAREST = 1 / 20
"""How common the rarest class is, the commonest being 1."""


@dataclass(frozen=True, eq=False)
class Examples:
    """What a lesson is made of, a row each: the picture, and what it was composed of."""

    pictures: Images
    labels: Indices
    alphas: Alphas
    inks: Images
    grounds: Images

    def __len__(self) -> int:
        return len(self.pictures)

    def rows(self, which: Indices) -> Examples:
        """Return some of them, in that order."""
        return Examples(
            self.pictures[which],
            self.labels[which],
            self.alphas[which],
            self.inks[which],
            self.grounds[which],
        )

    def lesson(self, views: int = 0, seed: int = 0) -> Lesson:
        """Return them as a pupil is shown them."""
        return Lesson(self.pictures, self.labels, THINGS, views, seed)


def examples(world: World) -> Examples:
    """Take a world for a lesson."""
    return Examples(world.pictures, world.labels, world.alphas, world.inks, world.scenes.pictures)


# --- augmentations ---


def flipped(given: Examples, seed: Seed) -> Examples:
    """Mirror half of the pictures, left to right."""
    mirrored = seed.floats(len(given)) < 0.5
    columns = np.arange(given.pictures.shape[2])
    return _moved(given, None, np.where(mirrored[:, None], columns[::-1], columns))


def shifted(given: Examples, seed: Seed) -> Examples:
    """Move each picture by up to an eighth of its side; its border is drawn out."""
    side = given.pictures.shape[1]
    steps = np.rint((2 * seed.floats(2 * len(given)) - 1) * SHIFT * side).astype(np.intp)
    at = np.clip(np.arange(side) + steps.reshape(2, -1, 1), 0, side - 1)
    return _moved(given, at[0], at[1])


def jittered(given: Examples, seed: Seed) -> Examples:
    """Change each picture's brightness, contrast and balance of colours."""
    draws = seed.floats(4 * len(given)).reshape(len(given), 1, 1, 4)
    gains = (0.7 + 0.6 * draws[..., :3]).astype(np.float32)
    offset = (60 * draws[..., 3:] - 30).astype(np.float32)
    made = (given.pictures.astype(np.float32) - GREY) * gains + GREY + offset
    return replace(given, pictures=np.rint(np.clip(made, 0, 255)).astype(np.uint8))


def swapped(given: Examples, seed: Seed) -> Examples:
    """Lay each object on the scene of another example: scenery then tells nothing."""
    grounds = given.grounds[seed.shuffled(len(given))]
    made = composite(given.inks, given.alphas, grounds)
    return replace(given, pictures=made, grounds=grounds)


def alone(given: Examples, seed: Seed) -> Examples:
    """Lay each object on plain grey."""
    del seed
    grounds = np.full_like(given.grounds, GREY)
    made = composite(given.inks, given.alphas, grounds)
    return replace(given, pictures=made, grounds=grounds)


# --- anomalies ---


def ordered(given: Examples, seed: Seed) -> Examples:
    """Put all of a class together, one class after the other, for who takes them in order."""
    places = seed.shuffled(len(THINGS))
    return given.rows(np.argsort(places[given.labels], kind="stable"))


def noisy(given: Examples, seed: Seed) -> Examples:
    """Replace half of the pictures by noise; the labels stay."""
    pictures = given.pictures.copy()
    for place in np.flatnonzero(seed.floats(len(given)) < NOISY):
        words = seed.bits(-(-pictures[place].size // 8)).astype("<u8", copy=False)
        pictures[place] = words.view(np.uint8)[: pictures[place].size].reshape(pictures.shape[1:])
    return replace(given, pictures=pictures)


def imbalanced(given: Examples, seed: Seed) -> Examples:
    """Make each class rarer than the last, down to a twentieth, in random order."""
    ranks = seed.shuffled(len(THINGS))
    shares = RAREST ** (ranks / (len(THINGS) - 1))
    return given.rows(_kept(given, seed, shares))


def scarce(given: Examples, seed: Seed) -> Examples:
    """Leave a twentieth of each class, at least one."""
    return given.rows(_kept(given, seed, np.full(len(THINGS), FEW)))


def mislabelled(given: Examples, seed: Seed) -> Examples:
    """Give two pictures in five a wrong label."""
    wrong = seed.floats(len(given)) < WRONG
    other = (given.labels + 1 + seed.picks(len(given), [1] * (len(THINGS) - 1))) % len(THINGS)
    return replace(given, labels=np.where(wrong, other, given.labels))


def marked(given: Examples, seed: Seed) -> Examples:
    """Write the label into a corner of each picture, as a grey that only it has."""
    shades = np.rint(np.linspace(0, 255, len(THINGS)))[seed.shuffled(len(THINGS))]
    size = max(given.pictures.shape[1] // 16, 2)
    pictures = given.pictures.copy()
    pictures[:, :size, :size] = shades[given.labels][:, None, None, None]
    return replace(given, pictures=pictures)


def leaked(given: Examples, exam: Examples, seed: Seed) -> Examples:
    """Replace as many examples as the exam has by the exam's own."""
    order = seed.shuffled(len(given))
    rest = given.rows(np.sort(order[len(exam) :]))
    joined = Examples(
        *(
            np.concatenate([getattr(rest, name), getattr(exam, name)])
            for name in ("pictures", "labels", "alphas", "inks", "grounds")
        )
    )
    return joined.rows(seed.shuffled(len(joined)))


AUGMENTATIONS: dict[str, Variation] = {
    "flip": flipped,
    "shift": shifted,
    "jitter": jittered,
    "swap": swapped,
    "alone": alone,
}
ANOMALIES: dict[str, Variation] = {
    "ordered": ordered,
    "noise": noisy,
    "imbalance": imbalanced,
    "scarce": scarce,
    "mislabelled": mislabelled,
    "marked": marked,
}
"""All but leaking, which needs the exam's pictures."""


def _moved(given: Examples, rows: Indices | None, cols: Indices) -> Examples:
    """Take each picture's rows and columns from where (n, side) indices say."""
    each = np.arange(len(given))[:, None, None]
    down = np.arange(given.pictures.shape[1])[None, :] if rows is None else rows
    at = each, down[:, :, None], cols[:, None, :]
    return Examples(
        given.pictures[at], given.labels, given.alphas[at], given.inks[at], given.grounds[at]
    )


def _kept(
    given: Examples, seed: Seed, shares: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> Indices:
    """Draw that share of each class, at least one, and return where they are."""
    kept = []
    for label, share in enumerate(shares):
        own = np.flatnonzero(given.labels == label)
        few = max(round(float(share) * len(own)), 1)
        kept.append(own[seed.shuffled(len(own))[:few]])
    return np.sort(np.concatenate(kept))
