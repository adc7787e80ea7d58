"""Which pixels of a picture are the thing, and is the answer good enough to cut along?

A mask is (height, width) float32 from 0, the ground, to 1, the thing. Masks come from a
folder that somebody made them for, from a segmenter as an ONNX file, or, for want of
either, from GrabCut (Rother et al. 2004) about the middle of the picture. None of them is
to be trusted: `gate` says in words what is wrong with a mask.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from PIL import Image, ImageOps
from scipy import ndimage

from snellen.errors import BadSetting, Unloadable, extra
from snellen.images.photos import SUFFIXES, opened, squashed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TypeAlias

    import numpy.typing as npt

    from snellen.images.photos import Picture, Size

    Mask: TypeAlias = npt.NDArray[np.float32]
    Box: TypeAlias = tuple[float, float, float, float]
    """Top, left, bottom, right, as shares of the picture's sides."""

AREA = (0.03, 0.70)
"""A thing covers no less and no more of its picture."""
MOST_SOFT = 0.15
"""Of the picture; the edge of a well cut thing is a few pixels wide."""
SOFT = (0.05, 0.95)
"""Between them a pixel is neither thing nor ground."""
LEAST_WHOLE = 0.6
"""Of the thing lies in its largest piece."""
A_SIDE = 0.1
"""A thing touches a side of the picture when it covers this much of it."""
MIDDLE: Box = (0.08, 0.08, 0.92, 0.92)
"""Where GrabCut looks for the thing when nobody says."""


class Masker(Protocol):
    """Whoever says which pixels are the thing."""

    def __call__(self, picture: Picture, name: str) -> Mask:
        """Return the mask of the picture of that name, of the picture's height and width."""


def masker(source: str) -> Masker:
    """Return who makes masks: a folder of them, a segmenter's ONNX file, or `grabcut`."""
    if source == "grabcut":
        return GrabCut()
    place = Path(source).expanduser()
    if place.suffix == ".onnx":
        return Segmenter(place)
    if place.is_dir():
        return MaskFolder(place)
    raise BadSetting(
        f"masks come from a folder of them, from an ONNX file or from 'grabcut'; {source!r} is none"
    )


def gate(mask: Mask) -> tuple[str, ...]:
    """Return what speaks against cutting along a mask, in words; nothing if it is good.

    >>> gate(np.pad(np.ones((20, 20), np.float32), 20))
    ()
    >>> gate(np.ones((20, 20), np.float32))[0]
    'it covers 100 % of the picture, more than 70 %'
    """
    if not np.isfinite(mask).all() or mask.min() < 0 or mask.max() > 1:
        return ("its values are not all between 0 and 1",)
    return tuple(_complaints(mask))


def _complaints(mask: Mask) -> Iterator[str]:
    area, (least, most) = float(mask.mean()), AREA
    if area < least:
        yield f"it covers {area:.1%} of the picture, less than {least:.0%}".replace("%", " %")
    if area > most:
        yield f"it covers {area:.0%} of the picture, more than {most:.0%}".replace("%", " %")
    soft = (mask > SOFT[0]) & (mask < SOFT[1])
    if (share := soft.mean()) >= MOST_SOFT:
        yield f"{100 * share:.0f} % of its pixels are half thing, half ground"
    elif soft.sum() > (mask >= SOFT[1]).sum():
        yield "most of the thing is half ground"
    solid = mask > 0.5
    pieces = _pieces(solid)[1][1:]
    if len(pieces) > 1 and pieces.max() < LEAST_WHOLE * pieces.sum():
        share = 100 * pieces.max() / pieces.sum()
        yield f"it lies in {len(pieces)} pieces, the largest of which is {share:.0f} % of it"
    touched = sum(
        edge.mean() >= A_SIDE for edge in (solid[0], solid[-1], solid[:, 0], solid[:, -1])
    )
    if touched > 2:
        yield f"it touches {touched} sides of the picture, as a ground does"


@dataclass(frozen=True)
class MaskFolder:
    """Masks that somebody made: PNG or NPY files named like the pictures.

    The mask of `dogs/rex.jpg` is `dogs/rex.png`, `dogs/rex.jpg.png` or, if there is but one
    of that name, `rex.png`; the same with `.npy`. A see-through PNG is a mask by its
    transparency, one with a palette (as segmentations are published) where it is not its
    first colour.
    """

    root: Path

    def __call__(self, picture: Picture, name: str) -> Mask:
        """Read the mask that belongs to the picture of that name."""
        return resized(_read_mask(self.file(name)), (picture.shape[0], picture.shape[1]))

    def file(self, name: str) -> Path:
        """Return the file that holds the mask of the picture of that name."""
        stem = Path(name).with_suffix("").as_posix()
        for known in (name, stem, Path(stem).name):
            found = self._files.get(known, [])
            if len(found) == 1:
                return found[0]
            if found:
                raise Unloadable(
                    f"which is the mask of {name}: {', '.join(str(f) for f in found)}? "
                    "Lay masks in folders like the pictures'"
                )
        raise Unloadable(
            f"{self.root} holds no mask of {name}: no {stem}.png and no {stem}.npy, in the same "
            "folder as the picture's or in any"
        )

    @cached_property
    def _files(self) -> dict[str, list[Path]]:
        """Masks by what they may be called: their place without suffix, or just their name."""
        named: dict[str, list[Path]] = {}
        for file in sorted(self.root.rglob("*")):
            if file.suffix.lower() in (".png", ".npy"):
                stem = file.relative_to(self.root).with_suffix("").as_posix()
                for name in {stem, file.stem, *_without_suffix(stem), *_without_suffix(file.stem)}:
                    named.setdefault(name, []).append(file)
        return named


@dataclass(frozen=True)
class Segmenter:
    """A network as an ONNX file that answers a picture with a mask.

    How it wants its pictures is stated here and not guessed: squashed to `size` (unless the
    file fixes it), white at `white`, then `mean` taken off and divided by `std`. It may
    answer with one plane, or with one for each class, of which `foreground` is the thing's;
    without it, the thing is all but the first.
    """

    path: Path
    size: int = 320
    white: float = 1.0
    mean: tuple[float, ...] = (0.485, 0.456, 0.406)
    std: tuple[float, ...] = (0.229, 0.224, 0.225)
    values: Literal["probabilities", "logits"] = "probabilities"
    """What the planes hold; of logits, the sigmoid or the softmax is taken."""
    foreground: int | None = None
    output: str = ""
    """Which of its outputs is the mask; empty: the first."""

    def __call__(self, picture: Picture, name: str) -> Mask:
        """Ask the network."""
        session = _session(self.path)
        entry = session.get_inputs()[0]
        size = _size_of(entry) or (self.size, self.size)
        x = squashed(picture, size).astype(np.float32) * np.float32(self.white / 255)
        x -= np.asarray(self.mean, np.float32)
        x /= np.asarray(self.std, np.float32)
        wanted = [self._output]
        try:
            planes = session.run(wanted, {entry.name: x.transpose(2, 0, 1)[None]})[0]
        except Exception as error:
            raise Unloadable(f"{self.path} cannot mask {name}: {error}") from error
        mask = self._thing(np.asarray(planes, np.float32))
        return resized(mask, (picture.shape[0], picture.shape[1]))

    @property
    def _output(self) -> str:
        names = [o.name for o in _session(self.path).get_outputs()]
        if self.output and self.output not in names:
            raise BadSetting(
                f"{self.path} has no output {self.output!r}; it has {', '.join(names)}"
            )
        return self.output or names[0]

    def _thing(self, planes: npt.NDArray[np.float32]) -> Mask:
        """Return the plane of the thing of what the network answered."""
        planes = planes.reshape(-1, *planes.shape[-2:])
        if self.values == "logits":
            planes = _shares(planes)
        mask: Mask = 1 - planes[0] if len(planes) > 1 else planes[0]
        if self.foreground is not None:
            if not 0 <= self.foreground < len(planes):
                raise BadSetting(
                    f"{self.path} tells {len(planes)} classes apart, so foreground= lies in "
                    f"0..{len(planes) - 1}; found {self.foreground}"
                )
            mask = planes[self.foreground]
        if mask.min() < -1e-3 or mask.max() > 1.001:
            raise BadSetting(
                f"{self.path} answers with values from {mask.min():.3g} to {mask.max():.3g}, which "
                "are no probabilities; say values=logits"
            )
        return mask.clip(0, 1)


@dataclass(frozen=True)
class GrabCut:
    """The thing is what differs in colour from what lies outside of a box.

    It needs no network and knows nothing of things. Of 334 photographs from ImageNet, `gate`
    refused its mask of 58, mostly where the thing fills the picture; look at the others, too.
    Pictures of half that `side` take a seventh of the time, and twice as many are refused.
    """

    box: Box = MIDDLE
    boxes: Mapping[str, Box] = field(default_factory=dict)
    """By the picture's name, where known."""
    rounds: int = 5
    side: int = 256
    """The longer side of the picture it works on: the time goes with its square."""

    def __call__(self, picture: Picture, name: str) -> Mask:
        """Cut, drop crumbs, and fill holes."""
        with extra("masks", "GrabCut"):
            import cv2
        height, width = picture.shape[:2]
        shrink = min(1.0, self.side / max(height, width))
        small = squashed(picture, (max(8, round(height * shrink)), max(8, round(width * shrink))))
        kinds = np.where(self._inside(small.shape, name), cv2.GC_PR_FGD, cv2.GC_BGD)
        kinds = kinds.astype(np.uint8)
        cv2.setRNGSeed(0)  # its clusters begin at random places
        thing, ground = np.zeros((2, 1, 65))
        bgr = np.ascontiguousarray(small[..., ::-1])
        cv2.grabCut(bgr, kinds, (0, 0, 0, 0), ground, thing, self.rounds, cv2.GC_INIT_WITH_MASK)
        return resized(tidied(np.isin(kinds, (cv2.GC_FGD, cv2.GC_PR_FGD))), (height, width))

    def _inside(self, shape: tuple[int, ...], name: str) -> npt.NDArray[np.bool_]:
        """Return which pixels may be the thing: those in its box."""
        top, left, bottom, right = self.boxes.get(name, self.box)
        inside = np.zeros(shape[:2], bool)
        rows = slice(round(top * shape[0]), round(bottom * shape[0]))
        inside[rows, round(left * shape[1]) : round(right * shape[1])] = True
        if inside.all() or not inside.any():
            raise BadSetting(
                f"the box {top:g} {left:g} {bottom:g} {right:g} of {name} should leave some of the "
                "picture in and some out: top, left, bottom, right, as shares of its sides"
            )
        return inside


def tidied(solid: npt.NDArray[np.bool_], crumb: float = 0.1) -> Mask:
    """Return a mask without crumbs and without holes as small: below this share of the thing.

    >>> dotted = np.pad(np.ones((9, 9), bool), 3)
    >>> dotted[0, 0], dotted[7, 7] = True, False
    >>> int(tidied(dotted).sum())
    81
    """
    least = crumb * solid.sum()
    kept = _without_small(solid, least)
    return (~_without_small(~kept, least)).astype(np.float32)


def resized(mask: Mask, size: Size) -> Mask:
    """Return a mask of another size, each pixel the mean of what it stands for."""
    if mask.shape == size:
        return mask
    image = Image.fromarray(np.asarray(mask, np.float32))
    made = np.asarray(image.resize(size[::-1], Image.Resampling.BILINEAR), np.float32)
    return made.clip(0, 1)


def _without_small(solid: npt.NDArray[np.bool_], least: float) -> npt.NDArray[np.bool_]:
    named, sizes = _pieces(solid)
    kept = sizes >= least
    kept[0] = False
    return np.asarray(kept[named])


def _pieces(solid: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.intp]]:
    """Return the number of each pixel's piece, 0 outside of all, and how large each is."""
    named, count = ndimage.label(solid)
    return named, np.bincount(named.ravel(), minlength=count + 1)


def _read_mask(file: Path) -> Mask:
    if file.suffix.lower() == ".npy":
        return _from_array(_load_array(file), file)
    with opened(file) as image:
        upright = ImageOps.exif_transpose(image)
        if upright.mode == "P" and "transparency" not in upright.info:
            return (np.asarray(upright) > 0).astype(np.float32)
        if upright.has_transparency_data:
            upright = upright.convert("RGBA").getchannel("A")
        elif upright.mode in ("RGB", "CMYK", "YCbCr"):
            upright = upright.convert("L")
        return _from_array(np.asarray(upright), file)


def _load_array(file: Path) -> npt.NDArray[Any]:
    try:
        return np.asarray(np.load(file, allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        raise Unloadable(f"{file} cannot be read as a mask: {error}") from error


def _from_array(values: npt.NDArray[Any], file: Path) -> Mask:
    """Bring what a file holds to 0..1, whether it is flags, shares, bytes or 16 bits."""
    plane = np.squeeze(values)
    if plane.ndim != 2 or plane.dtype.kind not in "buif":
        raise Unloadable(
            f"{file} should hold a mask, (height, width); it holds {values.dtype} {values.shape}"
        )
    highest = float(plane.max())
    if not np.isfinite(highest) or plane.min() < 0 or (plane.dtype.kind == "f" and highest > 1):
        raise Unloadable(
            f"{file} should hold a mask from 0 to 1, or from 0 to 255; it runs from "
            f"{plane.min():g} to {highest:g}"
        )
    white = 1 if highest <= 1 else 255 if highest <= 255 else 65535
    return np.asarray(plane / np.float32(white), np.float32)


def _without_suffix(stem: str) -> tuple[str, ...]:
    """Take a picture's own suffix off the name of its mask: rex.jpg.png is for rex.jpg."""
    whole = Path(stem)
    return (whole.with_suffix("").as_posix(),) if whole.suffix.lower() in SUFFIXES else ()


def _shares(planes: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the probabilities of logits: each plane's own if it is alone, or against the rest."""
    if len(planes) == 1:
        return np.asarray(0.5 * (1 + np.tanh(0.5 * planes)))
    powers = np.exp(planes - planes.max(axis=0))
    return np.asarray(powers / powers.sum(axis=0))


@lru_cache(maxsize=2)
def _session(path: Path) -> Any:
    with extra("onnx", "a segmenter"):
        import onnxruntime
    if not path.is_file():
        raise Unloadable(f"there is no file {path}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "0"))
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise Unloadable(f"{path} cannot be read as an ONNX model: {error}") from error
    inputs = session.get_inputs()
    if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].shape[1] != 3:
        found = ", ".join(f"{i.name} {i.shape}" for i in inputs)
        raise Unloadable(f"{path} should take pictures, (n, 3, height, width); it takes {found}")
    return session


def _size_of(entry: Any) -> Size | None:
    height, width = entry.shape[2:]
    return (height, width) if isinstance(height, int) and isinstance(width, int) else None
