"""`snellen background-assessor`: how does a repository of models become an assessor of others?

Each model of some runs gives a row of features. Its level is the majority of what people said of
its matrices or, for painted worlds, of what three simulated coders say who see its gap through
noise. Ten times two thirds teach what the others are judged by; then all teach the assessor that
is kept, with a card that says what it has seen.
"""

from __future__ import annotations

import json
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from snellen.errors import BadSetting, LogError, Unable, Unloadable
from snellen.exams.background import agreement
from snellen.exams.background.annotations import ASK, ratings, read
from snellen.exams.background.assessor import LEVELS, Evaluation, evaluate, train
from snellen.exams.background.card import card, counted, outcomes
from snellen.exams.background.coders import (
    CODERS,
    Gaps,
    expected_kappa,
    expected_majority,
    noise_for,
    simulated,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from snellen.core import Desk, Indices
    from snellen.exams.background.assessor import Assessor
    from snellen.exams.background.clouds import Floats
    from snellen.exams.background.models import Model

WARNING = (
    "It has seen painted worlds only: small networks, taught on painted objects before painted "
    "scenery. Of photographs and large networks it says what it would say of a painted model "
    "with such matrices; whether people would agree has not been measured."
)
PAINTED, PHOTOGRAPHED = "in a painted world", "on photographs, at least in part"
CUTS = (0.1, 0.3)
KAPPA = 0.63
"""About that of the paper's three coders: Fleiss' .628 (Liao et al. 2022, Table 1)."""
FEWEST = 6
"""Models that an assessor is trained on: what an evaluation needs."""


@dataclass(frozen=True, eq=False)
class Table:
    """Models and what is known of each: enough to train and to evaluate, again and elsewhere."""

    names: tuple[str, ...]
    """Of the features."""
    rows: Floats
    """(models, features)."""
    ratings: Indices
    """(models, coders): what each coder said."""
    levels: Indices
    """The majority of that."""
    worst: Floats
    """The share of targets that a model gets right before all their scenes."""
    models: tuple[str, ...]
    said: Mapping[str, Any]
    """What the models were and how their levels were made, for the card."""

    def save(self, path: Path) -> None:
        """Write one .npz: the same table, the same bytes."""
        with _writing(path), path.open("wb") as file:
            np.savez_compressed(
                file,
                names=np.array(self.names),
                rows=self.rows,
                ratings=self.ratings,
                levels=self.levels,
                worst=self.worst,
                models=np.array(self.models),
                said=np.array(json.dumps(self.said, sort_keys=True)),
            )

    @classmethod
    def load(cls, path: Path) -> Table:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as file:
                return cls(
                    tuple(map(str, file["names"])),
                    file["rows"],
                    file["ratings"],
                    file["levels"],
                    file["worst"],
                    tuple(map(str, file["models"])),
                    json.loads(str(file["said"])),
                )
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise Unloadable(
                f"{path} is no table of models: {error}; make one with: snellen "
                "background-assessor RUN --table FILE.npz"
            ) from error


@dataclass(frozen=True)
class Rated:
    """What coders said of some models, and how they came to say it."""

    models: Sequence[Model]
    ratings: Indices
    said: Mapping[str, Any]


def rated_by_people(found: Sequence[Model], places: Sequence[Path]) -> Rated:
    """Keep the models that every coder has rated."""
    said = [one for place in places for one in read(place)]
    by_key = {model.key: model for model in found}
    coders, keys, table = ratings(said, list(by_key))
    if len(coders) < 3:
        raise BadSetting(
            f"a majority is of three coders or more, and {', '.join(map(str, places))} has "
            f"{', '.join(coders) or 'none'}; ask more of them with: {ASK}"
        )
    if not keys:
        raise Unable(
            f"no model of these runs was rated by all of {', '.join(coders)}; "
            f"go on where they stopped with: {ASK}"
        )
    return Rated(
        [by_key[key] for key in keys],
        table,
        {
            "by": f"the majority of {len(coders)} people who looked at the variance matrices",
            "models that not all of them rated": len(found) - len(keys),
        },
    )


def rated_by_gap(found: Sequence[Model], cuts: Gaps, kappa: float) -> Rated:
    """Have simulated coders look at the measured gaps."""
    pairs = [(model, model.gap) for model in found]
    gaps = [gap for _, gap in pairs if gap is not None]
    if len(gaps) < len(pairs):
        without = next(model.name for model, gap in pairs if gap is None)
        raise BadSetting(
            f"{without} was examined on photographs, which tell no gap between own sceneries and "
            f"others; have people look at it ({ASK}) and give their answers as --levels"
        )
    if len(set(cuts.levels(gaps).tolist())) < 2:
        raise BadSetting(
            f"all gaps, {min(gaps):.2f} to {max(gaps):.2f}, are on one side of the cuts "
            f"{cuts.borderline:g} and {cuts.leaning:g}; choose others with --cuts"
        )
    noise = noise_for(kappa, gaps, cuts)
    chances = cuts.chances(gaps, noise)
    said = {
        "by": (
            f"the majority of {CODERS} simulated coders, who see the measured gap (share right "
            "before own sceneries less share right before others) with Gaussian noise"
        ),
        "cuts": [cuts.borderline, cuts.leaning],
        "noise": round(noise, 5),
        "expected kappa": round(expected_kappa(chances), 4),
        "expected weighted kappa": round(expected_kappa(chances, "linear"), 4),
        "majority expected on the level of the gap": round(
            expected_majority(chances, cuts.levels(gaps)), 4
        ),
    }
    keys = [model.key for model in found]
    return Rated(found, simulated(gaps, keys, cuts, noise), said)


def tabled(rated: Rated, left_out: Mapping[str, str]) -> Table:
    """Measure the features of all models that were rated."""
    levels = agreement.majority(rated.ratings)
    with click.progressbar(rated.models, label="features") as bar:
        features = [model.features for model in bar]
    names = tuple(features[0])
    return Table(
        names,
        np.array([[row[name] for name in names] for row in features]),
        rated.ratings,
        levels,
        np.array([model.worst for model in rated.models]),
        tuple(model.name for model in rated.models),
        {
            "models": _about(rated.models),
            "left out": dict(left_out),
            "levels": {
                **rated.said,
                "counts": {name: int(np.sum(levels == i)) for i, name in enumerate(LEVELS)},
            },
        },
    )


def evaluated(table: Table) -> Evaluation:
    """Judge a third of the models by the others, ten times; refuse a table too small for it."""
    if len(table.levels) < FEWEST or len(set(table.levels.tolist())) < 2:
        raise BadSetting(
            f"an assessor needs at least {FEWEST} models on at least two levels, and there are "
            f"{counted(table.said['levels'])}; examine more models, or other ones"
        )
    return evaluate(table.rows, table.levels, table.worst)


def trained(table: Table, evaluation: Evaluation) -> Assessor:
    """Train on all models, and say on the card what came of it."""
    meta = {
        "what": "a random forest on features of variance matrices: does scenery change its mind?",
        **table.said,
        "kappas": kappas(table.ratings),
        "evaluation": outcomes(evaluation),
        "versions": {name: version(name) for name in ("snellen", "numpy", "scikit-learn")},
        "warning": WARNING if table.said["models"]["world"] == PAINTED else "",
    }
    return train(table.rows, table.levels, table.names, meta=meta)


def kappas(rated: Indices) -> dict[str, list[float]]:
    """Return how well coders agree, each as value, low and high: by pairs, and all together."""
    made = {
        f"coders {a + 1} and {b + 1}{' (weighted)' if weights != 'none' else ''}": list(found)
        for weights in ("none", "linear")
        for (a, b), found in agreement.pairwise(rated, weights=weights).items()
    }
    made["all (Fleiss)"] = list(agreement.with_interval(agreement.fleiss, rated))
    return {name: [round(x, 4) for x in values] for name, values in made.items()}


@click.command("background-assessor")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN ...]",
                type=click.Path(path_type=Path, file_okay=False))  # fmt: skip
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path, dir_okay=False),
              help="The assessor to write, an .npz for: --set assessor=FILE.")  # fmt: skip
@click.option(
    "--levels", "places", multiple=True, type=click.Path(path_type=Path),
    help="What people said: a CSV, or a folder of one for each coder, as background-annotate "
    "writes them; three coders or more. Repeatable. Without: levels by the measured gap.",
)  # fmt: skip
@click.option(
    "--cuts", nargs=2, type=float, default=CUTS, show_default=True, metavar="LOW HIGH",
    help="Painted worlds: a model whose gap between own sceneries and others is below LOW is "
    "invariant, and from HIGH on it is not; the default is 10 and 30 points of accuracy.",
)  # fmt: skip
@click.option(
    "--kappa", type=click.FloatRange(0, 1, min_open=True), default=KAPPA, show_default=True,
    help="How well simulated coders are to agree (1: perfectly); the default is what the "
    "paper's three people did.",
)  # fmt: skip
@click.option("--table", "kept", type=click.Path(path_type=Path, dir_okay=False),
              help="Also write rows, levels and names, to evaluate them again.")  # fmt: skip
@click.pass_obj
def background_assessor(
    desk: Desk,
    runs: tuple[Path, ...],
    out: Path,
    places: tuple[Path, ...],
    cuts: tuple[float, float],
    kappa: float,
    kept: Path | None,
) -> None:
    """Train an assessor of background invariance on the models of runs, and print its card."""
    from snellen.exams.background.models import judgeable, models

    found, left_out = judgeable(models([record for run in runs for record in desk.read(run)]))
    by_gap = Gaps(*cuts)
    rated = rated_by_people(found, places) if places else rated_by_gap(found, by_gap, kappa)
    table = tabled(rated, left_out)
    if kept:
        table.save(kept)
    made = trained(table, evaluated(table))
    with _writing(out):
        made.save(out)
    click.echo(card(made.meta))
    if kept:
        click.echo(f"table: {kept}")
    click.echo(f"assessor: {out}  (use it with: snellen run background --set assessor={out})")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Say in the user's terms why a file cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise LogError(f"cannot write {path}: {error.strerror}") from error


def _about(models: Sequence[Model]) -> dict[str, Any]:
    """Say which models these are: by which subjects, lessons and settings."""
    from snellen.exams.background.results import JUDGED

    exams, first = {repr(model.exam): model for model in models}, models[0].exam
    return {
        "count": len(models),
        "world": PAINTED if all(m.gap is not None for m in models) else PHOTOGRAPHED,
        "subjects": sorted({m.found.subject for m in models}),
        "lessons": sorted({m.lesson for m in models if m.lesson}),
        "correlations": sorted({m.correlation for m in models if m.correlation is not None}),
        "settings": [_settings_of(model) for model in exams.values()],
        "targets": [int(x) for x in np.quantile([len(m.found.used) for m in models], (0, 0.5, 1))],
        "measured": {
            "signals": ", ".join(JUDGED),
            "kernel": first.kernel,
            "differences": first.differences,
            "targets that count": "right as they were" if first.include == "right" else "all",
        },
    }


def _settings_of(model: Model) -> dict[str, Any]:
    """Return settings that are not at their defaults; what only selects items is told elsewhere."""
    from snellen import settings

    usual = settings.shaping(type(model.exam)())
    mine = settings.shaping(model.exam)
    return {name: value for name, value in mine.items() if value != usual[name]}
