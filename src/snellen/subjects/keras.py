"""A Keras 3 model: a file asked as it is, or a factory that is taught."""

from __future__ import annotations

import importlib.util
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from snellen.digests import digest
from snellen.errors import BadAnswer, Unloadable, extra
from snellen.sources import load_attribute, made_by
from snellen.subjects.classifier import Classifier, Learner, Model, batches
from snellen.subjects.outputs import stated_outputs
from snellen.subjects.positions import (
    ENTRY,
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

    from snellen.core import Lesson

BATCH = 200
DENSE = {"Dense", "EinsumDense", "MultiHeadAttention"}


def load(
    source: Any,
    *,
    name: str = "",
    trained: bool = False,
    lr: float = 1e-3,
    signals: str = "",
    **reading: Unpack[Reading],
) -> Classifier | Learner:
    """Make a subject of a `.keras` file, a model, or a factory given as object or place.

    Exams that look inside see the last convolution, or what enters the head where there is
    no late one; `signals=mixed7+mixed9` names other layers.
    """
    keras = _import_keras()
    given = source
    if isinstance(source, str):
        name = name or source.rpartition("/")[2]
        given = (
            _from_file(keras, Path(source)) if source.endswith(".keras") else load_attribute(source)
        )
        trained = trained or source.endswith(".keras")
    frozen = trained or isinstance(given, keras.Model)
    name = name or str(getattr(given, "__name__", type(given).__name__))
    example = given if isinstance(given, keras.Model) else _build(keras, given, {}, name)
    wants = _stated_by(example, taught=not frozen).told("user", as_stated(reading, name))
    outputs = stated_outputs(reading)
    batch = reading.get("batch", BATCH)
    parts = (_layers(example), wants.effective, outputs.effective, batch)
    positions = stated_positions(signals)
    named = positions or ()
    if frozen:
        model = _asked(keras, example, positions, name)
        weights = [w.tobytes() for w in example.get_weights()]
        return Classifier(
            name=name,
            fingerprint=digest("keras", *parts, *weights, *named),
            forward=model.forward,
            watched=model.watched,
            reading=wants,
            outputs=outputs,
            batch=batch,
        )
    return Learner(
        name=name,
        fingerprint=digest("keras", *parts, given, lr, *named),
        teach=_teacher(keras, given, wants, name, positions, lr=lr, batch=batch),
        watchable=_watched(keras, example, positions, name) is not None,
        reading=wants,
        batch=batch,
    )


def _teacher(
    keras: Any,
    build: Any,
    wants: Preprocessing,
    name: str,
    positions: Wanted,
    *,
    lr: float,
    batch: int,
) -> Callable[[Lesson], Model]:
    def teach(lesson: Lesson) -> Model:
        keras.utils.set_random_seed(lesson.seed)
        x = wants(lesson.images)
        shape = {"classes": len(lesson.choices), "channels": x.shape[3], "size": x.shape[1]}
        model = _build(keras, build, shape, name)
        if model.output_shape[-1] != len(lesson.choices):
            raise BadAnswer(
                f"subject {name!r} has {model.output_shape[-1]} outputs, and the lesson has "
                f"{len(lesson.choices)} choices; let its factory take a parameter `classes`"
            )
        model.compile(
            optimizer=keras.optimizers.Adam(lr),
            loss=keras.losses.SparseCategoricalCrossentropy(
                from_logits=not _ends_in_softmax(model)
            ),
        )
        for rows in batches(len(x), lesson, batch):
            model.train_on_batch(x[rows], lesson.labels[rows])
        return _asked(keras, model, positions, name)

    return teach


def _asked(keras: Any, model: Any, positions: Wanted, name: str) -> Model:
    """Return the ways of running a model: for its scores, and with an eye on positions."""

    def forward(x: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        return np.asarray(model.predict_on_batch(x))

    return Model(forward, _watched(keras, model, positions, name))


def _watched(keras: Any, model: Any, wanted: Wanted, who: str) -> Watched | None:
    """Return the pass with the outputs of inner layers, by a model on the same layers."""
    if wanted is None:
        return None
    layers = _named_layers(model)
    check_known([name.removesuffix(ENTRY) for name in wanted], layers, who)
    if not wanted and sum(_convolves(x) or _is_dense(x) for x in layers.values()) < 2:
        return None

    @cache
    def opened() -> tuple[Any, tuple[str, ...]]:
        nodes = _nodes(model, layers)
        names = wanted or (_suggested(layers, nodes, who),)
        inner = [_tensor(nodes, name) for name in names]
        return keras.Model(model.inputs[0], [model.outputs[0], *inner]), names

    def look(x: npt.NDArray[np.float32]) -> tuple[npt.NDArray[Any], Mapping[str, Any]]:
        showing, names = opened()
        out, *seen = (np.asarray(values) for values in showing.predict_on_batch(x))
        return out, {n: _channels_first(keras, s) for n, s in zip(names, seen, strict=True)}

    return look


def _named_layers(model: Any) -> dict[str, Any]:
    """Return the layers of a graph by name, without the count that Keras keeps of all it made."""
    named: dict[str, Any] = {}
    kinds: Counter[str] = Counter()
    for layer in model.layers if hasattr(model, "outputs") else ():
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])", "_", type(layer).__name__)
        kind = kind.lower()
        name = layer.name
        if re.fullmatch(rf"{kind}(_\d+)?", name):
            name = f"{kind}_{kinds[kind]}" if kinds[kind] else kind
            kinds[kind] += 1
        named[name] = layer
    return named


def _nodes(model: Any, layers: Mapping[str, Any]) -> dict[str, Any]:
    """Return where each layer stands in the graph: it may stand in the graphs of others too."""
    graph = getattr(model, "_functional", None) or model  # a Sequential holds its graph
    depths = graph._nodes_by_depth.values()  # noqa: SLF001
    standing = {id(node.operation): node for depth in depths for node in depth}
    return {name: standing[id(layer)] for name, layer in layers.items() if id(layer) in standing}


def _tensor(nodes: Mapping[str, Any], name: str) -> Any:
    """Return what a layer gives, or what enters it."""
    if name in nodes:
        return nodes[name].output_tensors[0]
    return nodes[name.removesuffix(ENTRY)].input_tensors[0]


def _suggested(layers: Mapping[str, Any], nodes: Mapping[str, Any], who: str) -> str:
    """Find where to look in the order of the layers, which is the order of running."""
    passed = []
    for name, layer in layers.items():
        if _convolves(layer) or _is_dense(layer):
            shape = _tensor(nodes, name).shape
            places = int(np.prod([side or 2 for side in shape[1:-1]]))
            passed.append(Layer(name, name + ENTRY, _convolves(layer), places))
    name = suggested(passed)
    if not name:
        raise nowhere_to_look(who)
    return name


def _convolves(layer: Any) -> bool:
    """Tell a convolution, or a model within the model that holds one."""
    inner = getattr(layer, "layers", ())
    if inner:
        return any(_convolves(part) for part in inner)
    return any("Conv" in kind.__name__ for kind in type(layer).__mro__)


def _is_dense(layer: Any) -> bool:
    return type(layer).__name__ in DENSE


def _channels_first(keras: Any, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    last = values.ndim == 4 and keras.config.image_data_format() == "channels_last"
    return values.transpose(0, 3, 1, 2) if last else values


def _build(keras: Any, given: Any, shape: dict[str, int], name: str) -> Any:
    made = made_by(given, shape)
    if not isinstance(made, keras.Model):
        raise Unloadable(
            f"{name} should return a keras.Model, and it returns a {type(made).__name__}"
        )
    return made


def _stated_by(model: Any, *, taught: bool) -> Preprocessing:
    """Read size, channels and layout off the input; a taught factory may be asked for others."""
    wants = Preprocessing(layout="NHWC").told("model", {"layout": "NHWC"})
    shape = model.input_shape
    if taught or not isinstance(shape, tuple) or len(shape) != 4:
        return wants
    _, height, width, channels = shape
    if height and width:
        wants = wants.told("model", {"size": (height, width)})
    return wants.told("model", {"channels": channels})


def _layers(model: Any) -> str:
    """Describe the layers without the numbers Keras gives them in the order of their making."""
    return re.sub(r'_\d+(?=")', "", model.to_json())


def _ends_in_softmax(model: Any) -> bool:
    activation = getattr(model.layers[-1], "activation", None)
    return (
        getattr(activation, "__name__", "") == "softmax"
        or type(model.layers[-1]).__name__ == "Softmax"
    )


def _from_file(keras: Any, path: Path) -> Any:
    if not path.is_file():
        raise Unloadable(f"there is no file {path}")
    try:
        return keras.saving.load_model(path, compile=False)  # its safe mode refuses code
    except Exception as error:
        raise Unloadable(f"{path} cannot be read as a Keras model: {error}") from error


def _import_keras() -> Any:
    if "KERAS_BACKEND" not in os.environ and importlib.util.find_spec("torch"):
        os.environ["KERAS_BACKEND"] = "torch"
    with extra("keras", "a Keras model"):
        import keras
    return keras
