"""Which is the shortest program that draws all the examples?

This is the synthesizer of Ellis et al. (2015) in the form of Yihe et al. (2021): Z3
looks for a program that draws every example, then for a cheaper one, until there is
none or its time is up. Two lengths, or one and an angle, are not linear, and with more
than three shapes its time is then mostly up; as what ends in time depends on the machine,
so does the program. All else is the same at every run.

>>> from snellen.images.svrt.parsings import Parsing, Shape
>>> pictures = [
...     Parsing((Shape(30, 94, 1, 52.5), Shape(87, 49, 1, 52.5))),
...     Parsing((Shape(34, 90, 1, 52.5), Shape(107, 94, 1, 52.5))),
... ]
>>> print(synthesize(pictures))
teleport r[0]
draw s[0]
teleport r[1]
draw s[0]
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from snellen.errors import BadSetting, extra
from snellen.subjects.synthesis.encoding import decided, question, settled, undecided
from snellen.subjects.synthesis.programs import Inputs, Program, cost, fixed_bits, grid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from snellen.images.svrt.parsings import Parsing

GRACE = 0.2
"""Seconds after which a check that overruns its limit is interrupted."""


def synthesize(
    examples: Sequence[Parsing],
    *,
    seconds: float = 30.0,
    total: float | None = None,
    nonlinear: int | None = None,
    tell: Callable[[str], None] | None = None,
) -> Program:
    """Return the cheapest program found that draws all the examples.

    Examples with another number of shapes than most are left out, as in the paper. A
    program without draws says that none was found; `complete` says whether none exists.

    Args:
        examples: what the pictures of one category show.
        seconds: the limit of a single check.
        total: the limit of them all.
        nonlinear: the most shapes for which two lengths or an angle are tried. With 4 and
            more these checks run into their limit, nearly always in vain: 3 skips them.
        tell: is called with a line of progress before every count of inputs that is tried.

    """
    if not examples:
        raise BadSetting("the synthesizer needs examples and was given none; give at least one")
    search = _Search(_alike(examples), seconds, total, nonlinear)
    for inputs in search.agenda():
        if tell is not None:
            tell(f"{search.best.cost:.1f} bits after {search.checks} checks; next {inputs}")
        search.improve(inputs)
    return search.result()


def explains(program: Program, parsing: Parsing, *, seconds: float = 5.0) -> bool | None:
    """Tell whether the program draws the picture; None when there was no time to see."""
    inputs, shapes = program.inputs, parsing.shapes
    if (
        len(shapes) != len(program.draws)
        or max((shape.identity for shape in shapes), default=0) > inputs.shapes
        or len(parsing.contains) > inputs.contains
        or len(parsing.borders) > inputs.borders
    ):
        return False
    return _check(question(settled(program), [parsing]), seconds).holds


def score(program: Program, parsing: Parsing, *, seconds: float = 5.0) -> float:
    """Return less the bits that the picture costs the program; -inf when it cannot be drawn.

    A picture for which the time was up counts as one that cannot be drawn, as in the paper.
    """
    return -program.bits if explains(program, parsing, seconds=seconds) else -math.inf


def preference(first: float, second: float) -> float:
    """Compare two scores: 1 when the first is larger, 0 when the second is, a tie is ½."""
    return 0.5 if first == second else float(first > second)


@dataclass
class _Search:
    """What has been found so far."""

    examples: Sequence[Parsing]
    seconds: float
    total: float | None
    nonlinear: int | None
    best: Program = field(default_factory=Program)
    checks: int = 0
    timeouts: int = 0
    skipped: int = 0
    started: float = field(default_factory=time.perf_counter)

    @property
    def drawn(self) -> int:
        """How many shapes every example has."""
        return len(self.examples[0].shapes)

    @property
    def left(self) -> float:
        """Seconds that the next check may take."""
        spent = time.perf_counter() - self.started
        return self.seconds if self.total is None else min(self.seconds, self.total - spent)

    def agenda(self) -> list[Inputs]:
        """List the counts of inputs: the surest first, then the cheapest."""
        some = Inputs(
            shapes=max(shape.identity for seen in self.examples for shape in seen.shapes),
            contains=max(len(picture.contains) for picture in self.examples),
            borders=max(len(picture.borders) for picture in self.examples),
        )
        useful = _useful_scales(self.examples)
        points = [inputs for inputs in grid(some, self.drawn) if inputs.scale in useful]
        return sorted(points, key=lambda inputs: (inputs.positions < self.drawn, inputs.numbers))

    def improve(self, inputs: Inputs) -> None:
        """Find ever cheaper programs with these inputs, until there are no more."""
        while fixed_bits(inputs, self.drawn, len(self.examples)) < self.best.cost:
            if not inputs.linear and self.nonlinear is not None and self.drawn > self.nonlinear:
                self.skipped += 1
                return
            if self.left <= 0:
                self.timeouts += 1
                return
            draft = undecided(inputs, self.drawn, len(self.examples), self.best.cost)
            verdict = _check(question(draft, self.examples), self.left)
            self.checks += 1
            if not verdict.holds:
                self.timeouts += verdict.holds is None
                return
            draws, relations = decided(draft, verdict.chosen)
            bits = cost(draws, relations, inputs, len(self.examples))
            self.best = Program(draws, relations, inputs, bits)

    def result(self) -> Program:
        """Return the best that was found, and how."""
        return replace(
            self.best,
            complete=not self.timeouts and not self.skipped,
            seconds=time.perf_counter() - self.started,
            checks=self.checks,
            timeouts=self.timeouts,
            skipped=self.skipped,
        )


@dataclass(frozen=True)
class _Verdict:
    holds: bool | None
    chosen: frozenset[str] = frozenset()


def _useful_scales(examples: Sequence[Parsing]) -> tuple[int, ...]:
    """Tell which scales may draw the examples: without one, a contour has one size above 0."""
    if any(shape.scale < 0 for picture in examples for shape in picture.shapes):
        return (-1,)
    for picture in examples:
        sizes = {(shape.identity, shape.scale) for shape in picture.shapes}
        if len(sizes) > len({who for who, _ in sizes}):
            return (-2, 1)
    return (-2,)


def _alike(examples: Sequence[Parsing]) -> list[Parsing]:
    (count, _), *_ = Counter(len(picture.shapes) for picture in examples).most_common()
    return [picture for picture in examples if len(picture.shapes) == count]


def _check(text: str, seconds: float) -> _Verdict:
    """Ask Z3, in a context of its own so that earlier questions leave no trace."""
    with extra("synthesis", "the synthesizer on Z3"):
        import z3
    solver: Any = z3.Solver(ctx=z3.Context())
    solver.set(random_seed=0, timeout=math.ceil(1000 * seconds))
    solver.from_string(text)
    watchdog = threading.Timer(seconds + GRACE, solver.interrupt)
    watchdog.start()
    try:
        answer = solver.check()
    finally:
        watchdog.cancel()
    if answer != z3.sat:
        return _Verdict(False if answer == z3.unsat else None)
    model = solver.model()
    return _Verdict(True, frozenset(x.name() for x in model.decls() if z3.is_true(model[x])))
