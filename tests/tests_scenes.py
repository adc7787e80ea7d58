"""Tagged scenes that tests make up."""

import string

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from snellen.exams.background.tags import Tags

WORDS = tuple(string.ascii_lowercase[:8])
presences = st.integers(1, 30).flatmap(lambda n: arrays.arrays(bool, (n, len(WORDS))))


def tagged(present, words=WORDS, names=None, strengths=None):
    present = np.asarray(present, bool)
    return Tags(names or tuple(f"p{i:03}" for i in range(len(present))), words, present, strengths)


def world(seed=0, pictures=300, words=40):
    """Scenes of six kinds, each with keywords of its own and some of its neighbours'."""
    rng = np.random.default_rng(seed)
    chances = rng.random((6, words)) ** 4
    present = rng.random((pictures, words)) < chances[rng.integers(0, 6, pictures)]
    names = tuple(f"s{i:04}" for i in rng.permutation(pictures))
    return tagged(present, tuple(f"k{i:02}" for i in range(words)), names)


def coast(seed=0, pictures=400, words=40):
    """Scenes along a line, on which each keyword has its place: far ones are many steps away."""
    rng = np.random.default_rng(seed)
    away = np.abs(rng.random((pictures, 1)) * words - np.arange(words))
    present = rng.random((pictures, words)) < 0.7 * np.exp(-away / 3)
    return tagged(present, tuple(f"k{i:02}" for i in range(words)))


def shuffled(tags, seed):
    rng = np.random.default_rng(seed)
    mixed = tags.taken([tags.pictures[i] for i in rng.permutation(len(tags))])
    return mixed.over([tags.keywords[i] for i in rng.permutation(len(tags.keywords))])


def rows_of(*rows, names=None):
    words = tuple(sorted(set().union(*rows)))
    return tagged([[word in row for word in words] for row in rows], words, names)


HARBOUR = rows_of({"pier", "sea"}, {"pier", "sea"}, {"boat", "pier"}, {"rope"}, {"mast"}, {"net"})
