"""What is a test that is played, and how are two of them made one?

A game is practised for so many steps and then played on seeds that nobody has practised on.
Its score is the mean return between that of random play, 0, and that of the best, 1. Two games
merged take turns: see `worlds.merged`. CartPole is a test of pictures too: a classifier learns
where a good balancer pushes, and then balances by what it sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.core import MOST_PRACTICE, Practice
from snellen.exams.kinship.pictures import Asking, Scored
from snellen.images.cartpole import CHOICES, Ceiling, ceiling, drive, lesson, moments, shown
from snellen.seeds import Seed
from snellen.worlds import WORLDS, world
from snellen.worlds.changed import flawed
from snellen.worlds.merged import Merged, paired
from snellen.worlds.playing import held_out, play
from snellen.worlds.scores import normalised, scaled

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

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
        own = [
            flawed(world(name, scalar=True)) if as_published else scaled(world(name))
            for name in names
        ]
        return Merged(*own, clamp=as_published) if len(own) == 2 else own[0]

    yield Practice(make(), steps, Seed("practice", repeat).number() % (MOST_PRACTICE // 2))
    seeds = list(held_out(games, repeat))
    told = {}
    for part, name in enumerate(names):
        own = paired(seeds)[part::2] if len(names) == 2 else seeds
        returns = (yield from play(make, own)).returns
        if as_published:  # each reward was paid twice
            scores = np.array([normalised(name, r / 2) for r in returns.tolist()])
        else:
            scores = returns + normalised(name, 0.0)
        told[name] = Scored(float(scores.mean()), float(scores.var(ddof=1)) / games, games)
    return told


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
    wanted = [name for name in names if name in BY_PICTURES]
    if not wanted:
        return {}
    games = moments(SAMPLE, 1)
    return {name: ceiling(shown(games, BY_PICTURES[name]), games.labels) for name in wanted}
