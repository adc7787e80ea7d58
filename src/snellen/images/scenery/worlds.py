"""What if the scenery gave the object away, and we knew by how much?

Each class of objects prefers one group of scenes, and is seen before it with a probability
that is asked for: from one in nine, where scenery says nothing, upwards. Who looks only at
the scenery can then be right exactly that often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.errors import BadSetting
from snellen.images.scenery.kinds import GROUP_OF, GROUPS
from snellen.images.scenery.objects import draw_objects
from snellen.images.scenery.scenes import SIDE, draw_scenes
from snellen.images.things import THINGS

if TYPE_CHECKING:
    from snellen.core import Images, Indices
    from snellen.images.scenery.objects import Alphas
    from snellen.images.scenery.scenes import Scenes
    from snellen.seeds import Seed

UNIFORM = 1 / len(GROUPS)
"""The correlation at which scenery says nothing about the object."""


@dataclass(frozen=True, eq=False)
class World:
    """Objects before scenes, a row each, with all that is true of them."""

    pictures: Images
    labels: Indices
    """Which of `THINGS` the object is."""
    alphas: Alphas
    """(n, side, side): how much of each pixel is the object."""
    inks: Images
    """What colours the object has, where there is any of it."""
    scenes: Scenes
    """The same scenes without the objects."""

    def __len__(self) -> int:
        return len(self.pictures)


def world(seed: Seed, count: int, rho: float = UNIFORM, side: int = SIDE, shift: int = 0) -> World:
    """Return that many pictures in which P(preferred group | class) is `rho`.

    All classes are equally common, and so are the groups that a class does not prefer, and
    the kinds in a group. Class k prefers group k + `shift`: a shift makes the scenery that
    meant one class mean another.
    """
    if not 0 <= rho <= 1:
        raise BadSetting(f"rho={rho} should be a probability, from 0 to 1; {UNIFORM:.3f} is none")
    labels = (np.arange(count) % len(THINGS))[seed.shuffled(count)]
    kinds = _kinds(seed, (labels + shift) % len(GROUPS), rho)
    scenes = draw_scenes(seed, count, side, kinds)
    inks, alphas = draw_objects(seed, labels, side)
    return World(composite(inks, alphas, scenes.pictures), labels, alphas, inks, scenes)


def composite(inks: Images, alphas: Alphas, grounds: Images) -> Images:
    """Lay objects on grounds: α·ink + (1 − α)·ground, rounded."""
    made = np.empty_like(inks)
    for i, alpha in enumerate(alphas[..., None]):
        made[i] = np.rint(alpha * inks[i] + (1 - alpha) * grounds[i])
    return made


def _kinds(seed: Seed, preferred: Indices, rho: float) -> Indices:
    """Draw a kind of scene for each, of its preferred group with probability `rho`."""
    count = len(preferred)
    other = (preferred + 1 + seed.picks(count, [1] * (len(GROUPS) - 1))) % len(GROUPS)
    group = np.where(seed.floats(count) < rho, preferred, other)
    members = [np.flatnonzero(number == GROUP_OF) for number in range(len(GROUPS))]
    within = seed.floats(count)
    picked = [members[g][int(w * len(members[g]))] for g, w in zip(group, within, strict=True)]
    return np.array(picked, np.intp)
