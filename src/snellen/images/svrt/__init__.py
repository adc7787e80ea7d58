"""What do the pictures of the Synthetic Visual Reasoning Test show? (Fleuret et al. 2011)

Each of its problems has two categories of pictures, told apart by a rule about the random
shapes in them. The rules are those of the paper's generator; problem 101 is the paper's own
(Yihe et al. 2021).

>>> scenes = draw(1, [1, 0], seed=0)
>>> scenes.images.shape
(2, 128, 128, 1)
>>> [shape.identity for shape in scenes.parsing(1).shapes]
[1, 2]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.errors import BadSetting, extra
from snellen.images.svrt.parsings import Parsing, Shape
from snellen.images.svrt.scenes import Scenes, Truth

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "POSITIVE",
    "PROBLEMS",
    "SIDE",
    "Parsing",
    "Scenes",
    "Shape",
    "Truth",
    "draw",
    "positive",
]

PROBLEMS: tuple[int, ...] = (*range(1, 24), 101)
SIDE = 128
POSITIVE: dict[int, int] = {number: int(number not in (2, 3, 7, 9, 23)) for number in PROBLEMS}
"""By problem: the category that the paper calls positive."""


def draw(problem: int, labels: Sequence[int], seed: int) -> Scenes:
    """Draw a picture of the wanted category, 0 or 1, for each label.

    What picture i shows depends on the problem, its label, the seed and i alone: more
    labels leave the first pictures as they are.
    """
    if problem not in POSITIVE:
        raise BadSetting(
            f"there is no problem {problem}; there are {', '.join(map(str, PROBLEMS))}"
        )
    if wrong := set(labels) - {0, 1}:
        raise BadSetting(f"the categories of a problem are 0 and 1, not {min(wrong)}")
    with extra("svrt", "drawing SVRT pictures"):
        from snellen.images.svrt.drawing import scenes
    return scenes(problem, labels, seed)


def positive(problem: int) -> int:
    """Return the category that the paper calls positive.

    >>> positive(1), positive(2)
    (1, 0)
    """
    return POSITIVE[problem]
