"""What can be set about an exam, and which values make sense?

An exam's settings are the fields of its dataclass; pydantic reads them, so text
from a command line, JSON from a log and Python values all come in the same way.
Help is written beside the field, as is whether it shapes items or selects them:

    repeats: Annotated[int, Field(ge=1, description="how often, each time anew"), SELECTS] = 5
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from snellen.errors import BadSetting

if TYPE_CHECKING:
    from snellen.core import Exam

E = TypeVar("E")

SELECTS = "selects"
"""Marks a field that only says which items are sat: what was done before a change of it
stays done."""


WANTED = {
    **dict.fromkeys(["int_parsing", "int_from_float", "int_type"], "a whole number"),
    **dict.fromkeys(["float_parsing", "float_type"], "a number"),
    **dict.fromkeys(["bool_parsing", "bool_type"], "true or false"),
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "literal_error": "{expected}",
}
"""What pydantic wanted, by its name for what went wrong."""


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set, as help text needs it."""

    name: str
    kind: str
    default: Any
    help: str
    selects: bool


def settings(cls: type[Any]) -> list[Setting]:
    """List what can be set about `cls`, in the order of its fields."""
    hints = _hints(cls)
    made = []
    for field in dataclasses.fields(cls):
        marks = getattr(hints[field.name], "__metadata__", ())
        notes = [m.description for m in marks if isinstance(m, FieldInfo) and m.description]
        default = field.default
        if default is dataclasses.MISSING and field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        made.append(
            Setting(
                field.name, _kind(hints[field.name]), default, " ".join(notes), SELECTS in marks
            )
        )
    return made


def make(cls: type[E], values: Mapping[str, Any], *, who: str) -> E:
    """Make a `cls` of the values, coerced; complain in the user's terms."""
    known = [setting.name for setting in settings(cls)]
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise BadSetting(f"{who} has no setting {name!r}; {hint}")
    hints = _hints(cls)
    ready = {name: _split(value, hints[name]) for name, value in values.items()}
    try:
        return TypeAdapter(cls).validate_python(ready)
    except ValidationError as error:
        raise BadSetting(f"{who}: {in_words(error)}") from None


def in_words(error: ValidationError) -> str:
    """Tell what is wrong with which values, in words that a command's user would choose."""
    told = []
    for e in error.errors():
        wanted = WANTED.get(e["type"], "").format(**e.get("ctx", {}))
        message = e["msg"].removeprefix("Value error, ")
        if wanted:
            message = f"{e['input']!r} is not {wanted}"
        elif e["loc"]:
            message += f" (found {e['input']!r})"
        told.append(f"{e['loc'][0]}: {message}" if e["loc"] else message)
    return "; ".join(told)


def dump(exam: Exam) -> dict[str, Any]:
    """Return all settings as JSON values."""
    made: dict[str, Any] = TypeAdapter(type(exam)).dump_python(exam, mode="json")
    return made


def changed(exam: Exam) -> dict[str, Any]:
    """Return the settings that are not at their defaults."""
    now, usual = dump(exam), dump(type(exam)())
    return {name: value for name, value in now.items() if value != usual[name]}


def shaping(exam: Exam) -> dict[str, Any]:
    """Return the settings that shape every item, without those that only select items."""
    selects = {setting.name for setting in settings(type(exam)) if setting.selects}
    return {name: value for name, value in dump(exam).items() if name not in selects}


def _hints(cls: type[Any]) -> dict[str, Any]:
    """Return the types of the fields alone; what else is annotated need not be importable."""
    only = type(
        "_Fields", (), {"__annotations__": {f.name: f.type for f in dataclasses.fields(cls)}}
    )
    return get_type_hints(only, vars(sys.modules[cls.__module__]), include_extras=True)


def _split(value: Any, hint: Any) -> Any:
    """Read `a,b` as two values, and 3 as one, where the field holds several."""
    hint = _bare(hint)
    if get_origin(hint) not in (tuple, list, frozenset, set, Sequence):
        return value
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value if isinstance(value, Sequence | set | frozenset) else [value]


def _kind(hint: Any) -> str:
    """Say in words what type a field has."""
    hint = _bare(hint)
    if get_origin(hint) in (tuple, list, frozenset, set):
        return f"{_kind(get_args(hint)[0])},…"
    if options := [a for a in get_args(hint) if isinstance(a, str)]:
        return "|".join(options)
    return getattr(hint, "__name__", str(hint))


def _bare(hint: Any) -> Any:
    """Take the notes off an annotated type."""
    return get_args(hint)[0] if hasattr(hint, "__metadata__") else hint
