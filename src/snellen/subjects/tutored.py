"""A small network that was taught the nine things, for when nobody brings a model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from snellen.core import Ability, Lesson
from snellen.images.things import THINGS, draw_things
from snellen.seeds import Seed
from snellen.subjects.networks import small_cnn
from snellen.subjects.torch import load

if TYPE_CHECKING:
    from torch import nn

    from snellen.core import Answers, Sheet, Subject

SIDE, PICTURES, BATCHES, BATCH = 32, 6000, 600, 64


@dataclass(frozen=True)
class Tutored:
    """A small network, taught the nine procedural things before it is asked (some seconds)."""

    gives: ClassVar[frozenset[Ability]] = frozenset({"choice", "scores", "signals"})
    labels: ClassVar[tuple[str, ...]] = THINGS

    width: Annotated[int, Field(ge=1, le=256, description="channels of its first layer")] = 16
    seed: Annotated[int, Field(ge=0, description="of its lesson")] = 0

    @property
    def name(self) -> str:
        """Its width, when it is not the usual one."""
        parts = [
            "tutored",
            f"w{self.width}" * (self.width != 16),
            f"s{self.seed}" * bool(self.seed),
        ]
        return "-".join(filter(None, parts))

    @property
    def fingerprint(self) -> str:
        """Its recipe: the same recipe gives the same network."""
        return f"tutored-1-{self.width}-{self.seed}"

    def answer(self, sheet: Sheet) -> Answers:
        """Answer as the network does; it is taught when it is first asked."""
        return _taught(self.width, self.seed).answer(sheet)

    def study(self, lesson: Lesson) -> Tutored:  # noqa: ARG002
        """Learn no more: it has left school."""
        return self


@lru_cache(maxsize=4)
def _taught(width: int, seed: int) -> Subject:
    images, labels = draw_things(Seed("tutored", seed), PICTURES, SIDE)
    lesson = Lesson(images, labels, THINGS, BATCHES * BATCH, Seed("pupil", seed).number())

    def build(classes: int = 9, channels: int = 3, size: int = SIDE) -> nn.Module:
        return small_cnn(classes, channels, size, width)

    return load(
        build, name="tutored", device="cpu", lr=2e-3, size=SIDE, channels=3, batch=BATCH
    ).study(lesson)
