"""Where can one play, and by which name?

>>> world("nchain").actions
2
>>> world("frozen-lak")
Traceback (most recent call last):
    ...
snellen.errors.UnknownName: no world is called 'frozen-lak'; did you mean 'frozen-lake'?

Ten worlds of the kinship paper (Pereyda & Holder 2020): two are played here, eight are
gymnasium's (extra `rl`). Two of them become one with `merged.Merged`, `changed.flawed` makes them
as the paper's player met them, an exam plays them with `playing.play`, and `scores.normalised`
tells what a return is worth.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from snellen.errors import UnknownName
from snellen.worlds.gym import GYMS, Gym
from snellen.worlds.toys import NChain, Roulette

if TYPE_CHECKING:
    from collections.abc import Callable

    from snellen.core import World

TOYS: dict[str, Callable[..., World]] = {"nchain": NChain, "roulette": Roulette}
WORLDS = (*GYMS, *TOYS)
"""The names of all worlds."""


def world(name: str, *, scalar: bool = False) -> World:
    """Make the world called `name`.

    A state that is one of several is seen as so many places, of which one holds a 1; as a
    single number, as the paper has it, if `scalar`.
    """
    if name in TOYS:
        return TOYS[name](scalar=scalar)
    if name in GYMS:
        return Gym(name, scalar=scalar)
    near = get_close_matches(name, WORLDS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(WORLDS)}"
    raise UnknownName(f"no world is called {name!r}; {hint}")
