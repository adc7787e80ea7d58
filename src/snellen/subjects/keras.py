"""A Keras 3 model: a file asked as it is, or a factory that is taught."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from snellen.digests import digest
from snellen.errors import BadAnswer, Unloadable, extra
from snellen.sources import load_attribute, made_by
from snellen.subjects.classifier import Classifier, Forward, Learner, batches
from snellen.subjects.outputs import stated_outputs
from snellen.subjects.preprocessing import Preprocessing, Reading, as_stated

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.core import Lesson

BATCH = 200


def load(
    source: Any,
    *,
    name: str = "",
    trained: bool = False,
    lr: float = 1e-3,
    **reading: Unpack[Reading],
) -> Classifier | Learner:
    """Make a subject of a `.keras` file, a model, or a factory given as object or place."""
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
    if frozen:
        weights = [w.tobytes() for w in example.get_weights()]
        return Classifier(
            name=name,
            fingerprint=digest("keras", *parts, *weights),
            forward=_forward(example),
            reading=wants,
            outputs=outputs,
            batch=batch,
        )
    return Learner(
        name=name,
        fingerprint=digest("keras", *parts, given, lr),
        teach=_teacher(keras, given, wants, name, lr=lr, batch=batch),
        reading=wants,
        batch=batch,
    )


def _teacher(
    keras: Any, build: Any, wants: Preprocessing, name: str, *, lr: float, batch: int
) -> Callable[[Lesson], Forward]:
    def teach(lesson: Lesson) -> Forward:
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
        return _forward(model)

    return teach


def _forward(model: Any) -> Forward:
    def forward(x: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        return np.asarray(model.predict_on_batch(x))

    return forward


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
