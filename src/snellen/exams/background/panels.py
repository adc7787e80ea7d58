"""How are a model's variance matrices shown to people who are to judge them?

All models on one scale of colours, paler where little evidence is near, beside how much there is.
"""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from snellen.exams.background.matrices import density

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.exams.background.clouds import Floats
    from snellen.exams.background.matrices import VarianceMatrix

PANELS = {
    "CONF true": ("The right answer", "its probability", 0.5),
    "CONF margin": ("Its lead", "over the best other", 1.0),
    "CONF right": ("Right or wrong", "right is 1, wrong is 0", 0.5),
    "CONF max": ("Confidence", "in whichever answer", 0.5),
}
"""Signals with their titles, and the change that is drawn brightest: half of what is possible.
The scale is the same for all models, or a coder could not compare them."""
PALEST = 0.15
"""How much colour is left to what rests on nothing."""


def panels(matrices: Mapping[str, VarianceMatrix]) -> list[dict[str, str]]:
    """Draw matrices on scales that are the same for all models, and what they rest on."""
    made = [
        {"title": title, "note": note, "image": _address(_shaded(matrices[signal], top))}
        for signal, (title, note, top) in PANELS.items()
    ]
    rests = next(iter(matrices.values()))
    counts = density({"": rests}, name="density", title="density").panels[""]
    note = f"on {100 * rests.covered:.0f} % of the square"
    return [*made, {"title": "Evidence", "note": note, "image": _address(_counted(counts))}]


def _shaded(matrix: VarianceMatrix, top: float) -> Any:
    """Return pixels, the own scenery at the lower left, paler where less evidence is near."""
    import matplotlib as mpl

    colours = mpl.colormaps["viridis"](np.clip(np.abs(matrix.values) / top, 0, 1))[..., :3]
    solid = (PALEST + (1 - PALEST) * matrix.evidence)[..., None]
    return _upright(255 * (solid * colours + 1 - solid))


def _counted(counts: Floats) -> Any:
    """Return pixels that are the darker the more points there are, by their logarithm."""
    held = np.nan_to_num(np.log1p(counts))
    return _upright(np.repeat(255 * (1 - 0.85 * held / max(held.max(), 1.0))[..., None], 3, axis=2))


def _upright(pixels: Floats) -> Any:
    """Turn (x, y, 3), y growing upwards, into a picture."""
    return np.rint(pixels.swapaxes(0, 1)[::-1]).astype(np.uint8)


def _address(pixels: Any) -> str:
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()
