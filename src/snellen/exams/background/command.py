"""`snellen background-tags`, `background-ontology`: what is in scenes, and what goes with what?"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from snellen.core import Sheet
from snellen.errors import BadSetting, Unloadable
from snellen.exams.background.cases import LOOK, scene_files
from snellen.exams.background.ontology import Ontology, strongest_rules, thresholds
from snellen.exams.background.stuff import stuff_tags
from snellen.exams.background.tags import LEAST, TOP, load_tags, tags_from_answers
from snellen.images.photos import read_photo, squashed
from snellen.stats import log_probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.core import Desk, Images, Subject
    from snellen.exams.background.tags import Tags
    from snellen.images.photos import Picture

TOGETHER = 16
"""Pictures whose crops are asked about at once."""
CROP = 7 / 8
"""The side of a crop, of the picture's shorter one."""
CORNERS = ((0.5, 0.5), (0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))
"""Where crops lie: how much of what is left over is above them, and how much to their left."""
SIDE = 224
RULES = 10


@click.command("background-ontology")
@click.argument("tags", type=click.Path(path_type=Path))
@click.argument("words", nargs=-1, metavar="[A B]")
@click.option(
    "--least-count",
    type=click.IntRange(1),
    show_default="found from the tags",
    help="Pictures that two keywords must share.",
)
@click.option(
    "--least-confidence",
    type=click.FloatRange(0, 1),
    show_default="found from the tags",
    help="Share of the first keyword's pictures that must have the second.",
)
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Also save it, as .npz.")  # fmt: skip
def background_ontology(
    tags: Path,
    words: tuple[str, ...],
    least_count: int | None,
    least_confidence: float | None,
    out: Path | None,
) -> None:
    """Say what goes with what in tagged pictures, and how A leads to B.

    TAGS is a CSV or NPZ file, such as background-tags writes.
    """
    if len(words) not in (0, 2):
        raise click.UsageError(f"name two keywords, or none; found {' '.join(words)}")
    held = load_tags(tags)
    ontology = Ontology.of(held, least_count, least_confidence)
    if words:
        click.echo(ontology.explain(*words))
    else:
        for line in _told(held, ontology, least_count, least_confidence):
            click.echo(line)
    if out:
        _save(ontology, out)


def _told(
    held: Tags, ontology: Ontology, count: int | None, confidence: float | None
) -> Sequence[str]:
    """Say how many keywords there are, at which thresholds they go together, and the best rules."""
    each = held.present.sum(axis=1)
    low, middle, high = np.percentile(each, [0, 50, 100]).astype(int) if len(held) else (0, 0, 0)
    used = thresholds(ontology, held, ontology.least_count, ontology.least_confidence)
    by = {(True, True): "found from the tags", (False, False): "as given"}
    who = by.get((count is None, confidence is None), "one given, the other found from the tags")
    rules = strongest_rules(ontology, RULES).cells
    width = max((len(f"{r['scenes with']} → {r['have']}") for r in rules), default=0)
    return [
        (
            f"{len(held)} pictures, {len(ontology.keywords)} keywords; {low} to {high} a picture, "
            f"half of all have {middle} or more"
        ),
        f"thresholds ({who}): {used}",
        f"rules: {np.count_nonzero(ontology.weights)}" + ("; the surest:" if rules else ""),
        *(
            (
                f"  {r['scenes with'] + ' → ' + r['have']:{width}}  {r['confidence']:%} of the "
                f"first's pictures, {r['lift']:g} times as many as of all"
            )
            for r in rules
        ),
    ]


@click.command("background-tags")
@click.argument("pictures", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file to write: .csv to read and mend, .npz to keep probabilities.",
)
@click.option(
    "-m",
    "--model",
    "who",
    metavar="SUBJECT",
    help="Whose labels become keywords; without it, colours and layout alone do.",
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Only labels that this file lists, a line each: those of places.",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    default=TOP,
    show_default=True,
    help="Labels of a picture at most.",
)
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    default=LEAST,
    show_default=True,
    help="The probability of a label at least.",
)
@click.option(
    "--crops",
    type=click.IntRange(1, len(CORNERS)),
    default=len(CORNERS),
    show_default=True,
    help="Parts of a picture that are averaged: middle, then corners.",
)
@click.option(
    "--side",
    type=click.IntRange(8, 2048),
    default=SIDE,
    show_default=True,
    help="Of the squares that the subject is shown.",
)
@click.pass_obj  # fmt: skip
def background_tags(
    desk: Desk,
    pictures: Path,
    out: Path,
    who: str | None,
    labels: Path | None,
    top: int,
    least: float,
    crops: int,
    side: int,
) -> None:
    """Find keywords for a folder of pictures: what a subject takes them for, colours, layout.

    They are read by: snellen run background --set tags=FILE. Probabilities are over all labels
    that the subject knows, and those of crops are averaged; of a classifier of things, only
    labels of places are of use.
    """
    if out.suffix not in (".csv", ".npz"):
        raise BadSetting(f"tags are saved as .npz or .csv, not as {out.name!r}")
    if labels and not who:
        raise BadSetting("--labels says which of a subject's labels count; name one with -m")
    asked = _Asked.of(desk.subject(who), labels) if who else None
    read: list[str] = []
    small, chances = [], []
    names = scene_files(str(pictures))
    with click.progressbar(length=len(names), label="tagging", file=sys.stderr) as bar:
        for start in range(0, len(names), TOGETHER):
            batch = names[start : start + TOGETHER]
            found = {name: made for name in batch if (made := _read(pictures / name)) is not None}
            read += found
            small += [squashed(picture, (LOOK, LOOK)) for picture in found.values()]
            if asked and found:
                shown = [cropped(picture, crops, side) for picture in found.values()]
                chances.append(asked.chances(np.stack(shown)))
            bar.update(len(batch))
    if not read:
        raise Unloadable(f"none of the {len(names)} pictures below {pictures} can be read")
    tags = stuff_tags(np.stack(small), tuple(read))
    if asked:
        tags = tags_from_answers(
            np.concatenate(chances), asked.wanted, read, top=top, least=least
        ).joined(tags)
    _save(tags, out)
    bare = sum(not row.any() for row in tags.present)
    click.echo(f"{len(read)} pictures, {int(tags.present.sum())} tags; {bare} have none")


def cropped(picture: Picture, count: int, side: int) -> Images:
    """Return squares out of a picture: of its middle, then of its corners.

    >>> cropped(np.zeros((40, 80, 3), np.uint8), 5, 16).shape
    (5, 16, 16, 3)
    """
    height, width = picture.shape[:2]
    size = max(1, round(CROP * min(height, width)))
    made = []
    for down, right in CORNERS[:count]:
        top, left = round(down * (height - size)), round(right * (width - size))
        made.append(squashed(picture[top : top + size, left : left + size], (side, side)))
    return np.stack(made)


class _Asked:
    """A subject, what it is asked about, and which of that becomes keywords."""

    def __init__(self, subject: Subject, choices: tuple[str, ...], wanted: tuple[str, ...]) -> None:
        self.subject, self.choices, self.wanted = subject, choices, wanted
        self.columns = [choices.index(label) for label in wanted]

    @classmethod
    def of(cls, subject: Subject, labels: Path | None) -> _Asked:
        """Read the labels; they must be among the subject's own, if it has any."""
        own: tuple[str, ...] = tuple(getattr(subject, "labels", ()))
        wanted = _listed(labels) if labels else own
        if not wanted:
            raise BadSetting(
                f"subject {subject.name!r} does not say what its labels are; list them, a line "
                "each, in a file: --labels FILE"
            )
        for label in wanted if own else ():
            if label not in own:
                near = get_close_matches(label, own, 3) or own[:3]
                raise BadSetting(
                    f"subject {subject.name!r} has no label {label!r}; it has "
                    f"{', '.join(map(repr, near))}"
                )
        return cls(subject, own or wanted, wanted)

    def chances(self, crops: Any) -> Any:
        """Return (pictures, labels) probabilities of (pictures, crops, side, side, 3)."""
        sheet = Sheet(
            crops.reshape(-1, *crops.shape[2:]), self.choices, asks=frozenset({"choice", "scores"})
        )
        scores = self.subject.answer(sheet).scores
        if scores is None:
            raise BadSetting(
                f"subject {self.subject.name!r} gives no scores, which keywords are made of; name "
                "another with -m"
            )
        told = np.exp(log_probabilities(scores))
        return told.reshape(*crops.shape[:2], -1).mean(axis=1)[:, self.columns]


def _listed(path: Path) -> tuple[str, ...]:
    try:
        lines = path.expanduser().read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Unloadable(f"labels cannot be read from {path}: {reason}") from error
    return tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))


def _read(path: Path) -> Picture | None:
    try:
        return read_photo(path)
    except Unloadable as error:
        click.secho(f"left out: {error}", fg="yellow", err=True)
        return None


def _save(made: Tags | Ontology, out: Path) -> None:
    try:
        click.echo(f"saved: {made.saved(out)}")
    except OSError as error:
        raise Unloadable(f"cannot write {out}: {error.strerror}") from error
