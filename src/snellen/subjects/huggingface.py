"""A Hugging Face image classifier: a local directory, or a name that they know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Unpack

from snellen.digests import digest
from snellen.errors import Unloadable, extra
from snellen.subjects.classifier import Classifier
from snellen.subjects.outputs import stated_outputs
from snellen.subjects.positions import stated_positions
from snellen.subjects.preprocessing import Preprocessing, Reading, as_stated

RESAMPLING = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")
"""By the numbers that processor files use, which are Pillow's."""
LARGE_ENOUGH = 384
"""From this size on, `crop_pct` is not applied."""


def load(
    source: str,
    *,
    name: str = "",
    device: str = "auto",
    signals: str = "",
    **reading: Unpack[Reading],
) -> Classifier:
    """Make a subject of a model and the processor file beside it."""
    if source.startswith(("/", ".", "~")) or source.count("/") > 1:  # their names are owner/name
        folder = Path(source).expanduser()
        if not folder.is_dir():
            raise Unloadable(f"hf:{source}: there is no such folder")
        source = str(folder)
    with extra("hf", "a Hugging Face model"):
        from transformers import AutoModelForImageClassification
        from transformers.utils.hub import cached_file

        from snellen.subjects.torch import asked, usable_device
    try:
        model = AutoModelForImageClassification.from_pretrained(source, use_safetensors=True)
        found = cached_file(
            source, "preprocessor_config.json", _raise_exceptions_for_missing_entries=False
        )
    except (OSError, ValueError) as error:
        raise Unloadable(f"hf:{source} cannot be loaded: {str(error).splitlines()[0]}") from error
    on = usable_device(device)
    positions = stated_positions(signals)
    ways = asked(model, positions, on, name or Path(source).name)
    try:
        config = json.loads(Path(found).read_text("utf-8")) if found else {}
    except ValueError as error:
        raise Unloadable(f"hf:{source}: {found} is not JSON: {error}") from error
    wants = _stated_by(model, config).told("user", as_stated(reading, f"hf:{source}"))
    outputs = stated_outputs(reading, _labels(model))
    state = (t.cpu().numpy().tobytes() for t in model.state_dict().values())

    return Classifier(
        name=name or Path(source).name,
        fingerprint=digest(
            "hf",
            model.config.to_json_string(),
            *state,
            wants.effective,
            outputs.effective,
            *(positions or ()),
        ),
        forward=ways.forward,
        watched=ways.watched,
        reading=wants,
        outputs=outputs,
        batch=reading.get("batch", 32),
        device=on,
    )


def _stated_by(model: Any, config: dict[str, Any]) -> Preprocessing:
    """Read what the model's and the processor's files say."""
    wants = Preprocessing().told("model", {"layout": "NCHW"})
    wants = wants.told("model", {"channels": getattr(model.config, "num_channels", None)})
    wants = wants.told("model", _sizes(config))
    if config.get("do_flip_channel_order"):
        wants = wants.told("model", {"order": "bgr"})
    if "resample" in config:
        wants = wants.told("model", {"resample": RESAMPLING[config["resample"]]})
    if not config.get("do_rescale", True):
        wants = wants.told("model", {"white": 255.0})
    elif "rescale_factor" in config:
        wants = wants.told("model", {"white": 255 * config["rescale_factor"]})
    if config.get("do_normalize") and "image_mean" in config:
        mean, std = tuple(config["image_mean"]), tuple(config["image_std"])
        wants = wants.told("model", {"mean": mean, "std": std})
    return wants


def _sizes(config: dict[str, Any]) -> dict[str, Any]:
    """Return the size pictures are brought to, and the one they are cut out of, if any."""
    size, cut = _sides(config.get("size")), _sides(config.get("crop_size"))
    if not config.get("do_resize", True):
        size = None
    if size and (share := config.get("crop_pct")) and size[0] < LARGE_ENOUGH:
        whole = int(size[0] / share)  # ConvNeXt's processors: enlarge, then cut the middle
        return {"size": size, "resize": (whole, whole)}
    if config.get("do_center_crop") and cut:
        return {"size": cut, "resize": size}
    return {"size": size}


def _sides(size: Any) -> tuple[int, int] | None:
    """Return (height, width); of an aspect ratio that is kept, the square about the middle."""
    if isinstance(size, int):
        return size, size
    known = size if isinstance(size, dict) else {}
    if "shortest_edge" in known:
        return known["shortest_edge"], known["shortest_edge"]
    return (known["height"], known["width"]) if {"height", "width"} <= set(known) else None


def _labels(model: Any) -> tuple[str, ...]:
    """Return the labels unless they are the placeholders LABEL_0, LABEL_1, …"""
    named = model.config.id2label
    labels = tuple(str(named[place]) for place in sorted(named))
    return () if all(label.startswith("LABEL_") for label in labels) else labels
