import json
import subprocess
import sys

import numpy as np
import pytest

from snellen.core import Attachment, Item, Record
from snellen.errors import LogError
from snellen.log import Plan, RunFolder


def record(place, *, error="", choice=("a", "b"), fingerprint="f", **measures):
    trials = {"stimulus": np.arange(2, dtype=np.uint64), "choice": np.array(choice)}
    return Record(
        exam="toy",
        version=1,
        settings={"n": 3},
        item=Item(place=place),
        subject="who",
        fingerprint=fingerprint,
        measures={"right": 0.5, **measures},
        trials={} if error else trials,
        seconds=0.1,
        versions={"python": "3"},
        error=error,
    )


def only_log(folder):
    (log,) = folder.path.glob("log-*.jsonl")
    return log


def test_what_is_appended_is_read_back(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.append(record(1, picture=Attachment(b"png", ".png"), deep={"x": np.arange(3)}))
    (back,) = RunFolder(folder.path).records()
    assert back.key == record(1).key
    assert back.measures["deep"] == {"x": [0, 1, 2]}
    assert back.measures["picture"].data == b"png"
    assert back.trials["choice"].tolist() == ["a", "b"]
    assert back.trials["stimulus"].dtype == np.uint64


def test_equal_files_are_kept_once(tmp_path):
    folder = RunFolder(tmp_path)
    for place in range(3):
        folder.append(record(place))
    assert len(list((tmp_path / "artefacts").rglob("*.npz"))) == 1


def test_a_torn_last_line_is_dropped_and_told(tmp_path):
    folder = RunFolder(tmp_path)
    for place in range(2):
        folder.append(record(place))
    log = only_log(folder)
    log.write_bytes(log.read_bytes()[:-10])
    again = RunFolder(tmp_path)
    assert [r.item["place"] for r in again.records()] == [0]
    assert "stops in the middle of a line" in again.damaged[0]
    again.append(record(1))
    assert sorted(r.item["place"] for r in RunFolder(tmp_path).records()) == [0, 1]


@pytest.mark.parametrize("rubbish", [b"rubbish\n", b"[1, 2]\n", b"{}\n", b"\xff\xfe\n", b"null\n"])
def test_a_corrupt_line_loses_only_itself(tmp_path, rubbish):
    folder = RunFolder(tmp_path)
    folder.append(record(0))
    log = only_log(folder)
    log.write_bytes(rubbish + log.read_bytes())
    again = RunFolder(tmp_path)
    assert [r.item["place"] for r in again.records()] == [0]
    assert f"{log.name}:1" in again.damaged[0]


def test_a_record_with_missing_parts_loses_only_itself(tmp_path):
    folder = RunFolder(tmp_path)
    folder.append(record(0))
    folder.append(record(1))
    log = only_log(folder)
    first, second = log.read_text().splitlines()
    broken = json.loads(first)
    del broken["item"]
    log.write_text(json.dumps(broken) + "\n" + second + "\n")
    again = RunFolder(tmp_path)
    assert [r.item["place"] for r in again.records()] == [1]
    assert f"{log.name}:1" in again.damaged[0]


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("exam", 3), ("version", "1"), ("settings", []), ("item", ["place"]),
        ("item", {"place": [1]}), ("subject", None), ("fingerprint", {}), ("measures", "right"),
        ("trials", 7), ("artefacts", []), ("artefacts", {"x": 1}), ("seconds", "long"),
        ("versions", None), ("error", False),
    ],
)  # fmt: skip
def test_a_record_with_parts_of_wrong_types_loses_only_itself(tmp_path, part, wrong):
    folder = RunFolder(tmp_path)
    folder.begin(Plan("toy", {}, ("who",), "snellen run toy"))
    folder.append(record(0))
    folder.append(record(1))
    log = only_log(folder)
    plan, first, second = log.read_text().splitlines()
    broken = json.dumps({**json.loads(first), part: wrong})
    log.write_text(f"{plan}\n{broken}\n{second}\n")
    again = RunFolder(tmp_path)
    assert [r.item["place"] for r in again.records()] == [1]
    assert len(again.plans()) == 1
    assert again.damaged == [f"{log}:2 is no whole record"]  # reading plans does not forget it


def test_a_plan_with_wrong_parts_is_left_out_and_told(tmp_path):
    folder = RunFolder(tmp_path)
    for subjects in ("who", ("who",)):
        folder.begin(Plan("toy", {}, subjects, "snellen run toy"))
    log = only_log(folder)
    log.write_text(log.read_text().replace('["w","h","o"]', "3", 1))
    again = RunFolder(tmp_path)
    assert [p.subjects for p in again.plans()] == [("who",)]
    assert again.damaged == [f"{log}:1 is no whole plan"]


def test_answers_that_were_tampered_with_are_noticed(tmp_path):
    RunFolder(tmp_path).append(record(0))
    (file,) = (tmp_path / "artefacts").rglob("*.npz")
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    (back,) = RunFolder(tmp_path).records()
    with pytest.raises(LogError, match="was changed after it was written; delete it"):
        _ = back.trials["choice"]
    file.unlink()
    with pytest.raises(LogError, match="copy the whole run folder"):
        _ = RunFolder(tmp_path).records()[0].trials["choice"]


def test_two_writers_add_up_and_success_beats_failure(tmp_path):
    RunFolder(tmp_path).append(record(0, error="boom"))
    RunFolder(tmp_path).append(record(0))
    RunFolder(tmp_path).append(record(0, error="boom again"))
    RunFolder(tmp_path).append(record(1, fingerprint="other"))
    found = RunFolder(tmp_path).records()
    assert [(r.item["place"], r.error) for r in found] == [(0, ""), (1, "")]


def test_a_full_disk_is_told_and_loses_nothing(tmp_path):
    """A real refusal by the kernel: a process that may not write files beyond 4 KiB."""
    code = f"""
import resource, signal
from snellen.core import Item, Record
from snellen.errors import LogError
from snellen.log import RunFolder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
folder = RunFolder({str(tmp_path / "run")!r})
for place in range(100):
    record = Record("toy", 1, {{}}, Item(place=place), "who", "f", {{"text": "x" * 700}})
    try:
        folder.append(record)
    except LogError as error:
        print(place, error)
        break
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    place, told = done.stdout.split(" ", 1)
    assert "make room and run the same command again" in told
    folder = RunFolder(tmp_path / "run")
    assert [r.item["place"] for r in folder.records()] == list(range(int(place)))
    assert "stops in the middle" in folder.damaged[0]
    folder.append(record(99))
    assert len(folder.records()) == int(place) + 1


def test_plans_are_read_back_in_order(tmp_path):
    folder = RunFolder(tmp_path)
    for n in range(3):
        folder.begin(Plan("toy", {"n": n}, ("who",), f"snellen run toy --set n={n}"))
    assert [p.settings["n"] for p in folder.plans()] == [0, 1, 2]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(LogError, match=r"there is no run folder .*snellen run"):
        RunFolder(tmp_path / "none").records()


def test_what_cannot_stand_in_a_log_is_refused(tmp_path):
    with pytest.raises(TypeError, match="make it numbers or text"):
        RunFolder(tmp_path).append(record(0, thing=object()))
