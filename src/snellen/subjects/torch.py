"""Any PyTorch module or factory of modules: taught by us, or asked as it is."""

from __future__ import annotations

import copy
import ctypes
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

import numpy as np

from snellen.core import Lesson
from snellen.digests import digest
from snellen.errors import BadAnswer, Unloadable, extra
from snellen.sources import load_attribute, made_by
from snellen.subjects.classifier import Classifier, Learner, Model, batches
from snellen.subjects.outputs import stated_outputs
from snellen.subjects.positions import Wanted, stated_positions
from snellen.subjects.preprocessing import Preprocessing, Reading, as_stated

with extra("torch", "this subject"):
    import torch
    from torch import nn

    from snellen.subjects.watching import watchable, watched

if TYPE_CHECKING:
    import numpy.typing as npt

BATCH = 200
"""In training; the paper's. Answers come in batches of it too."""
Optimiser: TypeAlias = Literal["adam", "sgd", "rmsprop"]


def _adam(parameters: Any, lr: float, *, fused: bool) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=lr, eps=1e-7, fused=fused)


def _sgd(parameters: Any, lr: float, *, fused: bool) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=lr, momentum=0.9, fused=fused)


def _rmsprop(parameters: Any, lr: float, *, fused: bool) -> torch.optim.Optimizer:
    del fused  # there is none
    return torch.optim.RMSprop(parameters, lr=lr)


OPTIMISERS = {"adam": _adam, "sgd": _sgd, "rmsprop": _rmsprop}


def load(
    source: Any,
    *,
    name: str = "",
    weights: str = "",
    trained: bool = False,
    device: str = "auto",
    lr: float = 1e-3,
    optimiser: Optimiser = "adam",
    signals: str = "",
    **reading: Unpack[Reading],
) -> Classifier | Learner:
    """Make a subject of a module or of a factory, given as an object or as its place.

    `torch:my_net.py:build` is taught; `torch:my_net.py:build,weights=net.safetensors`
    and `torch:my_net.py:build,trained=true` (it loads its own weights) are frozen. A
    module itself, from Python, answers as it is and may be taught further.

    Exams that look inside see the last convolution, or what enters the head where there is
    no late one; `signals=layer3+layer4` names other modules, `signals=head.input` what
    enters one, and `signals=none` shows nothing.
    """
    thing = load_attribute(source) if isinstance(source, str) else source
    name = name or (source.rpartition("/")[2] if isinstance(source, str) else _called(thing))
    on = usable_device(device)
    example = _build(thing, {}, name)
    is_module = isinstance(thing, nn.Module)
    fixed = is_module or "channels" not in inspect.signature(thing).parameters
    wants = _stated_by(example, reading, name, fixed=fixed)
    outputs = stated_outputs(reading, _own_labels(example))
    batch = reading.get("batch", BATCH)
    positions = stated_positions(signals)
    named = positions or ()
    parts = ("torch", _code(thing, example), wants.effective)
    pupil = Learner(
        name=name,
        fingerprint=digest(*parts, _state(example), lr, batch, optimiser, *named),
        teach=_teacher(thing, wants, _Recipe(name, lr, batch, optimiser, on, positions)),
        watchable=watchable(example, positions, name),
        reading=wants,
        batch=batch,
        device=on,
    )
    if not (weights or trained or is_module):
        return pupil
    if weights:
        _load_weights(example, Path(weights), name)
    model = asked(example, positions, on, name)
    frozen = Classifier(
        name=name,
        fingerprint=digest(*parts, _state(example), outputs.effective, *named),
        forward=model.forward,
        watched=model.watched,
        reading=wants,
        outputs=outputs,
        batch=batch,
        device=on,
    )
    if is_module:
        return replace(pupil, fingerprint=frozen.fingerprint, taught=frozen)
    return frozen


def paper_cnn(
    *, device: str = "auto", lr: float = 1e-3, batch: int = BATCH, name: str = "paper-cnn"
) -> Learner:
    """Return the network of the abstraction paper, taught as it was."""
    from snellen.subjects.networks import paper_cnn as build

    return _taught_by_the_exam(build, name, device, lr, batch)


def lenet(
    *, device: str = "auto", lr: float = 1e-3, batch: int = BATCH, name: str = "lenet"
) -> Learner:
    """Return a network like LeNet, taught by the exam."""
    from snellen.subjects.networks import lenet as build

    return _taught_by_the_exam(build, name, device, lr, batch)


def vanilla_cnn(
    *,
    depth: int = 4,
    kernel: int = 4,
    device: str = "auto",
    lr: float = 1e-4,
    batch: int = 50,
    name: str = "",
) -> Learner:
    """Return one of the plain networks of Kim et al. (2018): depth=2, 4, 6; kernel=2, 4, 6."""
    from snellen.subjects.networks import vanilla_cnn as network

    def build(classes: int = 2, channels: int = 1, size: int = 128) -> nn.Module:
        return network(classes, channels, size, depth, kernel)

    name = name or f"vanilla-cnn-{depth}x{kernel}"
    return _taught_by_the_exam(build, name, device, lr, batch)


def elu_cnn(
    *,
    width: int = 8,
    optimiser: Optimiser = "adam",
    device: str = "auto",
    lr: float = 1e-3,
    batch: int = 32,
    name: str = "",
) -> Learner:
    """Return the network of Pereyda & Holder (2020), `width` of its own 32 filters wide."""
    from snellen.subjects.networks import elu_cnn as network

    def build(classes: int = 10, channels: int = 1, size: int = 32, across: int = 0) -> nn.Module:
        return network(classes, channels, size, across, width)

    name = name or f"elu-cnn-{width}{_unusual(optimiser)}"
    return _taught_by_the_exam(build, name, device, lr, batch, optimiser)


def small_cnn(
    *,
    width: int = 16,
    optimiser: Optimiser = "adam",
    device: str = "auto",
    lr: float = 1e-3,
    batch: int = 50,
    name: str = "",
) -> Learner:
    """Return two convolutions and two dense layers: seconds to teach on a CPU."""
    from snellen.subjects.networks import small_cnn as network

    def build(classes: int = 9, channels: int = 3, size: int = 32) -> nn.Module:
        return network(classes, channels, size, width)

    name = name or f"small-cnn-{width}{_unusual(optimiser)}"
    return _taught_by_the_exam(build, name, device, lr, batch, optimiser)


def _unusual(optimiser: Optimiser) -> str:
    return "" if optimiser == "adam" else f"-{optimiser}"


def _taught_by_the_exam(
    build: Any, name: str, device: str, lr: float, batch: int, optimiser: Optimiser = "adam"
) -> Learner:
    made = load(build, name=name, device=device, lr=lr, batch=batch, optimiser=optimiser)
    assert isinstance(made, Learner)
    return made


@dataclass(frozen=True)
class _Recipe:
    """How a network is taught."""

    name: str
    lr: float
    batch: int
    optimiser: Optimiser
    device: str
    positions: Wanted


def _teacher(thing: Any, wants: Preprocessing, recipe: _Recipe) -> Callable[[Lesson], Model]:
    def teach(lesson: Lesson) -> Model:
        _keep_freed_memory()
        x = torch.from_numpy(wants(lesson.images)).to(recipe.device)
        y = torch.from_numpy(lesson.labels).long().to(recipe.device)
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.manual_seed(lesson.seed)
            names = ("channels", "size", "across")
            shape = {"classes": len(lesson.choices), **dict(zip(names, x.shape[1:], strict=True))}
            network = _build(thing, shape, recipe.name).to(recipe.device)
            _check_outputs(network, x[:2], lesson, recipe.name)
            order = batches(len(x), lesson, recipe.batch)
            _train(network, x, y, map(torch.from_numpy, order), recipe)
        return asked(network, recipe.positions, recipe.device, recipe.name)

    return teach


def _train(
    network: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    order: Iterable[torch.Tensor],
    how: _Recipe,
) -> None:
    """Lower the cross-entropy, a batch of places after the other."""
    network.train()
    parameters = [p for p in network.parameters() if p.requires_grad]
    step = OPTIMISERS[how.optimiser](parameters, how.lr, fused=x.device.type in ("cpu", "cuda"))
    loss = torch.zeros(())
    for rows in order:
        step.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(network(x[rows]), y[rows])
        loss.backward()  # type: ignore[no-untyped-call]
        step.step()
    if not torch.isfinite(loss):
        found = float(loss.detach())
        raise BadAnswer(f"training {how.name!r} diverged: the loss is {found}; try a smaller lr=")


def asked(network: nn.Module, positions: Wanted, on: str, name: str) -> Model:
    """Return the ways of running a network: for its scores, and with an eye on positions."""
    network = network.to(on).eval()

    def forward(x: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        with torch.inference_mode():
            out = network(torch.from_numpy(x).to(on))
            out = getattr(out, "logits", out)
            return np.asarray(out.float().cpu().numpy())

    return Model(forward, watched(network, forward, positions, name))


def _build(thing: Any, shape: dict[str, int], name: str) -> nn.Module:
    """Copy a module, or call a factory with those of classes, channels and size it takes."""
    if isinstance(thing, nn.Module):
        return copy.deepcopy(thing)
    with torch.random.fork_rng(devices=[], enabled=not shape):
        if not shape:
            torch.manual_seed(0)  # so that a factory's example has always the same state
        made = made_by(thing, shape)
    if not isinstance(made, nn.Module):
        raise Unloadable(
            f"{name} should return a torch.nn.Module, and it returns a {type(made).__name__}"
        )
    return made


def _check_outputs(network: nn.Module, x: torch.Tensor, lesson: Lesson, name: str) -> None:
    network.eval()
    try:
        with torch.no_grad():
            shape = tuple(network(x).shape)
    except RuntimeError as error:
        raise BadAnswer(
            f"subject {name!r} cannot take pictures of shape {tuple(x.shape[1:])} "
            f"(channels, height, width): {str(error).splitlines()[0]}; set size= or channels=, "
            "or let its factory take the parameters `size` and `channels`"
        ) from error
    if shape != (len(x), len(lesson.choices)):
        raise BadAnswer(
            f"subject {name!r} answers {len(x)} pictures with an output of shape {shape}, and the "
            f"lesson has {len(lesson.choices)} choices; let its factory take a parameter `classes`"
        )


def _stated_by(network: nn.Module, reading: Reading, name: str, *, fixed: bool) -> Preprocessing:
    """Take what the module carries, then what the user says."""
    wants = Preprocessing().told("model", {"layout": "NCHW"})
    first = next((m for m in network.modules() if isinstance(m, nn.Conv2d)), None)
    if first is not None and first.in_channels in (1, 3) and fixed:
        wants = wants.told("model", {"channels": first.in_channels})
    config = getattr(network, "pretrained_cfg", None) or getattr(network, "default_cfg", None)
    if isinstance(config, dict) and "mean" in config:
        height, width = config["input_size"][1:]
        wants = wants.told(
            "model",
            {"mean": tuple(config["mean"]), "std": tuple(config["std"]), "size": (height, width)},
        )
    return wants.told("user", as_stated(reading, name))


def _own_labels(network: nn.Module) -> tuple[str, ...]:
    found = getattr(network, "labels", None)
    return tuple(str(label) for label in found) if isinstance(found, list | tuple) else ()


def _load_weights(network: nn.Module, path: Path, name: str) -> None:
    try:
        if path.suffix == ".safetensors":
            with extra("torch", "reading .safetensors"):
                from safetensors.torch import load_file
            state = load_file(path)
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
        found: Any = state.get("state_dict", state)
        network.load_state_dict(found)
    except FileNotFoundError as error:
        raise Unloadable(f"there is no file {path} with weights for {name!r}") from error
    except Exception as error:
        raise Unloadable(
            f"{path} does not hold weights for {name!r}: {str(error).splitlines()[0]}; "
            "save them with torch.save(model.state_dict(), path) or as .safetensors"
        ) from error


def _state(network: nn.Module) -> bytes:
    tensors = network.state_dict().items()
    return digest(*(part for k, v in tensors for part in (k, v.cpu().numpy().tobytes()))).encode()


def _code(thing: Any, network: nn.Module) -> bytes:
    """Hash what the network is made of: its layers, their settings, code that is not PyTorch's."""
    own = {type(m) for m in network.modules() if not type(m).__module__.startswith("torch.")}
    classes = sorted(own, key=lambda c: c.__qualname__)
    settings = [
        {k: v for k, v in vars(m).items() if not k.startswith("_") and k != "training"}
        for m in network.modules()
    ]
    factory = [] if isinstance(thing, nn.Module) else [thing]
    return digest(repr(network), settings, *classes, *factory).encode()


def usable_device(wanted: str) -> str:
    """Return the device that is wanted, or the best there is; refuse one that is not there."""
    if wanted == "auto":
        wanted = os.environ.get("SNELLEN_DEVICE", "auto")
    if wanted != "auto":
        try:
            torch.empty(1, device=wanted)
        except (RuntimeError, AssertionError) as error:
            raise Unloadable(
                f"device {wanted!r} cannot be used: {str(error).splitlines()[0]}"
            ) from error
        return wanted
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@cache
def _keep_freed_memory() -> None:
    """Ask glibc to keep freed blocks for the next step instead of giving them back.

    A step allocates and frees the same few large blocks; given back, each costs
    thousands of page faults to get again: half the time of a step of the paper's network.
    """
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        m_mmap_threshold, m_trim_threshold = -3, -1
        libc.mallopt(m_mmap_threshold, 32 << 20)
        libc.mallopt(m_trim_threshold, 1 << 30)


def _called(thing: Any) -> str:
    return str(getattr(thing, "__name__", type(thing).__name__))
