"""What do people read, in their language?

A language is a TOML file: the texts of the pages by name, and under [says] what stands for
the exam's own prompts and choices. Exams bring a folder `words` with such files; a study may
name files of its own. What a later file does not say, an earlier one does.
"""

from __future__ import annotations

import inspect
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.errors import BadSetting, Unloadable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.core import Exam
    from snellen.study.design import Design

USUAL = "en"
OWN = files("snellen.study") / "words"


@dataclass(frozen=True, eq=False)
class Words:
    """All texts of a study in one language."""

    code: str
    """As HTML wants it: en, es, pt-BR."""
    texts: Mapping[str, str]
    says: Mapping[str, str]
    """What stands for the exam's own words."""

    def __call__(self, name: str, /, **values: Any) -> str:
        """Return a text of the pages, filled in.

        >>> spoken("es")("yes")
        'Sí'
        """
        return self.texts[name].format(**values)

    def say(self, text: str) -> str:
        """Return a prompt or choice of the exam in this language, or as it is.

        >>> spoken("es").say("never heard of")
        'never heard of'
        """
        return self.says.get(text, text)


def spoken(language: str, exam: Exam | None = None, folder: Path | None = None) -> Words:
    """Return the words of a language: a code, or a file below `folder`."""
    own = _own(language)
    theirs: Mapping[str, Any] = {}
    if language.endswith(".toml"):
        place = (folder or Path()) / language
        theirs = _parsed(place.read_text("utf-8") if place.is_file() else None, str(place))
    elif not own:
        known = sorted(f.name.removesuffix(".toml") for f in OWN.iterdir())
        raise BadSetting(
            f"there are no words for {language!r}; there are {', '.join(known)}, and TOML files of "
            "your own"
        )
    base = _own(USUAL)
    parts = [base, _of_exam(exam, USUAL), own, _of_exam(exam, language), theirs]
    texts: dict[str, str] = {}
    says: dict[str, str] = {}
    for part in parts:
        texts |= {name: text for name, text in part.items() if isinstance(text, str)}
        says |= part.get("says", {})
    if unknown := sorted(set(theirs) - set(base)):
        raise BadSetting(f"{language} has a text {unknown[0]!r} that no page shows")
    code = texts.get("code") or language
    return Words(code, texts, says)


def of_study(design: Design) -> dict[str, Words]:
    """Return the words of every language of a study by its code."""
    made = [spoken(name, design.exam, design.folder) for name in design.about.languages]
    return {words.code: words for words in made}


def _own(language: str) -> Mapping[str, Any]:
    file = OWN / f"{language}.toml"
    return _parsed(file.read_text("utf-8"), str(file)) if file.is_file() else {}


def _of_exam(exam: Exam | None, language: str) -> Mapping[str, Any]:
    if exam is None:
        return {}
    file = Path(inspect.getfile(type(exam))).parent / "words" / f"{language}.toml"
    return _parsed(file.read_text("utf-8"), str(file)) if file.is_file() else {}


def _parsed(text: str | None, place: str) -> Mapping[str, Any]:
    if text is None:
        raise Unloadable(f"there is no file of words {place}")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unloadable(f"{place} is not TOML: {error}; mend that line") from error
