"""What is a test that is played, and how are two of them made one?

A game is practised for so many steps and then played on seeds that nobody has practised on.
Its score is the mean return between that of random play, 0, and that of the best, 1. Two games
merged take turns: see `worlds.merged`. CartPole is a test of pictures too: a classifier learns
where a good balancer pushes, and then balances by what it sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snellen.core import MOST_PRACTICE, Practice
from snellen.exams.kinship.pictures import Asking, Scored
from snellen.images.cartpole import CHOICES, Ceiling, ceiling, drive, lesson, moments, shown
from snellen.seeds import Seed
from snellen.worlds import WORLDS, world
from snellen.worlds.changed import Changed, flawed
from snellen.worlds.merged import Merged, paired
from snellen.worlds.playing import held_out, play
from snellen.worlds.scores import SCORES, normalised

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    import numpy as np
    import numpy.typing as npt

    from snellen.core import Images, Indices, World

DRAWN = 1_000_000
"""Pictures of a pole that anyone may ask for: they are drawn as they are needed."""
PICTURES_A_GAME = 50
"""Questions that a game of balancing stands for."""
SAMPLE = 4000
BY_PICTURES = {"cartpole-pictures": 1, "cartpole-pictures-2": 2}
"""Tests of balancing by sight, and how many frames they show."""


def is_game(name: str) -> bool:
    """Tell whether a test is a game of those that are practised."""
    return name in WORLDS


def sat(
    names: tuple[str, ...], steps: int, repeat: int, games: int, *, as_published: bool
) -> Generator[Any, Any, dict[str, Scored]]:
    """Have one game practised, or two merged; then have each of them played."""

    def make() -> World:
        own = [_world(name, as_published=as_published) for name in names]
        return Merged(*own, clamp=as_published) if len(own) == 2 else own[0]

    yield Practice(make(), steps, Seed("practice", repeat).number() % (MOST_PRACTICE // 2))
    seeds = list(held_out(games, repeat))
    told = {}
    for part, name in enumerate(names):
        own = paired(seeds)[part::2] if len(names) == 2 else seeds
        found = yield from play(make, own)
        told[name] = _scored(name, found.returns / _pay(name, as_published=as_published))
    return told


def _world(name: str, *, as_published: bool) -> World:
    """Make a game that pays on the scale of its score, so that none drowns out another."""
    if as_published:
        return flawed(world(name, scalar=True))
    return Changed(world(name), _pay(name, as_published=False))


def _pay(name: str, *, as_published: bool) -> float:
    return 2.0 if as_published else 1 / _scale(name)


def _scale(name: str) -> float:
    return SCORES[name].reference - SCORES[name].random


def _scored(name: str, returns: npt.NDArray[np.float64]) -> Scored:
    """Bring returns to the scale on which random play is 0 and the best is 1."""
    variance = float(returns.var(ddof=1)) / len(returns) / _scale(name) ** 2
    return Scored(normalised(name, float(returns.mean())), variance, len(returns))


class Balancing:
    """CartPole as a test of pictures: taught by a good balancer, scored by playing."""

    classes = CHOICES

    def __init__(self, name: str) -> None:
        self.name = name
        self.frames = BY_PICTURES[name]
        self.content = f"{name}-1"

    def __len__(self) -> int:
        return DRAWN

    def lesson(self, count: int, repeat: int) -> tuple[Images, Indices]:
        """Take moments of the balancer's games; fewer are always among more."""
        made = lesson(count, Seed("balancing", repeat).number() >> 8, frames=self.frames)
        return made.images, made.labels

    def asked(self, choices: tuple[str, ...], before: int, count: int, repeat: int) -> Asking:
        """Play by naming pictures: the score is the share of the steps that are survived."""
        games = max(2, count // PICTURES_A_GAME)
        seeds = list(held_out(games, repeat))
        lasted = yield from drive(seeds, frames=self.frames, choices=choices, first=before)
        variance = float(lasted.var(ddof=1)) / games
        return Scored(float(lasted.mean()), variance, games)


def ceilings(names: tuple[str, ...]) -> Mapping[str, Ceiling]:
    """Return how often the pictures of a balancing test let anybody be right."""
    games = moments(SAMPLE, 1)
    return {
        name: ceiling(shown(games, BY_PICTURES[name]), games.labels)
        for name in names
        if name in BY_PICTURES
    }
