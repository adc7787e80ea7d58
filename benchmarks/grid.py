"""Claim: Tables 4-13 of the abstraction paper, 1000 cells, take less than an hour on two cores.

A part of the grid takes a part of the time. By default one repeat of five is run, and the time
for all five is what it says; `python benchmarks/grid.py 5` runs the whole.

    python benchmarks/grid.py [repeats]
"""

from __future__ import annotations

import sys
import tempfile
import time

from snellen import engine
from snellen.log import RunFolder


def main(repeats: int) -> None:
    values = {"mode": "paper", "tables": list(range(4, 14)), "repeats": repeats}
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder(place)
        work = engine.plan("abstraction", values, ["paper-cnn"], folder)
        workers = min(2, engine.cores())
        start = time.perf_counter()
        records = list(engine.run_locally(work.tasks, folder, workers=workers))
        minutes = (time.perf_counter() - start) / 60
    failed = sum(bool(r.error) for r in records)
    print(f"{len(records)} cells on {workers} cores in {minutes:.1f} minutes, {failed} failed")
    print(f"all five repeats: {minutes * 5 / repeats:.0f} minutes (claim: less than 60)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
