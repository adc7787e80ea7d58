"""What does a plugin say of itself, without being loaded? It may want a framework."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def blurb(point: EntryPoint) -> str:
    """Return the first line of the docstring of what an entry point leads to.

    >>> from importlib.metadata import EntryPoint
    >>> blurb(EntryPoint("x", "snellen.subjects.chance:Chance", "snellen.subjects"))
    'Guess, the same way each time for the same stimulus; play by lot.'
    """
    module, _, attribute = point.value.partition(":")
    package, *inner = module.split(".")
    spec = find_spec(package)  # of the package alone: its parts would be imported
    roots = [Path(p) for p in (spec.submodule_search_locations or [])] if spec else []
    if not inner and spec is not None and spec.origin:
        file = Path(spec.origin)
    else:
        stems = [root.joinpath(*inner) for root in roots]
        files = [f for s in stems for f in (s.with_suffix(".py"), s / "__init__.py")]
        file = next((f for f in files if f.is_file()), Path())
    if not file.is_file():
        return ""
    tree = ast.parse(file.read_text("utf-8"))
    found = [n for n in tree.body if getattr(n, "name", "") == attribute]
    texts = [ast.get_docstring(n) for n in found if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    return (texts[0] or "").partition("\n")[0] if texts else ""
