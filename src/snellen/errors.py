"""What can go wrong, told to the person who can mend it.

SnellenError           printed as it is by the command; --debug adds the traceback
├── UnknownName        no exam or subject of that name; says which come close
├── BadSetting         a setting or option is misspelt or out of range
├── Unloadable         a model, picture or file cannot be read or lacks what it must have
├── MissingExtra       a library of an extra is not installed; says which to install
├── Unable             the subject cannot give what the exam needs
├── BadAnswer          the subject broke its promise: wrong shape, NaN, no such choice
└── LogError           the run folder cannot be read or written
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class SnellenError(Exception):
    """Base of everything this package raises on purpose."""


class UnknownName(SnellenError):
    """No exam or subject goes by that name."""


class BadSetting(SnellenError):
    """A setting or option is misspelt or out of range."""


class Unloadable(SnellenError):
    """A model, picture or file cannot be read, or lacks what it must have."""


class MissingExtra(SnellenError):
    """A library that belongs to an extra is not installed."""


class Unable(SnellenError):
    """The subject cannot give what the exam needs."""


class BadAnswer(SnellenError):
    """The subject broke its promise."""


class LogError(SnellenError):
    """The run folder cannot be read or written."""


@contextmanager
def extra(name: str, purpose: str) -> Iterator[None]:
    """Turn a failed import inside the block into advice on what to install."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f"{purpose} needs the extra {name!r}, and {error.name or error} could not be "
            f"imported; install it with: pip install 'snellen[{name}]'"
        ) from error
