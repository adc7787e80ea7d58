"""The benchmark of load in small: many at once, a kill in the middle, nothing lost."""

import asyncio
import importlib.util
import sys
from pathlib import Path

from snellen.study.store import Store
from study_files import write_study

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "study_load.py"


def test_thirty_at_once_and_a_kill_in_the_middle(url, tmp_path, monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("study_load", BENCHMARK)
    bench = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "study_load", bench)
    spec.loader.exec_module(bench)
    study = write_study(tmp_path, "reasoning", {"problems": "1", "repeats": 30}, "each = 1")
    server = bench.Server(study, url)
    try:
        browsers = asyncio.run(
            bench.load(server, people=30, think=0.1, answers=12, arrive=0.3, kill=True)
        )
    finally:
        server.kill()
    store = Store(url)
    bench.tell(browsers, store)  # compares what was acknowledged with what is stored
    store.close()
    assert browsers[0].waits.again > 0  # the kill was felt
    assert "every one is stored, once" in capsys.readouterr().out
