"""Any function from pictures to scores."""

from __future__ import annotations

from typing import Any, Unpack

from snellen.digests import digest
from snellen.errors import Unloadable
from snellen.sources import load_attribute
from snellen.subjects.classifier import Classifier
from snellen.subjects.outputs import stated_outputs
from snellen.subjects.preprocessing import Preprocessing, Reading, as_stated


def load(source: Any, *, name: str = "", **reading: Unpack[Reading]) -> Classifier:
    """Make a subject of a function that takes (n, height, width, channels) float32 up to 1.

    It returns (n, choices) scores, or (n, labels) with `labels=FILE`.
    """
    function = load_attribute(source) if isinstance(source, str) else source
    if not callable(function):
        raise Unloadable(f"{source} is not a function from pictures to scores")
    name = name or str(getattr(function, "__name__", type(function).__name__))
    wants = Preprocessing(layout="NHWC").told("user", as_stated(reading, name))
    outputs = stated_outputs(reading)
    return Classifier(
        name=name,
        fingerprint=digest("callable", function, wants.effective, outputs.effective),
        forward=function,
        reading=wants,
        outputs=outputs,
        batch=reading.get("batch", 64),
    )
