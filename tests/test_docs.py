"""What the documents say is run as it stands there."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

from snellen import plugins

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SOURCES = ROOT / "src" / "snellen"
WITH_EXAMPLES = [
    ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(SOURCES.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


def blocks(path, kind):
    return [(name, text) for k, name, text in BLOCK.findall(path.read_text("utf-8")) if k == kind]


def commands(path):
    """Every line of a console block that is typed by the reader."""
    for _, text in blocks(path, "console"):
        yield from (line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ "))


def run(command, folder):
    words = shlex.split(command)
    assert words[0] == "snellen", command
    return subprocess.run(
        [sys.executable, "-m", "snellen", *words[1:]],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip


def test_the_tutorial_runs_as_it_stands(tmp_path):
    page = ROOT / "docs" / "adding-an-exam.md"
    files = dict(blocks(page, "python"))
    assert set(files) == {"contrast.py", "brighter.py", "test_mine.py"}
    assert len(files["contrast.py"].splitlines()) <= 66
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    promised = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_mine.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 passed" in promised.stdout, promised.stdout
    told = {command: run(command, tmp_path) for command in commands(page)}
    assert all(done.returncode == 0 for done in told.values()), told
    assert len(told) == 5
    last = list(told.values())[-1].stdout
    assert re.search(r"brighter \([\w-]+\): sees a bar of \d+ levels", last)
    assert re.search(r"chance: sees none", last)
    assert (tmp_path / "runs" / "contrast" / "report.html").exists()


def test_the_readmes_first_commands_are_the_makefiles():
    first, second, *_ = commands_of_any_kind(ROOT / "README.md")
    assert (first, second) == ("make exam", "make test")
    makefile = (ROOT / "Makefile").read_text()
    assert "\nexam: " in makefile
    assert "\ntest: " in makefile


def test_the_readme_says_how_to_begin():
    text = (ROOT / "README.md").read_text("utf-8")
    assert "pip install -e '.[torch" in text
    assert "pip install 'snellen" not in text  # nothing is released yet
    named = re.search(r"^\$ snellen compare (\S+) (\S+) --into (\S+)", text, re.MULTILINE)
    (asked,) = re.findall(rf"^\$ snellen run (.*) --into {named[3]}$", text, re.MULTILINE)
    specs = [who for word, who in pairwise(shlex.split(asked)) if word == "-m"]
    assert [plugins.subject(spec).name for spec in specs] == [named[1], named[2]]


def test_the_readmes_python_runs(tmp_path, monkeypatch, capsys):
    torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    monkeypatch.chdir(tmp_path)
    ((_, text),) = blocks(ROOT / "README.md", "python")
    plain = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 10))
    exec(text, {"my_module": plain})
    assert "Verdict(subject='mine'" in capsys.readouterr().out
    assert len(list((tmp_path / "runs" / "mine").glob("log-*.jsonl"))) == 1


def commands_of_any_kind(path):
    return [c.split("  #")[0].strip() for c in commands(path)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_commands_in_documents_exist(path):
    """Each is understood as far as its exam, its settings and its options."""
    from click import Context

    from snellen.cli import main

    for command in commands_of_any_kind(path):
        words = shlex.split(command)
        if words[0] != "snellen":
            continue
        sub = main.commands[words[1]]
        sub.make_context(words[1], words[2:], parent=Context(main))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_links_in_documents_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings_run(name):
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_every_module_opens_with_what_it_is_for():
    for path in (ROOT / "src").rglob("*.py"):
        assert path.read_text("utf-8").lstrip().startswith('"""'), path
