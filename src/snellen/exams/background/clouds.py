"""How differently is a target seen before two sceneries, and how far are these from its own?

A target x and its n composites have each a semantic distance d from x (nought for x itself)
and a signal S, one number that stands for what the model made of the picture. Every ordered
pair of them makes a point of the cloud (Liao et al. 2022, Eq. 4):

    p = (d_j, d_k),   v = dif(S_j, S_k),   j ≠ k:   n(n + 1) points a target

>>> points = cloud([[0.0, 0.5]], [[0.9, 0.7]])
>>> points.x.tolist(), points.y.tolist(), points.v.round(3).tolist()
([0.0, 0.5], [0.5, 0.0], [0.2, 0.2])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from snellen.errors import BadAnswer, BadSetting

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.core import Indices
    from snellen.seeds import Seed

Floats: TypeAlias = "npt.NDArray[np.float64]"
Signals: TypeAlias = dict[str, Floats]

MOST = 0.9
"""The share of targets whose matrix is held against that of all, for the sensitivity."""


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points in the square of distances, each with a value."""

    x: Floats
    """The distance of the first of the pair."""
    y: Floats
    """The distance of the second."""
    v: Floats

    def __len__(self) -> int:
        return len(self.v)


def cloud(distances: npt.ArrayLike, signals: npt.ArrayLike, *, signed: bool = False) -> Cloud:
    """Pair every picture of a target with every other, over all targets.

    Both are (targets, n + 1): distances in [0, 1], NaN where a target has no such composite,
    and signals that are finite wherever the distance is.

    If `signed`, differences keep their sign, as "subtraction" has it in the paper. Such a cloud
    is antisymmetric and has mean nought, whatever the model, so that its matrix says little;
    hence the size of the difference is the default.
    """
    d, s = _checked(np.asarray(distances, float), np.asarray(signals, float))
    first, second = np.nonzero(~np.eye(d.shape[1], dtype=bool))
    x, y, v = d[:, first].ravel(), d[:, second].ravel(), (s[:, first] - s[:, second]).ravel()
    if not signed:
        v = np.abs(v)
    if np.isnan(d).any():
        there = ~(np.isnan(x) | np.isnan(y))
        x, y, v = x[there], y[there], v[there]
    return Cloud(x, y, v)


def modalities(maps: npt.ArrayLike) -> Signals:
    """Reduce what was read inside a model to one number a picture, in several ways.

    `maps` is (pictures, channels, places …), or (pictures, features). Of all values of a
    picture: `max`, `mean`, `std`. Where channels have places, also what is got by reducing
    each channel first, by the second word, and then the channels, by the first: `mean_max`
    (the mean over channels of their greatest), `max_mean`, `std_max`, `std_mean`, `max_std`,
    `mean_std`. Of features that have no places these would be the former again, or nought.

    >>> made = modalities([[[1.0, 3.0], [0.0, 2.0]]])
    >>> made["max"].item(), made["mean_max"].item(), made["max_mean"].item()
    (3.0, 2.5, 2.0)
    """
    values = np.asarray(maps, float)
    if values.ndim < 2 or not all(values.shape[1:]):
        raise BadAnswer(
            "signals come as (pictures, channels, places …) or (pictures, features), "
            f"not as {values.shape}; name another inner position"
        )
    _finite("signals", values)
    whole = values.reshape(len(values), -1)
    made = {name: reduce(whole) for name, reduce in _REDUCTIONS.items()}
    if values.ndim == 2:
        return made
    channels = values.reshape(*values.shape[:2], -1)
    inner = {name: reduce(channels) for name, reduce in _REDUCTIONS.items()}
    return made | {
        f"{outer}_{first}": _REDUCTIONS[outer](inner[first])
        for first in ("max", "mean", "std")
        for outer in _REDUCTIONS
        if outer != first
    }


def confidences(probabilities: npt.ArrayLike, truth: npt.ArrayLike) -> Signals:
    """Reduce the final probabilities (pictures, classes) to one number a picture.

    `max` is the paper's, which does not see a change of mind at equal confidence; `true` is
    the probability of the right class, `margin` how far that is above the best of the others,
    and `right` whether it is the greatest, as 1 or 0; of equals, the first is meant.
    """
    p, right = np.asarray(probabilities, float), np.asarray(truth, np.intp)
    if p.ndim != 2 or p.shape[1] < 2 or right.shape != p.shape[:1]:
        raise BadAnswer(
            "confidence needs (pictures, at least 2 classes) and a right class a picture, "
            f"not {p.shape} and {right.shape}"
        )
    _finite("probabilities", p)
    rows = np.arange(len(p))
    true = p[rows, right]
    others = p.copy()
    others[rows, right] = -np.inf
    return {
        "max": p.max(axis=1),
        "true": true,
        "margin": true - others.max(axis=1),
        "right": (p.argmax(axis=1) == right).astype(float),
    }


def relative(signals: npt.ArrayLike) -> Floats:
    """Measure signals (targets, n + 1) in units of their mean size on the targets themselves.

    Activations have no unit of their own: those of a network whose last layer is scaled by
    ten are ten times as large, and nothing else. Confidences need none of this.
    """
    s = np.asarray(signals, float)
    unit = float(np.mean(np.abs(s[:, 0])))
    return s / unit if unit > 0 else s


def most_targets(count: int, seed: Seed, share: float = MOST) -> Indices:
    """Draw which targets the sensitivity of a matrix is measured with, in their order."""
    if not 0 < share <= 1:
        raise BadSetting(f"a share of the targets lies above 0 and up to 1, and {share} does not")
    return np.sort(seed.shuffled(count)[: max(1, round(share * count))])


def _mean(values: Floats) -> Floats:
    return np.asarray(values.mean(axis=-1))


def _max(values: Floats) -> Floats:
    return np.asarray(values.max(axis=-1))


def _std(values: Floats) -> Floats:
    return np.asarray(values.std(axis=-1))


_REDUCTIONS = {"max": _max, "mean": _mean, "std": _std}


def _checked(d: Floats, s: Floats) -> tuple[Floats, Floats]:
    if d.ndim != 2 or d.shape != s.shape:
        raise ValueError(
            "a cloud is made of distances and signals of one shape, (targets, composites + 1), "
            f"not of {d.shape} and {s.shape}"
        )
    there = ~np.isnan(d)
    if not ((d[there] >= 0) & (d[there] <= 1)).all():
        raise ValueError(
            f"distances lie in 0..1, and these in {np.nanmin(d)}..{np.nanmax(d)}; scale them"
        )
    _finite("signals", s[there])
    return d, s


def _finite(what: str, values: npt.NDArray[Any]) -> None:
    if not np.isfinite(values).all():
        raise BadAnswer(
            f"{what} must be finite, and {int((~np.isfinite(values)).sum())} of {values.size} "
            "values are not; the model overflows on these pictures"
        )
