"""What does a PyTorch module compute on its way to an answer?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from snellen.errors import BadAnswer
from snellen.subjects.positions import (
    ENTRY,
    Layer,
    Wanted,
    Watched,
    check_known,
    nowhere_to_look,
    suggested,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.subjects.classifier import Forward

DENSE = (nn.Linear, nn.Bilinear, nn.MultiheadAttention)
CONVOLUTIONS = nn.modules.conv._ConvNd  # noqa: SLF001 — the only name that they share


def watchable(network: nn.Module, wanted: Wanted, who: str) -> bool:
    """Tell whether there is anything to see, and refuse names that are not there."""
    if wanted is None or isinstance(network, torch.jit.ScriptModule):
        check_known(wanted or (), (), who)
        return False
    if wanted:
        names = [name for name, _ in network.named_modules() if name]
        check_known([name.removesuffix(ENTRY) for name in wanted], names, who)
        return True
    weighty = list(_layers(network).values())
    return any(isinstance(m, CONVOLUTIONS) for m in weighty) or len(weighty) > 1


def watched(network: nn.Module, forward: Forward, wanted: Wanted, who: str) -> Watched | None:
    """Return the forward pass with an eye on some positions, if there are any to look at.

    Where none are named, the first pictures decide: modules run in another order than they
    are written in.
    """
    if not watchable(network, wanted, who):
        return None
    names = list(wanted or ())

    def look(x: npt.NDArray[np.float32]) -> tuple[npt.NDArray[Any], Mapping[str, Any]]:
        if not names:
            names.append(_suggested(network, forward, x[:2], who))
        seen: dict[str, Any] = {}
        with _overheard(network, names, seen.__setitem__):
            out = forward(x)
        if missing := [name for name in names if name not in seen]:
            raise BadAnswer(
                f"subject {who!r} did not come by {', '.join(missing)} on its way to an answer; "
                "name a module that is called, with signals="
            )
        return out, {name: seen[name] for name in names}

    return look


def _suggested(network: nn.Module, forward: Forward, x: npt.NDArray[np.float32], who: str) -> str:
    """Run some pictures through and note what is come by."""
    layers, passed = _layers(network), []

    def note(name: str, values: npt.NDArray[Any]) -> None:
        convolves = isinstance(layers[name], CONVOLUTIONS)
        apart = values.shape[2:] if convolves else values.shape[1:-1]
        passed.append(Layer(name, name + ENTRY, convolves, int(np.prod(apart))))

    with _overheard(network, list(layers), note):
        forward(x)
    name = suggested(passed)
    if not name:
        raise nowhere_to_look(who)
    return name


def _layers(network: nn.Module) -> dict[str, nn.Module]:
    """Return the modules that count as layers: those with weights that meet all places."""
    kinds = (*DENSE, CONVOLUTIONS)
    return {name: m for name, m in network.named_modules() if name and isinstance(m, kinds)}


@contextmanager
def _overheard(
    network: nn.Module, names: Sequence[str], hear: Callable[[str, npt.NDArray[Any]], None]
) -> Iterator[None]:
    """Let `hear` be told what comes out of, or into, modules as long as the block lasts."""
    modules, hooks = dict(network.named_modules()), []

    def outwards(name: str) -> Any:
        return lambda _module, _entry, out: _told(hear, name, out)

    def inwards(name: str) -> Any:
        return lambda _module, entry: _told(hear, name, entry)

    for name in names:
        if name in modules:
            hooks.append(modules[name].register_forward_hook(outwards(name)))
        else:
            module = modules[name.removesuffix(ENTRY)]
            hooks.append(module.register_forward_pre_hook(inwards(name)))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _told(hear: Callable[[str, npt.NDArray[Any]], None], name: str, values: Any) -> None:
    tensor = _first_tensor(values)
    if tensor is not None:
        dense = tensor.to_dense() if tensor.is_mkldnn else tensor
        # copied at once: what comes next may work in place
        hear(name, np.array(dense.detach().float().cpu().numpy()))


def _first_tensor(values: Any) -> torch.Tensor | None:
    """Return the tensor, or the first of what a module returns together."""
    if isinstance(values, torch.Tensor):
        return values
    parts = values.values() if isinstance(values, Mapping) else values
    if not isinstance(parts, tuple | list) and not isinstance(values, Mapping):
        return None
    return next((t for part in parts if (t := _first_tensor(part)) is not None), None)
