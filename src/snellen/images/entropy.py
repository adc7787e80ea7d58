"""How much information is in a picture?

As many bytes as it takes without loss: the measure of Carrasco et al. (2020, §3.1).
Each function below is a measure and enters by its name. What is reported is the best
that an encoder can do; inside a search a quick stand-in ranks the candidates.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image, features

from snellen.errors import BadSetting, extra

if TYPE_CHECKING:
    Picture: TypeAlias = npt.NDArray[np.uint8]

Measure: TypeAlias = Callable[[Any], float]
MEASURES: dict[str, Measure] = {}


def entropy(name: str) -> Measure:
    """Return the measure of that name: from (height, width, 1 or 3) bytes to bytes."""
    if name not in MEASURES:
        raise BadSetting(f"no entropy is called {name!r}; there are {', '.join(MEASURES)}")
    return MEASURES[name]


def encoder(name: str) -> str:
    """Say which program measures: other versions may give other bytes."""
    if name == "png":
        return f"Pillow {version('pillow')}, zlib {features.version('zlib')}, level 9"
    if name == "webp":
        return f"Pillow {version('pillow')}, WebP {features.version('webp')}, lossless, method 6"
    if name == "jpegls":
        return f"pillow-jpls {version('pillow-jpls')}"
    return f"Snellen's own, NumPy {np.__version__}" if name == "delentropy" else "zlib level 9"


def _measure(function: Measure) -> Measure:
    MEASURES[function.__name__] = function
    return function


@_measure
def png(picture: Picture) -> float:
    """Count the bytes of a PNG at level 9: the paper's measure."""
    return len(as_png(picture))


@_measure
def webp(picture: Picture) -> float:
    """Count the bytes of a lossless WebP, as small as its encoder gets it."""
    return _encoded(picture, "WEBP", lossless=True, quality=100, method=6)


@_measure
def jpegls(picture: Picture) -> float:
    """Count the bytes of a JPEG-LS file."""
    with extra("codecs", "entropy=jpegls"):
        import pillow_jpls  # noqa: F401 — enters its format with Pillow
    return _encoded(picture, "JPEG-LS")


@_measure
def zlib_raw(picture: Picture) -> float:
    """Count the bytes that zlib makes of the bare pixels."""
    return len(zlib.compress(picture.tobytes(), 9))


@_measure
def delentropy(picture: Picture) -> float:
    """Return the joint entropy of the two slopes at each pixel, in bytes (Larkin 2016).

    Slopes are differences of the means of two neighbours (2×2 pixels), halved as the
    sampling theorem for the two of them together asks. Of a colour picture, its grey.
    """
    grey = np.asarray(_opened(picture).convert("L"), np.int32)
    if min(grey.shape) < 2:
        return 0.0
    a, b, c, d = grey[:-1, :-1], grey[:-1, 1:], grey[1:, :-1], grey[1:, 1:]
    across, down = (b + d - a - c), (c + d - a - b)
    _, counts = np.unique((across + 1024) * 4096 + down + 1024, return_counts=True)
    shares = counts / counts.sum()
    bits = float(-(shares * np.log2(shares)).sum()) / 2
    return bits * grey.size / 8


def quick(picture: Picture) -> int:
    """Return the bytes of a fast compressor: ranks as PNG does (τ ≈ .98), fifty times as fast."""
    return len(_zstd().compress(picture.tobytes()))


def as_png(picture: Picture) -> bytes:
    """Return the picture as a PNG file, as small as Pillow gets it."""
    held = io.BytesIO()
    _opened(picture).save(held, "PNG", compress_level=9)
    return held.getvalue()


def _encoded(picture: Picture, kind: str, **options: Any) -> int:
    held = io.BytesIO()
    _opened(picture).save(held, kind, **options)
    return held.tell()


def _opened(picture: Picture) -> Image.Image:
    return Image.fromarray(picture[..., 0] if picture.shape[-1] == 1 else picture)


@lru_cache(maxsize=1)
def _zstd() -> Any:
    import zstandard

    return zstandard.ZstdCompressor(level=1)
