"""Where inside of a model is it worth looking, and how is what is seen there laid out?

A user names positions (`signals=layer3+layer4`) or leaves it to the model's own structure: the
last convolution, or what enters the head where convolutions come early, as in a vision
transformer (Liao et al. 2022, §6). `signals=none` looks nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from snellen.errors import BadAnswer, BadSetting

if TYPE_CHECKING:
    from snellen.core import Column

Watched: TypeAlias = Callable[
    [npt.NDArray[np.float32]], tuple[npt.NDArray[Any], Mapping[str, npt.NDArray[Any]]]
]
"""From preprocessed pictures to scores, and to what the same pass came by at each position."""
Wanted: TypeAlias = tuple[str, ...] | None
"""Positions by name; none by name: those that the structure suggests; None: nowhere."""
ENTRY = ".input"
"""What enters a layer goes by the layer's name with this added."""


class Layer(NamedTuple):
    """One layer with weights, as a pass through the model comes by it."""

    name: str
    entry: str
    """The name of what enters it."""
    convolves: bool
    places: int
    """In its output, for each picture: pixels of a map, tokens; 1 where places are merged."""


def stated_positions(signals: str) -> Wanted:
    """Read what a user says of where to look.

    >>> stated_positions("layer3+layer4"), stated_positions(""), stated_positions("none")
    (('layer3', 'layer4'), (), None)
    """
    if signals == "none":
        return None
    return tuple(name.strip() for name in signals.split("+") if name.strip())


def suggested(layers: Sequence[Layer]) -> str:
    """Return the position that the structure suggests; none: an empty string.

    It is the last convolution, unless most of the layers that tell places apart come after it.

    >>> conv, dense = Layer("conv", "x", True, 49), Layer("head", "head.input", False, 1)
    >>> suggested([conv, dense, dense, dense])
    'conv'
    >>> block = Layer("mlp", "y", False, 49)
    >>> suggested([conv, block, block, dense])
    'head.input'
    """
    maps = [n for n, layer in enumerate(layers) if layer.convolves and layer.places > 1]
    maps = maps or [n for n, layer in enumerate(layers) if layer.convolves]
    if maps:
        later = sum(layer.places > 1 for layer in layers[maps[-1] + 1 :])
        earlier = sum(layer.places > 1 for layer in layers[: maps[-1]]) + 1
        if later <= earlier:
            return layers[maps[-1]].name
    return layers[-1].entry if len(layers) > 1 else ""


def check_known(wanted: Collection[str], known: Collection[str], who: str) -> None:
    """Refuse positions that a model has not, and say which come near."""
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, n=4, cutoff=0.4) or list(known)[-4:]
            raise BadSetting(
                f"subject {who!r} has no position {name!r} among the {len(known)} inside of it; "
                f"near to it are {', '.join(near) or 'none'}; name one of them, or leave signals= "
                "out for what its structure suggests"
            )


def told_apart(values: npt.NDArray[Any], pictures: int, name: str, who: str) -> Column:
    """Return what was seen as (pictures, channels, height, width) or (pictures, features) float32.

    Tokens, (pictures, tokens, features), become channels of a map that is one pixel wide.
    """
    if values.ndim == 0 or len(values) != pictures:
        raise BadAnswer(
            f"at {name!r}, subject {who!r} gave values of shape {values.shape} for {pictures} "
            f"pictures; name a position with a row a picture by signals="
        )
    values = values.astype(np.float32, copy=False)
    if values.ndim == 3:
        return values.transpose(0, 2, 1)[..., None]
    if values.ndim in (2, 4):
        return values
    return values.reshape(pictures, -1) if values.ndim < 2 else _as_map(values)


def _as_map(values: npt.NDArray[Any]) -> Column:
    return values.reshape(*values.shape[:3], -1)


def nowhere_to_look(who: str) -> BadAnswer:
    """Say that the structure suggests no position."""
    return BadAnswer(
        f"inside of subject {who!r} no convolution and no dense layer before its head was found "
        "when it was asked; name a position with signals=NAME, or look nowhere with signals=none"
    )
