"""The networks of the papers, as PyTorch modules.

On a CPU the convolutions run in oneDNN's own memory layout from end to end, which
gives the same numbers bit for bit at a fraction of the time: PyTorch's max-pooling
in its default layout costs more than the convolutions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class OneDNN(nn.Sequential):
    """Layers run on oneDNN tensors where that is possible, forward and backward."""

    def forward(self, x: Tensor) -> Tensor:
        """Convert, run, convert back; gradients flow through."""
        able = x.device.type == "cpu" and bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
        y = x.to_mkldnn() if able else x
        for layer in self:
            y = layer(y)
        return y.to_dense() if able else y


def conv_pool_relu(inputs: int, outputs: int, kernel: int) -> list[nn.Module]:
    """Convolve, take the largest of each 2×2, rectify.

    Rectifying after pooling gives the same values and gradients as before it (the
    largest of four survives either way) on a quarter of the pixels.
    """
    return [nn.Conv2d(inputs, outputs, kernel), nn.MaxPool2d(2), nn.ReLU()]


def paper_cnn(classes: int = 10, channels: int = 1, size: int = 28) -> nn.Module:
    """Build the network of Hudáky et al. (2021, §4.3): 59,933 parameters for ten 28×28 shapes."""
    side = ((size - 4) // 2 - 2) // 2
    network = nn.Sequential(
        OneDNN(*conv_pool_relu(channels, 30, 5), *conv_pool_relu(30, 15, 3)),
        nn.Dropout(0.1),
        nn.Flatten(),
        nn.Linear(15 * side * side, 128),
        nn.ReLU(),
        nn.Linear(128, 50),
        nn.ReLU(),
        nn.Linear(50, classes),
    )
    network.apply(_as_keras_begins)
    return network


def _as_keras_begins(layer: nn.Module) -> None:
    """Glorot-uniform weights and zero biases, the defaults the paper's authors used."""
    if isinstance(layer, nn.Conv2d | nn.Linear):
        nn.init.xavier_uniform_(layer.weight)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)


def small_cnn(classes: int = 9, channels: int = 3, size: int = 32, width: int = 16) -> nn.Module:
    """Build two convolutions and two dense layers: seconds to teach on a CPU."""
    side = ((size - 4) // 2 - 2) // 2
    return nn.Sequential(
        OneDNN(*conv_pool_relu(channels, width, 5), *conv_pool_relu(width, 2 * width, 3)),
        nn.Flatten(),
        nn.Linear(2 * width * side * side, 96),
        nn.ReLU(),
        nn.Linear(96, classes),
    )
