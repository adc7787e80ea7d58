"""Is this still the same thing? A short hash of all that something's behaviour depends on.

Code counts by what it does: its syntax tree without docstrings and comments, what it closes
over, and what it uses of other code and values outside of installed libraries. Objects
count by their type and state, arrays by their content, files by their bytes.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
import sysconfig
import textwrap
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

LIBRARIES = tuple(
    str(Path(place).resolve())
    for name, place in sysconfig.get_paths().items()
    if name in ("stdlib", "platstdlib", "purelib", "platlib")
)
PLAIN = (str, int, float, complex, bool, type(None), type(Ellipsis), np.generic)


def digest(*parts: object) -> str:
    """Return a short hash of bytes, files, arrays, code and objects.

    >>> digest("a", 1) == digest("a", 1) != digest("a", 2)
    True
    >>> plus = lambda step: lambda x: x + step
    >>> digest(plus(1)) == digest(plus(1)) != digest(plus(2))
    True
    """
    walk = _Walk()
    hashed = hashlib.blake2b(digest_size=10)
    for part in parts:
        hashed.update(walk.content(part))
        hashed.update(b"\0")
    return hashed.hexdigest()


class _Walk:
    """Goes through what a thing is made of, each part once."""

    def __init__(self) -> None:
        self.known: dict[int, bytes] = {}
        self.held: list[Any] = []
        """Met objects, so that no other gets the id of one of them."""

    def content(self, thing: Any) -> bytes:
        """Return bytes that are equal for equal things."""
        if isinstance(thing, bytes | bytearray | memoryview):
            return bytes(thing)
        if isinstance(thing, PLAIN):
            return repr(thing).encode()
        if id(thing) not in self.known:
            self.held.append(thing)
            self.known[id(thing)] = b"itself"  # met again inside of it
            hashed = hashlib.blake2b(digest_size=20)
            for part in _parts(thing):
                hashed.update(self.content(part))
                hashed.update(b"\1")
            self.known[id(thing)] = hashed.digest()
        return self.known[id(thing)]


@functools.singledispatch
def _parts(thing: Any) -> Iterator[Any]:
    """Name what a thing consists of: an object, if nothing below fits."""
    array = _as_array(thing)
    if array is not None:
        yield array
        return
    yield type(thing)
    if hasattr(thing, "__wrapped__"):
        yield thing.__wrapped__
    elif hasattr(thing, "__dict__"):
        yield vars(thing)
    else:
        try:
            rebuilt = thing.__reduce_ex__(2)
        except Exception:  # noqa: BLE001 — what cannot be copied refuses in its own ways
            return
        parts = rebuilt if isinstance(rebuilt, tuple) else (rebuilt,)
        yield [list(part) if isinstance(part, Iterator) else part for part in parts]


@_parts.register
def _(file: Path) -> Iterator[Any]:
    with file.open("rb") as opened:
        yield hashlib.file_digest(opened, "blake2b").digest()


@_parts.register
def _(array: np.ndarray) -> Iterator[Any]:
    yield from (array.dtype.str, str(array.shape))
    yield array.tolist() if array.dtype.hasobject else np.ascontiguousarray(array).data.cast("B")


@_parts.register
def _(mapping: Mapping) -> Iterator[Any]:  # type: ignore[type-arg]
    for key in sorted(mapping, key=repr):
        yield from (key, mapping[key])


@_parts.register(list)
@_parts.register(tuple)
def _(row: list[Any] | tuple[Any, ...]) -> Iterator[Any]:
    yield from (type(row).__name__, *row)


@_parts.register(set)
@_parts.register(frozenset)
def _(group: set[Any] | frozenset[Any]) -> Iterator[Any]:
    yield from sorted(digest(part) for part in group)


@_parts.register
def _(partial: functools.partial) -> Iterator[Any]:  # type: ignore[type-arg]
    yield from ("partial", partial.func, partial.args, partial.keywords)


@_parts.register
def _(method: types.MethodType) -> Iterator[Any]:
    yield from (method.__func__, method.__self__)


@_parts.register
def _(module: types.ModuleType) -> Iterator[Any]:
    yield module.__name__
    if _is_own(module.__name__):
        yield Path(str(module.__file__))


@_parts.register
def _(function: types.FunctionType) -> Iterator[Any]:
    yield from _code(function)
    if _is_own(function.__module__):
        yield (function.__defaults__, function.__kwdefaults__, _used(function))


@_parts.register
def _(kind: type) -> Iterator[Any]:
    yield from _code(kind)
    if _is_own(kind.__module__):
        yield [base for base in kind.__bases__ if base is not object]
        yield [_used(f) for f in vars(kind).values() if inspect.isfunction(f)]


def _code(thing: Any) -> Iterator[Any]:
    """Name what is written in a function or class, or just its name if it is a library's."""
    yield from (thing.__module__ if not _is_own(thing.__module__) else "", thing.__qualname__)
    if not _is_own(thing.__module__):
        return
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError):
        code = getattr(thing, "__code__", None)
        yield (code.co_code, [c for c in code.co_consts if isinstance(c, PLAIN)]) if code else ""
    else:
        yield ast.dump(_without_docstrings(tree))


def _used(function: types.FunctionType) -> dict[str, Any]:
    """Return what a function closes over and which globals it names, with their values."""
    used: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            used[f"closed {name}"] = cell.cell_contents
        except ValueError:  # not yet filled: a class's own name
            used[f"closed {name}"] = None
    names = _names(function.__code__)
    return used | {
        name: function.__globals__[name] for name in names if name in function.__globals__
    }


def _names(code: types.CodeType) -> set[str]:
    inner = [_names(part) for part in code.co_consts if isinstance(part, types.CodeType)]
    return set(code.co_names).union(*inner)


def _without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _is_own(module: str | None) -> bool:
    """Tell code of the user's (and ours) from that of installed libraries."""
    file = getattr(sys.modules.get(module or ""), "__file__", None)
    if file is None:
        return module == "__main__"
    place = str(Path(file).resolve())
    return (module or "").partition(".")[0] == "snellen" or not place.startswith(LIBRARIES)


def _as_array(thing: Any) -> Any:
    """Return the values of a tensor of any library, or None."""
    if not (hasattr(thing, "shape") and hasattr(thing, "dtype")):
        return None
    plain = thing.detach().cpu() if hasattr(thing, "detach") else thing
    try:
        return np.asarray(plain)
    except (TypeError, ValueError, RuntimeError):
        return None
