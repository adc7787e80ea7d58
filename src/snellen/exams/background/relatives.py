"""Does a keyword name the thing that is examined?

A scene with a fish in it is no background for a fish. A keyword names the thing if it is
the same word in either number (`fishes`), ends in it (`gold fish` is a fish), or is among
the words that a file of synonyms and hyponyms gives for it, and theirs.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from snellen.errors import Unloadable

IRREGULAR = {
    "children": "child",
    "feet": "foot",
    "geese": "goose",
    "men": "man",
    "mice": "mouse",
    "oxen": "ox",
    "people": "person",
    "teeth": "tooth",
    "women": "woman",
}
ENDINGS = (("ies", "y"), ("ves", "f"), ("ves", "fe"), ("es", ""), ("s", ""))
"""Of plurals, and what may have stood there."""
NO_PLURAL = ("ss", "us", "is")


@dataclass(frozen=True)
class Relatives:
    """Synonyms and hyponyms of words: what else would be one of these.

    >>> fishes = Relatives({"fish": ("trout", "tench")})
    >>> sorted(fishes.barred(["fish"], ["trout", "Fishes", "gold_fish", "fisherman", "sea"]))
    ['Fishes', 'gold_fish', 'trout']
    """

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, names: Collection[str]) -> frozenset[str]:
        """Return the names, all that are given for them, and all that are given for those."""
        found, ahead = set(names), list(names)
        while ahead:
            name = ahead.pop()
            for word, others in self.words.items():
                if any(same(part, word) for part in _parts(name)):
                    new = set(others) - found
                    found |= new
                    ahead += new
        return frozenset(found)

    def barred(self, names: Collection[str], keywords: Collection[str]) -> frozenset[str]:
        """Return the keywords that name one of these things."""
        forms = frozenset().union(*(_forms(p) for n in self.of(names) for p in _parts(n)))
        return frozenset(word for word in keywords if not forms.isdisjoint(_endings(word)))


def same(one: str, other: str) -> bool:
    """Tell whether two words are one but for their number and how they are written.

    >>> same("bookshelf", "Bookshelves"), same("bus", "buses"), same("bus", "bush")
    (True, True, False)
    """
    return bool(_forms(_plain(one)) & _forms(_plain(other)))


def load_relatives(path: str | Path) -> Relatives:
    """Read JSON such as {"fish": ["trout"]}, or CSV with a word and others, `;` between them."""
    place = Path(path).expanduser()
    try:
        text = place.read_text("utf-8-sig")
        return Relatives(_from_csv(text) if place.suffix == ".csv" else _from_json(text))
    except (OSError, ValueError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise Unloadable(
            f"synonyms and hyponyms cannot be read from {place}: {reason}; write JSON such as "
            '{"fish": ["trout", "tench"]}, or CSV lines such as fish,trout;tench'
        ) from error


def _from_json(text: str) -> dict[str, tuple[str, ...]]:
    found = json.loads(text)
    if not isinstance(found, dict) or not all(map(_is_row, found.values())):
        raise ValueError("every word has a list of words")
    return {word: tuple(others) for word, others in found.items()}


def _from_csv(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(csv.reader(text.splitlines()), 1):
        if not any(line):
            continue
        if len(line) != 2 or not all(cell.strip() for cell in line):
            raise ValueError(f"line {number} should have a word and its others")
        others = tuple(word.strip() for word in line[1].split(";") if word.strip())
        found[line[0].strip()] = found.get(line[0].strip(), ()) + others
    return found


def _is_row(others: object) -> bool:
    return isinstance(others, list) and all(isinstance(word, str) for word in others)


def _parts(name: str) -> list[str]:
    """Return a name as it is, and what stands on either side of a stroke: field/wild."""
    return [_plain(part) for part in {name, *name.split("/")} if _plain(part)]


def _plain(name: str) -> str:
    """Leave out how it is written and which of several it is: bridge (scene)."""
    return " ".join(re.sub(r"\([^)]*\)|[_/-]", " ", name).casefold().split())


@lru_cache(maxsize=100_000)
def _endings(keyword: str) -> frozenset[str]:
    """Return the forms of a keyword, and of it without its first word, its first two …"""
    made: set[str] = set()
    for part in _parts(keyword):
        words = part.split()
        made.update(*(_forms(" ".join(words[start:])) for start in range(len(words))))
    return frozenset(made)


def _forms(name: str) -> frozenset[str]:
    """Return a plain name and every singular that it may be a plural of."""
    head, _, last = name.rpartition(" ")
    made = {last, IRREGULAR.get(last, last)}
    if not last.endswith(NO_PLURAL):
        made |= {
            last.removesuffix(ending) + instead
            for ending, instead in ENDINGS
            if last.endswith(ending) and len(last) > len(ending) + 1
        }
    return frozenset(f"{head} {word}".strip() for word in made)
