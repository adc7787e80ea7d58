"""A scikit-learn estimator on flattened pictures: taught, or asked as it is when fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from snellen.digests import digest
from snellen.errors import Unloadable, extra
from snellen.sources import is_factory, load_attribute, made_by
from snellen.subjects.classifier import Classifier, Forward, Learner, Model
from snellen.subjects.outputs import Outputs
from snellen.subjects.preprocessing import Preprocessing, Reading, as_stated

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.core import Lesson


def load(source: Any, *, name: str = "", **reading: Unpack[Reading]) -> Learner:
    """Make a subject of an estimator, its class or its factory, as an object or a place.

    `sklearn:sklearn.svm:SVC` is taught anew in each lesson. Pickled estimators are not
    read: a pickle runs whatever its maker wants; give the code that makes it.
    """
    with extra("sklearn", "an estimator"):
        from sklearn.base import BaseEstimator, clone
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted
    if isinstance(source, str) and source.endswith((".pkl", ".pickle", ".joblib")):
        raise Unloadable(f"{source} is a pickle, and pickles are not read; give my_model.py:build")
    thing = load_attribute(source) if isinstance(source, str) else source
    estimator = made_by(thing, {}) if is_factory(thing) else thing
    if not isinstance(estimator, BaseEstimator):
        raise Unloadable(f"{source} is a {type(estimator).__name__}, not a scikit-learn estimator")
    name = name or type(estimator).__name__
    wants = Preprocessing(layout="NHWC").told("model", {"layout": "NHWC"})
    wants = wants.told("user", as_stated(reading, name))
    batch = reading.get("batch", 1000)
    parts = ("sklearn", type(estimator), estimator.get_params(), wants.effective)

    def teach(lesson: Lesson) -> Model:
        pupil = clone(estimator)
        if "random_state" in pupil.get_params():
            pupil.set_params(random_state=lesson.seed)
        pupil.fit(_flat(wants(lesson.images)), lesson.labels)
        return Model(_forward(pupil, len(lesson.choices)))

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        taught = None
    else:
        classes = [str(c) for c in estimator.classes_]
        taught = Classifier(
            name=name,
            fingerprint=digest(*parts, vars(estimator)),
            forward=_forward(estimator, len(classes), by_place=True),
            reading=wants,
            outputs=Outputs(tuple(classes)),
            batch=batch,
        )
    return Learner(
        name=name,
        fingerprint=taught.fingerprint if taught else digest(*parts),
        teach=teach,
        reading=wants,
        batch=batch,
        taught=taught,
    )


def _forward(estimator: Any, choices: int, *, by_place: bool = False) -> Forward:
    """Score every choice, also those that the lesson held no picture of."""
    ask: Callable[[Any], Any] = (
        getattr(estimator, "predict_proba", None) or estimator.decision_function
    )
    known = np.arange(choices) if by_place else np.asarray(estimator.classes_)

    def forward(x: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        out = np.asarray(ask(_flat(x)))
        if out.ndim == 1:  # two classes: one margin
            out = np.stack([-out, out], axis=1)
        scores = np.full((len(x), choices), out.min() - 1 if out.size else 0.0)
        scores[:, known] = out
        return scores

    return forward


def _flat(x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return x.reshape(len(x), -1)
