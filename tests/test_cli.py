"""The command as its users meet it: what it prints, and what it says to wrong input."""

import csv
import os
import shutil
import subprocess
import sys
import warnings

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner

from snellen import plugins, show
from snellen.cli import main
from snellen.log import RunFolder

NOTHING = ["--set", "mode=paper", "--set", "tables=7", "--set", "samples=300"]
TWICE = ["--set", "levels=0", "--set", "levels=8"]
TINY = [
    "--set", "transformations=mirrored", "--set", "samples=60", "--set", "repeats=2",
    "--set", "tests=60", "--set", "steps=3",
]  # fmt: skip


def snellen(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def run(folder, *more):
    return snellen("run", "abstraction", "-m", "simulated", *TINY, "-w", 1, "--into", folder, *more)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "one"
    done = run(folder)
    assert done.exit_code == 0, done.output
    return folder, done


def test_a_run_ends_with_verdicts_and_the_place_of_the_report(finished):
    folder, done = finished
    assert "12/12 items" in done.stderr
    assert "abstraction: Did it learn the transformation" in done.stdout
    assert "simulated-1: " in done.stdout
    assert "chance: not shown: mirrored." in done.stdout
    assert done.stdout.strip().endswith(f"report: {folder / 'report.html'}")
    assert (folder / "report_files" / "abstraction-gain.pdf").read_bytes().startswith(b"%PDF")


def test_the_same_command_again_does_nothing_twice(finished):
    folder, _ = finished
    again = run(folder)
    assert again.exit_code == 0
    assert "12 of 12 items are done already" in again.stderr
    assert len(RunFolder(folder).records()) == 12


def test_every_command_has_help():
    told = snellen("--help").output
    for command in ("run", "demo", "report", "compare", "export", "ls", "show", "doctor"):
        assert command in told
        assert snellen(command, "--help").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["run", "abstracton"], 2, "did you mean 'abstraction'"),
        (["run", "abstraction", "--set", "repaets=3"], 2, "did you mean 'repeats'"),
        (["run", "abstraction", "--set", "repeats"], 2, "NAME=VALUE"),
        (["run", "abstraction", "--set", "repeats=-1"], 2, "repeats: '-1' is not at least 0"),
        (["run", "abstraction", "--set", "mode=papr"], 2, "'papr' is not 'held-out' or 'paper'"),
        (["run", "abstraction", "--set", "samples=5x"], 2, "samples: '5x' is not a whole number"),
        (["show", "abstraction", *TWICE], 2, "say all its values at once: --set levels=0,8"),
        (["run", "abstraction", *NOTHING], 2, "nothing to ask with these settings"),
        (["show", "abstraction", *NOTHING], 2, "nothing to ask with these settings"),
        (["run", "abstraction", "-m", "chanse"], 2, "did you mean 'chance'"),
        (["run", "abstraction", "-m", "chance,sed=1"], 2, "did you mean 'seed'"),
        (["run", "abstraction", "-m", "net.py:build"], 1, "there is no file"),
        (["run", "abstraction", "-m", "onnx:net.onnx"], 1, "there is no file"),
        (["run", "abstraction", "--set", "shapes=none.npz"], 1, "no such file or folder"),
        (["run", "abstraction", "--shard", "3/2"], 2, "I from 1 to N"),
        (["run", "abstraction", "--workers", "999", "--threads", "999"], 2, "leave out --workers"),
        (["run", "abstraction", "-m", "json:dumps"], 1, "it gives ['choice', 'scores']; give"),
        (["show", "xyz"], 2, "there are"),
        (["report", "nowhere"], 1, "there is no run folder"),
        (["ls", "nowhere"], 1, "there is no run folder"),
        (["export", "nowhere"], 1, "there is no run folder"),
        (["compare", "a", "b", "--into", "nowhere"], 1, "there is no run folder"),
        (["doctor", "xyz"], 2, "there are"),
        (["frobnicate"], 2, "No such command"),
    ],
)
def test_wrong_input_is_told_with_the_remedy(tmp_path, monkeypatch, arguments, code, told):
    monkeypatch.chdir(tmp_path)
    done = snellen(*arguments)
    assert done.exit_code == code, done.output
    assert told in done.output
    assert "Traceback" not in done.output
    assert not list(tmp_path.iterdir())  # what cannot work leaves nothing behind


def test_debug_shows_the_traceback():
    done = snellen("--debug", "run", "abstraction", "--set", "mode=papr")
    assert type(done.exception).__name__ == "BadSetting"


WRONG = """
import numpy as np
from torch import nn

def seven():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 7))
"""


def test_a_model_of_the_wrong_size_fails_item_by_item(tmp_path):
    pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    (tmp_path / "net.py").write_text(WRONG)
    done = snellen(
        "run", "abstraction", "-m", f"{tmp_path / 'net.py'}:seven", *TINY, "-w", 1,
        "--into", tmp_path / "run",
    )  # fmt: skip
    assert done.exit_code == 3
    assert "let its factory take a parameter `classes`" in done.stderr
    assert "4 items failed; the same command tries them again" in done.stderr
    assert "Traceback" not in done.output
    page = (tmp_path / "run" / "report.html").read_text()
    assert "4 items failed" in page
    assert "let its factory take a parameter `classes`" in page


def test_a_corrupt_log_is_told_and_mended_by_running_again(tmp_path):
    folder = tmp_path / "run"
    run(folder, "--no-report")
    (log,) = folder.glob("log-*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:3], b"\x00rubbish\n", *lines[4:]]))
    told = snellen("report", folder)
    assert told.exit_code == 0
    assert "could not be read" in (folder / "report.html").read_text()
    again = run(folder)
    assert again.exit_code == 0
    assert f"{log.name}:4 is not a line" in again.stderr
    assert len(RunFolder(folder).records()) == 12


def test_a_disk_that_is_full_stops_the_run_with_the_remedy(tmp_path):
    """The kernel refuses files beyond 16 KiB to the whole run."""
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)); from snellen.cli import main;"
        "main(sys.argv[1:])"
    )
    folder = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, "run", "abstraction", "-m", "simulated", *TINY,
         "-w", "1", "--into", str(folder), "--no-report"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "make room and run the same command again" in done.stderr
    assert "Traceback" not in done.stderr
    before = len(RunFolder(folder).records())
    assert 0 < before < 12
    assert run(folder).exit_code == 0
    assert len(RunFolder(folder).records()) == 12


def test_show_prints_formulas_settings_and_pictures(tmp_path):
    done = snellen("show", "abstraction", "--set", "levels=3", "-o", tmp_path / "a.png")
    assert done.exit_code == 0
    assert "learning gain" in done.stdout
    assert "how many shapes are shown transformed" in done.stdout
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_contact_sheet_shows_every_way_before_any_comes_again():
    five = show._varied(plugins.exam("abstraction"))
    ways = [item["transformation"] for item in five]
    assert set(ways[:5]) == set(plugins.exam("abstraction").transformations)
    assert [item["level"] for item in five] == [0, 8] * 3
    table = show._varied(plugins.exam("abstraction", mode="paper"))
    assert len({item["table"] for item in table}) == len({item["row"] for item in table}) == 6
    few = show._varied(plugins.exam("abstraction", transformations="rotated", repeats=1))
    assert [item["level"] for item in few] == [0, 8]


def test_ls_lists_exams_subjects_and_runs(finished):
    told = snellen("ls").stdout
    assert "abstraction" in told
    assert "models and people" in told
    assert "paper-cnn" in told
    held = snellen("ls", finished[0]).stdout
    assert "simulated-1" in held


def test_compare_pairs_the_pictures_that_both_saw(finished):
    told = snellen("compare", "simulated-1", "chance", "--into", finished[0]).stdout
    assert "p McNemar" in told
    assert "280" in told  # 4 items of 70 pictures
    by = snellen("compare", "nearest", "chance", "--into", finished[0], "--by", "level").stdout
    assert len([line for line in by.splitlines() if line.startswith("abstraction")]) == 2
    wrong = snellen("compare", "simulated-1", "nobody", "--into", finished[0])
    assert wrong.exit_code == 2
    assert "there are chance, nearest, simulated-1" in wrong.output
    facet = snellen("compare", "nearest", "chance", "--into", finished[0], "--by", "colour")
    assert "they have transformation, level" in facet.output


def test_export_writes_tables_that_other_tools_read(finished, tmp_path):
    done = snellen("export", finished[0], "-o", tmp_path / "out")
    assert [line.rpartition("/")[2] for line in done.stdout.split()] == [
        "records.csv", "records.parquet", "trials.csv", "trials.parquet",
    ]  # fmt: skip
    with (tmp_path / "out" / "records.csv").open() as file:
        records = list(csv.DictReader(file))
    assert len(records) == 12
    assert {r["item.level"] for r in records} == {"0", "8"}
    parquet = tmp_path / "out" / "trials.parquet"
    shares = duckdb.sql(
        "select subject, avg((choice = truth)::int), count(*) "
        f"from '{parquet}' group by 1 order by 1"
    ).fetchall()
    assert [row[0] for row in shares] == ["chance", "nearest", "simulated-1"]
    assert {row[2] for row in shares} == {280}
    log = {}
    for r in RunFolder(finished[0]).records():
        log.setdefault(r.subject, []).append(np.mean(r.trials["choice"] == r.trials["truth"]))
    assert [row[1] for row in shares] == pytest.approx([np.mean(log[row[0]]) for row in shares])


def test_the_doctor_says_what_is_missing(tmp_path):
    code = tmp_path / "scores.py"
    code.write_text(
        "import numpy as np\nrng = np.random.default_rng(0)\n"
        "def moody(images):\n    return rng.random((len(images), 4))\n"
        "def steady(images):\n    return images.reshape(len(images), -1)[:, :4]\n"
        "def sociable(images):\n    return images.reshape(len(images), -1)[:, :4] * len(images)\n"
    )
    moody = snellen("doctor", f"{code}:moody").stdout
    assert "deterministic    no" in moody
    assert "switch off its randomness" in moody
    steady = snellen("doctor", f"{code}:steady").stdout
    assert "deterministic    yes" in steady
    assert "batch invariant  yes" in steady
    assert "size             any  (assumed)" in steady
    assert "say for instance" in steady
    assert "no label map" in steady
    assert "batch invariant  no" in snellen("doctor", f"{code}:sociable").stdout
    assert "nothing is missing" in snellen("doctor", "simulated").stdout


def test_the_doctor_reads_a_real_model(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    import tests_models

    told = snellen("doctor", tests_models.onnx_file(tmp_path / "net.onnx")).stdout
    assert "size             28 × 28  (model)" in told
    assert "scores           3 a picture" in told
    teaches = snellen("doctor", "paper-cnn").stdout
    assert "twice the same: yes" in teaches
    assert "(as taught)" in teaches
    assert "assumed" not in teaches
    assert "nothing is missing" in teaches


def test_the_doctor_survives_what_models_do(tmp_path):
    code = tmp_path / "scores.py"
    code.write_text(
        "import numpy as np\n"
        "def angry(images):\n    raise TypeError('not like that')\n"
        "def empty(images):\n    return np.full((len(images), 2), np.nan)\n"
        "def blind(images):\n    return np.tile([0.1, 0.9], (len(images), 1))\n"
    )
    angry = snellen("doctor", f"{code}:angry")
    assert "it raised TypeError: not like that" in angry.stdout
    assert angry.exit_code == 1
    empty = snellen("doctor", f"{code}:empty").stdout
    assert "NaN or infinite scores; look at its weights" in empty
    assert "snellen doctor" not in empty  # that is what is being done
    blind = snellen("doctor", f"{code}:blind").stdout
    assert "all 16 pictures get the same scores" in blind


def test_a_folder_named_like_a_pattern_is_exported_as_itself(finished, tmp_path):
    for name in ("g1", "g[1]"):
        shutil.copytree(finished[0], tmp_path / name)
    for log in (tmp_path / "g1").glob("log-*.jsonl"):
        log.write_bytes(log.read_bytes().replace(b'"simulated-1"', b'"simulated-9"'))
    assert snellen("export", tmp_path / "g[1]").exit_code == 0
    parquet = tmp_path / "g[1]" / "export" / "records.parquet"
    with duckdb.connect() as db:
        names = db.sql(f"select distinct subject from '{str(parquet).replace('[', '[[]')}'")
        assert ("simulated-1",) in names.fetchall()


def test_pictures_asked_twice_count_once_in_a_comparison(finished):
    told = snellen("compare", "nearest", "chance", "--into", finished[0]).stdout
    row = next(line for line in told.splitlines() if line.startswith("abstraction")).split()
    assert row[1:4] == ["4", "140", "280"]  # levels 0 and 8 ask the same pictures


def test_names_of_every_script_get_files_of_their_own(tmp_path):
    names = [f"simulated,person={n}" for n in (1, 2)]
    done = snellen(
        "run", "abstraction", *(part for n in names for part in ("-m", n)), *TINY, "-w", 1,
        "--into", tmp_path / "r", "--no-baselines", "--no-report",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    for log in (tmp_path / "r").glob("log-*.jsonl"):
        text = log.read_text().replace("simulated-1", "_模$a_$").replace("simulated-2", "_網$a_$")
        log.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of letters that Matplotlib's font lacks
        assert snellen("report", tmp_path / "r").exit_code == 0
    made = list((tmp_path / "r" / "report_files").glob("abstraction-accuracy*.svg"))
    assert len(made) == 2
