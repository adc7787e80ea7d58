"""What is asked of whom, and how was that put down beforehand?

A study is a TOML file: the exam with its settings, how many items each participant gets,
what they consent to, and the rules by which sessions will be left out of the analysis.
It is written before anybody takes part, and a store keeps to the file that it began with.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from snellen import plugins, settings
from snellen.core import HUMAN
from snellen.digests import digest
from snellen.errors import BadSetting, LogError, Unable, Unloadable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.core import Exam, Item

SHORTEST_CONTACT = 3


@dataclass(frozen=True)
class About:
    """What participants are told first."""

    title: Annotated[str, Field(min_length=1, description="what participants read on top")] = (
        "What do you see?"
    )
    contact: Annotated[str, Field(description="who answers for the study; must be filled in")] = ""
    languages: Annotated[
        tuple[str, ...],
        Field(min_length=1, description="en, es, or a TOML file of your own; the first is usual"),
    ] = ("en", "es")
    minutes: Annotated[int, Field(ge=1, description="that a session takes, as people are told")] = (
        10
    )


@dataclass(frozen=True)
class Sessions:
    """How much one participant is asked, and how it is shared out."""

    each: Annotated[int, Field(ge=1, description="items that a participant sits")] = 5
    wanted: Annotated[
        int, Field(ge=0, description="sittings of each item, then nobody is asked it (0: no end)")
    ] = 0
    distinct: Annotated[
        tuple[str, ...],
        Field(description="facets in which the items of one participant must differ"),
    ] = ()
    gold: Annotated[
        tuple[Mapping[str, Any], ...],
        Field(description="items that everybody sits besides, by facets such as {problem = 1}"),
    ] = ()
    again: Annotated[
        int, Field(ge=0, description="items that are asked once more at the end, for consistency")
    ] = 0
    rest: Annotated[int, Field(ge=0, description="a break is offered after so many (0: none)")] = 5
    resume_hours: Annotated[
        float, Field(gt=0, description="within which a session that was left can be taken up")
    ] = 24.0
    completion: Annotated[
        str, Field(description="code that is shown at the end (empty: one for each participant)")
    ] = ""


@dataclass(frozen=True)
class Rules:
    """Which sessions are left out of the analysis: stated before, applied by `study export`."""

    quick_seconds: Annotated[
        float, Field(ge=0, description="an answer below this time is flagged as quick")
    ] = 0.25
    quick_share: Annotated[
        float, Field(ge=0, le=1, description="more quick answers than this: left out")
    ] = 0.2
    gold_right: Annotated[
        float, Field(ge=0, le=1, description="fewer right answers to gold items: left out")
    ] = 0.0
    again_same: Annotated[
        float, Field(ge=0, le=1, description="fewer equal answers when asked again: left out")
    ] = 0.0
    control_deviations: Annotated[
        float,
        Field(ge=0, description="further below the control group's mean share of right answers, in "
              "its standard deviations: left out (0: no such rule)"),
    ] = 0.0  # fmt: skip
    complete: Annotated[
        bool, Field(description="whether sessions that were not finished are left out")
    ] = True


@dataclass(frozen=True)
class Consent:
    """What participants agree to, by language; a new version of it needs a new number."""

    version: int = 1
    text: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Design:
    """A study, as it was put down."""

    asked_as: str
    """The name or place of the exam."""
    values: Mapping[str, Any]
    """Its settings."""
    about: About
    sessions: Sessions
    rules: Rules
    consent: Consent
    folder: Path
    """Where files that it names lie."""

    @cached_property
    def exam(self) -> Exam:
        """The exam that people sit."""
        made = plugins.exam(self.asked_as, **self.values)
        if not made.needs <= HUMAN:
            raise Unable(
                f"people cannot sit {made.name!r}: it needs {sorted(made.needs - HUMAN)}, and they "
                f"give {sorted(HUMAN)}; pick another exam (see: snellen ls)"
            )
        return made

    @cached_property
    def items(self) -> Mapping[str, Item]:
        """What there is to be sat, by key, in the exam's order."""
        return {item.key: item for item in plugins.items(self.exam)}

    @cached_property
    def gold(self) -> Sequence[Item]:
        """The items that everybody sits."""
        return [self._first(facets) for facets in self.sessions.gold]

    @property
    def digest(self) -> str:
        """Name the study by what matters of it: another digest is another study."""
        parts = (self.values, vars(self.sessions), vars(self.rules), vars(self.consent))
        return digest(self.asked_as, json.dumps(parts, sort_keys=True, default=str))

    def _first(self, facets: Mapping[str, Any]) -> Item:
        for item in self.items.values():
            if all(item.get(name) == value for name, value in facets.items()):
                return item
        raise BadSetting(
            f"no item of exam {self.exam.name!r} has {dict(facets)}, as a gold item should; it has "
            f"such as {next(iter(self.items.values()))}"
        )


TABLES: Mapping[str, type[Any]] = {"about": About, "sessions": Sessions, "rules": Rules}


def read(path: Path) -> Design:
    """Read a study file, and refuse what could only fail with people in the room."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise LogError(
            f"there is no study at {path} ({error.strerror}); make one with: snellen study new EXAM"
        ) from error
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unloadable(f"{path} is not TOML: {error}; mend that line") from error
    design = _design(found, path)
    if len(design.about.contact) < SHORTEST_CONTACT:
        raise BadSetting(
            f"{path} does not say who answers for the study; put a name and an address into "
            "contact, under [about]"
        )
    _check_items(design)
    return design


def _design(found: Mapping[str, Any], path: Path) -> Design:
    known = {"exam", "consent", *TABLES}
    if unknown := sorted(set(found) - known):
        raise BadSetting(f"{path} has a table {unknown[0]!r}; there are {', '.join(sorted(known))}")
    exam = found.get("exam", {})
    if not isinstance(exam, dict) or not isinstance(exam.get("name"), str):
        raise BadSetting(f"{path} does not say which exam; put name = … under [exam]")
    consent = dict(found.get("consent", {}))
    version = consent.pop("version", 1)
    return Design(
        exam["name"],
        exam.get("settings", {}),
        about=settings.make(About, found.get("about", {}), who=f"{path}: [about]"),
        sessions=settings.make(Sessions, found.get("sessions", {}), who=f"{path}: [sessions]"),
        rules=settings.make(Rules, found.get("rules", {}), who=f"{path}: [rules]"),
        consent=settings.make(
            Consent, {"version": version, "text": consent}, who=f"{path}: [consent]"
        ),
        folder=path.resolve().parent,
    )


def _check_items(design: Design) -> None:
    """See that one participant can be given as many items as are promised."""
    for name in design.sessions.distinct:
        if not any(name in item for item in design.items.values()):
            raise BadSetting(
                f"the items of exam {design.exam.name!r} have no facet {name!r} to be distinct in"
            )
    gold = {item.key for item in design.gold}
    left = [item for item in design.items.values() if item.key not in gold]
    most = _most(left, design.sessions.distinct)
    if most < design.sessions.each:
        raise BadSetting(
            f"each participant should sit {design.sessions.each} items, and there are {most} that "
            f"differ as they should; lower each, or have exam {design.exam.name!r} make more"
        )


def _most(items: Sequence[Item], facets: Sequence[str]) -> int:
    """Count the items that one participant can be given at most."""
    apart = [len({item[name] for item in items if name in item}) for name in facets]
    return min([len(items), *apart])


def _possible(wished: Mapping[str, Any], items: Sequence[Item]) -> dict[str, Any]:
    """Return the sessions that an exam wishes for, as far as these items allow."""
    facets = tuple(
        name for name in wished.get("distinct", ()) if any(name in item for item in items)
    )
    each = min(wished.get("each", Sessions.each), _most(items, facets))
    return {**wished, "distinct": facets, "each": each}


def draft(exam: str, values: Mapping[str, Any], contact: str = "") -> str:
    """Write a study file with every setting, what it means, and what the exam wishes."""
    cls = plugins.exam_class(exam)
    wishes = dict(getattr(cls, "people", {}))
    chosen = {**wishes.get("settings", {}), **values}
    made = settings.make(cls, chosen, who=f"exam {exam!r}")
    now = settings.dump(made)
    wishes["sessions"] = _possible(wishes.get("sessions", {}), plugins.items(made))
    wishes["about"] = {**wishes.get("about", {}), "contact": contact}
    lines = [
        "# What people are asked. A store keeps to the file that it began with.",
        "[exam]",
        f"name = {_toml(exam)}",
        "",
        "[exam.settings]",
        *(f"{name} = {_toml(now[name])}" for name in chosen),
    ]
    for name, table in TABLES.items():
        lines += ["", f"[{name}]"]
        given = wishes.get(name, {})
        usual = {f.name: f.default for f in fields(table)}
        for setting in settings.settings(table):
            value = given.get(setting.name, usual[setting.name])
            lines += [f"# {setting.help}", f"{setting.name} = {_toml(value)}"]
    lines += [
        "",
        "[consent]",
        "# A text of your own for a language, as your ethics board wants it: en = '''…'''",
        "# Raise the version with every change.",
        "version = 1",
    ]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value)
