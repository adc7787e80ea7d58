"""Who is meant by a name? Exams and subjects, built in or yours, by the same door.

An exam is a name (`abstraction`) or a place (`my_exam.py:Mine`). A subject is

    chance                               a name
    onnx:model.onnx,size=224             a name, what to load, and options
    my_net.py:build                      a place; what stands there says what it is
    a Python object                      the same, from Python
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, TypeGuard, cast, get_args, get_type_hints

from pydantic import ConfigDict, ValidationError, validate_call

from snellen import settings
from snellen.core import Subject
from snellen.errors import BadSetting, SnellenError, UnknownName, Unloadable
from snellen.sources import is_factory, load_attribute, made_by

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.metadata import EntryPoint

    from snellen.core import Exam, Item

EXAMS = "snellen.exams"
SUBJECTS = "snellen.subjects"
LOADERS_BY_SUFFIX = {".onnx": "onnx", ".keras": "keras"}
LOADERS_BY_TYPE = {
    "keras.src.models.model.Model": "keras",  # first: on PyTorch it is a module of PyTorch's too
    "torch.nn.modules.module.Module": "torch",
    "sklearn.base.BaseEstimator": "sklearn",
}


@cache
def registered(group: str) -> dict[str, EntryPoint]:
    """Return the plugins of a group by name."""
    return {point.name: point for point in sorted(entry_points(group=group))}


def exam(name: str, **values: Any) -> Exam:
    """Make the exam called `name`, or the one at `file.py:Name`, with these settings."""
    made: Exam = settings.make(exam_class(name), values, who=f"exam {name!r}")
    return made


def exam_class(name: str) -> type[Any]:
    """Return the class of the exam called `name`."""
    points = registered(EXAMS)
    if name in points:
        found = points[name].load()
    elif ":" in name:
        found = load_attribute(name)
    else:
        raise _unknown("exam", name, points)
    missing = [part for part in ("items", "examine", "grade") if not hasattr(found, part)]
    if missing or not inspect.isclass(found):
        raise Unloadable(f"{name} is no exam class: it lacks {', '.join(missing)}")
    return found


def items(exam: Exam) -> Sequence[Item]:
    """Return the items of an exam, of which there must be some."""
    found = list(dict.fromkeys(exam.items()))
    if not found:
        raise BadSetting(
            f"exam {exam.name!r} has nothing to ask with these settings: together they leave out "
            "every item; ask for more"
        )
    return found


def subject(who: Any, **options: Any) -> Subject:
    """Make the subject that `who` names, points to, or is."""
    try:
        return _subject(who, options)
    except (SnellenError, KeyboardInterrupt):
        raise
    except Exception as error:  # whatever the user's own code raises
        name = who if isinstance(who, str) else _called(who)
        raise Unloadable(
            f"subject {name!r} cannot be loaded: {type(error).__name__}: {error}"
        ) from error


def _subject(who: Any, options: dict[str, Any]) -> Subject:
    if not isinstance(who, str):
        return _adopt(who, str(options.pop("name", "")) or _called(who), options)
    spec, written = _split_options(who)
    options = {**written, **options}
    head, _, rest = spec.partition(":")
    points = registered(SUBJECTS)
    if head in points:
        return _call(points[head].load(), (rest,) if rest else (), options, spec)
    for suffix, loader in LOADERS_BY_SUFFIX.items():
        if spec.endswith(suffix):
            return _call(points[loader].load(), (spec,), options, spec)
    if ":" not in spec:
        raise _unknown("subject", spec, points)
    name = options.pop("name", "") or spec.rpartition("/")[2]
    return _adopt(load_attribute(spec), name, options)


def _adopt(thing: Any, name: str, options: dict[str, Any]) -> Subject:
    """Make a subject of any object: the first that fits of the kinds we know."""
    if inspect.isclass(thing) and _is_subject(thing):
        return _call(thing, (), options, name)
    if _is_subject(thing):
        return thing
    product = made_by(thing, {}) if is_factory(thing) else thing
    if _is_subject(product):
        return product
    kinds = {f"{c.__module__}.{c.__qualname__}" for c in type(product).__mro__}
    loader = next((LOADERS_BY_TYPE[k] for k in LOADERS_BY_TYPE if k in kinds), "callable")
    if loader == "callable" and not callable(product):
        raise Unloadable(
            f"{name} is a {type(product).__name__}: neither a model of PyTorch, Keras or "
            "scikit-learn, nor a subject, nor a function from images to scores"
        )
    source = product if loader == "callable" else thing
    return _call(registered(SUBJECTS)[loader].load(), (source,), {"name": name, **options}, name)


def _is_subject(thing: Any) -> TypeGuard[Subject]:
    return all(hasattr(thing, part) for part in ("answer", "study", "gives"))


def _call(make: Any, arguments: tuple[Any, ...], options: dict[str, Any], who: str) -> Subject:
    """Call a loader, or make a subject's class, with text coerced to the types declared."""
    if inspect.isclass(make) and dataclasses.is_dataclass(make):
        own: Any = settings.make(make, options, who=f"subject {who!r}")
        return cast("Subject", own)
    known = [n for n in _parameters(make) if n not in ("self", "source")]
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known) or 'none'}"
            raise BadSetting(f"subject {who!r} has no option {name!r}; {hint}")
    if inspect.isclass(make):
        return cast("Subject", make(*arguments, **options))
    checked = validate_call(config=ConfigDict(arbitrary_types_allowed=True))(make)
    try:
        return cast("Subject", checked(*arguments, **options))
    except ValidationError as error:
        raise BadSetting(f"subject {who!r}: {settings.in_words(error)}") from None


def _parameters(make: Any) -> list[str]:
    """List a callable's parameters, those of an unpacked TypedDict by their own names."""
    made: list[str] = []
    hints = {} if inspect.isclass(make) else get_type_hints(make)
    for name, parameter in inspect.signature(make).parameters.items():
        packed = get_args(hints.get(name)) if parameter.kind is parameter.VAR_KEYWORD else ()
        made += list(packed[0].__annotations__) if packed else [name]
    return made


def _split_options(spec: str) -> tuple[str, dict[str, str]]:
    """Part `onnx:m.onnx,size=224,order=bgr` into what to load and how."""
    first, *rest = re.split(r",(?=[A-Za-z_]\w*=)", spec)
    pairs = (part.partition("=") for part in rest)
    return first, {name: value for name, _, value in pairs}


def _unknown(kind: str, name: str, points: dict[str, EntryPoint]) -> UnknownName:
    near = get_close_matches(name, points, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(points)}"
    return UnknownName(f"no {kind} is called {name!r}; {hint} (or give file.py:Name)")


def _called(thing: Any) -> str:
    return str(getattr(thing, "__name__", type(thing).__name__))
