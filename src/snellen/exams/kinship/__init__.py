"""Which benchmarks are hard, and which are the same test twice? (Pereyda & Holder 2020)

An agent is taught each test alone, and pairs of them merged: pictures of both in one lesson
(sampled) or side by side in one picture (stitched), the answers of both on offer. V is its
share of right answers afterwards, and with A the easier test

    S = 1 − 2(V_AB − V_B) ÷ (V_A − V_B), cut to [−1, 1]     equation 3, its sign kept
    S paper     V_A and V_B after as many pictures as the whole merger has
    S matched   V_A and V_B after as many pictures as the merger has of each
    loss        q V_A + (1 − q) V_B − V_AB, matched, A being the share q of the merger:
                what being taught both at once costs; less than nought is a gain
    difficulty  1 − V

Games are tests too: practised for so many steps, alone or in turns, and scored from random play
(0) to the best (1). An agent whose parts do not disturb each other has S matched = 1 − 2q, and
no loss; S paper is then what halving the data does, which is told beside it. S is undefined
unless V_A − V_B is more than three of its standard errors.

The distance of two tests is 1 − S: of all of them it makes a map, a tree, and how diverse they
are. With `proxies`, who was taught a test is also shown pictures of all others, and what is said
of two tests by that, for a lesson a test and not one a pair, is set beside S.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from snellen.core import HUMAN, Ability, Item, Lesson
from snellen.digests import digest
from snellen.errors import BadSetting
from snellen.exams.kinship import findings, games, pictures, results, transfer
from snellen.exams.kinship.pictures import PictureTest, Scored, picture_test
from snellen.seeds import Seed
from snellen.settings import SELECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from snellen.core import Flow, Record, Result

MOST = 5000
"""Pictures in a lesson, if nobody says how many and every test has more."""


@dataclass(frozen=True)
class Kinship:
    """Which benchmarks are hard, and which are the same test twice?"""

    name: ClassVar[str] = "kinship"
    version: ClassVar[int] = 1
    baselines: ClassVar[tuple[str, ...]] = ("chance",)
    quick: ClassVar[Mapping[str, Any]] = {
        "tests": ("glyphs", "things"),
        "size": 600,
        "epochs": 4,
        "questions": 300,
        "repeats": 3,
        "most": 3,
    }

    tests: Annotated[
        tuple[str, ...],
        Field(min_length=2, description="names, files or folders; ~noisy … alter one; or games"),
        SELECTS,
    ] = ("glyphs", "digits", "things")
    merge: Annotated[
        tuple[Literal["sampled", "stitched"], ...],
        Field(min_length=1, description="pictures of both, or both in one picture"),
        SELECTS,
    ] = ("sampled",)
    shares: Annotated[
        tuple[Annotated[float, Field(gt=0, lt=1)], ...],
        Field(min_length=1, description="of the first test in a sampled merger (the paper's p)"),
        SELECTS,
    ] = (0.5,)
    size: Annotated[
        int,
        Field(ge=0, description=f"pictures in a lesson (0: the smallest test's, {MOST} at most)"),
        SELECTS,
    ] = 0
    repeats: Annotated[
        int, Field(ge=2, le=100, description="each with other pictures and beginnings"), SELECTS
    ] = 5
    most: Annotated[
        int, Field(ge=2, le=100, description="repeats of a pair that needs more"), SELECTS
    ] = 25
    error: Annotated[
        float, Field(ge=0, description="a pair is repeated until S is as sure as this"), SELECTS
    ] = 0.05
    further: Annotated[
        tuple[str, ...],
        Field(description="pairs repeated more often, as first+second=10; found by itself"),
        SELECTS,
    ] = ()
    matched: Annotated[
        bool, Field(description="also teach each test alone with its part of a merger"), SELECTS
    ] = True
    selves: Annotated[
        bool, Field(description="also merge each test with itself, labels shared or not"), SELECTS
    ] = False
    proxies: Annotated[
        bool,
        Field(description="also judge kinship cheaply, and how well that agrees with S"),
        SELECTS,
    ] = False
    labels: Annotated[
        Literal["separate", "shared"],
        Field(description="classes of the same name in both tests are two, or one"),
        SELECTS,
    ] = "separate"
    epochs: Annotated[int, Field(ge=1, description="looks at each picture of a lesson")] = 10
    questions: Annotated[
        int, Field(ge=20, description="pictures asked of each test, in each repeat others")
    ] = 1000
    heads: Annotated[
        Literal["each", "argmax"],
        Field(description="stitched: each half is answered, or one answer is given (paper)"),
    ] = "each"
    steps: Annotated[int, Field(ge=100, description="games: of practice"), SELECTS] = 10_000
    games: Annotated[int, Field(ge=2, le=10_000, description="games: played for the score")] = 20
    as_published: Annotated[
        bool, Field(description="games: seen in bytes, paid twice, actions clamped (the paper)")
    ] = False

    def __post_init__(self) -> None:
        names = [pictures.called(spec) for spec in self.tests]
        for name in names:
            if names.count(name) > 1:
                raise BadSetting(f"two tests are called {name!r}; write one as other={name}")
            if "+" in name:
                raise BadSetting(f"a test's name may hold no '+': {name!r}; write it as name=path")
        for pair, _ in _counted(self.further):
            if not set(pair) <= set(names):
                raise BadSetting(f"further names a test that is not there: {'+'.join(pair)}")

    @property
    def played(self) -> bool:
        """Whether the tests are games, which are practised, or pictures."""
        return games.is_game(pictures.called(self.tests[0]))

    @property
    def candidates(self) -> tuple[str, ...]:
        """Who learns what there is to learn."""
        return ("dqn",) if self.played else ("elu-cnn",)

    @property
    def needs(self) -> frozenset[Ability]:
        """Whoever learns can sit it; proxies are made of scores, and games are played."""
        if self.played:
            return frozenset({"act"})
        return HUMAN | transfer.SCORES if self.proxies else HUMAN

    def items(self) -> Sequence[Item]:
        """Teach each test alone and each pair merged, as often as each needs."""
        self._check_games()
        return list(dict.fromkeys(self._items()))

    def examine(self, item: Item) -> Flow:
        """Teach one test or a merger of two; ask about each."""
        repeat, taught = int(item["repeat"]), int(item["taught"])
        if "source" in item:
            return (yield from self._looked(item))
        if self.played:
            names = tuple(str(item[f]) for f in ("test", "first", "second") if f in item)
            sat = games.sat(names, taught, repeat, self.games, as_published=self.as_published)
            return _told((yield from sat))
        if "test" in item:
            alone = self.test(str(item["test"]))
            images, labels = alone.lesson(taught, repeat)
            yield self._lesson(images, labels, alone.classes, item)
            asked = yield from alone.asked(alone.classes, 0, self.questions, repeat)
            return _told({alone.name: asked})
        first, second = self.test(str(item["first"])), self.test(str(item["second"]))
        if item["merge"] == "stitched":
            return (yield from self._stitched(first, second, item))
        return (yield from self._sampled(first, second, item))

    def grade(self, records: Sequence[Record]) -> Result:
        """Say how hard the tests are and how alike, and how surely."""
        return results.grade(self, records)

    def sequel(self, records: Sequence[Record], folder: Path) -> Mapping[str, Any] | None:  # noqa: ARG002
        """Repeat the pairs whose S is not yet sure enough."""
        wanted = findings.wanting(self, records)
        if not wanted:
            return None
        counts = {**dict(_counted(self.further)), **wanted}
        return {"further": [f"{'+'.join(pair)}={count}" for pair, count in sorted(counts.items())]}

    def test(self, name: str) -> Any:
        """Return the test of pictures of that name."""
        if name in games.BY_PICTURES:
            return games.Balancing(name)
        spec = next(spec for spec in self.tests if pictures.called(spec) == name)
        return picture_test(spec)

    def content(self, name: str) -> str:
        """Return a hash of what is in a test."""
        return "game-1" if self.played else str(self.test(name).content)

    @property
    def taught(self) -> int:
        """Pictures in a lesson, or steps of practice: as many for each test."""
        if self.played:
            return self.steps
        tests = [self.test(pictures.called(spec)) for spec in self.tests]
        available = min(map(len, tests))
        if self.size > available:
            raise BadSetting(
                f"test {min(tests, key=len).name!r} has {available} pictures to learn from, and "
                f"size={self.size} asks for more; lower it, or leave that test out"
            )
        return self.size or min(available, MOST)

    def _check_games(self) -> None:
        """Refuse what cannot be sat; numbers from elsewhere may be of any tests."""
        names = [pictures.called(spec) for spec in self.tests]
        unlike = [name for name in names if games.is_game(name) != self.played]
        if unlike:
            raise BadSetting(
                f"{names[0]!r} and {unlike[0]!r} cannot be merged: games are merged with games; "
                f"balancing is a test of pictures too, as {' or '.join(games.BY_PICTURES)}"
            )
        special = [name for name in names if games.is_game(name) or name in games.BY_PICTURES]
        if special and (self.proxies or "stitched" in self.merge or self.selves):
            raise BadSetting(
                f"{special[0]!r} is played: leave merge= at sampled, and selves= and proxies= out"
            )
        if self.played and self.shares != (0.5,):
            raise BadSetting("games are merged by taking turns, half each; leave shares= out")

    def _items(self) -> Iterator[Item]:
        names = [pictures.called(spec) for spec in self.tests]
        often = dict.fromkeys(combinations(names, 2), self.repeats)
        often |= {pair: max(count, self.repeats) for pair, count in _counted(self.further)}
        for repeat in range(max(often.values())):
            for pair, count in often.items():
                if repeat < count:
                    yield from self._of_pair(*pair, repeat)
            if self.selves and repeat < self.repeats:
                for name in names:
                    for labels in ("separate", "shared"):
                        yield self._item(name, name, 0.5, labels, repeat)
            if self.proxies and repeat < self.repeats:
                for name in names:
                    others = [(n, self.test(n).content) for n in names if n != name]
                    yield Item(
                        source=name, targets=digest(others), taught=self.taught,
                        content=self.test(name).content, repeat=repeat,
                    )  # fmt: skip

    def _of_pair(self, first: str, second: str, repeat: int) -> Iterator[Item]:
        """Both tests alone, with all pictures and with their parts, and both merged."""
        whole = self.taught
        for share in self.shares:
            parts = int(whole * share), int(whole * (1 - share))
            for name, part in zip((first, second), parts, strict=True):
                sizes = (whole, part) if self.matched and "sampled" in self.merge else (whole,)
                for taught in sizes:
                    content = self.content(name)
                    yield Item(test=name, taught=taught, content=content, repeat=repeat)
            if "sampled" in self.merge:
                yield self._item(first, second, share, self.labels, repeat)
        if "stitched" in self.merge:
            yield self._item(first, second, 0.5, "separate", repeat, "stitched")

    def _item(
        self,
        first: str,
        second: str,
        share: float,
        labels: str,
        repeat: int,
        merge: str = "sampled",
    ) -> Item:
        content = digest(self.content(first), self.content(second))
        return Item(
            first=first, second=second, merge=merge, share=share, labels=labels,
            taught=self.taught, content=content, repeat=repeat,
        )  # fmt: skip

    def _sampled(self, first: PictureTest, second: PictureTest, item: Item) -> Flow:
        repeat, whole, share = int(item["repeat"]), int(item["taught"]), float(item["share"])
        names, choices, before = _choices(first, second, str(item["labels"]))
        images, labels = first.lesson(int(whole * share), repeat)
        others, other_labels = second.lesson(whole, repeat)
        # a test merged with itself gives different pictures to both parts
        own = slice(len(images), None) if first is second else slice(None)
        count = int(whole * (1 - share))
        others, other_labels = others[own][:count], other_labels[own][:count]
        yield self._lesson(
            np.concatenate([images, others]),
            np.concatenate([labels, other_labels + before]),
            choices,
            item,
        )
        parts = {}
        for name, test, place in zip(names, (first, second), (0, before), strict=True):
            parts[name] = yield from test.asked(choices, place, self.questions, repeat)
        return _told(parts, share)

    def _stitched(self, first: PictureTest, second: PictureTest, item: Item) -> Flow:
        """Teach both labels of a picture in turn; a vote over all of both is taught so too."""
        repeat, whole = int(item["repeat"]), int(item["taught"])
        names, choices, before = _choices(first, second, "separate")
        (left, labels), (right, other_labels) = (t.lesson(whole, repeat) for t in (first, second))
        both = pictures.stitched(left, right)
        yield self._lesson(
            np.concatenate([both, both]),
            np.concatenate([labels, other_labels + before]),
            choices,
            item,
        )
        (left, labels), (right, other_labels) = (
            test.questions(self.questions, repeat) for test in (first, second)
        )
        count = min(len(left), len(right))
        both = pictures.stitched(left[:count], right[:count])
        if self.heads == "argmax":  # two-hot labels against one answer: the first label counts
            return _told({"": (yield from pictures.ask(both, labels[:count], choices, ""))})
        own, others = choices[:before], choices[before:]
        one = yield from pictures.ask(both, labels[:count], own, names[0])
        other = yield from pictures.ask(both, other_labels[:count], others, names[1])
        return _told({names[0]: one, names[1]: other})

    def _looked(self, item: Item) -> Flow:
        """Teach a test, then show pictures of all others."""
        repeat, source = int(item["repeat"]), self.test(str(item["source"]))
        images, labels = source.lesson(int(item["taught"]), repeat)
        yield self._lesson(images, labels, source.classes, item)
        others = [self.test(pictures.called(spec)) for spec in self.tests]
        targets = [test for test in others if test is not source]
        return (yield from transfer.looked(source, targets, self.questions, repeat))

    def _lesson(self, images: Any, labels: Any, choices: tuple[str, ...], item: Item) -> Lesson:
        """Seeds are common to all items of a repeat, so that their luck cancels out."""
        seed = Seed("taught", int(item["repeat"])).number()
        return Lesson(images, labels, choices, self.epochs * len(images), seed)


def _choices(
    first: PictureTest, second: PictureTest, labels: str
) -> tuple[tuple[str, str], tuple[str, ...], int]:
    """Return both parts' names, what may be answered, and where the second's answers begin."""
    names = first.name, second.name if second is not first else f"{second.name} again"
    if labels == "separate":
        both = zip(names, (first.classes, second.classes), strict=True)
        choices = tuple(f"{name}: {label}" for name, classes in both for label in classes)
        return names, choices, len(first.classes)
    if first.classes != second.classes:
        raise BadSetting(
            f"labels=shared needs tests with the same classes; {first.name!r} and "
            f"{second.name!r} have others; leave it at separate"
        )
    return names, first.classes, 0


def _told(parts: Mapping[str, Scored], share: float = 0.5) -> dict[str, Any]:
    """Put down the score of each part, and of both by their shares."""
    weights = (share, 1 - share) if len(parts) == 2 else (1.0,)
    weighted = list(zip(weights, parts.values(), strict=True))
    return {
        "score": sum(w * part.score for w, part in weighted),
        "variance": sum(w * w * part.variance for w, part in weighted),
        "parts": {name: [p.score, p.variance, p.asked] for name, p in parts.items()},
    }


def _counted(further: Sequence[str]) -> Iterator[tuple[tuple[str, str], int]]:
    """Read `first+second=10`."""
    for text in further:
        pair, equals, count = text.rpartition("=")
        first, plus, second = pair.partition("+")
        if not (equals and plus and count.isdigit()):
            raise BadSetting(f"further takes first+second=10, not {text!r}")
        yield (first, second), int(count)
