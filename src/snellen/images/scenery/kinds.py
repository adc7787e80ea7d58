"""Which scenes are there, and what is likely to be in each of them?

Eighteen kinds in nine groups. Each has a table of how likely each keyword is; keywords are
drawn independently, given the kind, so how often they go together is known exactly:

>>> sure = expected_confidence()
>>> f"{sure[KEYWORDS.index('sand'), KEYWORDS.index('sea')]:.3f}"
'0.345'
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.images.scenery import built, indoors, nature

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from snellen.images.scenery.canvas import RGB, Canvas

    Range = tuple[float, float]
    Shares = npt.NDArray[np.float64]

PAINTERS: dict[str, Callable[[Canvas], None]] = {
    painter.__name__: painter
    for painter in (
        *(nature.sky, nature.sun, nature.cloud, nature.mountain, nature.hill, nature.cliff),
        *(built.skyscraper, built.stand, nature.sea, nature.grass, built.pitch, built.field),
        *(nature.sand, nature.snow, nature.lake, nature.river, built.road, built.boat),
        *(nature.bird, built.goal, built.lantern, nature.fir, built.house, nature.tree),
        *(built.fence, nature.rock, nature.cactus, nature.palm, built.parasol, nature.bush),
        *(nature.blossom, built.car, indoors.floor, indoors.wall, indoors.board, indoors.door),
        *(indoors.window, indoors.picture, indoors.shelf, indoors.cupboard, indoors.stove),
        *(indoors.rug, indoors.clock, indoors.plant, indoors.sofa, indoors.chair),
        *(indoors.table, indoors.lamp),
    )
}
"""A function for each keyword, in the order in which they are painted: the farthest first."""
KEYWORDS = tuple(PAINTERS)

WOODY = ((58, 80, 58), (84, 78, 52))
PALE = ((214, 220, 228), (206, 202, 196))
EARTH = ((214, 220, 228), (150, 128, 96))
ROOM = ((206, 198, 186), (128, 112, 96))


@dataclass(frozen=True)
class Kind:
    """A kind of scene: what may be in it, and where."""

    name: str
    group: str
    chances: Mapping[str, float]
    """How likely each keyword is, those that are left out not at all."""
    horizon: Range = (0.4, 0.55)
    ground: tuple[RGB, RGB] = EARTH
    """What colours show, above the horizon and below it, where nothing is painted."""
    lines: Mapping[str, Range] = field(default_factory=dict)
    standing: Range = (0.1, 0.95)
    """Where feet may be, from 0 at the horizon to 1 at the lower edge."""
    crowd: tuple[int, int] = (1, 3)
    lined: str = ""
    """The keyword that stands all along the wall."""
    aisle: float = 0.0
    """How wide the middle is in which nothing stands."""
    frost: bool = False


def _kind(name: str, group: str, chances: str, **more: Any) -> Kind:
    """Read a table as it is printed below: a keyword and its chance in per cent."""
    words = chances.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    table = {word: int(share) / 100 for word, share in pairs}
    return Kind(name, group, table, **more)


KINDS: tuple[Kind, ...] = (
    _kind(
        "beach",
        "coast",
        "sky 95 sea 100 sand 100 cloud 55 sun 35 palm 55 parasol 50 boat 30 bird 25 rock 20 "
        "hill 20",
        horizon=(0.34, 0.44),
        lines={"sand": (0.56, 0.7)},
        standing=(0.5, 0.95),
    ),
    _kind(
        "sea",
        "coast",
        "sky 95 sea 100 cloud 60 sun 40 boat 70 bird 45 cliff 20 hill 15 rock 15",
        horizon=(0.36, 0.54),
        standing=(0.5, 0.95),
    ),
    _kind(
        "forest",
        "woods",
        "tree 90 fir 70 grass 90 sky 65 bush 60 blossom 30 rock 30 river 15 bird 10",
        horizon=(0.36, 0.46),
        ground=WOODY,
        standing=(0.12, 0.9),
        crowd=(5, 8),
    ),
    _kind(
        "lakeside",
        "woods",
        "lake 100 sky 95 grass 90 hill 60 fir 65 cloud 50 mountain 40 tree 40 rock 35 boat 30 "
        "bird 20 sun 20",
        horizon=(0.38, 0.48),
        lines={"lake": (0.5, 0.56)},
        standing=(0.1, 0.95),
        aisle=0.35,
        crowd=(2, 4),
    ),
    _kind(
        "meadow",
        "fields",
        "grass 95 sky 95 blossom 85 hill 60 cloud 60 tree 50 bush 40 sun 35 fence 25 bird 25 "
        "house 10",
        horizon=(0.4, 0.56),
    ),
    _kind(
        "farm",
        "fields",
        "sky 95 field 85 house 80 grass 80 fence 65 tree 50 cloud 50 hill 45 sun 25 road 20 "
        "bird 15",
        horizon=(0.38, 0.5),
        lines={"field": (0.56, 0.66)},
        standing=(0.1, 0.6),
        crowd=(1, 2),
    ),
    _kind(
        "mountain",
        "heights",
        "mountain 100 sky 95 grass 75 rock 65 fir 55 cloud 50 hill 45 blossom 25 bird 25 sun 15",
        horizon=(0.56, 0.68),
        crowd=(2, 4),
    ),
    _kind(
        "valley",
        "heights",
        "sky 95 grass 95 mountain 85 river 85 hill 70 tree 45 fir 40 cloud 40 house 35 bush 30 "
        "fence 15",
        horizon=(0.42, 0.54),
    ),
    _kind(
        "desert",
        "dry",
        "sand 100 sky 95 cactus 75 sun 60 rock 50 bush 25 mountain 25 palm 15 cloud 15 bird 10",
        horizon=(0.42, 0.58),
    ),
    _kind(
        "canyon",
        "dry",
        "cliff 100 sky 95 sand 90 rock 50 river 45 bush 40 sun 35 cloud 30 cactus 30 bird 30",
        horizon=(0.56, 0.68),
    ),
    _kind(
        "snowfield",
        "snow",
        "snow 100 sky 90 fir 75 mountain 55 hill 40 cloud 40 sun 30 rock 25 fence 20 bird 10",
        horizon=(0.42, 0.58),
        ground=PALE,
        frost=True,
        crowd=(2, 4),
    ),
    _kind(
        "village",
        "snow",
        "house 95 snow 95 sky 95 fir 60 lantern 45 hill 40 fence 35 mountain 30 cloud 30 road 25 "
        "tree 10",
        horizon=(0.42, 0.54),
        ground=PALE,
        frost=True,
    ),
    _kind(
        "street",
        "town",
        "road 100 sky 90 skyscraper 80 car 75 lantern 60 house 50 tree 45 cloud 35 sun 15 bird 10",
        horizon=(0.46, 0.56),
        ground=((176, 178, 180), (150, 148, 146)),
        standing=(0.1, 0.7),
        crowd=(1, 2),
        aisle=0.4,
    ),
    _kind(
        "stadium",
        "town",
        "stand 100 pitch 100 sky 85 goal 75 lantern 45 cloud 40 skyscraper 20 sun 15 bird 10",
        horizon=(0.46, 0.56),
        standing=(0.1, 0.2),
    ),
    _kind(
        "kitchen",
        "home",
        "wall 95 cupboard 95 floor 95 stove 80 window 60 lamp 50 table 50 clock 40 chair 40 "
        "plant 25",
        horizon=(0.6, 0.68),
        ground=ROOM,
        standing=(0.55, 0.95),
        crowd=(1, 2),
    ),
    _kind(
        "living room",
        "home",
        "wall 95 floor 95 sofa 85 picture 65 lamp 55 rug 55 window 50 plant 50 table 35 shelf 30 "
        "door 15 clock 15",
        horizon=(0.58, 0.66),
        ground=ROOM,
        standing=(0.6, 0.95),
        crowd=(1, 2),
    ),
    _kind(
        "library",
        "halls",
        "shelf 100 floor 90 wall 85 table 55 lamp 55 chair 50 window 25 rug 20 door 15 clock 15 "
        "plant 15",
        horizon=(0.62, 0.72),
        ground=ROOM,
        lined="shelf",
        standing=(0.5, 0.95),
        crowd=(1, 2),
    ),
    _kind(
        "classroom",
        "halls",
        "wall 95 floor 95 board 95 table 85 chair 75 window 50 clock 50 door 30 lamp 30 shelf 20 "
        "plant 20 picture 15",
        horizon=(0.54, 0.62),
        ground=ROOM,
        standing=(0.35, 0.95),
        crowd=(2, 3),
    ),
)
GROUPS = tuple(dict.fromkeys(kind.group for kind in KINDS))
CHANCES: Shares = np.array([[kind.chances.get(word, 0.0) for word in KEYWORDS] for kind in KINDS])
"""p_s(a), by kind and keyword."""
GROUP_OF = np.array([GROUPS.index(kind.group) for kind in KINDS], np.intp)


def expected_shares(weights: Sequence[float] | None = None) -> Shares:
    """Return what share of scenes has each keyword, kinds being as common as `weights` says."""
    return _common(weights) @ CHANCES


def expected_confidence(weights: Sequence[float] | None = None) -> Shares:
    """Return conf(a→b) by keyword and keyword: what share of the scenes with a have b as well.

    Σ_s π_s p_s(a) p_s(b) / Σ_s π_s p_s(a), for keywords are independent given the kind; each
    has itself for sure, and one that never comes has nothing.
    """
    both = CHANCES.T @ (_common(weights)[:, None] * CHANCES)
    alone = expected_shares(weights)
    np.fill_diagonal(both, alone)
    return np.divide(both, alone[:, None], out=np.zeros_like(both), where=alone[:, None] > 0)


def _common(weights: Sequence[float] | None) -> Shares:
    """Return π_s: all kinds equally common when nothing is said."""
    given = np.ones(len(KINDS)) if weights is None else np.asarray(weights, float)
    return np.asarray(given / given.sum())
