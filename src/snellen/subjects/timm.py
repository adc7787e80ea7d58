"""A model of the timm library by its name, with the preprocessing that it carries."""

from __future__ import annotations

from typing import Unpack

from snellen.errors import MissingExtra, Unloadable
from snellen.subjects.classifier import Classifier, Learner
from snellen.subjects.preprocessing import Reading


def load(
    source: str, *, device: str = "auto", signals: str = "", **reading: Unpack[Reading]
) -> Classifier | Learner:
    """Make a subject of a pretrained model; timm fetches its weights when it has none."""
    from snellen.subjects import torch

    try:
        import timm
    except ImportError as error:
        raise MissingExtra(
            f"timm:{source} needs the library timm and the torchvision that fits your PyTorch, and "
            f"{error.name or error} could not be imported; install both, or give the model as ONNX"
        ) from error
    try:
        model = timm.create_model(source, pretrained=True)
    except Exception as error:
        raise Unloadable(f"timm:{source} cannot be loaded: {str(error).splitlines()[0]}") from error
    return torch.load(model, name=source, device=device, signals=signals, **reading)
