"""Is this model invariant, by the look of its variance matrices?

An assessor is a forest trained on the features of models that people have judged (Liao et al.
2022, section 5). It is kept as plain arrays in one .npz: no pickle, which runs whatever is in
it, and no scikit-learn, whose versions do not read each other's. scikit-learn is needed to
train one, never to use one.

`evaluate` asks whether the effort pays: whether forests and boosted stumps tell held-out
models apart better than the plain share of targets that are right before every scenery.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.errors import BadSetting, Unable, Unloadable, extra
from snellen.exams.background.agreement import cohen
from snellen.seeds import Seed
from snellen.stats import Mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from snellen.core import Indices
    from snellen.exams.background.clouds import Floats
    from snellen.stats import Interval

LEVELS = ("not invariant", "borderline", "invariant")
LAYOUT = 1
"""Raised when files of an older kind can no longer be read as they are."""
LEAF = -1
ARRAYS: dict[str, Any] = {
    **dict.fromkeys(("starts", "feature", "left", "right"), np.intp),
    **dict.fromkeys(("threshold", "chances", "importance"), np.float64),
}


@dataclass(frozen=True, eq=False)
class Assessor:
    """A forest of decision trees, whose nodes lie one after another in columns."""

    names: tuple[str, ...]
    """Of the features, in the order of their columns."""
    starts: Indices
    """Where each tree begins: the place of its root."""
    feature: Indices
    """Which column a node looks at; `LEAF` where it is a leaf."""
    threshold: Floats
    left: Indices
    """Where to go when the feature is at most the threshold."""
    right: Indices
    chances: Floats
    """(nodes, 3): the probability of each level, at the leaves."""
    importance: Floats
    """How much each feature lessened impurity in training; they add up to 1."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """What it was trained on, for its model card: anything that JSON can hold."""

    @property
    def importances(self) -> dict[str, float]:
        """The importance of each feature, the greatest first."""
        order = np.argsort(-self.importance, kind="stable")
        return {self.names[i]: float(self.importance[i]) for i in order}

    def probabilities(self, features: Mapping[str, float]) -> Floats:
        """Return (3,): how probable each of `LEVELS` is for a model with these features."""
        missing = [name for name in self.names if name not in features]
        unknown = [name for name in features if name not in self.names]
        if missing or unknown:
            found = ", ".join(_few("missing", missing) + _few("unknown", unknown))
            raise Unable(
                f"this assessor was trained on {len(self.names)} features and cannot judge by "
                f"others: {found}; measure at the positions it knows, or train one on these"
            )
        (found,) = self.table([[features[name] for name in self.names]])
        return np.asarray(found)

    def level(self, features: Mapping[str, float]) -> str:
        """Return the most probable level in words."""
        return LEVELS[int(self.probabilities(features).argmax())]

    def table(self, rows: npt.ArrayLike) -> Floats:
        """Return (models, 3) probabilities of (models, features), in the order of `names`.

        The mean over the trees, added up in their order, of features in single precision:
        digit for digit what scikit-learn's forest says.
        """
        seen = _numbers(rows, len(self.names)).astype(np.float32)
        total = np.zeros((len(seen), len(LEVELS)))
        for start in self.starts:
            total += self.chances[self._leaves(seen, int(start))]
        return total / len(self.starts)

    def save(self, path: Path) -> None:
        """Write one .npz: the same assessor, the same bytes."""
        said = {"layout": LAYOUT, "levels": LEVELS, "meta": dict(self.meta)}
        arrays = {name: getattr(self, name) for name in ARRAYS}
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                names=np.array(self.names),
                said=np.array(json.dumps(said, sort_keys=True)),
                **arrays,
            )

    @classmethod
    def load(cls, path: Path) -> Assessor:
        """Read what `save` wrote; runs nothing that is in it."""
        try:
            with np.load(path, allow_pickle=False) as file:
                said = json.loads(str(file["said"]))
                names = tuple(map(str, file["names"]))
                columns = {name: file[name].astype(kind) for name, kind in ARRAYS.items()}
                made = cls(names, **columns, meta=dict(said["meta"]))
                layout = said["layout"]
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise Unloadable(
                f"{path} is not an assessor: {error}; make one with Assessor.save"
            ) from error
        if layout != LAYOUT:
            raise Unloadable(f"{path} has layout {layout}, and this version reads {LAYOUT}")
        made._check(path)
        return made

    def _leaves(self, seen: npt.NDArray[np.float32], start: int) -> Indices:
        """Follow every row from the root of a tree to its leaf."""
        at = np.full(len(seen), start, np.intp)
        rows = np.arange(len(seen))
        while len(inner := rows[self.feature[at] != LEAF]):
            node = at[inner]
            low = seen[inner, self.feature[node]] <= self.threshold[node]
            at[inner] = np.where(low, self.left[node], self.right[node])
        return at

    def _check(self, path: Path) -> None:
        """Refuse columns that would lead nowhere, or round in circles."""
        size, inner = self.feature.size, self.feature != LEAF
        places = np.flatnonzero(inner)
        sound = (
            self.importance.shape == (len(self.names),)
            and self.feature.ndim == self.starts.ndim == 1
            and all(c.shape == (size,) for c in (self.threshold, self.left, self.right))
            and self.chances.shape == (size, len(LEVELS))
            and bool(np.isfinite(self.chances).all() and np.isfinite(self.threshold).all())
            and len(self.starts) > 0
            and bool(((self.starts >= 0) & (self.starts < size)).all())
            and bool(((self.feature >= LEAF) & (self.feature < len(self.names))).all())
            and all(
                bool(((child[inner] > places) & (child[inner] < size)).all())
                for child in (self.left, self.right)
            )
        )
        if not sound:
            raise Unloadable(f"{path} holds trees that do not hang together; get it anew")


def train(
    rows: npt.ArrayLike,
    levels: npt.ArrayLike,
    names: Sequence[str],
    *,
    seed: int = 0,
    trees: int = 100,
    meta: Mapping[str, Any] | None = None,
) -> Assessor:
    """Grow a forest on (models, features) and their levels 0, 1, 2; untuned, as in the paper."""
    x, y = _training(rows, levels, len(names))
    if len(set(names)) < len(names):
        raise BadSetting(f"features go by their names, and some of {list(names)[:5]} … are equal")
    forest = _forest(seed, trees).fit(x, y)
    return exported(forest, names, meta)


def exported(forest: Any, names: Sequence[str], meta: Mapping[str, Any] | None = None) -> Assessor:
    """Take a fitted RandomForestClassifier of scikit-learn apart into plain arrays."""
    trees = [estimator.tree_ for estimator in forest.estimators_]
    sizes = [tree.node_count for tree in trees]
    starts = np.cumsum([0, *sizes[:-1]]).astype(np.intp)
    leaf = np.concatenate([tree.children_left for tree in trees]) == LEAF
    shift = np.repeat(starts, sizes)
    chances = np.zeros((sum(sizes), len(LEVELS)))
    chances[:, forest.classes_.astype(int)] = np.concatenate([tree.value[:, 0] for tree in trees])
    columns = {
        side: np.where(leaf, LEAF, np.concatenate([getattr(t, side) for t in trees]) + shift)
        for side in ("children_left", "children_right")
    }
    return Assessor(
        tuple(names),
        starts,
        np.where(leaf, LEAF, np.concatenate([t.feature for t in trees])).astype(np.intp),
        np.where(leaf, 0.0, np.concatenate([t.threshold for t in trees])),
        columns["children_left"].astype(np.intp),
        columns["children_right"].astype(np.intp),
        chances,
        np.asarray(forest.feature_importances_, float),
        dict(meta or {}),
    )


def worst_case(right: npt.ArrayLike) -> float:
    """Return the share of targets that are right before every one of their sceneries.

    >>> worst_case([[True, True], [True, False]])
    0.5
    """
    told = np.asarray(right, bool)
    if told.ndim != 2 or not told.size:
        raise ValueError(f"answers come as (targets, sceneries), not as {told.shape}")
    return float(told.all(axis=1).mean())


@dataclass(frozen=True)
class CutPoints:
    """Two numbers that part worst-case accuracies into three levels."""

    low: float
    """Where borderline begins."""
    high: float
    """Where invariant begins."""

    def levels(self, values: npt.ArrayLike) -> Indices:
        """Return the level of each value."""
        return np.searchsorted([self.low, self.high], np.asarray(values, float), side="right")


def fit_cut_points(values: npt.ArrayLike, levels: npt.ArrayLike) -> CutPoints:
    """Return the cuts that put most values on their level; of equals, the lowest.

    Cuts lie in the middle between neighbouring values, or beyond all of them.
    """
    v, y = np.asarray(values, float), np.asarray(levels, np.intp)
    found = np.unique(v)
    cuts = np.concatenate([[-np.inf], (found[:-1] + found[1:]) / 2, [np.inf]])
    below = np.sum((v < cuts[:, None])[..., None] & (y[:, None] == np.arange(3)), axis=1)
    # right = zeros below the low cut + ones between the cuts + twos from the high cut on
    at_low = below[:, 0] - below[:, 1]
    at_high = below[:, 1] - below[:, 2]
    right = np.triu(at_low[:, None] + at_high + np.sum(y == 2))
    low, high = np.unravel_index(right.argmax(), right.shape)
    return CutPoints(float(cuts[low]), float(cuts[high]))


@dataclass(frozen=True)
class Outcome:
    """How one way of judging did on the held-out models of each split."""

    accuracies: tuple[float, ...]
    kappas: tuple[float, ...]
    """Cohen's, with the true levels; NaN where all that was held out is of one level."""
    accuracy: Interval
    kappa: Interval


@dataclass(frozen=True)
class Evaluation:
    """What ten splits say of forest, AdaBoost and worst-case accuracy."""

    outcomes: Mapping[str, Outcome]
    beyond_worst_case: Mapping[str, tuple[Interval, Interval]]
    """By how much accuracy and kappa exceed those of worst-case accuracy, split by split."""

    def cells(self) -> list[dict[str, Any]]:
        """Return rows for a table."""
        nothing = (None, None)
        return [
            {
                "assessor": name,
                "accuracy": outcome.accuracy,
                "kappa": outcome.kappa,
                "accuracy over worst-case": gain[0] or "–",
                "kappa over worst-case": gain[1] or "–",
            }
            for name, outcome in self.outcomes.items()
            for gain in (self.beyond_worst_case.get(name, nothing),)
        ]


FOREST, ADABOOST, WORST = "random forest", "AdaBoost", "worst-case accuracy"


def evaluate(
    rows: npt.ArrayLike,
    levels: npt.ArrayLike,
    worst: npt.ArrayLike,
    *,
    splits: int = 10,
    seed: int = 0,
) -> Evaluation:
    """Judge a third of the models by what was learnt of the others, `splits` times at random.

    `rows` are (models, features), `levels` what people said of each model (0, 1 or 2), `worst`
    their worst-case accuracies, whose cut-points are fitted to the two thirds.

    Splits share models, so the spread between them understates the uncertainty: intervals are
    by the corrected resampled t (Nadeau & Bengio 2003).
    """
    x, y = _training(rows, levels)
    w = _numbers(np.reshape(worst, (-1, 1)), 1)[:, 0]
    if len(y) < 6 or len(w) != len(y) or splits < 2:
        raise BadSetting(
            "an evaluation needs at least 6 models with a worst-case accuracy each, and 2 splits; "
            f"there are {len(y)} models, {len(w)} accuracies and {splits} splits"
        )
    held = round(len(y) / 3)
    scores: dict[str, list[tuple[float, float]]] = {FOREST: [], ADABOOST: [], WORST: []}
    for split in range(splits):
        order = Seed("assessor split", seed, split).shuffled(len(y))
        test, known = order[:held], order[held:]
        number = Seed("assessor", seed, split).number()
        said = {
            FOREST: _forest(number).fit(x[known], y[known]).predict(x[test]),
            ADABOOST: _boosted(number).fit(x[known], y[known]).predict(x[test]),
            WORST: fit_cut_points(w[known], y[known]).levels(w[test]),
        }
        for name, guess in said.items():
            kappa = float(cohen(np.stack([guess, y[test]], axis=1)))
            scores[name].append((float(np.mean(guess == y[test])), kappa))
    ratio = held / (len(y) - held)
    made = {name: np.array(pairs) for name, pairs in scores.items()}
    return Evaluation(
        {name: _outcome(pairs, ratio) for name, pairs in made.items()},
        {
            name: (
                _resampled(made[name][:, 0] - made[WORST][:, 0], ratio, (-1, 1)),
                _resampled(made[name][:, 1] - made[WORST][:, 1], ratio, (-2, 2)),
            )
            for name in (FOREST, ADABOOST)
        },
    )


def _outcome(pairs: Floats, ratio: float) -> Outcome:
    accuracies, kappas = pairs.T
    return Outcome(
        tuple(accuracies.tolist()),
        tuple(kappas.tolist()),
        _resampled(accuracies, ratio, (0, 1)),
        _resampled(kappas, ratio, (-1, 1)),
    )


def _resampled(values: Floats, ratio: float, within: tuple[float, float]) -> Interval:
    """Return the mean over splits; `ratio` is of held-out models to known ones."""
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return Mean(float("nan"), float("nan"), 1).interval()
    error = float(np.sqrt((1 / len(known) + ratio) * known.var(ddof=1)))
    return Mean(float(known.mean()), error, len(known) - 1).interval(within=within)


def _forest(seed: int, trees: int = 100) -> Any:
    with extra("sklearn", "training an assessor"):
        from sklearn.ensemble import RandomForestClassifier
    return RandomForestClassifier(n_estimators=trees, random_state=seed)


def _boosted(seed: int) -> Any:
    with extra("sklearn", "training an assessor"):
        from sklearn.ensemble import AdaBoostClassifier
    return AdaBoostClassifier(random_state=seed)


def _training(
    rows: npt.ArrayLike, levels: npt.ArrayLike, columns: int | None = None
) -> tuple[Floats, Indices]:
    x, y = _numbers(rows, columns), np.asarray(levels)
    if y.shape != (len(x),) or not np.isin(y, np.arange(len(LEVELS))).all():
        raise BadSetting(
            f"an assessor learns from a level 0, 1 or 2 for each of {len(x)} models; found "
            f"{y.shape} levels: {np.unique(y)[:5].tolist()}"
        )
    return x, y.astype(np.intp)


def _numbers(rows: npt.ArrayLike, columns: int | None) -> Floats:
    x = np.asarray(rows, float)
    if x.ndim != 2 or (columns is not None and x.shape[1] != columns):
        raise BadSetting(
            f"features come as (models, {columns or 'features'}), a column a name, not as {x.shape}"
        )
    if not np.isfinite(x).all():
        raise BadSetting(
            f"features must be finite; rows {np.argwhere(~np.isfinite(x))[:3, 0]} are not"
        )
    return x


def _few(what: str, names: Sequence[str]) -> list[str]:
    """Name the first of some names, in at most one phrase."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return [f"{what} {', '.join(map(repr, names[:3]))}{more}"] if names else []
