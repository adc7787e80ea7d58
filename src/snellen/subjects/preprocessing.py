"""How does a model want its pictures, and who said so?

Nothing is guessed in silence: every part knows whether the model stated it, the
user did, or nobody, and `snellen doctor` prints it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from PIL import Image
from pydantic import BeforeValidator, Field
from typing_extensions import TypedDict

from snellen.errors import BadSetting
from snellen.images.nearest import floats

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from snellen.core import Images


Positive: TypeAlias = Annotated[int, Field(ge=1)]


class Reading(TypedDict, total=False):
    """What a user may say about any model's input and output."""

    size: Positive
    channels: Annotated[Literal[1, 3], BeforeValidator(int)]
    layout: Literal["NCHW", "NHWC"]
    order: Literal["rgb", "bgr"]
    white: float
    mean: str
    std: str
    labels: str
    groups: str
    grouping: Literal["sum", "largest"]
    outside: Literal["pass", "forced"]
    batch: Positive


@dataclass(frozen=True)
class Preprocessing:
    """From pictures, (n, h, w, c) with white at 1 or 255, to what a model takes."""

    size: tuple[int, int] | None = None
    """(height, width) that it wants; None: any."""
    resize: tuple[int, int] | None = None
    """Resized to this first where the middle is then cut out; None: straight to size."""
    channels: int | None = None
    layout: str = "NCHW"
    order: str = "rgb"
    white: float = 1.0
    """The value of white before normalisation."""
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    resample: str = "bilinear"
    stated: tuple[tuple[str, str], ...] = ()
    """Who said what: pairs of a field's name and `model` or `user`."""

    def told(self, by: str, values: Mapping[str, Any]) -> Preprocessing:
        """Return this with some parts stated by `model` or `user`."""
        known = {name: value for name, value in values.items() if value is not None}
        said = {**dict(self.stated), **dict.fromkeys(known, by)}
        return replace(self, **known, stated=tuple(sorted(said.items())))

    def __call__(self, images: Images) -> npt.NDArray[np.float32]:
        """Return the pictures as the model takes them."""
        fits = self.size in (None, images.shape[1:3]) and self.channels in (None, images.shape[3])
        if fits and images.dtype == np.uint8:
            return self._scaled(images)
        x = floats(images)
        if self.channels and x.shape[3] != self.channels:
            x = np.repeat(x, 3, axis=3) if self.channels == 3 else _grey(x)
        if self.size and x.shape[1:3] != self.size:
            x = np.stack([self._fitted(picture) for picture in x])
        x = self._normalised(x[..., ::-1] if self.order == "bgr" else x)
        if self.layout == "NCHW":
            x = x.transpose(0, 3, 1, 2)
        return np.ascontiguousarray(x, np.float32)

    def describe(self) -> dict[str, tuple[str, str]]:
        """Return each part in words, and who stated it."""
        who = dict(self.stated)
        size = "any" if self.size is None else f"{self.size[0]} × {self.size[1]}"
        if self.resize and self.resize != self.size:
            size += f", the middle of {self.resize[0]} × {self.resize[1]} ({self.resample})"
        normal = f"mean {_listed(self.mean)}, std {_listed(self.std)}"
        parts = {
            "size": size,
            "channels": str(self.channels or "as they come"),
            "layout": self.layout,
            "order": self.order.upper(),
            "white": f"{self.white:g}",
            "mean": normal,
        }
        if self.channels == 1:
            del parts["order"]
        return {name: (text, who.get(name, "assumed")) for name, text in parts.items()}

    @property
    def effective(self) -> str:
        """All that changes what the model sees, for a fingerprint."""
        return repr([(f.name, getattr(self, f.name)) for f in fields(self) if f.name != "stated"])

    def _normalised(self, x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        if self.white != 1:
            x = x * np.float32(self.white)
        if self.mean != (0.0,) or self.std != (1.0,):
            mean, std = (np.asarray(part, np.float32) for part in (self.mean, self.std))
            x = np.asarray((x - mean) / std, np.float32)
        return x

    def _scaled(self, images: Images) -> npt.NDArray[np.float32]:
        """Do the same for bytes of the right size: one multiplication and one addition."""
        mean, std = (np.asarray(part, np.float32) for part in (self.mean, self.std))
        x = images[..., ::-1] if self.order == "bgr" else images
        scale, shift = np.float32(self.white / 255) / std, -mean / std
        if self.layout == "NCHW":
            x, scale, shift = (x.transpose(0, 3, 1, 2), scale[:, None, None], shift[:, None, None])
        made = np.empty(x.shape, np.float32)
        made[...] = x
        made *= scale
        made += shift
        return made

    def _fitted(self, picture: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        assert self.size is not None
        height, width = self.resize or self.size
        method = Image.Resampling[self.resample.upper()]
        planes = [
            np.asarray(Image.fromarray(plane, "F").resize((width, height), method))
            for plane in np.moveaxis(picture, -1, 0)
        ]
        top, left = (height - self.size[0]) // 2, (width - self.size[1]) // 2
        return np.stack(planes, axis=-1)[top : top + self.size[0], left : left + self.size[1]]


def as_stated(reading: Reading, who: str) -> dict[str, Any]:
    """Return the parts of preprocessing that a user stated, checked."""
    said: dict[str, Any] = {
        name: reading.get(name) for name in ("channels", "layout", "order", "white")
    }
    if size := reading.get("size"):
        said |= {"size": (size, size), "resize": (size, size)}
    for name in ("mean", "std"):
        if text := str(reading.get(name, "")):
            try:
                said[name] = tuple(float(part) for part in text.split("/"))
            except ValueError:
                raise BadSetting(
                    f"{who}: {name} is one number or one a channel, as {name}=0.485/0.456/0.406; "
                    f"found {text!r}"
                ) from None
            if name == "std" and 0.0 in said[name]:
                raise BadSetting(f"{who}: std divides, so it cannot be 0")
    return said


def _grey(x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return x @ np.array([[0.299], [0.587], [0.114]], np.float32)


def _listed(values: tuple[float, ...]) -> str:
    return "/".join(f"{value:g}" for value in values)
