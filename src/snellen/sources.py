"""What does `file.py:name` or `module:name` stand for?"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

from snellen.errors import Unloadable


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
            public = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
            raise Unloadable(
                f"{place} has no {attribute!r}; it has {', '.join(public) or 'nothing'}"
            )
        found = getattr(found, part)
    return found


def digest(*parts: object) -> str:
    """Return a short hash of bytes, files, code and whatever has a faithful repr.

    >>> digest("a", 1) == digest("a", 1) != digest("a", 2)
    True
    """
    hashed = hashlib.blake2b(digest_size=10)
    for part in parts:
        hashed.update(_as_bytes(part))
        hashed.update(b"\0")
    return hashed.hexdigest()


def _as_bytes(part: object) -> bytes:
    if isinstance(part, bytes):
        return part
    if isinstance(part, Path):
        with part.open("rb") as file:
            return hashlib.file_digest(file, "blake2b").digest()
    if inspect.isfunction(part) or inspect.isclass(part):
        try:
            return inspect.getsource(part).encode()
        except (OSError, TypeError):
            return f"{part.__module__}.{part.__qualname__}".encode()
    return repr(part).encode()


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
