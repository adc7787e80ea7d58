"""A comparison says the same each time."""

import os
import subprocess
import sys

from snellen import engine, plugins


def test_a_comparison_does_not_depend_on_how_python_hashes(tmp_path):
    exam = plugins.exam("abstraction", transformations="rotated", repeats=4, samples=60, tests=60)
    for who in ("nearest", "simulated"):
        engine.sit_all(exam, plugins.subject(who), tmp_path)
    code = (
        "from snellen.compare import compare; from snellen.log import RunFolder;"
        f"print(compare(RunFolder({str(tmp_path)!r}), 'nearest', 'simulated-1'))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in range(3)
    }  # fmt: skip
    assert len(told) == 1
