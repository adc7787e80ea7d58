"""How do many pictures of a problem come about, each from chance of its own?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from snellen.images.svrt.board import (
    ANGLE,
    KIND,
    MIRRORED,
    MOST,
    SIZE,
    X,
    Y,
    blank,
)
from snellen.images.svrt.contours import SIDE
from snellen.images.svrt.dice import STEP, mixed
from snellen.images.svrt.problems import DRAWN
from snellen.images.svrt.relations import related, shuffled
from snellen.images.svrt.scenes import Scenes, Truth
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.core import Indices


def scenes(problem: int, labels: Sequence[int], seed: int) -> Scenes:
    """Draw a picture for each label and note what is in it."""
    n, wanted = len(labels), np.asarray(labels, np.intp)
    images = np.empty((n, SIDE, SIDE, 1), np.uint8)
    notes = np.zeros((n, MOST, 6))
    count = np.zeros(n, np.intp)
    contains, borders = np.zeros((2, n, MOST, MOST), np.bool_)
    easel, draw = blank(), DRAWN[problem]
    for i, start in enumerate(starts(problem, wanted, seed)):
        easel.dice[0] = start
        easel.counts[:] = 0
        draw(easel, int(wanted[i]))
        images[i, ..., 0] = easel.image
        count[i] = easel.counts[0]
        order = shuffled(easel.dice, int(count[i]))
        notes[i, : count[i]] = easel.shapes[order[: count[i]]]
        holds, meets = related(easel)
        contains[i] = holds[order][:, order]
        borders[i] = meets[order][:, order]
    return Scenes(
        images,
        wanted,
        _truth(notes, count),
        np.argwhere(contains),
        np.argwhere(np.triu(borders)),
    )


def starts(problem: int, labels: Indices, seed: int) -> npt.NDArray[np.uint64]:
    """Return where the dice of each picture start."""
    key, other = Seed("svrt", problem, seed).bits(2)
    places = np.arange(1, len(labels) + 1, dtype=np.uint64) * STEP
    made: npt.NDArray[np.uint64] = mixed(mixed(places + key) ^ (labels.astype(np.uint64) * other))
    return made


def _truth(notes: npt.NDArray[np.float64], count: Indices) -> Truth:
    notes = notes[:, : max(count, default=MOST)]
    there = np.arange(notes.shape[1]) < count[:, None]
    return Truth(
        count=count,
        x=notes[..., X].astype(np.intp),
        y=notes[..., Y].astype(np.intp),
        identity=np.where(there, _numbered(notes[..., KIND].astype(np.intp)), 0),
        size=notes[..., SIZE],
        mirrored=notes[..., MIRRORED] > 0,
        angle=notes[..., ANGLE],
    )


def _numbered(kinds: Indices) -> Indices:
    """Give the kinds of each row numbers from 1 in order of appearance."""
    alike = kinds[:, :, None] == kinds[:, None, :]
    first = alike.argmax(axis=2)
    new = first == np.arange(kinds.shape[1])
    return np.take_along_axis(new.cumsum(axis=1), first, axis=1)
