"""Which of many fine labels make up one of the few that are asked about?

A JSON file maps a group to its members: indices of a model's outputs, spans of them
("281-285") or labels. `imagenet20` is built in: the twenty of Carrasco et al. (2020).
A map from index to the number of a group, as ImageNet-9 has it, is read too.
"""

from __future__ import annotations

import json
from collections import defaultdict
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from snellen.errors import BadSetting, Unloadable

BUILT_IN = ("imagenet20",)
Groups: TypeAlias = dict[str, frozenset[str]]
"""By group: its members, indices written as text."""


@lru_cache(maxsize=8)
def load_groups(name: str) -> Groups:
    """Read the groups of that name or file.

    >>> sorted(load_groups("imagenet20")["cat"])
    ['281', '282', '283', '284', '285']
    """
    if name in BUILT_IN:
        text = (files("snellen") / "data" / f"{name}.json").read_text("utf-8")
    else:
        try:
            text = Path(name).expanduser().read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise BadSetting(
                f"groups cannot be read from {name}: {reason}; there is {', '.join(BUILT_IN)}, "
                'or write a JSON file such as {"cat": ["281-285"], "dog": ["151-268"]}'
            ) from error
    try:
        return _parsed(json.loads(text))
    except (ValueError, TypeError, AttributeError) as error:
        raise Unloadable(
            f'{name} should be JSON such as {{"cat": ["281-285", 7], …}}: {error}'
        ) from error


def group_of(label: str, groups: Groups) -> str | None:
    """Return the group a label belongs to, or is."""
    if label in groups:
        return label
    return next((name for name, members in groups.items() if label in members), None)


def _parsed(found: dict[str, Any]) -> Groups:
    if found and all(isinstance(value, int) for value in found.values()):
        by_number: dict[str, set[str]] = defaultdict(set)
        for index, number in found.items():
            if number >= 0:
                by_number[str(number)].add(str(int(index)))
        return {name: frozenset(by_number[name]) for name in sorted(by_number, key=int)}
    made = {name: frozenset(_members(members)) for name, members in found.items()}
    taken: dict[str, str] = {}
    for name, members in made.items():
        for member in members:
            if member in taken:
                raise ValueError(f"{member} is in {taken[member]!r} and in {name!r}")
            taken[member] = name
    if len(made) < 2:
        raise ValueError("there should be two groups or more")
    return made


def _members(members: Any) -> list[str]:
    made = []
    for member in members if isinstance(members, list) else [members]:
        first, dash, last = str(member).partition("-")
        if dash and first.isdigit() and last.isdigit():
            made += [str(index) for index in range(int(first), int(last) + 1)]
        else:
            made.append(str(member))
    return made
