"""What does `file.py:name` or `module:name` stand for?"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from snellen.digests import digest
from snellen.errors import Unloadable

EXAMPLE = {"classes": 10, "channels": 1, "size": 28}
"""What a factory may be asked for, and what it gets before a lesson says."""


def load_attribute(target: str) -> Any:
    """Import the module or file left of the colon and return what the right names.

    >>> load_attribute("json:dumps").__name__
    'dumps'
    """
    place, _, attribute = target.rpartition(":")
    module = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            own = [
                name
                for name, value in vars(module).items()
                if getattr(value, "__module__", None) == module.__name__ and name[0] != "_"
            ]
            near = get_close_matches(attribute, own, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(own) or 'nothing'}"
            raise Unloadable(f"{place} has no {attribute!r}; {hint}")
        found = getattr(found, part)
    return found


def is_factory(thing: Any) -> bool:
    """Tell a function or class that makes a model from a function that scores pictures."""
    if not (inspect.isfunction(thing) or inspect.isclass(thing)):
        return False
    return {p.name for p in _parameters(thing) if p.default is p.empty} <= set(EXAMPLE)


def made_by(factory: Any, shape: Mapping[str, int]) -> Any:
    """Call a factory with what it takes of classes, channels and size; with examples if it must.

    >>> made_by(lambda classes, size=32: (classes, size), {"size": 64})
    (10, 64)
    """
    known = {p.name: shape.get(p.name, EXAMPLE.get(p.name)) for p in _parameters(factory)}
    needed = {p.name for p in _parameters(factory) if p.default is p.empty}
    return factory(**{k: v for k, v in known.items() if k in shape or k in needed})


def _parameters(thing: Any) -> list[inspect.Parameter]:
    try:
        found = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):  # written in C
        return []
    return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _import_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise Unloadable(
            f"no module {name!r} ({error}); for a file, write its path: path/to/file.py:name"
        ) from error


def _import_file(path: Path) -> Any:
    path = path.expanduser().resolve()
    if not path.is_file():
        raise Unloadable(f"there is no file {path}")
    name = f"{path.stem}_{digest(str(path))[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Unloadable(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))  # for what the file imports from beside it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise Unloadable(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module
