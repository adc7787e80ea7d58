"""An ONNX file, asked as it is by ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from snellen.digests import digest
from snellen.errors import Unloadable, extra
from snellen.subjects.classifier import Classifier
from snellen.subjects.outputs import stated_outputs
from snellen.subjects.positions import (
    Layer,
    Wanted,
    Watched,
    check_known,
    nowhere_to_look,
    stated_positions,
    suggested,
)
from snellen.subjects.preprocessing import Preprocessing, Reading, as_stated

if TYPE_CHECKING:
    import numpy.typing as npt

DENSE = {"MatMul", "Gemm", "QLinearMatMul", "QGemm", "MatMulNBits", "Attention"}


def load(
    source: str,
    *,
    name: str = "",
    output: str = "",
    signals: str = "",
    **reading: Unpack[Reading],
) -> Classifier:
    """Make a subject of a model file; its input says size, channels and layout.

    Exams that look inside see what its last convolution gives, or what enters the head where
    there is no late one; `signals=a+b` names other nodes or their outputs. Exporters fold
    normalisation into convolutions: the file shows the network's values after both.
    """
    with extra("onnx", "an ONNX file"):
        import onnxruntime
    path = Path(source).expanduser()
    if not path.is_file():
        raise Unloadable(f"there is no file {path}")
    try:
        session = onnxruntime.InferenceSession(
            path, _options(onnxruntime), providers=_providers(onnxruntime)
        )
    except Exception as error:
        raise Unloadable(f"{path} cannot be read as an ONNX model: {error}") from error
    (entry,) = _only_input(session, path)
    names = [o.name for o in session.get_outputs()]
    if output and output not in names:
        raise Unloadable(f"{path} has no output {output!r}; it has {', '.join(names)}")
    result = output or names[0]
    wants = _stated_by(entry).told("user", as_stated(reading, name or source))
    outputs = stated_outputs(reading)
    fixed_batch = entry.shape[0] if isinstance(entry.shape[0], int) else 0
    positions = stated_positions(signals)
    name = name or path.name
    return Classifier(
        name=name,
        fingerprint=digest(
            "onnx",
            path,
            _beside(path),
            [result],
            wants.effective,
            outputs.effective,
            *(positions or ()),
        ),
        forward=lambda x: _run(session, [result], x)[0],
        watched=_watched(path, positions, result, name),
        reading=wants,
        outputs=outputs,
        batch=fixed_batch or reading.get("batch", 32),
        device="cuda" if "CUDAExecutionProvider" in session.get_providers() else "cpu",
    )


def _run(session: Any, names: list[str], x: npt.NDArray[np.float32]) -> list[npt.NDArray[Any]]:
    """Ask for outputs by name; a model that only takes full batches gets one."""
    entry = session.get_inputs()[0]
    full = x
    if isinstance(entry.shape[0], int) and len(x) < entry.shape[0]:
        blank = np.zeros((entry.shape[0] - len(x), *x.shape[1:]), x.dtype)
        full = np.concatenate([x, blank])
    return [_first_rows(out, len(x), len(full)) for out in session.run(names, {entry.name: full})]


def _first_rows(out: Any, wanted: int, asked: int) -> npt.NDArray[Any]:
    """Return the rows of the pictures; what has no row for each is left for others to refuse."""
    rows = np.asarray(out)
    return rows[:wanted] if rows.ndim and len(rows) == asked else rows


def _watched(path: Path, wanted: Wanted, result: str, who: str) -> Watched | None:
    """Return the pass with inner outputs, by a second session that opens when it is needed.

    A model that has to show what goes on inside can be sped up less.
    """
    if wanted is None:
        return None
    with extra("onnx", "looking inside an ONNX file"):
        import onnx
    graph = onnx.load(path, load_external_data=False).graph
    if not wanted and sum(_convolves(node) or node.op_type in DENSE for node in graph.node) < 2:
        return None
    tensors = {node.name: node.output[0] for node in graph.node if node.name}
    tensors |= {out: out for node in graph.node for out in node.output if out}
    check_known(wanted, tensors, who)

    @cache
    def opened() -> tuple[Any, dict[str, str]]:
        names = wanted or (_suggested(path, who),)
        inner = {name: tensors.get(name, name) for name in names}
        return _showing(path, set(inner.values())), inner

    def look(x: npt.NDArray[np.float32]) -> tuple[npt.NDArray[Any], Mapping[str, Any]]:
        session, inner = opened()
        out, *seen = _run(session, [result, *inner.values()], x)
        return out, dict(zip(inner, seen, strict=True))

    return look


def _showing(path: Path, tensors: set[str]) -> Any:
    """Open a model whose inner tensors are outputs as well."""
    import onnx
    import onnxruntime

    model = onnx.load(path)
    known = {out.name for out in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in tensors - known)
    try:
        return onnxruntime.InferenceSession(
            model.SerializeToString(), _options(onnxruntime), providers=_providers(onnxruntime)
        )
    except Exception as error:
        raise Unloadable(
            f"{path} cannot show what goes on inside: {error}; look nowhere with signals=none"
        ) from error


def _suggested(path: Path, who: str) -> str:
    """Find where to look in the order of the nodes, which is the order of running."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    graph = onnx.shape_inference.infer_shapes(model).graph
    shapes = {v.name: _sides(v) for v in (*graph.value_info, *graph.output)}
    layers = [
        Layer(node.output[0], node.input[0], _convolves(node), _places(node, shapes))
        for node in graph.node
        if _convolves(node) or node.op_type in DENSE
    ]
    name = suggested(layers)
    if not name:
        raise nowhere_to_look(who)
    return name


def _places(node: Any, shapes: Mapping[str, list[int]]) -> int:
    """Return how many places of each picture a node's output tells apart, 2 if it is unsaid."""
    shape = shapes.get(node.output[0], [0, 0, 0, 0] if _convolves(node) else [0, 0])
    apart = shape[2:] if _convolves(node) else shape[1:-1]
    return int(np.prod([side or 2 for side in apart]))


def _sides(value: Any) -> list[int]:
    return [side.dim_value for side in value.type.tensor_type.shape.dim]


def _convolves(node: Any) -> bool:
    return "Conv" in node.op_type


def _options(onnxruntime: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "0"))
    return options


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
