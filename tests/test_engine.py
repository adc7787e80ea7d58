"""Killed, sharded, spread over a cluster: the records are those of an undisturbed run."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from snellen import engine
from snellen.core import Item
from snellen.log import RunFolder
from snellen.sitting import conduct

SNELLEN = [sys.executable, "-m", "snellen"]
SMALL = {
    "transformations": "rotated,mirrored",
    "samples": "200",
    "repeats": "3",
    "steps": "40",
    "tests": "60",
}
PAIRS = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]
RUN = [*SNELLEN, "run", "abstraction", "-m", "paper-cnn", "--no-baselines", "--no-report", *PAIRS]


def meaning(folder):
    """All that a run found, without when and how fast."""
    return {
        r.key: (r.subject, json.dumps(r.measures, sort_keys=True), trials(r), r.error)
        for r in RunFolder(folder).records()
    }


def trials(record):
    return {name: np.asarray(column).tobytes() for name, column in record.trials.items()}


def whole_lines(folder):
    """Count the records logged so far by a process that is still writing."""
    return sum(p.read_bytes().count(b'"kind":"record"') for p in Path(folder).glob("log-*.jsonl"))


def start(folder, *more):
    return subprocess.Popen(
        [*RUN, "--into", str(folder), *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "undisturbed"
    subprocess.run([*RUN, "--into", str(folder), "-w", "2"], check=True, capture_output=True)
    found = meaning(folder)
    assert len(found) == 12
    return found


def test_a_run_that_was_killed_goes_on_to_the_same_records(undisturbed, tmp_path):
    folder = tmp_path / "run"
    process = start(folder, "-w", "2")
    wait_for(lambda: whole_lines(folder) >= 2)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    before = whole_lines(folder)
    assert before < 12
    again = subprocess.run(
        [*RUN, "--into", str(folder), "-w", "2"], check=True, capture_output=True, text=True
    )
    assert f"{before} of 12 items are done already" in again.stderr
    assert meaning(folder) == undisturbed


def test_workers_do_not_outlive_a_killed_run(tmp_path):
    process = start(tmp_path / "run", "-w", "2")
    wait_for(lambda: whole_lines(tmp_path / "run") >= 1)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for(lambda: not session_members(process.pid), seconds=20)


def session_members(leader):
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            members.append(int(stat.parent.name))
    return members


def test_ctrl_c_finishes_what_is_under_way_and_says_how_to_go_on(undisturbed, tmp_path):
    folder = tmp_path / "run"
    process = start(folder, "-w", "2")
    wait_for(lambda: whole_lines(folder) >= 1)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "finishing the items under way" in told
    assert "of 12 items done; the same command goes on:\n  snellen run abstraction" in told
    assert "Traceback" not in told
    found = meaning(folder)
    assert 1 <= len(found) < 12
    assert all(undisturbed[key] == value for key, value in found.items())


def test_shards_add_up(undisturbed, tmp_path):
    folder = tmp_path / "run"
    for part in ("1/2", "2/2"):
        subprocess.run(
            [*RUN, "--into", str(folder), "-w", "1", "--shard", part],
            check=True,
            capture_output=True,
        )
    assert len(list(folder.glob("log-*.jsonl"))) == 2
    assert meaning(folder) == undisturbed


def test_a_cluster_that_loses_a_worker_gives_the_same(undisturbed, tmp_path):
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    with Cluster(tmp_path, workers=2) as (address, workers):
        folder = tmp_path / "run"
        process = start(folder, "--scheduler", address)
        wait_for(lambda: whole_lines(folder) >= 2)
        os.killpg(workers[0].pid, signal.SIGKILL)
        _, told = process.communicate(timeout=120)
    assert process.returncode == 0, told
    assert meaning(folder) == undisturbed


class Cluster:
    """A scheduler and workers of Dask's own, in processes of their own."""

    def __init__(self, folder, workers):
        self.folder, self.count, self.processes = folder, workers, []

    def __enter__(self):
        found = self.folder / "scheduler.json"
        self.launch("scheduler", "--scheduler-file", str(found), "--port", "0", "--no-dashboard")
        wait_for(found.exists)
        address = json.loads(found.read_text())["address"]
        for _ in range(self.count):
            self.launch("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
        return address, self.processes[1:]

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def launch(self, *command):
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.processes.append(
            subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + command[0].replace("-", "_")]
                + list(command[1:])
                + (["--local-directory", str(self.folder)] if command[0] == "worker" else [])
                + (["--host", "127.0.0.1"]),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=environment,
            )
        )


def test_a_scheduler_that_does_not_answer_is_told(tmp_path):
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    done = subprocess.run(
        [*RUN, "--into", str(tmp_path / "run"), "--scheduler", "tcp://127.0.0.1:9"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


def test_any_executor_gives_the_same_records(tmp_path):
    values = {**SMALL, "repeats": "1"}
    found = []
    for place, make in enumerate((ThreadPoolExecutor, engine.local_pool)):
        folder = RunFolder(tmp_path / str(place))
        work = engine.plan("abstraction", values, ["chance"], folder)
        with make(2) as executor:
            assert len(list(engine.run(work.tasks, executor, folder))) == 4
        found.append(meaning(folder.path))
    assert found[0] == found[1]


FAILING = """
import os
import numpy as np

def fails_on_dark(images):
    if images.mean() < {limit}:
        raise RuntimeError("too dark to see")
    return np.tile(np.arange(10.0), (len(images), 1))

def dies(images):
    os._exit(13)

class Pupil:
    name = "pupil"
    gives = frozenset({{"choice", "study"}})
    fingerprint = "pupil"

    def __init__(self, lesson=None):
        self.lesson = lesson

    def study(self, lesson):
        return Pupil(lesson)

    def answer(self, sheet):
        from snellen.core import Answers
        if "{how}" == "die" and len(self.lesson) == 50:
            os._exit(13)
        if "{how}" == "fail" and len(self.lesson) == 50:
            raise RuntimeError("fifty is <too> few")
        return Answers(np.zeros(len(sheet), int))
"""


@pytest.fixture
def pupil(tmp_path):
    def write(how):
        file = tmp_path / "pupil.py"
        file.write_text(FAILING.format(limit=0, how=how))
        return f"{file}:Pupil"

    return write


def run_pupil(who, folder):
    values = {**SMALL, "samples": "50,60", "repeats": "1", "transformations": "mirrored"}
    run = RunFolder(folder)
    work = engine.plan("abstraction", values, [who], run)
    return list(engine.run_locally(work.tasks, run, workers=2))


def test_an_item_that_fails_is_recorded_and_the_others_go_on(pupil, tmp_path):
    records = run_pupil(pupil("fail"), tmp_path / "run")
    failed = [r for r in records if r.error]
    assert len(records) == 4
    assert {r.item["samples"] for r in failed} == {50}
    assert all("fifty is <too> few" in r.error and "Traceback" in r.error for r in failed)
    again = run_pupil(pupil("mended"), tmp_path / "run")
    assert {r.item["samples"] for r in again} == {50}  # what failed is tried again, nothing else
    assert not any(r.error for r in RunFolder(tmp_path / "run").records())


def test_a_worker_that_dies_is_replaced_and_its_item_blamed(pupil, tmp_path):
    records = run_pupil(pupil("die"), tmp_path / "run")
    found = {r.item: r.error for r in RunFolder(tmp_path / "run").records()}
    assert len(found) == 4
    for item, error in found.items():
        assert bool(error) == (item["samples"] == 50), (item, error)
    assert any("died over this item more than once" in r.error for r in records)


@pytest.mark.parametrize("how", ["fail", "die", "fine"])
def test_items_in_step_end_as_they_do_alone(pupil, tmp_path, how):
    values = {**SMALL, "samples": "50,60", "repeats": "2", "transformations": "mirrored"}
    found = []
    for together in (1, 3):
        folder = RunFolder(tmp_path / str(together))
        work = engine.plan("abstraction", values, [pupil(how)], folder, together=together)
        assert work.total == 8
        assert len(work.tasks) == (8 if together == 1 else 3)
        assert len(list(engine.run_locally(work.tasks, folder, workers=2))) == 8
        found.append(meaning(folder.path))
    for key, (subject, measures, columns, error) in found[0].items():
        assert found[1][key][:3] == (subject, measures, columns)
        assert (
            bool(found[1][key][3]) == bool(error) == (how != "fine" and '"samples":50' in key[-1])
        )


def test_sheets_of_many_items_are_answered_at_once(tmp_path):
    import snellen
    from snellen.sitting import in_step

    asked = []

    class Counting(type(snellen.subject("tutored"))):
        def answer(self, sheet):
            asked.append(len(sheet))
            return super().answer(sheet)

    exam = snellen.exam("laconic", per_class=1, reductions="colour,resolution", entropy="png")
    subject, items = Counting(width=2), exam.items()
    records = dict(in_step(exam, subject, items))
    assert set(records) == set(items)
    together = len(asked)
    alone = [conduct(exam, subject, item) for item in items]
    assert len(asked) - together > 3 * together
    assert {r.item: r.measures["right"] for r in alone} == {
        item: r.measures["right"] for item, r in records.items()
    }


def test_a_grown_grid_keeps_what_was_done(tmp_path):
    folder = RunFolder(tmp_path)
    work = engine.plan("abstraction", {**SMALL, "repeats": "1"}, ["chance"], folder)
    list(engine.run_locally(work.tasks, folder, workers=1))
    more = engine.plan("abstraction", {**SMALL, "repeats": "2"}, ["chance"], folder)
    assert (more.done, len(more.tasks)) == (4, 4)
    other = engine.plan("abstraction", {**SMALL, "steps": "41"}, ["chance"], folder)
    assert other.done == 0  # another lesson is another exam
    seeded = engine.plan("abstraction", {**SMALL, "repeats": "1"}, ["chance,seed=2"], folder)
    assert seeded.done == 0  # and another subject's answers are its own


def test_threads_are_kept_to_what_was_asked(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with engine.local_pool(1, threads=1) as pool:
        assert pool.submit(os.getenv, "OMP_NUM_THREADS").result() == "1"
    assert "OMP_NUM_THREADS" not in os.environ


def test_a_python_object_sits_here_and_now(tmp_path):
    import snellen

    exam = snellen.exam("abstraction", **{**SMALL, "repeats": 1})
    records = snellen.sit(exam, snellen.subject("nearest"), tmp_path / "run")
    assert [r.item for r in records] == list(exam.items())
    logs = whole_lines(tmp_path / "run")
    assert snellen.sit(exam, snellen.subject("nearest"), tmp_path / "run")[0].key == records[0].key
    assert whole_lines(tmp_path / "run") == logs == 4
    assert isinstance(records[0].item, Item)
