"""Which words describe a picture?

Tags are a table of pictures and keywords: which holds for which and, where it is known,
how strongly. They are read from files of tags, areas and probabilities, or made of the
answers of any subject; `stuff` reads them off the pixels.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from snellen.errors import BadAnswer, BadSetting, UnknownName, Unloadable

if TYPE_CHECKING:
    from snellen.core import Indices

Mask: TypeAlias = npt.NDArray[np.bool_]
Threshold: TypeAlias = float | Mapping[str, float]
"""One for all keywords, or one for each that is named: the others keep the usual one."""
Kind: TypeAlias = Literal["presence", "area", "probability"]
"""0 or 1; percent of the picture; how sure somebody is."""
AREA, TOP, LEAST = 5.0, 5, 0.1
LISTED = "keywords"
"""The column of a CSV file that holds all words of a picture, `;` between them."""
ARRAYS: Mapping[Kind, tuple[tuple[str, str], ...]] = {
    "presence": (("presence", "keywords"),),
    "area": (("area_percent", "object_names"), ("area", "object_names"), ("area", "keywords")),
    "probability": (
        ("scene_probability", "scene_names"),
        ("probability", "scene_names"),
        ("probability", "keywords"),
    ),
}
"""What the arrays of an NPZ file, and those of their keywords, may be called."""
TOPS: Mapping[Kind, float] = {"presence": 1.0, "area": 100.0, "probability": 1.0}
SLACK = 1.01
"""Shares that were summed or rounded may pass their top by so much."""


@dataclass(frozen=True)
class Rules:
    """From which measure on does a keyword count as present?"""

    area: Threshold = AREA
    """An object does if it covers more than this percentage of the picture."""
    top: int = TOP
    """A scene does if it is among so many likeliest ones …"""
    least: Threshold = LEAST
    """… and at least this probable."""

    def present(self, kind: Kind, values: npt.NDArray[Any], words: Sequence[str]) -> Mask:
        """Tell which of the measured (pictures, words) are present."""
        if kind == "presence":
            return np.asarray(values > 0)
        if kind == "area":
            return np.asarray(values > _each(self.area, AREA, words))
        return _among(values, self.top) & (values >= _each(self.least, LEAST, words)) & (values > 0)


PAPER = Rules(area=0.1, least=0.0)
"""The rules of the authors' own tags: a keyword for every thousandth of the picture."""


@dataclass(frozen=True, eq=False)
class Tags:
    """Which keywords hold for which pictures.

    >>> tags = Tags(("a", "b"), ("sea", "sky"), np.array([[True, True], [False, True]]))
    >>> tags.words("a"), tags.words("b")
    (('sea', 'sky'), ('sky',))
    """

    pictures: tuple[str, ...]
    keywords: tuple[str, ...]
    present: Mask
    """(pictures, keywords)."""
    strengths: npt.NDArray[np.float32] | None = None
    """(pictures, keywords), from 0 to 1: share of the picture or probability."""

    def __post_init__(self) -> None:
        for what, names in (("picture", self.pictures), ("keyword", self.keywords)):
            if twice := [name for name, count in Counter(names).items() if count > 1]:
                raise ValueError(f"the {what} {twice[0]!r} is listed more than once")
            if not all(names):
                raise ValueError(f"a {what} has no name")
        shape = (len(self.pictures), len(self.keywords))
        for what, array in (("presences", self.present), ("strengths", self.strengths)):
            if array is not None and array.shape != shape:
                raise ValueError(
                    f"{shape[0]} pictures and {shape[1]} keywords came with {what} of shape "
                    f"{array.shape}"
                )
        if self.present.dtype != np.bool_:
            raise ValueError(f"presences are true or false, not {self.present.dtype}")
        if self.strengths is not None and not _within(self.strengths, 1.0):
            raise ValueError("strengths lie between 0 and 1")

    def __len__(self) -> int:
        return len(self.pictures)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The row of each picture."""
        return {picture: row for row, picture in enumerate(self.pictures)}

    def words(self, picture: str) -> tuple[str, ...]:
        """Return a picture's keywords, strongest first, equal ones by name."""
        if picture not in self.places:
            raise UnknownName(
                f"no tags are known of picture {picture!r}; there are those of {len(self)} "
                f"pictures such as {', '.join(map(repr, self.pictures[:3]))}"
            )
        row = self.places[picture]
        strengths = self.present if self.strengths is None else self.strengths
        held = np.flatnonzero(self.present[row])
        ranked = sorted(held, key=lambda k: (-float(strengths[row, k]), self.keywords[k]))
        return tuple(self.keywords[k] for k in ranked)

    def taken(self, pictures: Sequence[str]) -> Tags:
        """Return the tags of some of the pictures, in that order."""
        try:
            rows = [self.places[picture] for picture in pictures]
        except KeyError as error:
            raise UnknownName(
                f"no tags are known of picture {error}; tag all pictures, or leave it out"
            ) from error
        strengths = None if self.strengths is None else self.strengths[rows]
        return Tags(tuple(pictures), self.keywords, self.present[rows], strengths)

    def over(self, keywords: Sequence[str]) -> Tags:
        """Return the tags with these keywords for columns: what is not known is not present."""
        columns = {keyword: column for column, keyword in enumerate(self.keywords)}
        known = [place for place, keyword in enumerate(keywords) if keyword in columns]
        old = [columns[keywords[place]] for place in known]
        present = np.zeros((len(self), len(keywords)), bool)
        present[:, known] = self.present[:, old]
        strengths = None
        if self.strengths is not None:
            strengths = np.zeros(present.shape, np.float32)
            strengths[:, known] = self.strengths[:, old]
        return Tags(self.pictures, tuple(keywords), present, strengths)

    def joined(self, other: Tags) -> Tags:
        """Add what others say of the same pictures; what both name holds if either says so."""
        if set(self.pictures) != set(other.pictures):
            odd = sorted(set(self.pictures) ^ set(other.pictures))
            raise ValueError(
                f"only tags of the same pictures can be joined, and {odd[0]!r} "
                f"(of {len(odd)} such) is in one of the two only; use taken() first"
            )
        both = (self, other.taken(self.pictures))
        keywords = tuple(dict.fromkeys((*self.keywords, *other.keywords)))
        one, two = (tags.over(keywords) for tags in both)
        strengths = None
        if one.strengths is not None or two.strengths is not None:
            strong = [t.present if t.strengths is None else t.strengths for t in (one, two)]
            strengths = np.maximum(*strong, dtype=np.float32)
        return Tags(self.pictures, keywords, one.present | two.present, strengths)

    def saved(self, path: str | Path) -> Path:
        """Write an .npz, or a .csv that people can read and that forgets the strengths."""
        place = Path(path)
        if place.suffix == ".csv":
            place.write_text(self._listed(), "utf-8")
        elif place.suffix == ".npz":
            arrays: dict[str, npt.NDArray[Any]] = {
                "pictures": np.array(self.pictures, np.str_),
                "keywords": np.array(self.keywords, np.str_),
                "presence": self.present,
            }
            if self.strengths is not None:
                arrays["strengths"] = self.strengths
            held = io.BytesIO()
            np.savez_compressed(held, **arrays)  # type: ignore[arg-type]
            place.write_bytes(held.getvalue())
        else:
            raise BadSetting(f"tags are saved as .npz or .csv, not as {place.name!r}")
        return place

    def _listed(self) -> str:
        if odd := [keyword for keyword in self.keywords if ";" in keyword]:
            raise BadSetting(f"keyword {odd[0]!r} has a ; in it: save these tags as .npz")
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("picture", LISTED))
        writer.writerows((picture, ";".join(self.words(picture))) for picture in self.pictures)
        return text.getvalue()


def load_tags(path: str | Path, rules: Rules | None = None, kind: Kind | None = None) -> Tags:
    """Read a CSV or NPZ file of tags.

    A CSV file begins with a column of pictures. Then comes either one column `keywords`,
    with `;` between the words, or a column for each keyword: 0 or 1, a probability, or an
    area in percent. Which of them is said by `kind`, by a prefix (`area:sky`,
    `probability:beach`), or guessed from how high the numbers go.

    An NPZ file holds `pictures` (numbered if left out), and `presence` of `keywords`,
    `area_percent` of `object_names`, `scene_probability` of `scene_names`, or several. A
    word that is both an object and a scene stays two keywords: `bridge`, `bridge (scene)`.
    Of two columns of one word the second is numbered: `screen (2)`.
    """
    place, rules = Path(path).expanduser(), rules or Rules()
    try:
        if place.suffix == ".npz":
            pictures, parts, strengths = _from_npz(place)
        else:
            pictures, parts = _from_csv(place, kind)
            strengths = None
        return _assembled(pictures, parts, rules, strengths)
    except (OSError, UnicodeDecodeError, csv.Error, zipfile.BadZipFile, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Unloadable(f"tags cannot be read from {place}: {reason}") from error
    except ValueError as error:
        raise Unloadable(f"the tags in {place} make no sense: {error}") from error


def tags_from_answers(
    scores: npt.NDArray[Any],
    choices: Sequence[str],
    pictures: Sequence[str] = (),
    *,
    top: int = TOP,
    least: Threshold = LEAST,
) -> Tags:
    """Take a subject's likeliest labels for keywords: (pictures, choices) probabilities.

    Average probabilities over crops before: it makes labels of places far steadier.

    >>> told = tags_from_answers(np.array([[0.7, 0.25, 0.05]]), ("alp", "lake", "barn"), ("a",))
    >>> told.words("a")
    ('alp', 'lake')
    """
    values = np.asarray(scores)
    if values.ndim != 2 or values.shape[1] != len(choices):
        raise BadAnswer(
            f"tags are made of (pictures, {len(choices)}) probabilities, a column for each "
            f"choice, not of {values.shape}"
        )
    if not _within(values, 1.0):
        raise BadAnswer(
            "tags are made of probabilities, and these scores leave 0..1 or are NaN; take a "
            "softmax of them before averaging crops"
        )
    names = tuple(pictures) or _numbered(len(values))
    part = _Part("probability", tuple(choices), values)
    return _assembled(names, [part], Rules(top=top, least=least))


@dataclass(frozen=True, eq=False)
class _Part:
    """Measures of one kind: (pictures, words)."""

    kind: Kind
    words: tuple[str, ...]
    values: npt.NDArray[Any]

    def __post_init__(self) -> None:
        if not _within(self.values, TOPS[self.kind]):
            raise ValueError(
                f"{self.kind} runs from 0 to {TOPS[self.kind]:g}, and here from "
                f"{self.values.min():g} to {self.values.max():g}"
            )
        if self.kind == "presence" and not np.isin(self.values, (0, 1)).all():
            raise ValueError("presence is 0 or 1, and nothing between")

    @property
    def strengths(self) -> npt.NDArray[np.float32]:
        shares = self.values.astype(np.float32) / np.float32(TOPS[self.kind])
        return np.asarray(np.minimum(shares, 1), np.float32)


def _assembled(
    pictures: tuple[str, ...],
    parts: Sequence[_Part],
    rules: Rules,
    strengths: npt.NDArray[np.float32] | None = None,
) -> Tags:
    keywords: list[str] = []
    for part in parts:
        if part.values.shape != (len(pictures), len(part.words)):
            raise ValueError(
                f"{len(pictures)} pictures and {len(part.words)} words came with {part.kind} of "
                f"shape {part.values.shape}"
            )
        taken, suffix = set(keywords), "scene" if part.kind == "probability" else "object"
        keywords += [f"{w} ({suffix})" if w in taken else w for w in part.words]
    present = np.hstack([rules.present(part.kind, part.values, part.words) for part in parts])
    if any(part.kind != "presence" for part in parts):
        strengths = np.hstack([part.strengths for part in parts])
    return Tags(pictures, tuple(keywords), present, strengths)


def _from_npz(
    place: Path,
) -> tuple[tuple[str, ...], list[_Part], npt.NDArray[np.float32] | None]:
    with place.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    parts = []
    for kind, names in ARRAYS.items():
        found = next(((v, w) for v, w in names if v in arrays and w in arrays), None)
        if found is not None:
            values, words = (arrays[name] for name in found)
            if values.ndim != 2 or words.ndim != 1 or words.dtype.kind != "U":
                raise ValueError(
                    f"{found[0]} should be (pictures, words) and {found[1]} a row of text; they "
                    f"are {values.shape} of {values.dtype} and {words.shape} of {words.dtype}"
                )
            parts.append(_Part(kind, _distinct([str(word).strip() for word in words]), values))
    if not parts:
        wanted = "; or ".join(f"{v} and {w}" for names in ARRAYS.values() for v, w in names)
        raise ValueError(f"it holds {', '.join(arrays) or 'nothing'}; it should hold {wanted}")
    named = arrays.get("pictures")
    pictures = _numbered(len(parts[0].values)) if named is None else tuple(map(str, named))
    return pictures, parts, arrays.get("strengths")


def _distinct(words: Sequence[str]) -> tuple[str, ...]:
    """Return words, numbered where they come again: of ADE20K's objects two are called screen."""
    seen: Counter[str] = Counter()
    made = []
    for word in words:
        seen[word] += 1
        made.append(word if seen[word] == 1 else f"{word} ({seen[word]})")
    return tuple(made)


def _from_csv(place: Path, kind: Kind | None) -> tuple[tuple[str, ...], list[_Part]]:
    with place.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        lines = [(reader.line_num, line) for line in reader if any(map(str.strip, line))]
    if len(lines) < 2 or len(lines[0][1]) < 2:
        raise ValueError(
            "it should begin with a line such as picture,keywords or picture,sky,sea and go on "
            "with a line for each picture"
        )
    header, rows = [cell.strip() for cell in lines[0][1]], lines[1:]
    for number, row in rows:
        if len(row) != len(header):
            raise ValueError(f"line {number} has {len(row)} cells, and the first {len(header)}")
    pictures = tuple(row[0].strip() for _, row in rows)
    if header[1:] == [LISTED]:
        return pictures, [_listed([row[1] for _, row in rows])]
    return pictures, _columns(header[1:], _numbers(header, rows), kind)


def _listed(cells: Sequence[str]) -> _Part:
    """Read one column of words; they are sorted, so that the order of lines is no matter."""
    words = [{word.strip() for word in cell.split(";")} - {""} for cell in cells]
    keywords = sorted(set().union(*words))
    columns = {keyword: column for column, keyword in enumerate(keywords)}
    values = np.zeros((len(cells), len(keywords)), bool)
    for row, own in enumerate(words):
        values[row, [columns[word] for word in own]] = True
    return _Part("presence", tuple(keywords), values)


def _numbers(
    header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]]
) -> npt.NDArray[np.float64]:
    """Read a column a keyword, of numbered lines; an empty cell is a nought."""
    values = np.empty((len(rows), len(header) - 1))
    for place, (number, row) in enumerate(rows):
        try:
            values[place] = list(map(float, row[1:]))
        except ValueError:
            cells = zip(header[1:], row[1:], strict=True)
            values[place] = [_number(cell, f"line {number}, column {n!r}") for n, cell in cells]
    return values


def _number(cell: str, where: str) -> float:
    try:
        return float(cell.strip() or "0")
    except ValueError:
        raise ValueError(f"{where}: {cell!r} is not a number") from None


def _columns(
    names: Sequence[str], values: npt.NDArray[np.float64], kind: Kind | None
) -> list[_Part]:
    """Part columns by what they measure."""
    split = [name.partition(":") for name in names]
    kinds = [first if colon and first in get_args(Kind) else "" for first, colon, _ in split]
    words = [
        last.strip() if own else name
        for (_, _, last), own, name in zip(split, kinds, names, strict=True)
    ]
    plain = [column for column, own in enumerate(kinds) if not own]
    usual = kind or _guessed(values[:, plain])
    parts = []
    for each in get_args(Kind):
        at = [column for column, own in enumerate(kinds) if (own or usual) == each]
        if at:
            parts.append(_Part(each, tuple(words[column] for column in at), values[:, at]))
    return parts


def _guessed(values: npt.NDArray[np.float64]) -> Kind:
    if np.isin(values, (0, 1)).all():
        return "presence"
    return "probability" if values.max() <= 1 else "area"


def _among(values: npt.NDArray[Any], top: int) -> Mask:
    """Tell which values are among the highest `top` of their row; the first of equal ones is."""
    chosen: Indices = np.argsort(-values.astype(np.float32), axis=1, kind="stable")[:, :top]
    among = np.zeros(values.shape, bool)
    np.put_along_axis(among, chosen, values=True, axis=1)
    return among


def _each(threshold: Threshold, usual: float, words: Sequence[str]) -> npt.NDArray[np.float32]:
    if not isinstance(threshold, Mapping):
        return np.full(len(words), threshold, np.float32)
    if unknown := [word for word in threshold if word not in words]:
        raise BadSetting(
            f"a threshold is given for {unknown[0]!r}, which is not among the {len(words)} "
            f"keywords such as {', '.join(map(repr, words[:3]))}"
        )
    return np.array([threshold.get(word, usual) for word in words], np.float32)


def _within(values: npt.NDArray[Any], top: float) -> bool:
    """NaN is not."""
    return not values.size or bool(values.min() >= 0 and values.max() <= top * SLACK)


def _numbered(count: int) -> tuple[str, ...]:
    """Name pictures by their place, so that names sort as places do."""
    width = len(str(max(count - 1, 0)))
    return tuple(f"{place:0{width}}" for place in range(count))
