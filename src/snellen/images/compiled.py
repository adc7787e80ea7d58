"""How is a loop over pixels made as quick as in C?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile on first use, keep the result on disk, and let go of the interpreter meanwhile."""
    return cast("Function", numba.njit(cache=True, nogil=True)(function))
