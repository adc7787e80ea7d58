"""What is shown of one target: itself, before other sceneries, and two controls?

A case comes from photographs, masks, scenes and tags of the user's, or from the painted
world, where all of these are known without asking anybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.digests import digest
from snellen.errors import BadSetting, SnellenError, Unloadable
from snellen.exams.background.distance import Distances, Scenes
from snellen.exams.background.ontology import Ontology
from snellen.exams.background.relatives import Relatives, load_relatives
from snellen.exams.background.search import Search, Span, Target, choose
from snellen.exams.background.stuff import stuff_tags
from snellen.exams.background.tags import Tags, load_tags
from snellen.images.compositing import Cut, Squashed, cut, ground, repasted
from snellen.images.labelled import open_collection
from snellen.images.masks import gate, masker
from snellen.images.photos import SUFFIXES, read_squashed, squashed
from snellen.images.scenery import GROUP_OF, GROUPS, KEYWORDS, KINDS, composite, draw_scenes, world
from snellen.images.things import THINGS
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.core import Images
    from snellen.exams.background import Background
    from snellen.exams.background.search import Choice
    from snellen.images.masks import Mask, Masker
    from snellen.images.photos import Picture
    from snellen.images.scenery import World
    from snellen.images.scenery.scenes import Scenes as Painted

CONTROLS = ("alone", "re-pasted")
"""On flat grey; back on its own ground, from which it was painted out."""
TYPICAL = 0.95
"""How surely a painted target's own scenery is the one that its class prefers: what people
call a natural picture."""
FEATHER = 1.0


@dataclass(frozen=True, eq=False)
class Case:
    """A target's pictures: itself, its controls, and itself before each scene that was chosen."""

    target: str
    label: str
    pictures: Images
    """(1 + controls + scenes, side, side, 3)."""
    chosen: Sequence[Choice]
    words: Sequence[str]
    """The keywords of each scene, `;` between them."""


class Skipped(SnellenError):
    """A target that cannot be used, with the reason."""


# --- the user's own pictures ---


@dataclass(frozen=True, eq=False)
class Library:
    """Tagged scenes ready to be searched, and the pixels of scenes and targets."""

    scenes: Scenes
    tags: Tags
    pixels: Squashed
    relatives: Relatives


def photographed(exam: Background, name: str, label: str) -> Case:
    """Cut a photographed thing out and lay it before scenes of the user's."""
    size = (exam.side, exam.side)
    try:
        picture = squashed(open_collection(exam.targets, exam.column).read(name), size)
        mask = _mask(exam.masks, exam.targets, exam.column, name, exam.side)
    except Unloadable as error:
        raise Skipped(str(error)) from error
    if reasons := gate(mask):
        raise Skipped(f"its mask is no good: {'; '.join(reasons)}")
    library = _library(exam)
    thing, own = cut(picture, mask, FEATHER, cleaned=True), ground(picture, mask)
    found = _chosen(exam, library, Target(name, _words(library.tags, name, own), (label,)))
    grounds: list[Picture] = []
    kept: list[Choice] = []
    for choice in found:
        try:
            grounds.append(library.pixels[choice.picture])
        except Unloadable:  # told when the scenes were tagged
            continue
        kept.append(choice)
    return _case(
        name, label, picture, thing, repasted(thing, picture, mask), grounds, kept, library
    )


def _words(tags: Tags, name: str, own: Picture) -> tuple[str, ...]:
    """Return the keywords of a target's own scenery: its tags', or what its ground looks like."""
    for known in (name, Path(name).name, Path(name).stem):
        if known in tags.places:
            return tags.words(known)
    return stuff_tags(own[None], (name,)).words(name)


def _chosen(exam: Background, library: Library, target: Target) -> list[Choice]:
    search = Search(
        library.scenes,
        target,
        library.relatives,
        exam.pooling,
        seed=Seed("background", target.name).number(),
        span=Span(even="quantile" if exam.even == "ranks" else "distance"),
    )
    found = choose(search, exam.count, exam.choose)
    if len(found) < 2:
        raise Skipped(
            f"only {len(found)} scenes may stand behind it: all others show a {target.things[0]}"
        )
    return found


def _case(
    name: str,
    label: str,
    picture: Picture,
    thing: Cut,
    back: Picture,
    grounds: Sequence[Picture],
    chosen: Sequence[Choice],
    library: Library,
) -> Case:
    rows = [library.scenes.rows[choice.picture] for choice in chosen]
    pictures = np.concatenate(
        [np.stack([picture, thing.on_grey(), back]), thing.on(np.stack(grounds))]
    )
    words = [";".join(library.scenes.words(row)) for row in rows]
    return Case(name, label, pictures, chosen, words)


@lru_cache(maxsize=1000)
def _mask(source: str, targets: str, column: str, name: str, side: int) -> Mask:
    """Say where the thing is; kept for the next subject, because GrabCut takes its time."""
    picture = squashed(open_collection(targets, column).read(name), (side, side))
    return np.asarray(_masker(source)(picture, name), np.float32)


@lru_cache(maxsize=4)
def _masker(source: str) -> Masker:
    return masker(source)


@lru_cache(maxsize=2)
def _library(exam: Background) -> Library:
    """Read tags, or look at the scenes for want of them; order what leads to what."""
    root, side = Path(exam.scenes).expanduser(), exam.side
    names = scene_files(exam.scenes)
    pixels = Squashed(lambda name: read_squashed(root / name, (side, side)))
    tags = load_tags(exam.tags) if exam.tags else looked_at(exam.scenes)
    known = {tag: name for name in names for tag in (name, Path(name).name, Path(name).stem)}
    tagged = [(known[tag], tag) for tag in tags.pictures if tag in known]
    if len(tagged) < 2:
        raise BadSetting(
            f"{exam.tags or 'looking'} gives tags for {len(tagged)} of the {len(names)} pictures "
            f"in {exam.scenes}; name pictures as they are called there, such as {names[0]}"
        )
    own = tags.taken([tag for _, tag in tagged])
    own = Tags(tuple(name for name, _ in tagged), own.keywords, own.present, own.strengths)
    relatives = load_relatives(exam.relatives) if exam.relatives else Relatives()
    return Library(searchable(exam, own), tags, pixels, relatives)


def searchable(exam: Background, tags: Tags) -> Scenes:
    """Order tagged scenes by what leads to what."""
    ontology = Ontology.of(tags, exam.least_count or None, exam.least_confidence or None)
    return Scenes.of(tags, Distances.of(ontology, exam.length))


@lru_cache(maxsize=4)
def scene_files(folder: str) -> tuple[str, ...]:
    """Name all pictures below a folder."""
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise BadSetting(f"scenes should be a folder of pictures, and {folder!r} is none")
    names = sorted(
        p.relative_to(root).as_posix() for p in root.rglob("*") if p.suffix.lower() in SUFFIXES
    )
    if len(names) < 2:
        raise BadSetting(f"there are {len(names)} pictures below {folder}; scenes are many")
    return tuple(names)


LOOK = 64
"""Scenes are looked at as small as this."""


@lru_cache(maxsize=2)
def looked_at(folder: str) -> Tags:
    """Tag scenes by their colours and layout; those that cannot be read are left out."""
    root, read, pictures = Path(folder).expanduser(), [], []
    for name in scene_files(folder):
        try:
            pictures.append(read_squashed(root / name, (LOOK, LOOK)))
        except Unloadable:
            continue
        read.append(name)
    return stuff_tags(np.stack(pictures), tuple(read))


# --- the painted world ---


@dataclass(frozen=True, eq=False)
class PaintedWorld:
    """Targets before the sceneries that their classes prefer, and scenes for them to change to."""

    targets: World
    drawn: Painted
    library: Library


@lru_cache(maxsize=2)
def painted_world(exam: Background) -> PaintedWorld:
    """Draw the world that every model of this exam is asked about."""
    targets = world(Seed("background", "targets"), exam.number, TYPICAL, exam.side)
    drawn = draw_scenes(Seed("background", "scenes"), exam.drawn, exam.side)
    names = tuple(f"{KINDS[kind].name}-{place:04d}" for place, kind in enumerate(drawn.kinds))
    tags = Tags(names, KEYWORDS, drawn.present, drawn.areas)
    places = {name: place for place, name in enumerate(names)}
    pixels = Squashed(lambda name: drawn.pictures[places[name]])
    return PaintedWorld(targets, drawn, Library(searchable(exam, tags), tags, pixels, Relatives()))


def painted(exam: Background, place: int) -> Case:
    """Lay a painted object before scenes of the painted world."""
    made = painted_world(exam)
    targets, label = made.targets, THINGS[made.targets.labels[place]]
    present = targets.scenes.areas[place]
    words = tuple(KEYWORDS[k] for k in np.argsort(-present, kind="stable") if present[k] > 0)
    name = f"target-{place:04d}"
    chosen = _chosen(exam, made.library, Target(name, words, (label,)))
    thing = Cut(targets.inks[place], targets.alphas[place])
    grounds = [made.library.pixels[choice.picture] for choice in chosen]
    own = targets.scenes.pictures[place]
    return _case(
        name, label, targets.pictures[place], thing, thing.on(own[None])[0], grounds, chosen,
        made.library,
    )  # fmt: skip


def probes(exam: Background, count: int) -> tuple[Images, Images, Any]:
    """Return the same new objects before their classes' own sceneries and before others."""
    seed = Seed("background", "probes")
    own = world(seed, count, 1.0, exam.side)
    kinds = [
        int(np.flatnonzero(group == GROUP_OF)[0])
        for group in (own.labels + 1 + seed.picks(count, [1] * (len(GROUPS) - 1))) % len(GROUPS)
    ]
    others = draw_scenes(seed, count, exam.side, kinds)
    return own.pictures, composite(own.inks, own.alphas, others.pictures), own.labels


def content(exam: Background) -> str:
    """Return a hash of all that shapes every photographed case but the target itself."""
    parts = scene_files(exam.scenes)
    segmenter = exam.masks if exam.masks.endswith(".onnx") else ""
    files = [path for path in (exam.tags, exam.relatives, segmenter) if path]
    return digest(*parts, *(Path(path).expanduser() for path in files))


def ontology(exam: Background) -> Ontology:
    """Return what goes with what among the scenes of an exam."""
    made = _library(exam) if exam.targets else painted_world(exam).library
    return made.scenes.ontology
