"""What do a model's outputs mean, and how do they answer a question?

Outputs stand for the choices in their order, or for labels that a file names, or for
many fine labels of which the choices are groups (`groups=imagenet20`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.errors import BadAnswer, Unloadable
from snellen.groups import Groups, load_groups
from snellen.stats import log_probabilities

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.subjects.preprocessing import Reading

    Scores = npt.NDArray[Any]
    Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Outputs:
    """From a model's outputs to a score for each choice."""

    labels: tuple[str, ...] = ()
    """What each output stands for; empty: the choices, in their order."""
    groups: Groups | None = None
    grouping: str = "sum"
    """A group is as likely as its members together (`sum`) or as the `largest` of them."""
    outside: str = "pass"
    """Whose likeliest output lies in no group on offer makes no choice, or is `forced` to."""

    def scores(self, out: Scores, choices: tuple[str, ...], who: str) -> tuple[Scores, Flags]:
        """Return (n, choices) scores, and which rows chose something else."""
        if self.groups is None:
            return out[:, _columns(self, choices, out.shape[1], who)], np.zeros(len(out), bool)
        members = _members(self, choices, out.shape[1], who)
        logs = log_probabilities(out)
        reduce = np.logaddexp.reduce if self.grouping == "sum" else np.max
        scores = np.stack([reduce(logs[:, places], axis=1) for places in members], axis=1)
        inside = np.isin(logs.argmax(axis=1), np.concatenate(members))
        return scores, ~inside if self.outside == "pass" else np.zeros(len(out), bool)

    @property
    def choices(self) -> tuple[str, ...]:
        """What it can be asked about, if it says so."""
        return tuple(self.groups) if self.groups is not None else self.labels

    @property
    def effective(self) -> str:
        """All that changes an answer, for a fingerprint."""
        if self.groups is None:
            return repr(self.labels)
        groups = [(name, sorted(members)) for name, members in self.groups.items()]
        return repr((self.labels, groups, self.grouping, self.outside))


def stated_outputs(reading: Reading, own: tuple[str, ...] = ()) -> Outputs:
    """Return what the user says of the outputs, or what the model itself does."""
    return Outputs(
        load_labels(reading["labels"]) if "labels" in reading else own,
        load_groups(reading["groups"]) if "groups" in reading else None,
        reading.get("grouping", "sum"),
        reading.get("outside", "pass"),
    )


def load_labels(path: str) -> tuple[str, ...]:
    """Read a model's labels in order: a JSON list, a JSON map from index, or a line each."""
    try:
        text = Path(path).expanduser().read_text("utf-8")
    except OSError as error:
        raise Unloadable(f"labels cannot be read from {path}: {error.strerror}") from error
    if not path.endswith(".json"):
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    try:
        found = json.loads(text)
        if isinstance(found, dict):
            return tuple(str(found[key]) for key in sorted(found, key=int))
        return tuple(str(label) for label in found)
    except (ValueError, TypeError) as error:
        raise Unloadable(
            f"{path} is neither a JSON list of labels nor a map from index: {error}"
        ) from error


@lru_cache(maxsize=64)
def _columns(outputs: Outputs, choices: tuple[str, ...], count: int, who: str) -> Any:
    """Find the output that stands for each choice."""
    if not outputs.labels:
        if count != len(choices):
            raise BadAnswer(
                f"subject {who!r} has {count} outputs and no label map, and the sheet offers "
                f"{len(choices)} choices; say what its outputs mean with labels=FILE or "
                f"groups=FILE, or give a model with {len(choices)} outputs"
            )
        return slice(None)
    places = {label: place for place, label in enumerate(outputs.labels)}
    missing = [choice for choice in choices if choice not in places]
    if missing or count != len(outputs.labels):
        raise BadAnswer(
            f"subject {who!r} has {count} outputs and {len(outputs.labels)} labels"
            + (f", none of them called {', '.join(missing[:5])}" if missing else "")
            + "; give the right ones with labels=FILE"
        )
    return np.array([places[choice] for choice in choices])


@lru_cache(maxsize=64)
def _members(
    outputs: Outputs, choices: tuple[str, ...], count: int, who: str
) -> tuple[npt.NDArray[np.intp], ...]:
    """Find the outputs that make up each choice, by their index or their label."""
    groups = outputs.groups or {}
    if unknown := [choice for choice in choices if choice not in groups]:
        raise BadAnswer(
            f"subject {who!r} has no group {', '.join(unknown[:5])}; its groups= has "
            f"{', '.join(list(groups)[:20])}"
        )
    labels = (*outputs.labels, *("",) * count)
    made = []
    for choice in choices:
        known = groups[choice]
        found = [i for i in range(count) if not known.isdisjoint((str(i), labels[i]))]
        if not found:
            raise BadAnswer(
                f"none of the {count} outputs of subject {who!r} is in its group {choice!r}; "
                f"give groups= with indices below {count}, or labels="
            )
        made.append(np.array(found))
    return tuple(made)
