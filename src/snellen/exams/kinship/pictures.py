"""What is a test of pictures, and how are two of them made one?

A test is a set of labelled pictures brought to one size and grey, as in the paper. It is
written as a name (`digits`, `mnist`), a file or folder (`mine.npz`), or `name=path`; `~` and
a word behind it alter it, for checks whose answer is known beforehand:

    digits~noisy      under noise that hides much: the same test, harder
    digits~permuted   every class called by the next one's name
    digits~first      the first half of the pictures to learn from; `~second` is the other
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from snellen.core import CHOICE, Sheet
from snellen.digests import digest
from snellen.errors import BadSetting
from snellen.images.datasets import grey, load_pictures
from snellen.images.embedded import normals
from snellen.images.fitting import fitted
from snellen.images.named import named
from snellen.seeds import Seed

if TYPE_CHECKING:
    from snellen.core import Answers, Images, Indices
    from snellen.images.datasets import PictureSet

SIDE = 32
PROMPT = "What is it?"
NOISE = 90.0
"""Grey levels of noise of a noisy test."""

Asking: TypeAlias = Generator[Sheet, Any, "Scored"]


@dataclass(frozen=True, slots=True)
class Scored:
    """How well a test went: a score from 0 to 1, and the variance that chance gives it."""

    score: float
    variance: float
    asked: int


@dataclass(frozen=True, eq=False)
class PictureTest:
    """Pictures to learn from and pictures to be asked about."""

    name: str
    classes: tuple[str, ...]
    teaching: Images
    teaching_labels: Indices
    testing: Images
    testing_labels: Indices

    def __len__(self) -> int:
        return len(self.teaching)

    @cached_property
    def content(self) -> str:
        """A hash of all of it."""
        return digest(
            self.classes, self.teaching, self.teaching_labels, self.testing, self.testing_labels
        )

    def lesson(self, count: int, repeat: int) -> tuple[Images, Indices]:
        """Choose pictures to learn from, as many of each class; fewer are always among more."""
        seed = Seed("test", self.name, "teaching", repeat)
        places = spread(self.teaching_labels, count, seed)
        return self.teaching[places], self.teaching_labels[places]

    def questions(self, count: int, repeat: int) -> tuple[Images, Indices]:
        """Choose pictures to be asked about, as many of each class."""
        places = spread(self.testing_labels, count, Seed("test", self.name, "testing", repeat))
        return self.testing[places], self.testing_labels[places]

    def asked(self, choices: tuple[str, ...], before: int, count: int, repeat: int) -> Asking:
        """Ask about pictures; `before` choices come before the test's own."""
        images, labels = self.questions(count, repeat)
        return (yield from ask(images, labels + before, choices, self.name))


def spread(labels: Indices, count: int, seed: Seed) -> Indices:
    """Choose places in random order so that after any number of them the classes are even."""
    order = seed.shuffled(len(labels))
    turn = np.empty(len(labels), np.intp)
    for label in np.unique(labels):
        own = np.flatnonzero(labels[order] == label)
        turn[own] = np.arange(len(own))
    return np.asarray(order[np.argsort(turn, kind="stable")][:count], np.intp)


@lru_cache(maxsize=128)  # a suite that does not fit would be read anew for every item
def picture_test(spec: str) -> PictureTest:
    """Make the test that `spec` names."""
    whole, _, altered = spec.partition("~")
    name, equals, path = whole.partition("=")
    found = _found(path if equals else name)
    made = _made(name if equals else called(name), found)
    if not altered:
        return made
    if altered not in ALTERED:
        raise BadSetting(f"test {spec!r}: there is no ~{altered}; there are ~{', ~'.join(ALTERED)}")
    return replace(ALTERED[altered](made), name=f"{made.name}~{altered}")


def called(spec: str) -> str:
    """Return the name of a test: a file's without its suffix.

    >>> called("data/mnist.npz"), called("digits~noisy"), called("mine=a/b.npz")
    ('mnist', 'digits~noisy', 'mine')
    """
    whole, tilde, altered = spec.partition("~")
    name, equals, _ = whole.partition("=")
    return (name if equals else Path(whole).stem or whole) + tilde + altered


def _found(place: str) -> PictureSet:
    """Take a bare word that is no file or folder for a name."""
    bare = Path(place).stem == place and not Path(place).expanduser().exists()
    return named(place) if bare else load_pictures(place, SIDE)


def _made(name: str, found: PictureSet) -> PictureTest:
    images = fitted(grey(found.images)[..., None], SIDE)
    learn, ask = found.teaching, found.testing
    return PictureTest(
        name, found.names, images[learn], found.labels[learn], images[ask], found.labels[ask]
    )


def stitched(first: Images, second: Images) -> Images:
    """Lay pictures side by side."""
    return np.concatenate([first, second], axis=2)


def score(answers: Answers) -> Scored:
    """Count the right ones."""
    asked = len(answers.right)
    share = (float(answers.right.sum()) + 2) / (asked + 4)  # Agresti & Coull 1998: never sure
    return Scored(float(answers.right.mean()), share * (1 - share) / (asked + 4), asked)


def ask(images: Images, truth: Indices, choices: tuple[str, ...], part: str) -> Asking:
    """Hand out a sheet and score it."""
    given = {"test": np.full(len(images), part)}
    answers: Answers = yield Sheet(images, choices, truth, CHOICE, given, PROMPT)
    return score(answers)


def _noisy(test: PictureTest) -> PictureTest:
    def under_noise(images: Images, which: str) -> Images:
        noise = NOISE * normals(Seed("noisy", test.name, which), images.size)
        return np.clip(images + noise.reshape(images.shape), 0, 255).astype(np.uint8)

    teaching, testing = under_noise(test.teaching, "teaching"), under_noise(test.testing, "testing")
    return replace(test, teaching=teaching, testing=testing)


def _permuted(test: PictureTest) -> PictureTest:
    count = len(test.classes)
    return replace(
        test,
        teaching_labels=(test.teaching_labels + 1) % count,
        testing_labels=(test.testing_labels + 1) % count,
    )


def _half(which: int) -> Callable[[PictureTest], PictureTest]:
    def half(test: PictureTest) -> PictureTest:
        places = spread(test.teaching_labels, len(test), Seed("halves", test.name))[which::2]
        return replace(
            test,
            teaching=test.teaching[places],
            teaching_labels=test.teaching_labels[places],
        )

    return half


ALTERED: dict[str, Callable[[PictureTest], PictureTest]] = {
    "noisy": _noisy,
    "permuted": _permuted,
    "first": _half(0),
    "second": _half(1),
}
