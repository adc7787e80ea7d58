"""Snellen: an eye exam for image classifiers, and for the people they are compared with.

>>> import snellen
>>> exam = snellen.exam("abstraction", transformations="mirrored", samples=60, steps=5, repeats=1)
>>> records = snellen.sit(exam, snellen.subject("chance"))
>>> len(records) == len(exam.items())
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snellen.engine import sit_all as sit
    from snellen.plugins import exam, subject
    from snellen.report import write as write_report

__all__ = ["exam", "sit", "subject", "write_report"]
_PLACES = {
    "exam": ("snellen.plugins", "exam"),
    "subject": ("snellen.plugins", "subject"),
    "sit": ("snellen.engine", "sit_all"),
    "write_report": ("snellen.report", "write"),
}


def __getattr__(name: str) -> Any:
    """Import what is public when it is first asked for, so that `import snellen` is quick."""
    if name not in _PLACES:
        raise AttributeError(f"module 'snellen' has no attribute {name!r}")
    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)
