"""What does an agent that was taught one test make of the pictures of another?

To merge all pairs of 50 tests is 1,225 lessons; to teach each alone is 50. Whoever was taught
one, the source, is shown pictures of all others, the targets, and what it sees in them is judged
by the labels that they have there:

    leep        the share of the targets' labels that the source's answers foretell, 0 to 1
    logme       how much better its features explain them than how common each is: nats, from 0
    fisher      how differently source and target lean on the features: 0 to 1
    transport   how far pictures and labels have to be moved to make one the other: from about 0
                to about 1, where nothing varies but from one test to the other

The first two are higher, the others lower where tests are more alike. Features are what goes on
inside of an agent that shows it, each channel's mean over the picture, or else the logarithms of
its probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.core import CHOICE, Ability, Sheet
from snellen.exams.kinship import pictures, proxies
from snellen.stats import log_probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.core import Answers, Indices
    from snellen.exams.kinship.pictures import PictureTest

Numbers: TypeAlias = npt.NDArray[np.float64]

SCORES: frozenset[Ability] = frozenset({"scores"})
SIGNALS: frozenset[Ability] = frozenset({"signals"})
MOST = 1000
"""Pictures of a test that are looked at: more make a proxy hardly surer."""
WIDEST = 512
"""Features; of more, evenly spaced ones are taken."""
FARTHEST = 8.0
"""Where two tests are a point each and features have variance 1, these lie 2 apart: 4 is the cost
of a picture, and 4 that of its label."""
DOUBT = 1e-6
"""A probability below this is as good as none, and its logarithm no farther away."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What an agent makes of a test's pictures, a row each."""

    labels: Indices
    probabilities: Numbers
    features: Numbers
    inside: str
    """Where inside of the agent the features were taken; empty: they are its answers'."""


def looked(
    source: PictureTest, targets: Sequence[PictureTest], count: int, repeat: int
) -> Generator[Sheet, Any, dict[str, Any]]:
    """Show pictures of the source and of each target to who was taught the source."""
    own = yield from _seen(source, source, count, repeat)
    told = {}
    for target in targets:
        told[target.name] = compared(own, (yield from _seen(source, target, count, repeat)))
    right = float((own.probabilities.argmax(axis=1) == own.labels).mean())
    return {"score": right, "inside": own.inside, "targets": told}


def compared(own: Seen, other: Seen) -> dict[str, float | None]:
    """Judge a target by what was seen in it and in the source; None where a proxy has no value."""
    features = proxies.in_common(own.features, other.features)
    sides = list(zip(features, (own.labels, other.labels), strict=True))
    varying = int(np.any([f.any(axis=0) for f in features], axis=0).sum())
    # classes may be small and many: all pairs of tests are compared in the form that serves those
    moved = proxies.transport_distance(sides[0], sides[1], form="diagonal")
    made = {
        "leep": proxies.leep_share(other.probabilities, other.labels),
        "logme": proxies.logme_gain(*sides[1]),
        "fisher": proxies.fisher_distance(*(proxies.fisher_embedding(*side) for side in sides)),
        "transport": moved / (FARTHEST * max(varying, 1)),
    }
    return {name: value if math.isfinite(value) else None for name, value in made.items()}


def _seen(
    source: PictureTest, shown: PictureTest, count: int, repeat: int
) -> Generator[Sheet, Any, Seen]:
    """Ask for the source's classes; of another test's pictures none is the right one."""
    images, labels = shown.questions(min(count, MOST), repeat)
    answers: Answers = yield Sheet(
        images,
        source.classes,
        labels if shown is source else None,
        CHOICE | SCORES,
        {"test": np.full(len(images), shown.name)},
        pictures.PROMPT,
        SIGNALS,
    )
    assert answers.scores is not None, "the sheet asks for them"
    probabilities = np.exp(log_probabilities(answers.scores))
    inside = {name: _pooled(s) for name, s in answers.signals.items() if _numeric(s, len(images))}
    if not inside:
        return Seen(labels, probabilities, np.log(np.maximum(probabilities, DOUBT)), "")
    return Seen(labels, probabilities, _narrowed([*inside.values()]), " and ".join(inside))


def _numeric(signal: Any, count: int) -> bool:
    """Tell values inside of a model from reasons in words and drawn pictures."""
    s = np.asarray(signal)
    return s.dtype.kind == "f" and s.ndim >= 2 and len(s) == count


def _pooled(signal: Any) -> Numbers:
    """Return the mean of each channel over all places."""
    s = np.asarray(signal, float)
    return np.asarray(s.reshape(*s.shape[:2], -1).mean(axis=2))


def _narrowed(parts: Sequence[Numbers]) -> Numbers:
    """Put features side by side, and leave some out where they are too many."""
    joined = np.concatenate(parts, axis=1)
    kept = min(WIDEST, joined.shape[1])
    return joined[:, np.linspace(0, joined.shape[1] - 1, kept).astype(int)]
