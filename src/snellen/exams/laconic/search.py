"""Where in a lattice is the least picture that is still named rightly?

A search is a part of a flow: it yields sheets of reduced pictures and is sent answers.
All of them keep the paper's two rules (Carrasco et al. 2020, definition 3.5): a step
must lower the entropy, and the least picture is reached through rightly named pictures
only. They end where every single further step is wrong, and the record says so.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from snellen.core import Answers, Sheet
from snellen.images.reductions import CROP

if TYPE_CHECKING:
    from snellen.exams.laconic.lattice import Lattice, State
    from snellen.images.reductions import Way

PROMPT = "What is in the picture?"
AHEAD = 8
"""Rungs asked at once where there is one way only."""
Asking: TypeAlias = Generator[Sheet, Answers, Any]


class Reply(NamedTuple):
    """What the subject made of a picture."""

    right: bool
    margin: float
    """Score of the right choice less the best of the others; NaN without scores."""


@dataclass(frozen=True, eq=False)
class Node:
    """A rightly named picture, with the way there."""

    state: State
    bits: int
    margin: float
    parent: Node | None = field(default=None, repr=False)

    @property
    def path(self) -> list[Node]:
        """From the original to here."""
        made, here = [self], self
        while here.parent is not None:
            here = here.parent
            made.append(here)
        return made[::-1]


class _SpentError(Exception):
    """The budget does not suffice for the next question."""


@dataclass
class Search:
    """What is known so far of one picture's reductions."""

    lattice: Lattice
    choices: tuple[str, ...]
    truth: int
    budget: int = 0
    """Pictures that may be asked; 0: as many as it takes."""
    guard: float = 0.0
    """The share of the original's margin that a right answer must keep, lest it be a guess."""
    floor: float = -math.inf
    """The margin that this comes to, once the original was asked."""
    replies: dict[Any, Reply] = field(default_factory=dict)
    best: Node | None = None
    """The least picture that was reached by the rules."""
    curve: list[tuple[int, int]] = field(default_factory=list)
    """After so many pictures asked, the least entropy found."""

    def ask(self, states: Sequence[State]) -> Generator[Sheet, Answers, list[Reply]]:
        """Ask about the pictures that were not asked before; return the replies to all."""
        keys = [self.lattice.key(state) for state in states]
        new = {key: s for key, s in zip(keys, states, strict=True) if key not in self.replies}
        if self.budget and len(self.replies) + len(new) > self.budget:
            raise _SpentError
        if new:
            images = np.stack([self.lattice.shown(state) for state in new.values()])
            truth = np.full(len(images), self.truth, np.intp)
            given = {"state": np.array([" ".join(map(str, state)) for state in new.values()])}
            answers: Answers = yield Sheet(images, self.choices, truth, given=given, prompt=PROMPT)
            self.replies |= zip(new, replied(answers, self.floor), strict=True)
        return [self.replies[key] for key in keys]

    def reach(self, state: State, reply: Reply, parent: Node | None) -> Node:
        """Note a rightly named picture that one step leads to."""
        node = Node(state, self.lattice.bits(state), reply.margin, parent)
        if self.best is None or node.bits < self.best.bits:
            self.best = node
            self.curve.append((len(self.replies), node.bits))
        return node

    def is_minimal(self, node: Node) -> bool:
        """Tell whether every single further step was asked and is wrong."""
        replies = [
            self.replies.get(self.lattice.key(step)) for step in self.lattice.steps(node.state)
        ]
        return all(reply is not None and not reply.right for reply in replies)


Method: TypeAlias = Callable[[Search, Node], Asking]


def least(search: Search, method: Method) -> Generator[Sheet, Answers, Node | None]:
    """Find the least rightly named picture; None if the original itself is named wrongly."""
    try:
        (reply,) = yield from search.ask([search.lattice.start])
        if not reply.right:
            return None
        if search.guard:
            search.floor = search.guard * reply.margin
        yield from method(search, search.reach(search.lattice.start, reply, None))
    except _SpentError:
        pass
    return search.best


def straight(search: Search, start: Node) -> Asking:
    """Find the first failure along a single way, exactly: no later rung can be reached."""
    here, ahead = start, [start.state]
    while ahead:
        ahead, at = [], here.state
        while len(ahead) < AHEAD and (further := search.lattice.edge(at, 0)) is not None:
            ahead.append(further)
            at = further
        replies = yield from search.ask(ahead)
        for state, reply in zip(ahead, replies, strict=True):
            if not reply.right:
                return
            here = search.reach(state, reply, here)


@dataclass(frozen=True)
class Beam:
    """Keep the best few pictures and go on from each in every way, in ever shorter strides.

    Only the end of a stride is asked at first. The steps to it are asked once it leads the
    beam, and it counts as far as each of them lowers the entropy and is named rightly.
    """

    width: int = 1
    caution: float = 0.6
    """How many e-folds of entropy a full margin, that of the original, is worth."""
    widths: tuple[int, ...] = ()
    """For each stride; empty: the same for all."""
    strides: tuple[int, ...] = (8, 4, 2, 1)

    def __call__(self, search: Search, start: Node) -> Asking:
        """Go on until nothing leads further; then see that nothing leads on from the best."""
        trail, beam = _Trail(search, {start: start}), [start]
        for stride in self.strides:
            beam = yield from self._exhaust(trail, beam, stride, start)
        for node in beam:
            if search.best is not None and node.bits < search.best.bits:
                yield from trail.walk(node)
        while search.best is not None and not search.is_minimal(search.best):
            yield from self._exhaust(trail, [search.best], 1, start)

    def _exhaust(self, trail: _Trail, beam: list[Node], stride: int, start: Node) -> Asking:
        """Take strides of one length until none of the beam can."""
        key, ended = trail.search.lattice.key, dict[Any, Node]()
        while fresh := [node for node in beam if key(node.state) not in ended]:
            children = yield from trail.strides(fresh, stride)
            parents = {child.parent for child in children}
            ended |= {key(node.state): node for node in fresh if node not in parents}
            beam = self._best([*children, *ended.values()], trail, stride, start)
            while (led := (yield from trail.walk(beam[0]))).state != beam[0].state:
                ended = {k: node for k, node in ended.items() if trail.holds(node)}
                held = [node for node in beam if trail.holds(node)]
                beam = self._best([led, *held], trail, stride, start)
            beam[0] = led
        return beam

    def _best(self, nodes: list[Node], trail: _Trail, stride: int, start: Node) -> list[Node]:
        by_key = {trail.search.lattice.key(node.state): node for node in nodes}
        ranked = sorted(by_key.values(), key=lambda n: self._cost(n.bits, n.margin, start))
        widths = dict(zip(self.strides, self.widths, strict=False))
        return ranked[: widths.get(stride, self.width)]

    def _cost(self, bits: int, margin: float, start: Node) -> float:
        """Rank by entropy, and by how little of the original's margin is left."""
        lack = 1 - margin / start.margin if start.margin > 0 else 0.0
        if math.isnan(lack):
            lack = 0.0  # without scores there is no margin to keep
        return math.log(max(bits, 1)) + self.caution * min(max(lack, 0.0), 1.0)


@dataclass
class _Trail:
    """Which ends of strides were walked to, step by step, and which cannot be."""

    search: Search
    walked: dict[Node, Node]
    """From the end of a stride to the same picture with every step to it."""
    broken: set[tuple[State, State]] = field(default_factory=set)

    def strides(self, parents: list[Node], length: int) -> Generator[Sheet, Answers, list[Node]]:
        """Ask where every stride ends; return the ends that are right and lower."""
        lattice = self.search.lattice
        ends = [
            (parent, end)
            for parent in parents
            for way in range(len(parent.state))
            if (end := _stride(lattice, parent.state, way, length)) is not None
            and (parent.state, end) not in self.broken
        ]
        replies = yield from self.search.ask([end for _, end in ends])
        return [
            Node(end, bits, reply.margin, parent)
            for (parent, end), reply in zip(ends, replies, strict=True)
            if reply.right and (bits := lattice.bits(end)) < parent.bits
        ]

    def walk(self, node: Node) -> Asking:
        """Step to a node from where it was walked to last; return how far all is right."""
        ahead = []
        while node not in self.walked:
            assert node.parent is not None
            ahead.append(node)
            node = node.parent
        here = self.walked[node]
        for end in reversed(ahead):
            before = here
            here = yield from _walk(self.search, before, end.state)
            self.walked[here] = here
            if here.state != end.state:
                self.broken.add((before.state, end.state))
                break
            self.walked[end] = here
        return here

    def holds(self, node: Node) -> bool:
        """Tell whether no stride on the way to a node is known to be broken."""
        while node not in self.walked:
            assert node.parent is not None
            if (node.parent.state, node.state) in self.broken:
                return False
            node = node.parent
        return True


def fitting(ways: Sequence[Way], caution: float = Beam.caution) -> Beam:
    """Return the beam that asks fewer questions than Powell's method and leaves less.

    Crops are decided by the first long strides, and have but four ways to be asked about;
    where there are more, a second picture is worth its questions in single steps only.
    """
    crops = all(way.name in CROP for way in ways)
    return Beam(caution=caution, widths=(3, 2, 2, 2) if crops else (1, 1, 1, 2))


def exhaustive(search: Search, start: Node) -> Asking:
    """Follow every step from every rightly named picture: the true optimum, at any price."""
    seen, layer = {search.lattice.key(start.state)}, [start]
    while layer:
        ahead: dict[Any, tuple[State, Node]] = {}
        for node in layer:
            for step in search.lattice.steps(node.state):
                if (key := search.lattice.key(step)) not in seen:
                    ahead.setdefault(key, (step, node))
        seen |= ahead.keys()
        replies = yield from search.ask([step for step, _ in ahead.values()])
        pairs = zip(ahead.values(), replies, strict=True)
        layer = [search.reach(step, reply, node) for (step, node), reply in pairs if reply.right]


def powell(search: Search, start: Node) -> Asking:
    """Run SciPy's Powell on the rungs, as the paper did: neither monotone nor minimal.

    It is unbounded with a penalty, because its bounds are broken (SciPy issue 22978), and
    the least right picture that it came by counts, however it was reached.
    """
    from scipy.optimize import minimize

    sizes = np.array([len(ladder) - 1 for ladder in search.lattice.ladders], float)

    def objective(ask: Callable[[State], Reply]) -> None:
        def cost(x: Any) -> float:
            state = tuple(int(rung) for rung in np.rint(x * sizes))
            outside = float(np.maximum(0, np.maximum(-x, x - 1)).sum())
            if outside or search.lattice.step(state, 0, 0) is None:
                return 2.0 + outside
            if not (reply := ask(state)).right:
                return 2.0
            node = search.reach(state, reply, start)
            return node.bits / start.bits

        minimize(cost, np.zeros(len(sizes)), method="Powell")

    yield from _questions(search, objective)


METHODS: dict[str, Method] = {"powell": powell, "exhaustive": exhaustive}


def replied(answers: Answers, floor: float = -math.inf) -> list[Reply]:
    """Read answers as right or wrong, and by how much; a margin below `floor` is wrong."""
    if answers.scores is None:
        return [Reply(bool(right), math.nan) for right in answers.right]
    rows, scores = np.arange(len(answers.right)), np.array(answers.scores, float)
    own = scores[rows, answers.truth]
    scores[rows, answers.truth] = -np.inf
    margins = own - scores.max(axis=1)
    sure = answers.right & ~(margins < floor)
    return [Reply(bool(r), float(m)) for r, m in zip(sure, margins, strict=True)]


def _stride(lattice: Lattice, state: State, way: int, length: int) -> State | None:
    return lattice.edge(state, way) if length == 1 else lattice.step(state, way, length)


def _walk(search: Search, parent: Node, end: State) -> Asking:
    """Step from `parent` towards `end` as far as all is right."""
    way = next(w for w, rung in enumerate(end) if rung != parent.state[w])
    steps, at = [], parent.state
    while at[way] < end[way] and (further := search.lattice.edge(at, way)) is not None:
        if further[way] > end[way]:
            break
        steps.append(further)
        at = further
    replies = yield from search.ask(steps)
    here = parent
    for state, reply in zip(steps, replies, strict=True):
        if not reply.right:
            break
        here = search.reach(state, reply, here)
    return here


def _questions(search: Search, work: Callable[[Callable[[State], Reply]], None]) -> Asking:
    """Let code that calls for replies run in a thread, and yield what it asks."""
    asked: queue.Queue[State | BaseException | None] = queue.Queue()
    told: queue.Queue[Reply | None] = queue.Queue()

    def ask(state: State) -> Reply:
        asked.put(state)
        reply = told.get()
        if reply is None:
            raise _SpentError
        return reply

    def run() -> None:
        try:
            work(ask)
        except _SpentError:
            asked.put(None)
        except BaseException as error:  # noqa: BLE001 — it is raised again by the flow
            asked.put(error)
        else:
            asked.put(None)

    threading.Thread(target=run, daemon=True).start()
    try:
        while (state := asked.get()) is not None:
            if isinstance(state, BaseException):
                raise state
            (reply,) = yield from search.ask([state])
            told.put(reply)
    finally:
        told.put(None)
