"""A Hugging Face image classifier: a local directory, or a name that they know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from snellen.errors import Unloadable, extra
from snellen.sources import digest
from snellen.subjects.classifier import Classifier
from snellen.subjects.outputs import stated_outputs
from snellen.subjects.preprocessing import Preprocessing, Reading, as_stated

if TYPE_CHECKING:
    import numpy.typing as npt

RESAMPLING = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")
"""By the numbers that processor files use, which are Pillow's."""


def load(
    source: str, *, name: str = "", device: str = "cpu", **reading: Unpack[Reading]
) -> Classifier:
    """Make a subject of a model and the processor file beside it."""
    with extra("hf", "a Hugging Face model"):
        import torch
        from transformers import AutoModelForImageClassification
        from transformers.utils.hub import cached_file
    try:
        model = AutoModelForImageClassification.from_pretrained(source, use_safetensors=True)
        found = cached_file(
            source, "preprocessor_config.json", _raise_exceptions_for_missing_entries=False
        )
    except (OSError, ValueError) as error:
        raise Unloadable(f"hf:{source} cannot be loaded: {str(error).splitlines()[0]}") from error
    model = model.eval().to(device)
    config = json.loads(Path(found).read_text("utf-8")) if found else {}
    wants = _stated_by(model, config).told("user", as_stated(reading, f"hf:{source}"))
    outputs = stated_outputs(reading, _labels(model))
    state = (t.cpu().numpy().tobytes() for t in model.state_dict().values())

    def forward(x: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        with torch.inference_mode():
            return np.asarray(
                model(pixel_values=torch.from_numpy(x).to(device)).logits.cpu().numpy()
            )

    return Classifier(
        name=name or Path(source).name,
        fingerprint=digest(
            "hf", model.config.to_json_string(), *state, wants.effective, outputs.effective
        ),
        forward=forward,
        reading=wants,
        outputs=outputs,
        batch=reading.get("batch", 32),
        device=device,
    )


def _stated_by(model: Any, config: dict[str, Any]) -> Preprocessing:
    """Read what the model's and the processor's files say."""
    wants = Preprocessing().told("model", {"layout": "NCHW"})
    wants = wants.told("model", {"channels": getattr(model.config, "num_channels", None)})
    if size := _sides(config.get("size")):
        cut = _sides(config.get("crop_size")) if config.get("do_center_crop") else None
        wants = wants.told("model", {"size": cut or size})
        wants = wants.told("model", {"resize": size}) if cut else wants
    if "resample" in config:
        wants = wants.told("model", {"resample": RESAMPLING[config["resample"]]})
    if config.get("do_rescale", True) and "rescale_factor" in config:
        wants = wants.told("model", {"white": 255 * config["rescale_factor"]})
    if config.get("do_normalize") and "image_mean" in config:
        mean, std = tuple(config["image_mean"]), tuple(config["image_std"])
        wants = wants.told("model", {"mean": mean, "std": std})
    return wants


def _sides(size: Any) -> tuple[int, int] | None:
    if isinstance(size, int):
        return size, size
    if not isinstance(size, dict):
        return None
    if "shortest_edge" in size:
        return size["shortest_edge"], size["shortest_edge"]
    return size["height"], size["width"]


def _labels(model: Any) -> tuple[str, ...]:
    """Return the labels unless they are the placeholders LABEL_0, LABEL_1, …"""
    named = model.config.id2label
    labels = tuple(str(named[place]) for place in sorted(named))
    return () if all(label.startswith("LABEL_") for label in labels) else labels
