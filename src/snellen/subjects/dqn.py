"""How does a small network learn to play?

By deep Q-learning (Mnih et al. 2015) with remedies that have since become usual: rewards of
several steps (Peng & Williams 1996), one network that picks the best action and another that
says what it is worth (van Hasselt et al. 2016), the second a running average of the first
(Lillicrap et al. 2016). Rewards and observations are brought to size by what the first, random
moves show, and the steps of learning shrink to nothing. (Without these two one of four players
of CartPole fell short, with them none of six: too few to tell, see `benchmarks/dqn.py --plain`.)
A game that was left at its limit is not taken for one that was lost (Pardo et al. 2018). After
practice it plays greedily, with the averaged network.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from snellen.core import Ability, Answers
from snellen.digests import digest
from snellen.errors import BadAnswer, Unable, extra
from snellen.seeds import Seed

with extra("torch", "the subject 'dqn'"):
    import torch
    from torch.nn.functional import linear, smooth_l1_loss

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from snellen.core import Flags, Indices, Lesson, Observation, Practice, Sheet, Turn

    Floats = npt.NDArray[np.float32]

WARM_UP = 1000
"""Random moves before learning begins; a tenth of the practice if that is less."""
BLOCK = 512
"""Batches whose places are drawn at once."""
LEAST = 0.05
"""What has never been seen to be larger than this is not made larger than 1 for it."""
LASTING = 10.0
"""Steps for which a typical reward comes to 1: what is to be learned is then neither tiny nor
hundreds, at any game's rates of pay."""

Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, eq=False)
class Dqn:
    """Learn in practice what each action brings, and do what brings most."""

    gives: ClassVar[frozenset[Ability]] = frozenset({"act"})

    name: str = "dqn"
    hidden: Annotated[int, Field(ge=1)] = 64
    """Units of each of two hidden layers."""
    lr: Annotated[float, Field(gt=0)] = 1e-3
    """The size of the first step of learning."""
    gamma: Share = 0.99
    """What a reward counts for that comes a step later."""
    ahead: Annotated[int, Field(ge=1)] = 3
    """Rewards that are waited for before what follows is guessed."""
    batch: Annotated[int, Field(ge=1)] = 64
    buffer: Annotated[int, Field(ge=1)] = 20_000
    """Moves that are remembered."""
    settle: Share = 0.3
    """The part of the practice in which random moves become rare."""
    random: Share = 0.02
    """The share of random moves from then on. The paper never let them become rare: 1."""
    average: Annotated[float, Field(gt=0, le=1)] = 0.01
    """The share of each new network in the average."""
    double: bool = True
    """Whether one network picks and the other one judges."""
    sized: bool = True
    """Whether rewards are brought to size."""
    fading: bool = True
    """Whether the steps of learning shrink to nothing."""
    values: Any = field(default=None, repr=False)

    @property
    def fingerprint(self) -> str:
        """It learns anew in each practice, so only how it learns matters."""
        how = [f.name for f in fields(self) if f.name not in ("name", "values")]
        return digest("dqn", 1, *(getattr(self, name) for name in how))

    def practise(self, practice: Practice) -> Dqn:
        """Play for as long as the practice says, and learn from each step."""
        values = _learned(practice, self)
        if not np.isfinite(values.weights.numpy()).all():
            raise BadAnswer(f"practice of {self.name!r} diverged; try a smaller lr=")
        return replace(self, values=values)

    def act(self, turn: Turn) -> Answers:
        """Do what is expected to bring most, of what is valid."""
        if self.values is None:
            raise Unable(f"subject {self.name!r} has not practised; yield a Practice before a Turn")
        learned, asked = self.values.shape, (turn.observations.shape[1], turn.actions)
        if learned != asked:
            raise Unable(
                f"subject {self.name!r} has practised with (observations, actions) of {learned} "
                f"and is to play with {asked}; let it practise in the world it plays in"
            )
        scores = self.values(turn.observations)
        return Answers(_best(scores, turn.valid), scores)

    def study(self, lesson: Lesson) -> Dqn:  # noqa: ARG002
        """Refuse: it learns by playing."""
        raise Unable(f"subject {self.name!r} learns by playing only; give a classifier a Lesson")

    def answer(self, sheet: Sheet) -> Answers:  # noqa: ARG002
        """Refuse: it only plays."""
        raise Unable(f"subject {self.name!r} only plays; give a classifier a Sheet")


class Network:
    """What each action is expected to bring: two hidden layers.

    All weights lie in one row, so to average or to step is a single operation.
    """

    def __init__(self, size: int, hidden: int, actions: int, seed: int) -> None:
        self.shape = size, actions
        self.scale = np.ones(size, np.float32)
        layers = (size, hidden), (hidden, hidden), (hidden, actions)
        self._shapes = [s for before, after in layers for s in ((after, before), (after,))]
        self._sizes = [int(np.prod(shape)) for shape in self._shapes]
        bounds = np.repeat([before**-0.5 for before, _ in layers], 2)
        dice = torch.Generator().manual_seed(seed)
        self.weights = torch.cat(
            [
                torch.empty(count).uniform_(-bound, bound, generator=dice)
                for count, bound in zip(self._sizes, bounds.tolist(), strict=True)
            ]
        )
        self._arrays = [part.numpy() for part in self._parts(self.weights)]

    def __call__(self, seen: Floats) -> Floats:
        """Judge what is seen: by NumPy, which for a few rows takes a third of the time."""
        first, a, second, b, third, c = self._arrays
        h = np.maximum((seen * self.scale) @ first.T + a, 0)
        h = np.maximum(h @ second.T + b, 0)
        return np.asarray(h @ third.T + c)

    def judged(self, weights: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        """Judge what is seen and has been scaled, by other weights."""
        first, a, second, b, third, c = self._parts(weights)
        return linear(linear(linear(seen, first, a).relu(), second, b).relu(), third, c)

    def _parts(self, weights: torch.Tensor) -> list[torch.Tensor]:
        parts = weights.split(self._sizes)  # type: ignore[no-untyped-call]
        return [part.view(shape) for part, shape in zip(parts, self._shapes, strict=True)]


class _Move(NamedTuple):
    seen: Observation
    action: int
    reward: float


class _Batch(NamedTuple):
    seen: Floats
    actions: Indices
    rewards: Floats
    """Those of the steps that were waited for, in all."""
    later: Floats
    """What is seen after them."""
    valid: Flags
    """What may be done then."""
    counts: Floats
    """What the rest of the game counts for: nothing, if it was over."""


class _Memory:
    """The latest moves, and what came of them."""

    def __init__(self, most: int, size: int, actions: int, how: Dqn) -> None:
        self.count = 0
        self._squares: list[float] = []
        self._how = how
        self._recent: deque[_Move] = deque()
        self._columns = _Batch(
            np.zeros((most, size), np.float32),
            np.zeros(most, np.intp),
            np.zeros(most, np.float32),
            np.zeros((most, size), np.float32),
            np.zeros((most, actions), np.bool_),
            np.zeros(most, np.float32),
        )

    def __len__(self) -> int:
        return min(self.count, len(self._columns.seen))

    def add(self, move: _Move, later: Observation, valid: Flags, *, over: bool, left: bool) -> None:
        """Remember a move once its rewards have been waited for, or no more can come."""
        self._recent.append(move)
        self._squares.append(move.reward**2)
        while self._recent and (len(self._recent) == self._how.ahead or left):
            weights = self._how.gamma ** np.arange(len(self._recent) + 1)
            reward = sum(w * m.reward for w, m in zip(weights, self._recent, strict=False))
            first = self._recent.popleft()
            rest = 0.0 if over else weights[-1]
            row = first.seen, first.action, reward, later, valid, rest
            place = self.count % len(self._columns.seen)
            columns: tuple[Any, ...] = self._columns
            for column, value in zip(columns, row, strict=True):
                column[place] = value
            self.count += 1

    def scales(self) -> tuple[Floats, float]:
        """Return what brings observations and rewards to size, from what is there so far."""
        largest = np.abs(self._columns.seen[: len(self)]).max(axis=0, initial=0)
        scale = np.where(largest > 0, 1 / np.maximum(largest, LEAST), 1).astype(np.float32)
        typical = float(np.mean(self._squares)) ** 0.5
        return scale, 1 / (LASTING * typical) if typical else 1.0

    def batches(self, seed: int) -> Iterator[_Batch]:
        """Draw moves at random, for ever."""
        dice, size = Seed("dqn", seed, "batches"), self._how.batch
        while True:
            draws = dice.floats(BLOCK * size).reshape(BLOCK, size)
            for row in draws:
                places = (row * len(self)).astype(np.intp)
                c = self._columns
                yield _Batch(
                    c.seen[places],
                    c.actions[places],
                    c.rewards[places],
                    c.later[places],
                    c.valid[places],
                    c.counts[places],
                )


def _learned(practice: Practice, how: Dqn) -> Network:
    """Play, remember, and after the warm-up learn from a batch of memories each step."""
    world, steps = practice.world, practice.steps
    network = Network(world.size, how.hidden, world.actions, practice.seed)
    memory = _Memory(min(how.buffer, steps), world.size, world.actions, how)
    warm = min(WARM_UP, steps // 10)
    lots = Seed("dqn", practice.seed, "moves").floats(2 * steps).reshape(-1, 2).tolist()
    pupil, batches, pay = _Pupil(network, how), memory.batches(practice.seed), 1.0
    game, length, seen = practice.seed, 0, world.begin(practice.seed)
    valid = world.valid()
    for step, (lot, which) in enumerate(lots):
        if lot < _randomness(step - warm, steps, how):
            allowed = np.flatnonzero(valid)
            action = int(allowed[int(which * len(allowed))])
        else:
            action = int(_best(network(seen[None]), valid[None])[0])
        later, reward, over = world.step(action)
        length += 1
        left = over or length >= world.limit
        valid = valid if over else world.valid()
        memory.add(_Move(seen, action, reward), later, valid, over=over, left=left)
        seen = later
        if left:
            game, length = game + 1, 0
            seen, valid = world.begin(game), world.valid()
        if step + 1 == warm:
            network.scale, scale = memory.scales()
            pay = scale if how.sized else pay
        if step >= warm and memory.count:
            pupil.learn(next(batches), pay, how.lr * (1 - how.fading * step / steps))
    network.weights.copy_(pupil.average)
    return network


def _randomness(step: int, steps: int, how: Dqn) -> float:
    """Return the share of random moves: all in the warm-up, then fewer and fewer."""
    if step < 0:
        return 1.0
    return max(how.random, 1 - (1 - how.random) * step / max(how.settle * steps, 1))


class _Pupil:
    """The network as it learns, and its running average."""

    def __init__(self, network: Network, how: Dqn) -> None:
        self.average = network.weights.clone()
        self._network, self._how = network, how
        self._weights = network.weights.detach().requires_grad_()  # the same memory
        self._adam = torch.optim.Adam([self._weights], lr=how.lr, eps=1e-7, fused=True)

    def learn(self, batch: _Batch, pay: float, lr: float) -> None:
        """Step towards the rewards that came, and what the average says of the rest."""
        wanted = self._wanted(batch, pay)
        self._adam.zero_grad(set_to_none=True)
        with torch.enable_grad():
            guessed = self._network.judged(self._weights, self._scaled(batch.seen))
            chosen = guessed.gather(1, torch.from_numpy(batch.actions)[:, None])[:, 0]
            smooth_l1_loss(chosen, wanted).backward()  # type: ignore[no-untyped-call]
        self._adam.param_groups[0]["lr"] = lr
        self._adam.step()
        self.average.lerp_(self._weights.detach(), self._how.average)

    @torch.no_grad()
    def _wanted(self, batch: _Batch, pay: float) -> torch.Tensor:
        later = self._scaled(batch.later)
        worth = self._network.judged(self.average, later)
        picking = self._network.judged(self._weights, later) if self._how.double else worth
        barred = torch.from_numpy(~batch.valid)
        best = picking.masked_fill(barred, -torch.inf).argmax(dim=1, keepdim=True)
        rest = torch.from_numpy(batch.counts) * worth.gather(1, best)[:, 0]
        return torch.from_numpy(batch.rewards * np.float32(pay)) + rest

    def _scaled(self, seen: Floats) -> torch.Tensor:
        return torch.from_numpy(seen * self._network.scale)


def _best(scores: Floats, valid: Flags) -> Indices:
    return np.asarray(np.where(valid, scores, -np.inf).argmax(axis=1), np.intp)
