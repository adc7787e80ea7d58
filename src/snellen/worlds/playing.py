"""How does an exam play many games with one player?

In an exam, which leaves it to others who plays, it is one line:

    games = yield from play(make, held_out(100))

and without an exam it is another:

>>> from snellen.subjects.chance import Chance
>>> from snellen.worlds import world
>>> played(lambda: world("nchain"), held_out(3), Chance().act).lengths
array([1000, 1000, 1000])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from snellen.core import MOST_PRACTICE, Answers, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    import numpy.typing as npt

    from snellen.core import World

MOST_GAMES = 1 << 20
"""In a repeat."""
MOST_STEPS = 1 << 16
"""In a game."""


class Games(NamedTuple):
    """What came of games, in the order of their seeds."""

    returns: npt.NDArray[np.float64]
    """The sum of the rewards of each."""
    lengths: npt.NDArray[np.intp]
    """The steps that each took."""


def held_out(games: int, repeat: int = 0) -> range:
    """Return seeds on which nobody has practised; each repeat has its own."""
    assert games <= MOST_GAMES, "repeats would share seeds"
    start = MOST_PRACTICE + repeat * MOST_GAMES
    return range(start, start + games)


def play(make: Callable[[], World], seeds: Sequence[int]) -> Generator[Turn, Answers | None, Games]:
    """Play a game on each seed, all in step; those that are over leave the turns to the rest."""
    worlds = [make() for _ in seeds]
    seen = [world.begin(seed) for world, seed in zip(worlds, seeds, strict=True)]
    returns, lengths = np.zeros(len(seeds)), np.zeros(len(seeds), np.intp)
    going = list(range(len(seeds)))
    while going:
        answers = yield Turn(
            np.stack([seen[game] for game in going]),
            np.stack([worlds[game].valid() for game in going]),
            np.array([seeds[game] * MOST_STEPS + lengths[game] for game in going], np.uint64),
        )
        assert answers is not None, "a turn is left by answering it"
        still = []
        for game, action in zip(going, answers.choice.tolist(), strict=True):
            seen[game], reward, over = worlds[game].step(action)
            returns[game] += reward
            lengths[game] += 1
            if not over and lengths[game] < worlds[game].limit:
                still.append(game)
        going = still
    return Games(returns, lengths)


def played(
    make: Callable[[], World], seeds: Sequence[int], act: Callable[[Turn], Answers]
) -> Games:
    """Play with a player who is at hand."""
    games, answers = play(make, seeds), None
    while True:
        try:
            answers = act(games.send(answers))
        except StopIteration as end:
            found: Games = end.value
            return found
