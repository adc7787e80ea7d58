"""How much must be added to nothing, before it can be named?

People cannot be shown a picture first and less of it afterwards: they would remember. So they
go the other way (Carrasco et al. 2020, §3.5): from a void picture, the colour of the central
pixel, they ask for more of one kind or of all, until they name what they see. The picture that
they name rightly is their MEPI; named wrongly, or passed when all is there, it is inconclusive.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from snellen.core import Answers, Sheet
from snellen.exams.laconic.lattice import Lattice, whole
from snellen.exams.laconic.search import PROMPT
from snellen.images.reductions import CROP, SLICES, Way

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.exams.laconic.lattice import State
    from snellen.images.reductions import Picture

STEPS = 20
"""At most so many from nothing to all of one kind, lest people tire (§3.5)."""
GIVE_UP = "I cannot tell"
ALL = "more of everything"
MORE = {
    "resolution": "more detail",
    "colour": "more colours",
    "top": "more above",
    "bottom": "more below",
    "left": "more on the left",
    "right": "more on the right",
}
Climbing: TypeAlias = Generator[Sheet, Answers, "Climb"]


@dataclass
class Climb:
    """How far somebody went up, and what they named there."""

    states: list[State | None] = field(default_factory=list)
    """All that was shown, from the void picture (None) on."""
    named: str = ""
    """Empty: passed."""


def climbable(picture: Picture, ways: Sequence[Way], side: int, neutral: int) -> Lattice:
    """Return the lattice that people go up in: ladders of some twenty rungs, of even ratios."""
    return Lattice(picture, [_coarse(way) for way in ways], side, neutral, rungs=STEPS + 1)


def climb(lattice: Lattice, names: tuple[str, ...], truth: int) -> Climbing:
    """Show ever more, as it is asked for, until the picture is named or passed."""
    made, state = Climb(), None
    while True:
        made.states.append(state)
        offers = _offers(lattice, state)
        answers: Answers = yield _sheet(lattice, state, names, truth, tuple(offers))
        choice = int(answers.choice[0])
        if choice < len(names):
            made.named = names[choice] if choice >= 0 else ""
            return made
        offer = list(offers)[choice - len(names)]
        if offer == GIVE_UP:
            return made
        state = offers[offer]


def void(picture: Picture) -> Picture:
    """Return what people start from: the central pixel, alone."""
    row, column = picture.shape[0] // 2, picture.shape[1] // 2
    return picture[row : row + 1, column : column + 1]


def _sheet(
    lattice: Lattice,
    state: State | None,
    names: tuple[str, ...],
    truth: int,
    offers: tuple[str, ...],
) -> Sheet:
    if state is None:
        where, shown = "void", whole(void(lattice.original), lattice.side)
    else:
        where, shown = " ".join(map(str, state)), lattice.shown(state)
    given = {"state": np.array([where])}
    return Sheet(
        shown[None], names, np.array([truth], np.intp), given=given, prompt=PROMPT, instead=offers
    )


def _offers(lattice: Lattice, state: State | None) -> dict[str, State | None]:
    """Return what may be asked for, and where it leads; at the original, only to pass."""
    least = tuple(len(ladder) - 1 for ladder in lattice.ladders)
    if state is None:
        return {ALL: least} if len(least) > 1 else {_more(lattice, 0): least}
    ups: dict[str, State | None] = {
        _more(lattice, way): higher
        for way in range(len(state))
        if (higher := _up(lattice, state, way)) is not None
    }
    if not ups:
        return {GIVE_UP: None}
    if len(ups) > 1:
        raised = [_up(lattice, state, way) or state for way in range(len(state))]
        ups = {ALL: tuple(raised[way][way] for way in range(len(state))), **ups}
    return ups


def _up(lattice: Lattice, state: State, way: int) -> State | None:
    """Return the nearest state in one way, towards the original, that looks otherwise."""
    key = lattice.key(state)
    for rung in range(state[way] - 1, -1, -1):
        higher = (*state[:way], rung, *state[way + 1 :])
        if lattice.key(higher) != key:
            return higher
    return None


def _more(lattice: Lattice, way: int) -> str:
    name = lattice.ways[way].name
    return MORE.get(name, f"more {name}")


def _coarse(way: Way) -> Way:
    """Return a way with the ladder that it has beside others; crops meet in the middle."""
    if way.name in CROP:
        half = range(SLICES // 2)
        return Way(way.name, lambda shape, alone: half[: len(way.ladder(shape, alone))], way.apply)
    return Way(way.name, lambda shape, _: way.ladder(shape, False), way.apply)
