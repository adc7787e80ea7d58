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


class ChannelsLast(nn.Sequential):
    """Layers run with the channels of a pixel side by side, which oneDNN convolves quicker."""

    def forward(self, x: Tensor) -> Tensor:
        """Lay the picture out anew, then go on as usual."""
        y = x.contiguous(memory_format=torch.channels_last)
        for layer in self:
            y = layer(y)
        return y


def elu_cnn(
    classes: int = 10, channels: int = 1, size: int = 32, across: int = 0, width: int = 32
) -> nn.Module:
    """Build the network of Pereyda & Holder (2020): three times two convolutions, then a vote.

    `width` is the number of filters of the first two; the paper's sweep of complexity halves
    its 32 down to 1. The largest takes 308,714 numbers for ten classes of 32×32.
    """
    layers: list[nn.Module] = []
    inputs = channels
    for filters, dropped in zip((width, 2 * width, 4 * width), (0.2, 0.3, 0.4), strict=True):
        for _ in range(2):
            layers += [
                nn.Conv2d(inputs, filters, 3, padding=1),
                nn.ELU(inplace=True),
                nn.BatchNorm2d(filters),  # forgets quicker than the original's, for short lessons
            ]
            inputs = filters
        layers += [nn.MaxPool2d(2), nn.Dropout(dropped)]
    area = (size // 8) * ((across or size) // 8)
    network = ChannelsLast(*layers, nn.Flatten(), nn.Linear(inputs * area, classes))
    network.apply(_as_keras_begins)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return network


def lenet(classes: int = 2, channels: int = 1, size: int = 128) -> nn.Module:
    """Build a network like LeNet: two convolutions, three dense layers (Stabinger et al. 2016)."""
    side = ((size - 4) // 2 - 4) // 2
    return nn.Sequential(
        OneDNN(*conv_pool_relu(channels, 20, 5), *conv_pool_relu(20, 50, 5)),
        nn.Flatten(),
        nn.Linear(50 * side * side, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, classes),
    )


def vanilla_cnn(
    classes: int = 2, channels: int = 1, size: int = 128, depth: int = 4, kernel: int = 4
) -> nn.Module:
    """Build one of the family of Kim et al. (2018): 2, 4 or 6 convolutions of 2, 4 or 6 pixels.

    The first has 6 filters and each next one twice as many; each is pooled over 3 pixels with
    step 2 as long as the picture allows; two dense layers of 1024 follow, with dropout.
    """
    layers: list[nn.Module] = []
    inputs, outputs, side = channels, 6, size
    for _ in range(depth):
        layers += [nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2), nn.ReLU()]
        side += 1 - kernel % 2
        if side >= 6:
            layers.append(nn.MaxPool2d(3, 2))
            side = (side - 3) // 2 + 1
        inputs, outputs = outputs, 2 * outputs
    dense = [nn.Linear(inputs * side * side, 1024), nn.ReLU(), nn.Dropout(0.5)]
    dense += [nn.Linear(1024, 1024), nn.ReLU(), nn.Dropout(0.5), nn.Linear(1024, classes)]
    return nn.Sequential(*layers, nn.Flatten(), *dense)


class Bottleneck(nn.Module):
    """Three convolutions, of which the middle one is narrow and looks about, and a short cut."""

    def __init__(self, inputs: int, inner: int, step: int) -> None:
        super().__init__()
        outputs = 4 * inner
        self.long = nn.Sequential(
            nn.Conv2d(inputs, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
            nn.Conv2d(inner, inner, 3, step, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
            nn.Conv2d(inner, outputs, 1, bias=False), nn.BatchNorm2d(outputs),
        )  # fmt: skip
        self.short = (
            nn.Identity()
            if (inputs, step) == (outputs, 1)
            else nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, step, bias=False), nn.BatchNorm2d(outputs)
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        """Add both ways."""
        return torch.relu(self.long(x) + self.short(x))


def resnet50(classes: int = 2, channels: int = 1) -> nn.Module:
    """Build a residual network of fifty layers (He et al. 2016), as Borowski et al. (2019) used."""
    layers: list[nn.Module] = [
        nn.Conv2d(channels, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]  # fmt: skip
    inputs = 64
    for stage, count in enumerate((3, 4, 6, 3)):
        inner = 64 * 2**stage
        for place in range(count):
            layers.append(Bottleneck(inputs, inner, 2 if stage and not place else 1))
            inputs = 4 * inner
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))
