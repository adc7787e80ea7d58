"""Records of painted models that lean on scenery as much as one says, without any painting."""

from dataclasses import replace

import numpy as np

from snellen import settings
from snellen.core import Item, Record
from snellen.exams.background import Background
from snellen.log import Plan, RunFolder

EXAM = Background(number=12, count=6)
PROBED = 100


def painted(lean, subject="net", correlation=0.5, lesson="plain", gap=None, seed=0):
    """Return the record of a model whose belief in the truth falls by `lean` over the distance."""
    rng = np.random.default_rng([seed, int(1000 * lean)])
    cases = []
    for target in range(EXAM.number):
        far = np.sort(rng.random(EXAM.count))
        true = np.concatenate([[0.95, 0.9, 0.95], 0.95 - lean * far])
        true = np.clip(true + rng.normal(0, 0.01, len(true)), 0.01, 0.99)
        right = true > 0.5
        signals = {
            "CONF max": np.maximum(true, 1 - true),
            "CONF true": true,
            "CONF margin": 2 * true - 1,
            "CONF right": right.astype(float),
        }
        cases.append(
            {
                "target": f"target-{target}",
                "label": "thing",
                "scenes": [f"scene-{i}" for i in range(EXAM.count)],
                "distances": far.tolist(),
                "words": ["sky"] * EXAM.count,
                "right": right.astype(int).tolist(),
                "signals": {name: values.tolist() for name, values in signals.items()},
            }
        )
    others = round(90 - 100 * (lean / 2 if gap is None else gap))
    return Record(
        exam=EXAM.name,
        version=EXAM.version,
        settings=settings.shaping(EXAM),
        item=Item(correlation=correlation, lesson=lesson, repeat=0),
        subject=subject,
        fingerprint=f"print of {subject}",
        measures={"cases": cases, "before own": 90, "before others": others, "probed": PROBED},
    )


def photographed(record):
    """Return the record as if it were of a model that was taught nothing here."""
    told = {"cases": record.measures["cases"]}
    return replace(record, item=Item(target="a.png", label="thing"), measures=told)


def run_of(folder, records):
    """Write a run folder that holds these records."""
    run = RunFolder(folder)
    run.begin(Plan(EXAM.name, {}, tuple({r.subject for r in records}), "snellen run …"))
    for record in records:
        run.append(record)
    return folder
