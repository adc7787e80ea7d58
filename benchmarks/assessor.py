"""Claim: an assessor tells held-out models apart better than worst-case accuracy does.

Ten times a third of the models of a table is judged by what was learnt of the others: by a random
forest, by AdaBoost, and by two cut-points of worst-case accuracy. Intervals are by the corrected
resampled t over splits; a difference whose interval holds nought says nothing.

    snellen background-assessor RUN -o assessor.npz --table TABLE.npz
    python benchmarks/assessor.py TABLE.npz
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
from pathlib import Path

from snellen.exams.background.card import counted, kappa_lines, outcome_lines, outcomes
from snellen.exams.background.training import Table, evaluated, kappas


def main(path: Path) -> None:
    table = Table.load(path)
    levels = table.said["levels"]
    print(f"{len(table.models)} models: {counted(levels)}; levels by {levels['by']}")
    print(*kappa_lines(kappas(table.ratings)), sep="\n")
    found = evaluated(table)
    print(*outcome_lines(outcomes(found)), sep="\n")
    for name, (accuracy, _) in found.beyond_worst_case.items():
        told = "yes" if accuracy.low > 0 else "no" if accuracy.high < 0 else "it cannot be told"
        print(f"{name} beats worst-case accuracy: {told} ({accuracy:%})")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
