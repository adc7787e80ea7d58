"""What does a program of the drawing turtle say, and how many bits does it take?

A program is what the pictures of a category have in common. Once a picture it is given
inputs, that which differs between them, and what it draws is compared with the picture
(Ellis et al. 2015, section 4; Yihe et al. 2021):

>>> pair = Inputs(positions=1, lengths=1)
>>> pair.bits
1040.0
>>> there = Program((FIRST, Draw(Place("move"))), inputs=pair)
>>> print(there)
teleport r[0]
draw s[0]
move l[0] 0
draw s[0]
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

TURNS = ("0", "90", "-90")
"""By which a `move` may turn without an input, in degrees."""
BENT = "a[0]"
"""The turn that is an input."""


class Inputs(NamedTuple):
    """How many numbers of each kind a program is given once a picture."""

    positions: int = 1
    """LP: places to teleport to."""
    lengths: int = 0
    """LD: how far to move."""
    angles: int = 0
    """LA: by how much to turn before a move."""
    scale: int = -2
    """LZ: −2 for none, else the sign of the one that is there (at most 1 in size)."""
    shapes: int = 1
    """LS: contours to draw."""
    contains: int = 0
    """LK: how many pairs may be one inside the other."""
    borders: int = 0
    """LB: how many pairs may touch."""

    @property
    def heading(self) -> int:
        """LI: who moves must be told into which direction to look at first."""
        return int(self.lengths > 0)

    @property
    def linear(self) -> bool:
        """Whether no step has to multiply one unknown by another."""
        return self.lengths == 0 or (self.lengths == 1 and self.angles == 0)

    @property
    def numbers(self) -> int:
        """How many numbers a picture takes besides its shapes."""
        scales = 2 - abs(self.scale)
        return scales + self.angles + self.lengths + 2 * self.positions + self.heading

    @property
    def bits(self) -> float:
        """What the inputs of one picture cost."""
        return 10.0 * self.numbers + 1000.0 * self.shapes


class Place(NamedTuple):
    """How the turtle gets to where it draws."""

    kind: str = "teleport"
    which: int = 0
    """Of the position or length."""
    turn: str = ""

    def __str__(self) -> str:
        if self.kind == "teleport":
            return f"teleport r[{self.which}]"
        return f"move l[{self.which}] {self.turn or '0'}" if self.kind == "move" else self.kind


class Draw(NamedTuple):
    """Two lines of a program: get there, and draw."""

    place: Place
    shape: int = 0
    scaled: bool = False

    def __str__(self) -> str:
        return f"{self.place}\ndraw s[{self.shape}]{':scale z' if self.scaled else ''}"


FIRST = Draw(Place())
"""With which every program begins."""


class Relation(NamedTuple):
    """A line that says how two of the drawn shapes are to each other."""

    kind: str
    one: int
    other: int
    optional: bool = False

    def __str__(self) -> str:
        return f"{self.kind}{'-option' if self.optional else ''} {self.one} {self.other}"


@dataclass(frozen=True)
class Program:
    """What a category's pictures have in common, and how it was found."""

    draws: tuple[Draw, ...] = ()
    """None of them: nothing was found that draws all the examples."""
    relations: tuple[Relation, ...] = ()
    inputs: Inputs = field(default_factory=Inputs)
    cost: float = math.inf
    """Bits of the program and of its inputs for all the examples."""
    complete: bool = True
    """Whether all was tried and ended in time, so that no cheaper program can exist."""
    seconds: float = 0.0
    checks: int = 0
    timeouts: int = 0
    skipped: int = 0
    """Counts of inputs that were not tried though they might have been cheaper."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The program as text."""
        made = "\n".join(map(str, (*self.draws, *self.relations)))
        return tuple(made.splitlines())

    @property
    def bits(self) -> float:
        """What one picture costs when the program draws it; without a program, no end."""
        if not self.draws:
            return math.inf
        return self.inputs.bits + sum(relation.optional for relation in self.relations)

    def __str__(self) -> str:
        return "\n".join(self.lines)


def places(inputs: Inputs) -> list[tuple[Place, float]]:
    """List every way to get to the next place, with the bits that choosing it takes."""
    turns = [*TURNS, BENT][: len(TURNS) + inputs.angles]
    moves = [
        Place("move", length, "" if turn == "0" else turn)
        for length in range(inputs.lengths)
        for turn in turns
    ]
    teleports = [Place("teleport", position) for position in range(inputs.positions)]
    groups = [teleports, moves, [Place("flip-X")], [Place("flip-Y")], [Place("jitter")]]
    kinds = [group for group in groups if group]
    return [
        (place, math.log2(len(kinds)) + math.log2(len(kind))) for kind in kinds for place in kind
    ]


def fixed_bits(inputs: Inputs, drawn: int, examples: int) -> float:
    """Return what every program with these inputs costs, whatever else it says."""
    ink = math.log2(inputs.shapes) + (inputs.scale != -2)
    pairs = drawn * (drawn - 1)
    related = inputs.contains * (1 + _bits(pairs)) + inputs.borders * (1 + _bits(pairs // 2))
    return (drawn - 1) * ink + related + examples * inputs.bits


def cost(
    draws: tuple[Draw, ...], relations: tuple[Relation, ...], inputs: Inputs, examples: int
) -> float:
    """Return the bits of a program and of its inputs for that many examples."""
    bits = dict(places(inputs))
    chosen = sum(bits[draw.place] for draw in draws[1:])
    options = sum(relation.optional for relation in relations)
    return chosen + examples * options + fixed_bits(inputs, len(draws), examples)


def grid(inputs: Inputs, drawn: int) -> Iterator[Inputs]:
    """Yield every count of scales, angles, lengths and positions that n shapes can take."""
    for scale, angles, lengths in itertools.product((-2, -1, 1), (0, 1), (0, 1, 2)):
        if angles <= lengths:
            for positions in range(1, drawn - lengths + 1):
                yield inputs._replace(
                    scale=scale, angles=angles, lengths=lengths, positions=positions
                )


def _bits(alternatives: int) -> float:
    return math.log2(alternatives) if alternatives else 0.0
