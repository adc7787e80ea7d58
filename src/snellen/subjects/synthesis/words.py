"""What does a learned rule say, in words, in code and drawn over a picture?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.subjects.synthesis.board import boards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.core import Images
    from snellen.images.outlines import Scene
    from snellen.subjects.synthesis.board import Floats
    from snellen.subjects.synthesis.learning import Belief, Rule

TOLD = 3
"""Rules that are told: the weightiest."""
UNITS = {"px": " px", "degrees": "°", "share": "", "count": ""}
PLACES = {"px": 1, "degrees": 0, "share": 2, "count": 0}
"""Decimals: no more than pixels can tell."""
INKS = ((0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233))
"""Shapes that are the same are drawn in one colour; a shape without a fellow in black."""
ALONE = (27, 31, 36)


def told(belief: Belief, choices: Sequence[str]) -> str:
    """Say which rules tell the categories apart: a line in words, a line in code."""
    if not belief.rules:
        return "no rule: there were no shapes to speak of"
    lines = []
    for weight, rule in zip(belief.weights[:TOLD], belief.rules, strict=False):
        own, other = rule.own, 1 - rule.own
        ranges = f"{_range(rule, own)}; {choices[other]}: {_range(rule, other)}"
        lines += [
            f"{100 * weight:.0f} %  {choices[own]}: {rule.number.english} is {ranges}",
            f"      {rule.number.code}  [{rule.kind}, {rule.bits:.1f} bits]",
        ]
    needed = dict.fromkeys(f"{choices[r.own]}: {r.number.english}" for r in belief.common)
    return "\n".join([*lines, *(f"always  {text} is not 0" for text in needed)])


def reasons(belief: Belief, scenes: Sequence[Scene], choices: Sequence[str]) -> list[str]:
    """Say for each scene what tipped the scales: the rule with most to say, and its number."""
    made = ["no shapes"] * len(scenes)
    for places, board in boards(scenes):
        if not belief.rules:
            break
        shares = np.stack([rule.share(board) for rule in belief.rules[:TOLD]])
        said = np.abs(shares - 0.5) * belief.weights[:TOLD, None]
        for column, place in enumerate(places):
            rule = belief.rules[int(said[:, column].argmax())]
            value = float(rule.number(board)[column])
            seen = "; ".join(f"{choices[c]}: {_range(rule, c)}" for c in (0, 1))
            made[place] = f"{rule.number.english}: {_number(value, rule)} ({seen})"
    return made


def drawn(scene: Scene, image: Any) -> Images:
    """Colour the shapes of a picture by which of them are the same; dot their centres."""
    height, width = image.shape[:2]
    made = np.full((height, width, 3), 255, np.uint8)
    made[np.asarray(image).min(axis=2) < (128 if image.dtype == np.uint8 else 0.5)] = 205
    if scene.side != (height, width):  # it was made smaller: the places are others
        return made
    colours = _colours(scene)
    for outline, colour in zip(scene.outlines, colours, strict=True):
        made[outline[:, 1], outline[:, 0]] = colour
    for x, y, colour in zip(scene.x, scene.y, colours, strict=True):
        row, column = round(float(y)), round(float(x))
        made[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2] = colour
    return made


def _colours(scene: Scene) -> list[tuple[int, int, int]]:
    """Give each group of shapes that are the same a colour of its own."""
    groups: list[int] = []
    made = []
    for i in range(len(scene.x)):
        fellows = np.flatnonzero(scene.same[i])
        if len(fellows) < 2:
            made.append(ALONE)
            continue
        first = int(fellows[0])
        if first not in groups:
            groups.append(first)
        made.append(INKS[groups.index(first) % len(INKS)])
    return made


def _range(rule: Rule, category: int) -> str:
    """Say between which values a category's pictures were."""
    seen: Floats = rule.values[category]
    known = seen[np.isfinite(seen)]
    if not len(seen):
        return "not seen"
    if not len(known):
        return "nothing of the kind"
    low, high = _number(known.min(), rule), _number(known.max(), rule)
    return low if low == high else f"{low} to {high}"


def _number(value: float, rule: Rule) -> str:
    if np.isnan(value):
        return "none"
    return f"{value:.{PLACES[rule.number.unit]}f}{UNITS[rule.number.unit]}"
