"""What is shown of one target: itself, before other sceneries, and two controls?

A case comes from photographs, masks, scenes and tags of the user's, or from the painted
world, where all of these are known without asking anybody.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
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
from snellen.exams.background.stuff import nearest_stuff, stuff_tags
from snellen.exams.background.tags import Tags, load_tags
from snellen.images.compositing import Cut, Squashed, cut, ground, repasted
from snellen.images.labelled import asked_labels, choices, open_collection
from snellen.images.masks import MaskFolder, gate, masker
from snellen.images.photos import SUFFIXES, read_squashed, squashed
from snellen.images.scenery import GROUP_OF, GROUPS, KEYWORDS, KINDS, composite, draw_scenes, world
from snellen.images.things import THINGS
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

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
    unread: Mapping[str, str] = field(default_factory=dict)
    """Scenes that would have been chosen and cannot be read, with the reason."""


class Skipped(SnellenError):
    """A target that cannot be used, with the reason."""


# --- the user's own pictures ---


@dataclass(frozen=True, eq=False)
class Library:
    """Tagged scenes ready to be searched, their pixels, and what is known of targets."""

    scenes: Scenes
    pixels: Squashed
    tags: Tags
    of_targets: Mapping[str, str] = field(default_factory=dict)
    """What the targets that have tags are called there."""
    relatives: Relatives = field(default_factory=Relatives)
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Scenes of the folder that cannot be chosen, with the reason."""


def photographed(exam: Background, name: str, label: str) -> Case:
    """Cut a photographed thing out and lay it before scenes of the user's."""
    size = (exam.side, exam.side)
    try:
        picture = squashed(open_collection(exam.targets, exam.column).read(name), size)
    except Unloadable as error:
        raise Skipped(_without_place(error)) from error
    try:
        mask = _mask(exam.masks, exam.targets, exam.column, name, exam.side)
    except Unloadable as error:
        raise Skipped(f"it has no mask: {error}") from error
    if reasons := gate(mask):
        raise Skipped(f"its mask is no good: {'; '.join(reasons)}")
    library = _library(exam)
    thing, own = cut(picture, mask, FEATHER, cleaned=True), ground(picture, mask)
    finer = open_collection(exam.targets, exam.column).labels[name]
    target = Target(name, _words(library, name, own), (label, finer))
    chosen, grounds, unread = _readable(exam, library, target)
    back = repasted(thing, picture, mask)
    return _case(name, label, (picture, back), thing, grounds, chosen, library, unread)


def _words(library: Library, name: str, own: Picture) -> tuple[str, ...]:
    """Return the keywords of a target's own scenery: its tags', or what its ground looks like."""
    if name in library.of_targets:
        return library.tags.words(library.of_targets[name])
    return nearest_stuff(own, library.scenes.distances.places)


def _readable(
    exam: Background, library: Library, target: Target
) -> tuple[list[Choice], list[Picture], dict[str, str]]:
    """Choose scenes until all that are chosen can be read; say which could not."""
    unread: dict[str, str] = {}
    while True:
        chosen, grounds, before = _chosen(exam, library, target, unread), [], len(unread)
        for choice in chosen:
            try:
                grounds.append(library.pixels[choice.picture])
            except Unloadable as error:
                unread[choice.picture] = _without_place(error)
        if len(unread) == before:
            return chosen, grounds, unread


def _chosen(
    exam: Background, library: Library, target: Target, without: Collection[str] = ()
) -> list[Choice]:
    search = Search(
        library.scenes,
        target,
        library.relatives,
        exam.pooling,
        without,
        seed=Seed("background", target.name).number(),
        span=Span(even="quantile" if exam.even == "ranks" else "distance"),
    )
    if not any(word in library.scenes.distances.places for word in search.words):
        raise Skipped(_unknown_ground(exam, library, search))
    found = choose(search, exam.count, exam.choose)
    if len(found) < 2:
        raise Skipped(
            f"only {len(found)} of {len(library.scenes)} scenes may stand behind it: the others "
            f"show a {target.things[0]}, are the picture itself or cannot be read"
        )
    return found


def _unknown_ground(exam: Background, library: Library, search: Search) -> str:
    """Say why no scene is nearer to a target than any other."""
    told = ", ".join(search.words[:3])
    if search.target.name in library.of_targets:
        having = f"its keywords ({told}) are of no scene" if told else "it has no keywords"
        return f"{having} but its own name, so that none is near or far; look at {exam.tags}"
    if exam.tags:
        return (
            f"{exam.tags} has no line for it, and what its own ground looks like "
            f"({told or 'nothing in particular'}) is no keyword there; add a line"
        )
    return "its own ground has no colour or layout to go by; tag it, and say tags=FILE"


def _case(
    name: str,
    label: str,
    own: tuple[Picture, Picture],
    thing: Cut,
    grounds: Sequence[Picture],
    chosen: Sequence[Choice],
    library: Library,
    unread: Mapping[str, str] | None = None,
) -> Case:
    """Put together a target's pictures; `own` is as it was, and re-pasted."""
    rows = [library.scenes.rows[choice.picture] for choice in chosen]
    picture, back = own
    pictures = np.concatenate(
        [np.stack([picture, thing.on_grey(), back]), thing.on(np.stack(grounds))]
    )
    words = [";".join(library.scenes.words(row)) for row in rows]
    return Case(name, label, pictures, chosen, words, unread or {})


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
    relatives = load_relatives(exam.relatives) if exam.relatives else Relatives()
    if not exam.tags:
        tags, unread = looked_at(exam.scenes)
        return Library(searchable(exam, tags), pixels, tags, {}, relatives, unread)
    tags = load_tags(exam.tags)
    called = named(tags.pictures, names)
    if len(called) < 2:
        raise BadSetting(
            f"{exam.tags} gives tags for {len(called)} of the {len(names)} pictures in "
            f"{exam.scenes}; name pictures as they are called there, such as {names[0]}"
        )
    own = tags.taken(list(called.values()))
    own = Tags(tuple(called), own.keywords, own.present, own.strengths)
    targets = _tagged_targets(exam, tags, called)
    untagged = dict.fromkeys(sorted({*names} - {*called}), f"no line in {exam.tags} is its own")
    return Library(searchable(exam, own), pixels, tags, targets, relatives, untagged)


def _tagged_targets(exam: Background, tags: Tags, scenes: Mapping[str, str]) -> dict[str, str]:
    """Find the tags of targets among those that are no scene's, or in one folder with them."""
    targets = list(open_collection(exam.targets, exam.column).labels)
    if Path(exam.targets).expanduser().resolve() == Path(exam.scenes).expanduser().resolve():
        return {name: scenes[name] for name in targets if name in scenes}
    taken = set(scenes.values())
    return named([tag for tag in tags.pictures if tag not in taken], targets)


def named(tagged: Sequence[str], files: Sequence[str]) -> dict[str, str]:
    """Return by file what it is called among tagged pictures; those that are not are left out.

    It goes by its place in the folder, or shorter if no other file can be meant.

    >>> named(["a/1.png", "2", "3"], ["a/1.png", "b/1.png", "b/2.png", "a/3.png", "b/3.png"])
    {'a/1.png': 'a/1.png', 'b/2.png': '2'}
    """
    meant: dict[str, set[str]] = defaultdict(set)
    for file in files:
        place = Path(file)
        for name in (place.with_suffix("").as_posix(), place.name, place.stem):
            meant[name].add(file)
    whole = set(files)
    made = {tag: tag for tag in tagged if tag in whole}
    for tag in tagged:
        if tag not in whole and len(found := meant.get(tag, ())) == 1:
            made.setdefault(min(found), tag)
    return made


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
def looked_at(folder: str) -> tuple[Tags, Mapping[str, str]]:
    """Tag scenes by their colours and layout; those that cannot be read come with the reason."""
    root, read, pictures = Path(folder).expanduser(), [], []
    unread: dict[str, str] = {}
    for name in scene_files(folder):
        try:
            pictures.append(read_squashed(root / name, (LOOK, LOOK)))
        except Unloadable as error:
            unread[name] = _without_place(error)
            continue
        read.append(name)
    if len(read) < 2:
        raise BadSetting(
            f"{len(read)} of the {len(unread) + len(read)} pictures in {folder} can be read; "
            f"scenes are many. {next(iter(unread))} {next(iter(unread.values()))}"
        )
    return stuff_tags(np.stack(pictures), tuple(read)), unread


def _without_place(error: Unloadable) -> str:
    """Return what is wrong with a picture, without its name: it is told beside it."""
    told = str(error)
    start = told.find("cannot be read")
    return told[start:].replace(" 'the file'", "") if start >= 0 else told


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
    targets, drawn = _drawn(exam.number, exam.drawn, exam.side)
    names = tuple(f"{KINDS[kind].name}-{place:04d}" for place, kind in enumerate(drawn.kinds))
    tags = Tags(names, KEYWORDS, drawn.present, drawn.areas)
    places = {name: place for place, name in enumerate(names)}
    pixels = Squashed(lambda name: drawn.pictures[places[name]])
    return PaintedWorld(targets, drawn, Library(searchable(exam, tags), pixels, tags))


@lru_cache(maxsize=1)
def _drawn(number: int, scenes: int, side: int) -> tuple[World, Painted]:
    """Draw targets and scenes; however they are searched, they are the same."""
    targets = world(Seed("background", "targets"), number, TYPICAL, side)
    return targets, draw_scenes(Seed("background", "scenes"), scenes, side)


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
    back = thing.on(targets.scenes.pictures[place][None])[0]
    own = targets.pictures[place], back
    return _case(name, label, own, thing, grounds, chosen, made.library)


@lru_cache(maxsize=1)
def probes(side: int, count: int) -> tuple[Images, Images, Any]:
    """Return the same new objects before their classes' own sceneries and before others."""
    seed = Seed("background", "probes")
    own = world(seed, count, 1.0, side)
    kinds = [
        int(np.flatnonzero(group == GROUP_OF)[0])
        for group in (own.labels + 1 + seed.picks(count, [1] * (len(GROUPS) - 1))) % len(GROUPS)
    ]
    others = draw_scenes(seed, count, side, kinds)
    return own.pictures, composite(own.inks, own.alphas, others.pictures), own.labels


def check(exam: Background) -> None:
    """Refuse now what every target would fail by."""
    scene_files(exam.scenes)
    _masker(exam.masks)
    if exam.tags:
        _library(exam)
    if exam.relatives:
        load_relatives(exam.relatives)
    names = choices(exam.targets, exam.column, exam.groups)
    if len(names) < 2:
        raise BadSetting(
            f"all pictures in {exam.targets} are labelled {names[0]!r}, and a choice needs two; "
            "add others, or say groups= to ask about the labels of a file"
        )


@lru_cache(maxsize=4)
def around(exam: Background) -> str:
    """Return a hash of all that shapes every photographed case but the target itself.

    Of scenes, names and sizes: to read all of 20,000 whenever a run is planned would take
    minutes.
    """
    root = Path(exam.scenes).expanduser()
    sizes = [(name, (root / name).stat().st_size) for name in scene_files(exam.scenes)]
    segmenter = exam.masks if exam.masks.endswith(".onnx") else ""
    files = [path for path in (exam.tags, exam.relatives, segmenter) if path]
    names = choices(exam.targets, exam.column, exam.groups)
    return digest(sizes, names, *(Path(path).expanduser() for path in files))


def content(exam: Background, name: str) -> str:
    """Return a hash of a target and, where masks are files, of its mask."""
    try:
        picture = open_collection(exam.targets, exam.column).content(name)
        maker = _masker(exam.masks)
        return digest(picture, maker.file(name)) if isinstance(maker, MaskFolder) else picture
    except (Unloadable, OSError):
        return "unreadable"  # told when its turn comes


def targets(exam: Background) -> dict[str, str]:
    """Return the labels of the targets that are examined: all there are, or `most` of them.

    A lesser number is part of a greater one, so that what was sat stays of use.
    """
    labels = asked_labels(exam.targets, exam.column, exam.groups)
    if not labels:
        raise BadSetting(
            f"none of the pictures in {exam.targets} has a label that belongs to "
            f"{exam.groups or 'any class'}"
        )
    names, order = sorted(labels), Seed("background", "most").shuffled(len(labels))
    return {names[i]: labels[names[i]] for i in np.sort(order[: exam.most or len(labels)])}


def ontology(exam: Background) -> Ontology:
    """Return what goes with what among the scenes of an exam."""
    made = _library(exam) if exam.targets else painted_world(exam).library
    return made.scenes.ontology


def left_out(exam: Background) -> Mapping[str, str]:
    """Return the scenes of a folder that no target can be put before, with the reasons."""
    return _library(exam).left_out if exam.targets else {}
