"""What is a set of labelled pictures?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.digests import digest
from snellen.errors import Unloadable
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from snellen.core import Images, Indices

TEST_SHARE = 3
"""One picture in so many is kept for testing where nothing says which."""


@dataclass(frozen=True, eq=False)
class PictureSet:
    """Labelled pictures of one size, parted into those to learn from and the others."""

    images: Images
    labels: Indices
    names: tuple[str, ...]
    testing: Indices
    """Places of the pictures kept for testing; the others are for teaching."""

    @property
    def content(self) -> str:
        """A hash of all of it."""
        return digest(self.images, self.labels, self.names, self.testing)

    @property
    def teaching(self) -> Indices:
        """Places of the pictures to learn from."""
        return np.setdiff1d(np.arange(len(self.images)), self.testing)


def picture_set(
    path: Path, images: Images, given: Any, kept: int = 0, names: Sequence[str] = ()
) -> PictureSet:
    """Make a set of pictures and the labels `given`, numbering the classes that occur.

    The last `kept` pictures are for testing, or every third of a class if that is 0. Labels
    are names themselves, or places among the `names`.
    """
    classes, labels = np.unique(given, return_inverse=True)
    if names and not 0 <= classes[0] <= classes[-1] < len(names):
        raise Unloadable(
            f"{path}: labels run from {classes[0]} to {classes[-1]}, but there are names for 0 to "
            f"{len(names) - 1}; its parts are not of one set"
        )
    testing = np.arange(len(images) - kept, len(images)) if kept else parted(labels)
    called = tuple(str(names[c]) if names else str(c) for c in classes)
    return PictureSet(images, labels, called, testing)


def parted(labels: Indices) -> Indices:
    """Keep every third picture of each class for testing, in random order."""
    order = Seed("test share", len(labels)).shuffled(len(labels))
    kept = [order[labels[order] == label][::TEST_SHARE] for label in np.unique(labels)]
    return np.sort(np.concatenate(kept))


def grey(images: Images) -> Images:
    """Return (n, h, w) uint8 luminance: .299 R + .587 G + .114 B, as in Rec. 601."""
    if images.shape[3] == 1:
        return np.asarray(images[..., 0])
    return np.asarray(np.rint(images @ np.array([0.299, 0.587, 0.114])), np.uint8)
