"""An ONNX file, asked as it is by ONNX Runtime."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from snellen.digests import digest
from snellen.errors import Unloadable, extra
from snellen.subjects.classifier import Classifier
from snellen.subjects.outputs import stated_outputs
from snellen.subjects.preprocessing import Preprocessing, Reading, as_stated

if TYPE_CHECKING:
    import numpy.typing as npt


def load(
    source: str, *, name: str = "", output: str = "", **reading: Unpack[Reading]
) -> Classifier:
    """Make a subject of a model file; its input says size, channels and layout."""
    with extra("onnx", "an ONNX file"):
        import onnxruntime
    path = Path(source).expanduser()
    if not path.is_file():
        raise Unloadable(f"there is no file {path}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "0"))
    try:
        session = onnxruntime.InferenceSession(path, options, providers=_providers(onnxruntime))
    except Exception as error:
        raise Unloadable(f"{path} cannot be read as an ONNX model: {error}") from error
    (entry,) = _only_input(session, path)
    names = [o.name for o in session.get_outputs()]
    if output and output not in names:
        raise Unloadable(f"{path} has no output {output!r}; it has {', '.join(names)}")
    wanted = [output or names[0]]
    wants = _stated_by(entry).told("user", as_stated(reading, name or source))
    outputs = stated_outputs(reading)
    fixed_batch = entry.shape[0] if isinstance(entry.shape[0], int) else 0

    def forward(x: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        if fixed_batch and len(x) < fixed_batch:  # a model that only takes full batches
            x = np.concatenate([x, np.zeros((fixed_batch - len(x), *x.shape[1:]), x.dtype)])
        return np.asarray(session.run(wanted, {entry.name: x})[0])

    def unpadded(x: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        return forward(x)[: len(x)]

    return Classifier(
        name=name or path.name,
        fingerprint=digest("onnx", path, _beside(path), wanted, wants.effective, outputs.effective),
        forward=unpadded,
        reading=wants,
        outputs=outputs,
        batch=fixed_batch or reading.get("batch", 32),
        device="cuda" if "CUDAExecutionProvider" in session.get_providers() else "cpu",
    )


def _beside(path: Path) -> list[Path]:
    """Return the files that hold the model's tensors: those in its folder that it names."""
    named = path.read_bytes()
    others = (p for p in sorted(path.parent.iterdir()) if p.is_file() and p != path)
    return [other for other in others if other.name.encode() in named]


def _only_input(session: Any, path: Path) -> list[Any]:
    inputs = session.get_inputs()
    if len(inputs) != 1 or len(inputs[0].shape) != 4:
        found = ", ".join(f"{i.name} {i.shape}" for i in inputs)
        raise Unloadable(f"{path} should take one batch of pictures, 4 axes; it takes {found}")
    if "float" not in inputs[0].type:
        raise Unloadable(
            f"{path} takes {inputs[0].type}; give a model with a float32 input, or wrap this one "
            "in a function: my_model.py:scores"
        )
    return list(inputs)


def _stated_by(entry: Any) -> Preprocessing:
    """Read layout, channels and size off the shape of the input."""
    shape = [side if isinstance(side, int) else None for side in entry.shape]
    wants = Preprocessing()
    if shape[3] in (1, 3) and shape[1] not in (1, 3):
        wants = wants.told("model", {"layout": "NHWC", "channels": shape[3]})
        height, width = shape[1:3]
    else:
        wants = wants.told("model", {"layout": "NCHW", "channels": shape[1]} if shape[1] else {})
        height, width = shape[2:]
    return wants.told("model", {"size": (height, width)}) if height and width else wants


def _providers(onnxruntime: Any) -> list[str]:
    here = onnxruntime.get_available_providers()
    return [p for p in ("CUDAExecutionProvider", "CPUExecutionProvider") if p in here]
