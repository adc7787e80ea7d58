"""The shape of the house, held in place."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import snellen
from snellen import plugins

ROOT = Path(snellen.__file__).parent
MODULES = [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]
# A part may import parts of lower rank; parts of equal rank do not know each other.
RANK = {
    **dict.fromkeys(["core"], 0),
    **dict.fromkeys(["errors", "seeds", "stats", "digests", "blurbs"], 1),
    **dict.fromkeys(["settings", "sources", "figures", "groups"], 2),
    **dict.fromkeys(["images", "worlds"], 3),
    **dict.fromkeys(["exams", "subjects", "plugins", "log", "sitting"], 4),
    **dict.fromkeys(["engine", "report", "compare", "study"], 5),
    **dict.fromkeys(["show", "export", "doctor", "testing", "terminal"], 6),
    **dict.fromkeys(["cli"], 7),
    **dict.fromkeys(["__main__"], 8),
}
SWAMP = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager", "handler"}
HEAVY = {
    *("torch", "keras", "onnxruntime", "sklearn", "transformers", "distributed", "matplotlib"),
    *("numba", "cv2", "gymnasium"),
    *("sqlalchemy", "alembic", "starlette", "uvicorn", "httpx"),
}


def part(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> Iterator[str]:
    """Name every part of ours that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            stem = node.module.split(".")
            if stem == ["snellen"]:
                yield from (alias.name for alias in node.names)
            elif stem[0] == "snellen":
                yield stem[1]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_imports_point_inwards(path):
    for there in imported_parts(path):
        if there != part(path):
            assert RANK[there] < RANK[part(path)], f"{part(path)} imports {there}"


def test_exams_do_not_know_each_other():
    for path in (ROOT / "exams").rglob("*.py"):
        own = path.relative_to(ROOT / "exams").parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "snellen.exams."
            ):
                assert node.module.split(".")[2] == own, path


def test_exams_are_named_nowhere_else():
    names = set(plugins.registered(plugins.EXAMS))
    for path in MODULES:
        if part(path) in ("exams", "cli"):  # the command's help shows one as an example
            continue
        tree = ast.parse(path.read_text("utf-8"))
        said = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
        assert not names & said, path


def test_there_is_no_swamp():
    assert not {path.stem for path in ROOT.rglob("*")} & SWAMP


def test_functions_say_one_thing():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert length <= 80, f"{path}: {node.name} has {length} lines"


@pytest.mark.parametrize(
    "code", ["import snellen", "from snellen.cli import main", "import snellen.images.svrt"]
)
def test_nothing_heavy_is_loaded_before_it_is_needed(code):
    told = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not HEAVY & set(told.stdout.split())


def test_help_comes_in_half_a_second():
    """CPU time, the best of three: the wall clock of a busy machine says little."""
    code = """
import resource, snellen.cli
try:
    snellen.cli.main(["--help"])
except SystemExit:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime)
"""
    seconds = [
        float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout.split()[-1]
        )
        for _ in range(3)
    ]
    assert min(seconds) < 0.5


def test_the_sources_say_nothing_of_where_they_were_made():
    for path in [*ROOT.rglob("*.py"), *ROOT.rglob("*.html")]:
        text = path.read_text("utf-8")
        assert "/work/" not in text, path
        assert "/root/" not in text, path
