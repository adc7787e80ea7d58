"""Which question about programs and pictures does a solver have to answer?

The question is text in SMT-LIB 2, so it holds no solver's objects and is the same at
every run. What is left to choose has a name, what is settled is just `true`; so the
same rules serve to look for a program and to ask whether a given one draws a picture.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from snellen.subjects.synthesis.programs import (
    BENT,
    FIRST,
    Draw,
    Inputs,
    Place,
    Program,
    Relation,
    fixed_bits,
    places,
)

if TYPE_CHECKING:
    from snellen.images.svrt.parsings import Parsing

NEAR = 3
"""A drawn shape is where the picture has it when both axes differ by no more, in pixels."""
JITTER = 7
SIDE = 128
GRAIN = 1000
"""Costs are compared in thousandths of a bit."""
Literal: TypeAlias = str
"""The name of a choice, or `true` or `false`."""
_T = TypeVar("_T")
Vector: TypeAlias = tuple[str, str]


@dataclass
class Draft:
    """A program of which some or all is still to be chosen, and the rules of the choice."""

    inputs: Inputs
    ways: list[dict[Place, Literal]]
    """For each draw, how the turtle may get there."""
    inks: list[dict[int, Literal]]
    scaled: list[Literal]
    relations: dict[Relation, Literal]
    settled: bool = False
    text: list[str] = field(default_factory=list)

    def name(self, kind: str, *at: int, sort: str = "Bool") -> str:
        """Declare something to be chosen."""
        made = "_".join([kind, *map(str, at)])
        self.text.append(f"(declare-const {made} {sort})")
        return made

    def rule(self, given: Iterable[Literal], then: Iterable[str]) -> None:
        """Let one of the consequences hold whenever all that is given does."""
        needed, made = [lit for lit in given if lit != "true"], list(then)
        if "false" not in needed and "true" not in made:
            terms = [f"(not {lit})" for lit in needed] + made
            self.text.append(f"(assert (or false {' '.join(terms)}))")

    def one_of(self, names: Sequence[Literal]) -> None:
        """Let exactly one of them hold."""
        self.rule([], names)
        self.at_most_one(names)

    def at_most_one(self, names: Sequence[Literal]) -> None:
        """Let no two of them hold."""
        for pair in itertools.combinations(names, 2):
            self.rule(pair, [])

    def at_most(self, budget: int, weights: Mapping[Literal, int]) -> None:
        """Let those that hold weigh no more than the budget together."""
        heavy = {lit: weight for lit, weight in weights.items() if weight}
        if budget < 0:
            self.text.append("(assert false)")
        elif sum(heavy.values()) > budget:
            numbers = " ".join(map(str, (budget, *heavy.values())))
            self.text.append(f"(assert ((_ pble {numbers}) {' '.join(heavy)}))")


def settled(program: Program) -> Draft:
    """Return a draft in which there is nothing left to choose."""
    return Draft(
        program.inputs,
        [{draw.place: "true"} for draw in program.draws],
        [{draw.shape: "true"} for draw in program.draws],
        [str(draw.scaled).lower() for draw in program.draws],
        dict.fromkeys(program.relations, "true"),
        settled=True,
    )


def undecided(inputs: Inputs, drawn: int, examples: int, below: float = math.inf) -> Draft:
    """Return a draft that may become any program with these inputs that costs less."""
    draft = Draft(inputs, [{FIRST.place: "true"}], [{0: "true"}], ["false"], {})
    priced = places(inputs)
    weights: dict[Literal, int] = {}
    for at in range(1, drawn):
        names = [draft.name("way", at, number) for number in range(len(priced))]
        weights |= {
            name: round(GRAIN * bits) for name, (_, bits) in zip(names, priced, strict=True)
        }
        draft.ways.append({place: name for name, (place, _) in zip(names, priced, strict=True)})
        draft.inks.append({shape: draft.name("ink", at, shape) for shape in range(inputs.shapes)})
        draft.scaled.append("false" if inputs.scale == -2 else draft.name("scaled", at))
        draft.one_of(names)
        draft.one_of(list(draft.inks[at].values()))
    weights |= _relate(draft, drawn, examples)
    _use_in_order(draft)
    if below < math.inf:
        left = math.floor(GRAIN * (below - fixed_bits(inputs, drawn, examples)))
        draft.at_most(left - drawn, weights)  # a weight is rounded: off by less than 1 a draw
    return draft


def decided(draft: Draft, chosen: frozenset[str]) -> tuple[tuple[Draw, ...], tuple[Relation, ...]]:
    """Read what a solver chose."""
    held = chosen | {"true"}
    draws = [
        Draw(_only(ways, held), _only(inks, held), scaled in held)
        for ways, inks, scaled in zip(draft.ways, draft.inks, draft.scaled, strict=True)
    ]
    return tuple(draws), tuple(line for line, lit in draft.relations.items() if lit in held)


def question(draft: Draft, pictures: Sequence[Parsing]) -> str:
    """Ask for the choices and inputs with which the draft draws all the pictures."""
    asked = replace(draft, text=list(draft.text))
    for number, picture in enumerate(pictures):
        drawn = _matched(asked, number, picture)
        _put(asked, number)
        _looks(asked, number, picture, drawn)
        _topology(asked, picture, drawn)
    return "\n".join(asked.text)


def _relate(draft: Draft, drawn: int, examples: int) -> dict[Literal, int]:
    """Let pairs of draws hold or touch each other; return what the options cost."""
    optional = {}
    for kind, most, pairs in (
        ("contains", draft.inputs.contains, itertools.permutations(range(drawn), 2)),
        ("borders", draft.inputs.borders, itertools.combinations(range(drawn), 2)),
    ):
        made: list[Literal] = []
        for pair in pairs if most else ():
            always, maybe = draft.name(kind, *pair), draft.name(f"{kind}_option", *pair)
            draft.relations[Relation(kind, *pair)] = always
            draft.relations[Relation(kind, *pair, optional=True)] = maybe
            draft.at_most_one([always, maybe])
            made += [always, maybe]
            optional[maybe] = GRAIN * examples
        draft.at_most(most, dict.fromkeys(made, 1))
    return optional


def _use_in_order(draft: Draft) -> None:
    """Use every input, and the first ones first: all else is another name or dearer."""
    inputs = draft.inputs
    for count, uses in (
        (inputs.shapes, [{k: [lit] for k, lit in ink.items()} for ink in draft.inks]),
        (inputs.positions, [_indices(ways, "teleport") for ways in draft.ways]),
        (inputs.lengths, [_indices(ways, "move") for ways in draft.ways]),
    ):
        for index in range(count):
            draft.rule([], [lit for use in uses for lit in use.get(index, ())])
        for at, index in itertools.product(range(1, len(uses)), range(1, count)):
            before = [lit for use in uses[:at] for lit in use.get(index - 1, ())]
            for lit in uses[at].get(index, ()):
                draft.rule([lit], before)
    if inputs.angles:
        bent = [lit for ways in draft.ways for place, lit in ways.items() if place.turn == BENT]
        draft.rule([], bent)
    if inputs.scale != -2:
        draft.rule([], draft.scaled[1:])


def _indices(ways: Mapping[Place, Literal], kind: str) -> dict[int, list[Literal]]:
    found: dict[int, list[Literal]] = {}
    for place, lit in ways.items():
        if place.kind == kind:
            found.setdefault(place.which, []).append(lit)
    return found


def _matched(draft: Draft, number: int, picture: Parsing) -> list[list[Literal]]:
    """Match every draw with one shape of the picture, and be near it."""
    count = len(draft.ways)
    same = [[draft.name("is", number, at, shape) for shape in range(count)] for at in range(count)]
    for line in (*same, *(list(column) for column in zip(*same, strict=True))):
        draft.one_of(line)
    for at in range(count):
        for axis in "xy":
            where = draft.name(f"p{axis}", number, at, sort="Real")
            for shape, lit in zip(picture.shapes, same[at], strict=True):
                there = Fraction(getattr(shape, axis))
                draft.rule([lit], [f"(<= {where} {_real(there + NEAR)})"])
                draft.rule([lit], [f"(>= {where} {_real(there - NEAR)})"])
    return same


def _put(draft: Draft, number: int) -> None:
    """Say where each way to get about leads to in one picture, and where one then looks to."""
    count = len(draft.ways)
    spots = [(f"px_{number}_{at}", f"py_{number}_{at}") for at in range(count)]
    moving = bool(draft.inputs.lengths)
    looks = [_vector(draft, "look", number, at) for at in range(count if moving else 0)]
    teleports = [_vector(draft, "r", number, k) for k in range(draft.inputs.positions)]
    shake = _vector(draft, "jitter", number)
    for part in shake:
        draft.text.append(f"(assert (< (- {JITTER}) {part} {JITTER}))")
    lengths, angle = _lengths_and_angle(draft, number)
    for at, ways in enumerate(draft.ways):
        before = spots[at - 1]
        for place, lit in ways.items():
            then = looks[at - 1] if moving and at else None
            if place.kind == "move":
                then = _turned(looks[at - 1], place.turn, angle)
                x, y = looks[at]
                far = lengths[place.which]
                there = _sum(before, (f"(* {far} {x})", f"(* {far} {y})"))
            elif place.kind == "teleport":
                then = looks[0] if moving and at else None
                there = teleports[place.which]
            else:
                there = _elsewhere(before, place.kind, shake)
            _equal(draft, [lit], spots[at], there)
            if then is not None:
                _equal(draft, [lit], looks[at], then)


def _lengths_and_angle(draft: Draft, number: int) -> tuple[list[str], Vector]:
    """Declare how far one moves and by how much one turns in one picture.

    The first look may be as long as the first length: with no other length or angle all is
    linear then, and even else a settled program is decided at once. The search for one has
    looks of length 1, as in the paper, whose limits come from that: without, #6 is half solved.
    """
    inputs = draft.inputs
    lengths = [draft.name("l", number, k, sort="Real") for k in range(inputs.lengths)]
    draft.text += [f"(assert (>= {far} 0))" for far in lengths]
    if inputs.linear or draft.settled:
        lengths[:1] = ["1"]
    else:
        _unit(draft, (f"lookx_{number}_0", f"looky_{number}_0"))
    if not inputs.angles:
        return lengths, ("1", "0")
    angle = _vector(draft, "angle", number)
    _unit(draft, angle)
    return lengths, angle


def _unit(draft: Draft, vector: Vector) -> None:
    x, y = vector
    draft.text.append(f"(assert (= 1 (+ (* {x} {x}) (* {y} {y}))))")


def _turned(look: Vector, turn: str, angle: Vector) -> Vector:
    (x, y), (cos, sin) = look, angle
    if turn == BENT:
        return f"(- (* {cos} {x}) (* {sin} {y}))", f"(+ (* {sin} {x}) (* {cos} {y}))"
    return {"": (x, y), "90": (f"(- {y})", x), "-90": (y, f"(- {x})")}[turn]


def _elsewhere(spot: Vector, kind: str, shake: Vector) -> Vector:
    x, y = spot
    if kind == "jitter":
        return _sum(spot, shake)
    return (f"(- {SIDE} {x})", y) if kind == "flip-X" else (x, f"(- {SIDE} {y})")


def _looks(draft: Draft, number: int, picture: Parsing, same: list[list[Literal]]) -> None:
    """Give every input shape one identity and one size, and draw the picture's with them.

    A size is above nought; drawn to scale it is multiplied. It is enough to try the scales
    that two shapes of the picture have to each other: were another right, then none of
    the contours would be drawn both to scale and not, and so any scale would be.
    """
    shapes = [(shape.identity, Fraction(shape.scale)) for shape in picture.shapes]
    scales = _scales(shapes, draft.inputs.scale)
    chosen = [draft.name("scale", number, k) for k in range(len(scales))]
    draft.at_most_one(chosen)
    if chosen:
        draft.rule([], chosen)
    sizes = {shape for shape in shapes if shape[1] > 0}
    sizes |= {(who, size / by) for who, size in shapes for by in scales if size / by > 0}
    looks = [
        {look: draft.name("kind", number, k, w) for w, look in enumerate(sorted(sizes))}
        for k in range(draft.inputs.shapes)
    ]
    for look in looks:
        draft.at_most_one(list(look.values()))
    for at, (inks, scaled) in enumerate(zip(draft.inks, draft.scaled, strict=True)):
        for (ink, drawn), (shape, it) in itertools.product(
            inks.items(), zip(shapes, same[at], strict=True)
        ):
            for by, lit in _factors(scales, chosen, scaled):
                fits = looks[ink].get((shape[0], shape[1] / by), "false")
                draft.rule([drawn, it, *lit], [fits])


def _factors(
    scales: Sequence[Fraction], chosen: Sequence[Literal], scaled: Literal
) -> list[tuple[Fraction, list[Literal]]]:
    """List by what a size may be multiplied, and when."""
    to_scale = [(by, [scaled, lit]) for by, lit in zip(scales, chosen, strict=True)]
    return [(Fraction(1), [_not(scaled)]), *to_scale]


def _scales(shapes: Sequence[tuple[int, Fraction]], sign: int) -> list[Fraction]:
    if sign == -2:
        return []
    ratios = {a / b for (one, a), (other, b) in itertools.product(shapes, shapes) if one == other}
    return sorted({Fraction(sign)} | {by for by in ratios if 0 < sign * by <= 1})


def _topology(draft: Draft, picture: Parsing, same: list[list[Literal]]) -> None:
    """See that what a program says of pairs is so, and that it says all that there is."""
    seen = {"contains": set(picture.contains), "borders": set(picture.borders)}
    seen["borders"] |= {(b, a) for a, b in picture.borders}
    pairs = list(itertools.permutations(range(len(same)), 2))
    for line, lit in draft.relations.items():
        if not line.optional:
            for a, b in pairs:
                if (a, b) not in seen[line.kind]:
                    draft.rule([lit, same[line.one][a], same[line.other][b]], [])
    said: dict[tuple[str, int, int], list[Literal]] = {}
    for line, lit in draft.relations.items():
        said.setdefault((line.kind, line.one, line.other), []).append(lit)
    for kind, related in seen.items():
        for (a, b), (i, j) in itertools.product(sorted(related), pairs):
            lines = said.get((kind, i, j), [])
            if kind == "borders":
                lines = lines + said.get((kind, j, i), [])
            draft.rule([same[i][a], same[j][b]], lines)


def _vector(draft: Draft, kind: str, *at: int) -> Vector:
    x, y = (draft.name(f"{kind}{axis}", *at, sort="Real") for axis in "xy")
    return x, y


def _equal(draft: Draft, given: Sequence[Literal], one: Vector, other: Vector) -> None:
    for a, b in zip(one, other, strict=True):
        draft.rule(given, [f"(= {a} {b})"])


def _sum(one: Vector, other: Vector) -> Vector:
    return f"(+ {one[0]} {other[0]})", f"(+ {one[1]} {other[1]})"


def _not(lit: Literal) -> Literal:
    return {"true": "false", "false": "true"}.get(lit, f"(not {lit})")


def _real(number: Fraction) -> str:
    size = f"(/ {abs(number.numerator)} {number.denominator})"
    return f"(- {size})" if number < 0 else size


def _only(options: Mapping[_T, Literal], held: frozenset[str]) -> _T:
    (choice,) = (option for option, lit in options.items() if lit in held)
    return choice
