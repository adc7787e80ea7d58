"""What would the same thing look like somewhere else?

A thing is cut out of its picture along a mask and laid on other grounds, both squashed to
the model's input size: it keeps its place and its size (Liao et al. 2022). The edge of a
cut tells of the old ground, so two controls come with it: the thing back on its own ground,
from which it was painted out, and the thing on a flat grey.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import ndimage

from snellen.images.inpainting import box, inpainted, smoothed_over

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    import numpy.typing as npt

    from snellen.core import Images
    from snellen.images.masks import Mask
    from snellen.images.photos import Picture

    Plane: TypeAlias = npt.NDArray[np.float32]

GREY = 128
SURE = 0.95
"""From here on a pixel shows the thing alone."""
MARGIN = 0.02
"""Of the longer side: so far around the thing its ground is painted over, shadows and all."""
_bytes = np.arange(256) / 255
LIGHT = np.asarray(
    np.where(_bytes <= 0.04045, _bytes / 12.92, ((_bytes + 0.055) / 1.055) ** 2.4), np.float32
)
"""Linear light of each byte."""
KEPT_BYTES = 1 << 29
"""Of squashed pictures: 3,500 of 224 × 224."""


@dataclass(frozen=True, eq=False)
class Cut:
    """A thing as it is laid on grounds: how much of it and in which colours."""

    picture: Picture
    """(height, width, 3); only what the mask covers is ever seen."""
    mask: Mask

    def on(
        self, grounds: Images, light: Literal["plain", "linear"] = "plain"
    ) -> npt.NDArray[np.uint8]:
        """Lay it on each ground, (n, height, width, 3): y = m·x + (1 − m)·b.

        `plain` mixes the bytes as they are, which is how it is published; `linear` mixes
        what they mean in light, as a lens would.
        """
        made = np.array(grounds, np.uint8)
        rows, columns = box(self.mask > 0)
        share = self.mask[rows, columns, None]
        to_light, from_light = (_same, _same) if light == "plain" else (_to_light, _from_light)
        shown = share * to_light(self.picture[rows, columns])
        for picture in made:
            mixed = from_light(shown + (1 - share) * to_light(picture[rows, columns]))
            mixed += 0.5  # bytes are cut off, not rounded, when they are stored
            picture[rows, columns] = mixed
        return made

    def on_grey(self, grey: int = GREY) -> Picture:
        """Lay it on a flat ground: the thing alone."""
        picture: Picture = self.on(np.full((1, *self.picture.shape), grey, np.uint8))[0]
        return picture


def cut(picture: Picture, mask: Mask, feather: float = 0.0, *, cleaned: bool = False) -> Cut:
    """Cut a thing out of its picture, along the mask as it is or in a way that hides the cut.

    `feather` lets the edge fade over so many pixels, inwards only, so that no more of the old
    ground comes along. `cleaned` takes the old ground's colour out of the edge: what is not
    surely the thing gets the colour of the nearest that is.
    """
    soft = feathered(mask, feather) if feather else mask
    return Cut(decontaminated(picture, mask) if cleaned else picture, soft)


def feathered(mask: Mask, pixels: float) -> Mask:
    """Let the edge fade inwards over so many pixels; nothing is added outside of it.

    >>> edge = np.repeat(np.float32([[0, 1, 1, 1, 1, 1]]), 9, axis=0)
    >>> print(feathered(edge, 2)[4].round(1))
    [0.  0.4 0.9 1.  1.  1. ]
    """
    blurred = ndimage.gaussian_filter(mask, pixels / 2, mode="nearest")
    return np.asarray(np.minimum(mask, (2 * blurred - 1).clip(0, 1)), np.float32)


def decontaminated(picture: Picture, mask: Mask, pixels: int = 2) -> Picture:
    """Return the picture with the thing's own colours carried over its edge.

    The outermost `pixels` of the thing are taken to be mixed with the ground, whatever the
    mask says of them: a camera's blur is wider than a segmenter's edge.
    """
    sure = ndimage.binary_erosion(mask >= SURE, iterations=pixels, border_value=1)
    return smoothed_over(picture, ~sure, (mask > 0) & ~sure) if sure.any() else picture


def ground(picture: Picture, mask: Mask, margin: float = MARGIN) -> Picture:
    """Return the picture's ground alone: the thing is painted over from around it."""
    reach = max(1, round(margin * max(mask.shape)))
    hidden = ndimage.maximum_filter(mask > 1 - SURE, size=2 * reach + 1)
    return np.full_like(picture, GREY) if hidden.all() else inpainted(picture, hidden)


def repasted(thing: Cut, picture: Picture, mask: Mask) -> Picture:
    """Return the thing back on its own ground: whatever changes now, the cut has done."""
    made: Picture = thing.on(ground(picture, mask)[None])[0]
    return made


class Squashed:
    """Pictures by name, of one size; those used last are kept, up to so many bytes.

    >>> shelf = Squashed(lambda name: np.zeros((8, 8, 3), np.uint8), most_bytes=400)
    >>> shelf["a"].shape, shelf["b"].shape, shelf["c"].shape, shelf.kept
    ((8, 8, 3), (8, 8, 3), (8, 8, 3), ('b', 'c'))
    """

    def __init__(self, read: Callable[[str], Picture], most_bytes: int = KEPT_BYTES) -> None:
        self._read = read
        self._most = most_bytes
        self._bytes = 0
        self._pictures: OrderedDict[str, Picture] = OrderedDict()

    def __getitem__(self, name: str) -> Picture:
        if name in self._pictures:
            self._pictures.move_to_end(name)
            return self._pictures[name]
        picture = self._pictures[name] = self._read(name)
        self._bytes += picture.nbytes
        while self._bytes > self._most and len(self._pictures) > 1:
            self._bytes -= self._pictures.popitem(last=False)[1].nbytes
        return picture

    @property
    def kept(self) -> tuple[str, ...]:
        """The names of those kept, the one longest unused first."""
        return tuple(self._pictures)


def _to_light(values: Images) -> Plane:
    """Return linear light of sRGB bytes (IEC 61966-2-1)."""
    return LIGHT[values]


def _from_light(light: Plane) -> Plane:
    low = light * np.float32(12.92 * 255)
    high = 255 * (np.float32(1.055) * np.maximum(light, 0.0031308) ** np.float32(1 / 2.4) - 0.055)
    return np.where(light <= 0.0031308, low, high)


def _same(values: Images) -> Plane:
    return np.asarray(values, np.float32)
