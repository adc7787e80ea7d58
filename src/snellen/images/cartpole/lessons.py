"""What is a classifier taught of the game, how far can that take it, and how does it play?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from snellen.core import Answers, Lesson, Sheet
from snellen.images.cartpole.drawing import pictures
from snellen.images.cartpole.dynamics import balanced, begun, fallen, pushed
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    import numpy.typing as npt

    from snellen.core import Images, Indices
    from snellen.images.cartpole.dynamics import States

CHOICES = ("left", "right")
LIMIT = 200
"""The paper's, of steps in a game."""
WANDER = 0.6
"""Pushes that are thrown for: with fewer, the balancer keeps everything so still that hardly
anything can be seen; with more, nobody sees how a game goes on."""
TOGETHER = 64
"""Games from which the moments of a lesson are taken."""


class Moments(NamedTuple):
    """States of games, and those a fiftieth of a second before."""

    before: States
    now: States

    @property
    def labels(self) -> Indices:
        """Where the good balancer would push: the place of its choice."""
        return balanced(self.now).astype(np.intp)


def moments(count: int, seed: int, *, wander: float = WANDER, limit: int = LIMIT) -> Moments:
    """Take moments from games of the balancer, of whose pushes a share is thrown for instead.

    At `wander=1` all are thrown for, and the games are as short as those of a random player.
    """
    draws = Seed("cartpole moments", seed, wander)
    first = np.arange(TOGETHER) + (seed << 20)
    now, fresh = begun(first.tolist()), TOGETHER
    before, ages = now.copy(), np.zeros(TOGETHER, int)
    taken: list[tuple[States, States]] = []
    for _ in range(-(-count // TOGETHER)):
        taken.append((before, now))
        thrown, coin = draws.floats(2 * TOGETHER).reshape(2, -1)
        right = np.where(thrown < wander, coin < 0.5, balanced(now))
        before, now, ages = now, pushed(now, right), ages + 1
        over = np.flatnonzero(fallen(now) | (ages >= limit))
        now[over] = begun([(seed << 20) + fresh + k for k in range(len(over))])
        before = before.copy()
        before[over], ages[over] = now[over], 0
        fresh += len(over)
    return Moments(*(np.concatenate(column)[:count] for column in zip(*taken, strict=True)))


def shown(games: Moments, frames: int = 1, side: int = 32, *, whole: bool = False) -> Images:
    """Draw moments in one frame, or in two, a column of each in turn: before, now, before, …"""
    if frames == 1:
        return pictures(games.now, width=side, height=side, whole=whole)
    half = side // 2
    both = [pictures(states, width=half, height=side, whole=whole) for states in games]
    return np.stack(both, axis=3).reshape(len(games.now), side, side, 1)


def lesson(
    count: int,
    seed: int,
    *,
    frames: int = 1,
    side: int = 32,
    wander: float = WANDER,
    views: int = 0,
) -> Lesson:
    """Make a lesson of so many moments, labelled with where the good balancer would push."""
    games = moments(count, seed, wander=wander)
    return Lesson(shown(games, frames, side), games.labels, CHOICES, views, seed)


class Ceiling(NamedTuple):
    """How far pictures can take anybody, found in a sample of them."""

    both: float
    """The share of pictures that occur with more than one label."""
    most: float
    """The share that is right at most: each picture named by its commonest label. Too high
    while many pictures occur only once."""
    least: float
    """The same by the labels of one half of the sample, asked about the other: too low."""


def ceiling(images: Images, labels: Indices) -> Ceiling:
    """Return how often whoever sees no more than these pictures can be right."""
    counts, places = _counted(images, labels)
    most = counts.max(axis=1).sum() / len(labels)
    both = (counts[places] > 0).sum(axis=1) > 1
    known = np.zeros_like(counts)
    np.add.at(known, (places[::2], labels[::2]), 1)
    usual = known.sum(axis=0).argmax()
    named = np.where(known.any(axis=1), known.argmax(axis=1), usual)[places[1::2]]
    return Ceiling(float(both.mean()), float(most), float((named == labels[1::2]).mean()))


def _counted(images: Images, labels: Indices) -> tuple[Indices, Indices]:
    """Count how often each picture has each label, and tell which one each picture is."""
    rows = np.ascontiguousarray(images.reshape(len(images), -1))
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    distinct, places = np.unique(keys, return_inverse=True)
    counts = np.zeros((len(distinct), int(labels.max()) + 1), np.intp)
    np.add.at(counts, (places, labels), 1)
    return counts, places


def drive(
    seeds: Sequence[int],
    *,
    limit: int = LIMIT,
    frames: int = 1,
    side: int = 32,
    choices: tuple[str, ...] = CHOICES,
    first: int = 0,
    framed: Callable[[Images], Images] = lambda images: images,
) -> Generator[Sheet, Answers, npt.NDArray[np.float64]]:
    """Have a classifier play a game on each seed, all in step; return steps/limit of each.

    Each step is a sheet of the games still going. Where the pupil knows other things too, its
    choices are `choices` and `first` is the place of "left", with "right" after it; `framed`
    makes the pictures what it was taught on. Of what it says of other things, only the scores
    of the two pushes count, or, as in the paper, the nearer of them where there are no scores.
    """
    states = begun(seeds)
    games = Moments(states, states)
    lasted, going = np.zeros(len(seeds), np.intp), np.arange(len(seeds))
    while len(going):
        answers = yield Sheet(
            framed(shown(games, frames, side)),
            choices,
            games.labels + first,
            given={"game": going, "step": np.full(len(going), lasted[going[0]])},
        )
        games = Moments(games.now, pushed(games.now, _right(answers, first)))
        lasted[going] += 1
        still = ~fallen(games.now) & (lasted[going] < limit)
        going, games = going[still], Moments(games.before[still], games.now[still])
    return lasted / limit


def _right(answers: Answers, first: int) -> npt.NDArray[np.bool_]:
    if answers.scores is None:
        return np.asarray(answers.choice > first)
    return np.asarray(answers.scores[:, first + 1] > answers.scores[:, first])
