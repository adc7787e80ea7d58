"""Is there a world of which everything is known? Painted scenes, and objects before them.

Scenes of eighteen kinds are painted from keywords (sky, sea, sand, tree, wall, …), and it is
known where in a picture each keyword shows and how often keywords go together. Objects of
nine classes are laid on them, and how much the scenery says about the class is as planted.
"""

from snellen.images.scenery.kinds import (
    CHANCES,
    GROUP_OF,
    GROUPS,
    KEYWORDS,
    KINDS,
    Kind,
    expected_confidence,
    expected_shares,
)
from snellen.images.scenery.lessons import ANOMALIES, AUGMENTATIONS, Examples, examples, leaked
from snellen.images.scenery.objects import draw_objects
from snellen.images.scenery.scenes import Scene, Scenes, draw_scene, draw_scenes
from snellen.images.scenery.worlds import UNIFORM, World, composite, world

__all__ = [
    "ANOMALIES",
    "AUGMENTATIONS",
    "CHANCES",
    "GROUPS",
    "GROUP_OF",
    "KEYWORDS",
    "KINDS",
    "UNIFORM",
    "Examples",
    "Kind",
    "Scene",
    "Scenes",
    "World",
    "composite",
    "draw_objects",
    "draw_scene",
    "draw_scenes",
    "examples",
    "expected_confidence",
    "expected_shares",
    "leaked",
    "world",
]
