"""What do an exam and its subject hand each other?

The nouns, and the two protocols that everything else keeps. Nothing here does
any work beyond checking itself, and nothing here imports the rest of the
package, so every other module may import this one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

Images: TypeAlias = npt.NDArray[Any]
"""(n, height, width, channels): uint8 up to 255, or float32 where 1 is white."""
Indices: TypeAlias = npt.NDArray[np.intp]
Flags: TypeAlias = npt.NDArray[np.bool_]
Observation: TypeAlias = npt.NDArray[np.float32]
"""What can be seen of a world: so many numbers as the world's `size` says."""
Column: TypeAlias = npt.NDArray[Any]
Scalar: TypeAlias = str | int | float | bool
Measures: TypeAlias = Mapping[str, Any]
"""What came of an item: JSON values, and `Attachment`s for what is not."""
Ability: TypeAlias = Literal["choice", "scores", "signals", "study", "act"]
"""One vocabulary: what an exam needs, a subject gives and an answer holds."""

CHOICE: frozenset[Ability] = frozenset({"choice"})
HUMAN: frozenset[Ability] = frozenset({"choice", "study"})
"""An exam that needs no more than this is open to people."""
PASS = -1
"""The choice of whoever declines to choose."""
MOST_PRACTICE = 2**31
"""Games that are practised have seeds below this; exams play theirs on seeds from here on."""
PERSON, PEOPLE = "person-", "people"
"""How a person's fingerprint begins, and the name under which persons are reported together."""


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """Pictures shown with their labels, to learn from."""

    images: Images
    labels: Indices
    choices: tuple[str, ...]
    views: int = 0
    """How many pictures a pupil may look at in all, repeats counted; 0: each once."""
    seed: int = 0
    """Where a pupil takes its randomness from."""
    key: Images | None = None
    """One clean picture of each choice, where the exam has them."""

    def __post_init__(self) -> None:
        _check_images(self.images)
        _check_indices("labels", self.labels, self.images, len(self.choices))

    def __len__(self) -> int:
        return len(self.images)


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Questions to be answered, in any order, before the exam goes on."""

    images: Images
    choices: tuple[str, ...]
    truth: Indices | None = None
    """Which choice is right; subjects are handed a `blind` sheet without it."""
    asks: frozenset[Ability] = CHOICE
    given: Mapping[str, Column] = field(default_factory=dict)
    """Conditions the pictures were made under, a column each, for the log."""
    prompt: str = ""
    welcomes: frozenset[Ability] = frozenset()
    """What an answer may hold besides, of whoever can give it: the exam does without as well."""
    instead: tuple[str, ...] = ()
    """What may be replied in place of a choice, such as to be shown more: numbered after the
    choices."""

    def __post_init__(self) -> None:
        _check_images(self.images)
        if self.truth is not None:
            _check_indices("truth", self.truth, self.images, len(self.choices))
        for name, column in self.given.items():
            if len(column) != len(self.images):
                raise ValueError(
                    f"column {name!r} holds {len(column)} values for {len(self.images)} pictures"
                )

    def __len__(self) -> int:
        return len(self.images)

    def blind(self) -> Sheet:
        """Return the sheet as a subject may see it: without the truth."""
        return Sheet(
            self.images,
            self.choices,
            asks=self.asks,
            prompt=self.prompt,
            welcomes=self.welcomes,
            instead=self.instead,
        )

    def ids(self) -> npt.NDArray[np.uint64]:
        """Name each stimulus by its pixels and its question: equal ones share an id."""
        asked = (self.images.shape[1:], self.images.dtype.str, self.choices, self.prompt)
        question = repr((*asked, self.instead) if self.instead else asked)
        salt = hashlib.blake2b(question.encode(), digest_size=16).digest()
        digests = b"".join(
            hashlib.blake2b(picture.tobytes(), digest_size=8, key=salt).digest()
            for picture in self.images
        )
        return np.frombuffer(digests, "<u8")


class World(Protocol):
    """A game for one player: it is begun with a seed, and goes on a step an action."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def actions(self) -> int:
        """How many actions there are, of which a state may allow only some."""

    @property
    def size(self) -> int:
        """The length of an observation."""

    @property
    def limit(self) -> int:
        """After so many steps whoever plays the present game leaves it, over or not."""

    def begin(self, seed: int) -> Observation:
        """Begin a new game and return what is seen first; same seed, same game."""

    def step(self, action: int) -> tuple[Observation, float, bool]:
        """Act; return what is seen now, the reward, and whether the game has come to its end."""

    def valid(self) -> Flags:
        """Return, for each action, whether it may be taken now."""


@dataclass(frozen=True, slots=True, eq=False)
class Practice:
    """A world to play in, for so many steps in all, to learn what pays."""

    world: World
    steps: int
    seed: int = 0
    """Where a player takes its randomness from, and the first game's seed; each further game has
    the next one."""

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"practice takes at least a step, not {self.steps}")
        if not 0 <= self.seed < MOST_PRACTICE - self.steps:
            raise ValueError(
                f"practice begins with a seed from 0 to below {MOST_PRACTICE - self.steps}, "
                f"not {self.seed}: those from {MOST_PRACTICE} on are for games that count"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """Games that all wait for their player's next action."""

    observations: npt.NDArray[np.float32]
    """(n, size): what is seen in each."""
    valid: Flags
    """(n, actions): which actions may be taken in each."""
    dice: npt.NDArray[np.uint64]
    """A number for each that no other move of any game has: who plays by lot draws by it. Lots
    drawn by what is seen alone would send a player round in circles."""

    def __post_init__(self) -> None:
        if self.observations.ndim != 2 or self.observations.dtype != np.float32:
            raise ValueError(
                "observations come as float32 (n, size), not as "
                f"{self.observations.dtype} {self.observations.shape}"
            )
        if self.valid.shape[:-1] != (len(self.observations),) or self.valid.dtype != np.bool_:
            raise ValueError(
                f"{len(self.observations)} observations came with valid actions of "
                f"{self.valid.dtype} {self.valid.shape}, not bool (n, actions)"
            )
        if self.dice.shape != (len(self.observations),):
            raise ValueError(f"{len(self.observations)} games came with dice of {self.dice.shape}")
        if not self.valid.any(axis=1).all():
            raise ValueError("a game waits for an action and allows none; it should be over")

    def __len__(self) -> int:
        return len(self.observations)

    @property
    def actions(self) -> int:
        """How many actions there are."""
        return int(self.valid.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a subject gave back, a row a picture; what was not asked stays empty."""

    choice: Indices
    """Index into the sheet's choices and, after them, what may be replied instead; `PASS` where
    none was made. On a turn, the action."""
    scores: npt.NDArray[np.floating[Any]] | None = None
    """(n, choices): higher is likelier; monotone in the subject's belief. On a turn, what each
    action is expected to bring."""
    signals: Mapping[str, Column] = field(default_factory=dict)
    """Inner columns that were asked for; or, of who can tell, a `reason` for each answer in words
    and the pictures as they were `drawn` to find it."""
    seconds: Column | None = None
    note: str = ""
    """What the answers follow from, in words: a program, a rule."""
    truth: Indices | None = None
    """Filled in by whoever marks the sheet, never by the subject."""

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """Which answers are the right ones."""
        if self.truth is None:
            raise ValueError("this sheet has no right answers to mark by")
        return np.asarray(self.choice == self.truth)

    def part(self, start: int, end: int) -> Answers:
        """Return the answers to some of the pictures."""
        return Answers(
            self.choice[start:end],
            None if self.scores is None else self.scores[start:end],
            {name: column[start:end] for name, column in self.signals.items()},
            None if self.seconds is None else self.seconds[start:end],
            self.note,
            None if self.truth is None else self.truth[start:end],
        )


Step: TypeAlias = Lesson | Practice | Sheet | Turn
Flow: TypeAlias = Generator[Step, Any, Measures]
"""Yields lessons and sheets, practice and turns; is sent `Answers` for a sheet or a turn, and None
for what is there to learn from."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that comes of an item: a picture, a program, a map."""

    source: bytes | Path
    """What is in it; in a record that was read back, where it lies."""
    suffix: str

    @property
    def data(self) -> bytes:
        """What is in it."""
        return self.source if isinstance(self.source, bytes) else self.source.read_bytes()


class Item(Mapping[str, Scalar]):
    """One part of an exam that can be sat on its own: its facets, by name."""

    __slots__ = ("_facets", "key")

    def __init__(self, facets: Mapping[str, Scalar] | None = None, /, **more: Scalar) -> None:
        self._facets = {**(facets or {}), **more}
        self.key = json.dumps(self._facets, sort_keys=True, separators=(",", ":"))

    def __getitem__(self, facet: str) -> Scalar:
        return self._facets[facet]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facets)

    def __len__(self) -> int:
        return len(self._facets)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and self.key == other.key

    def __repr__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self._facets.items())

    def __reduce__(self) -> tuple[type[Item], tuple[dict[str, Scalar]]]:
        return Item, (self._facets,)


Trials: TypeAlias = Mapping[str, Column]
"""Columns of equal length, a row an answer: sheet, stimulus, truth, choice, seconds, given…"""


@dataclass(frozen=True, slots=True)
class Record:
    """All that came of one subject sitting one item: the same for people and machines."""

    exam: str
    version: int
    settings: Mapping[str, Any]
    """The settings that shape every item; those that only select items are left out."""
    item: Item
    subject: str
    fingerprint: str
    measures: Measures
    trials: Trials = field(default_factory=dict)
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    """The traceback, when the item failed."""

    @property
    def key(self) -> tuple[str, int, str, str, str]:
        """What makes two records answers to the same question by the same subject."""
        settings = json.dumps(self.settings, sort_keys=True)
        return self.exam, self.version, settings, self.fingerprint, self.item.key

    @property
    def party(self) -> str:
        """Whom it speaks for in a report: each subject for itself, persons for people."""
        return PEOPLE if self.fingerprint.startswith(PERSON) else self.subject


class Figure(Protocol):
    """Something to look at, as data; `report` draws it."""

    @property
    def name(self) -> str:
        """A file name's worth, unique within the exam's result."""

    @property
    def title(self) -> str:
        """What it shows."""

    @property
    def caption(self) -> str:
        """How to read it."""

    @property
    def formula(self) -> str:
        """How each number was made."""

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return the numbers behind it, for the CSV."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A sentence about a subject, with its uncertainty in it."""

    subject: str
    text: str
    tone: Literal["good", "fair", "poor", "plain"] = "plain"
    score: float | None = None
    """From 0 to 1, where there is one number for a gate to compare; `text` has its doubts."""


@dataclass(frozen=True, slots=True)
class Result:
    """What an exam concludes from its records: a pure function of them."""

    verdicts: Sequence[Verdict] = ()
    figures: Sequence[Figure] = ()


class Desk(Protocol):
    """What a command that an exam brings along may do with run folders and subjects."""

    def read(self, folder: Path) -> Sequence[Record]:
        """Return the complete records of a run."""

    def keep(self, folder: Path, exam: Exam, records: Sequence[Record]) -> None:
        """Log records that were made elsewhere, and write and tell the report."""

    def subject(self, who: str) -> Subject:
        """Return the subject of that name, file or address."""


@runtime_checkable
class Subject(Protocol):
    """Whoever is examined: a network, an estimator, a program synthesizer, a person."""

    @property
    def name(self) -> str:
        """The name its results are filed under."""

    @property
    def gives(self) -> frozenset[Ability]:
        """What can be asked of it."""

    @property
    def fingerprint(self) -> str:
        """A hash of all that its answers depend on."""

    def answer(self, sheet: Sheet) -> Answers:
        """Answer every picture of the sheet, in its order."""

    def study(self, lesson: Lesson) -> Subject:
        """Return this subject, taught; the original is left as it was."""


@runtime_checkable
class Player(Subject, Protocol):
    """A subject that gives "act": it plays, and plays better after practice."""

    def practise(self, practice: Practice) -> Player:
        """Return this player after practice; the original is left as it was."""

    def act(self, turn: Turn) -> Answers:
        """Choose a valid action for each game, in their order."""


@runtime_checkable
class Exam(Protocol):
    """A way of asking: a frozen dataclass whose fields are its settings."""

    @property
    def name(self) -> str:
        """The name its results are filed under."""

    @property
    def version(self) -> int:
        """Raised when the same settings begin to mean another exam."""

    @property
    def needs(self) -> frozenset[Ability]:
        """What a subject must be able to give."""

    @property
    def candidates(self) -> tuple[str, ...]:
        """Subjects that sit when nobody is named."""

    @property
    def baselines(self) -> tuple[str, ...]:
        """Subjects every other one is compared with; they sit unless told not to."""

    @property
    def quick(self) -> Mapping[str, Any]:
        """Settings of a run that takes half a minute and still shows everything."""

    def items(self) -> Sequence[Item]:
        """Name the parts that can be sat independently, on different machines."""

    def examine(self, item: Item) -> Flow:
        """Yield lessons, sheets, practice and turns; receive the answers; return measures.

        Must depend on nothing but the settings, the item and the answers.
        """

    def grade(self, records: Sequence[Record]) -> Result:
        """Conclude from the records alone, whichever of them are there."""


def _check_images(images: Images) -> None:
    if images.ndim != 4 or images.shape[3] not in (1, 3):
        raise ValueError(
            f"pictures come as (n, height, width, 1 or 3), not as {images.shape}; "
            "add the missing axis with images[..., None]"
        )
    if images.dtype not in (np.uint8, np.float32):
        raise ValueError(f"pictures are uint8 or float32, not {images.dtype}")


def _check_indices(name: str, values: Indices, images: Images, choices: int) -> None:
    if values.shape != (len(images),):
        raise ValueError(f"{len(images)} pictures came with {name} of shape {values.shape}")
    if len(values) and not (values.min() >= 0 and values.max() < choices):
        raise ValueError(f"{name} must lie in 0..{choices - 1}, the places of the choices")
