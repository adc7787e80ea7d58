import base64
import csv
import io
import random
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from snellen import plugins, report
from snellen.core import Item, Record, Result, Verdict
from snellen.errors import LogError, SnellenError
from snellen.figures import Curves, Dots, Gallery, Map, Matrix, Raster, Table, Tree, ellipse
from snellen.log import Plan, RunFolder
from snellen.report.draw import PALEST, draw, picture
from snellen.report.page import as_csv, readable
from snellen.sitting import conduct
from snellen.stats import Interval

EVIL = "<script>alert('x')</script>&\"'"
HALF = Interval(0.5, 0.4, 0.6)
FIGURES = [
    Dots(name="dots", title=EVIL, groups=["a", EVIL], series={EVIL: [HALF, None]}, null=0.1,
         reference={"published": [0.4, None]}, caption=EVIL, formula=EVIL),
    Dots(name="many", title="m", groups=[str(n) for n in range(9)],
         series={f"s{k}": [HALF] * 9 for k in range(6)}, bounds=None, percent=False),
    Curves(name="curves", title="c", x=[1, 10], series={"s": [HALF, HALF], "none": [None, None]},
           x_axis="n", y_axis="y", null=0.1, log_x=True),
    Matrix(name="matrix", title="m", row_names=["a", "b"], column_names=["c", EVIL],
           values=[[0.1, np.nan], [-0.4, 1.0]], diverging=True),
    Matrix(name="noted", title="m", row_names=["a"], column_names=["c"], values=[[0.1]],
           notes=[["ten"]], percent=False),
    Raster(name="raster", title="r", panels={EVIL: np.eye(4), "b": np.full((4, 4), np.nan)},
           x_axis=EVIL, y_axis="y", opacity={EVIL: np.eye(4), "b": np.eye(4)}, caption=EVIL),
    Gallery(name="gallery", title="g",
            shelves={EVIL: (np.zeros((2, 5, 5, 1), np.uint8), ["x", EVIL]),
            "colour": (np.ones((1, 5, 5, 3), np.float32), ["y"])}),
    Map(name="map", title="m", names=["a", EVIL, "nowhere", "alone"], unit=EVIL,
        points=[[0, 0], [1, 0.5], [np.nan, np.nan], [0.2, 0.9]],
        clouds=[[[0, 0], [0.1, 0], [0, 0.1], [np.nan, 0]], [], [[0, 0]] * 9, [[0.2, 0.9]] * 4]),
    Tree(name="tree", title="t", names=["a", EVIL, "_c", "d"], axis="height",
         merges=[(0, 2, 0.1), (1, 3, 0.1), (4, 5, 0.7)], support=[0.5, np.nan, 1.0]),
    Table(name="table", title="t", cells=[{EVIL: EVIL, "share": HALF}, {"share": HALF, "more": 1}]),
]  # fmt: skip
DRAWN = len(FIGURES) - 1
"""All but the table."""

LOCAL = ("data:image/svg+xml;base64,", "data:text/csv;base64,", "#", "report_files/abstraction-")


@pytest.mark.parametrize("figure", FIGURES[:-1], ids=lambda f: f.name)
def test_every_kind_of_figure_is_drawn_the_same_each_time(figure):
    for kind, start in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        drawn = picture(figure, kind)
        assert drawn.startswith(start)
        assert drawn == picture(figure, kind)
    assert b"<script" not in picture(figure, "svg")
    assert figure.rows()


def painted(figure):
    """The pixels of each panel of a drawn raster, the bottom row first."""
    return [np.asarray(axes.images[0].get_array()) for axes in draw(figure).axes if axes.images]


def test_a_raster_lies_as_its_axes_say_and_all_panels_share_a_scale():
    """Element [3, 0] is the far end of x at the near end of y: bottom right."""
    far = np.zeros((4, 4))
    far[3, 0] = 1.0
    raster = Raster(name="r", title="r", x_axis="x", y_axis="y", panels={"a": far, "b": far / 2})
    first, second = painted(raster)
    bottom_right = first[0, 3]
    assert bottom_right[:3].tolist() != first[0, 0, :3].tolist()
    assert (first[1:, :, :3] == first[0, 0, :3]).all()
    assert second[0, 3, :3].tolist() != bottom_right[:3].tolist()  # half of what is in the first
    assert (
        painted(replace(raster, panels={"b": far / 2}))[0][0, 3].tolist() == bottom_right.tolist()
    )


def test_what_a_raster_rests_little_on_is_pale_and_blanks_are_empty():
    values = np.array([[1.0, np.nan], [2.0, 3.0]])
    solid = np.array([[1.0, 1.0], [0.0, 0.5]])
    raster = Raster(name="r", title="r", x_axis="x", y_axis="y", panels={"a": values},
                    opacity={"a": solid})  # fmt: skip
    alpha = painted(raster)[0][..., 3].T
    assert alpha[0].tolist() == [1.0, 0.0]
    assert alpha[1] == pytest.approx([PALEST, (1 + PALEST) / 2])
    rows = raster.rows()
    assert rows[0] == {"panel": "a", "shows": "value", "x": 0.25, "y 0.25": "1", "y 0.75": ""}
    assert [row["shows"] for row in rows] == ["value"] * 2 + ["opacity"] * 2


@pytest.mark.parametrize("count", range(1, 8))
def test_any_number_of_panels_is_drawn_once_each(count):
    panels = {f"p{n}": np.full((3, 3), 7.0) for n in range(count)}
    raster = Raster(name="r", title="r", x_axis="x", y_axis="y", panels=panels, log=True)
    assert len(painted(raster)) == count
    assert picture(replace(raster, diverging=True, log=False), "png")


def test_a_figure_of_no_known_kind_is_refused():
    with pytest.raises(NotImplementedError, match="no way to draw a str"):
        picture("x")


def test_rows_spread_intervals_and_keep_every_column():
    rows = list(csv.DictReader(io.StringIO(as_csv(FIGURES[-1].rows()))))
    assert rows[0]["share low"] == "0.4"
    assert rows[1]["more"] == "1"
    assert as_csv([{"a": "=SUM(A1)"}]).splitlines()[1] == "'=SUM(A1)"
    dots = FIGURES[0].rows()
    assert {"group": "a", "series": "published", "accuracy": 0.4} in dots


def test_a_map_tells_its_places_its_ellipses_and_its_dots():
    rows = next(f for f in FIGURES if f.name == "map").rows()
    assert [row["name"] for row in rows[:3]] == ["a", EVIL, "alone"]
    assert rows[0]["ellipse x"] == pytest.approx(0.1 / 3)
    assert "ellipse x" not in rows[1]
    assert rows[2]["ellipse long"] < 1e-6
    assert {"name": "a", "draw": 1, "x": 0.1, "y": 0.0} in rows
    assert len(rows) == 3 + 3 + 4


def test_a_tree_tells_who_is_on_either_side_of_each_joint():
    rows = next(f for f in FIGURES if f.name == "tree").rows()
    assert rows[0] == {"one side": "a", "other side": "_c", "height": 0.1, "support": 0.5}
    assert rows[2]["one side"] == "a, _c"
    assert Tree(name="t", title="t", names=["a"], merges=[]).rows() == []
    assert picture(Tree(name="t", title="t", names=["a"], merges=[])).startswith(b"<?xml")


def test_an_ellipse_holds_its_share_of_the_dots_and_no_stray_draws_it_out():
    rng = np.random.default_rng(0)
    turn = np.radians(30)
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    cloud = rng.normal(size=(20_000, 2)) * [3, 1] @ axes + [5, 7]
    found = ellipse(cloud.tolist())
    assert found == pytest.approx((5, 7, 3 * 2.4477, 2.4477, 30), rel=0.03)  # √χ²₂(.95)
    strays = np.r_[cloud[:196], [[500, 500]] * 4]
    assert ellipse(strays.tolist()).long < 1.3 * found.long
    along = (strays - found[:2]) @ axes.T
    inside = (along**2 / np.square(ellipse(strays.tolist())[2:4])).sum(axis=1) <= 1.1
    assert 0.93 <= inside.mean() <= 0.985
    assert ellipse([[0, 0], [1, 1], [np.nan, 2]]) is None


def test_places_on_a_map_keep_their_proportions_whatever_the_pages_shape():
    for points in ([[0, 0], [10, 1]], [[0, 0], [1, 10]], [[2, 2], [2, 2]], [[np.nan] * 2] * 2):
        canvas = draw(Map(name="m", title="m", names=["a", "b"], points=points))
        (axes,) = canvas.axes
        wide, tall = canvas.get_size_inches()
        across, up = np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim())
        assert across / wide == pytest.approx(up / tall)
        assert tall <= 6


def test_cells_are_written_for_people():
    assert readable(HALF) == "50 % [40, 60]"
    assert readable(float("nan")) == "–"
    assert readable(Interval(12.345, 1, 20)) == "12 [1, 20]"
    assert readable(Interval(12.345, 12.1, 12.6)) == "12.3 [12.1, 12.6]"
    assert readable(Interval(0.037, 0.032, 0.044)) == "3.7 % [3.2, 4.4]"


class Page(HTMLParser):
    """Collects what a browser would fetch or run."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.fetched, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "srcset", "data", "action"):
                self.fetched.append(value)
            assert not name.startswith("on"), (tag, name)

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def evil_run(tmp_path, monkeypatch):
    """A run whose every name, text and error is an attack."""
    cls = plugins.exam_class("abstraction")

    def grade(self, records):
        return Result([Verdict(EVIL, EVIL, "good"), Verdict(EVIL, "more " + EVIL)], FIGURES)

    monkeypatch.setattr(cls, "grade", grade)
    folder = RunFolder(tmp_path / "run")
    folder.begin(Plan("abstraction", {}, (EVIL,), f"snellen run abstraction -m '{EVIL}'"))
    shaping = plugins.settings.shaping(cls())
    for place, error in enumerate(("", EVIL)):
        folder.append(
            Record("abstraction", 1, shaping, Item(x=EVIL, n=place), EVIL, "f", {}, error=error,
                   versions={"python": EVIL})
        )  # fmt: skip
    with next(folder.path.glob("log-*")).open("a") as log:
        log.write(EVIL + "\n")
    return folder


def test_nothing_that_is_reported_can_run_or_fetch(evil_run):
    made = report.write(evil_run)
    text = made.path.read_text("utf-8")
    page = Page(text)
    assert "script" not in page.tags
    assert not re.search(r"https?://(?!www\.w3\.org)", re.sub(r"base64,[^\"]+", "", text))
    for place in page.fetched:
        assert place.startswith(LOCAL), place
    assert page.text.count(EVIL) >= 10  # it is shown as text, wherever it stood
    assert "default-src 'none'" in text
    for svg in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", text):
        assert b"<script" not in base64.b64decode(svg)


def test_behind_every_figure_are_its_numbers_its_formula_and_its_command(evil_run):
    made = report.write(evil_run)
    text = made.path.read_text("utf-8")
    assert text.count("data:text/csv;base64,") == len(FIGURES)
    assert text.count("Numbers, formula, command") == len(FIGURES)
    beside = made.path.with_name("report_files")
    names = sorted(p.name for p in beside.iterdir())
    assert sum(n.endswith(".csv") for n in names) == len(FIGURES)
    assert sum(n.endswith(".svg") for n in names) == sum(n.endswith(".pdf") for n in names) == DRAWN
    assert made.damaged
    assert "could not be read" in text


def test_wide_figures_scroll_rather_than_shrink_until_nobody_can_read_them(evil_run):
    text = report.write(evil_run).path.read_text("utf-8")
    pictures = re.findall(
        r'<div class="scroll picture" tabindex="0"><img width="(\d+)" style="min-width: (\d+)px"',
        text,
    )
    assert len(pictures) == text.count("<img") == DRAWN
    assert all(int(least) == round(0.6 * int(width)) for width, least in pictures)


def test_on_paper_everything_is_unfolded(small_run, tmp_path):
    browser, reader = shutil.which("chromium"), shutil.which("pdftotext")
    if not browser or not reader:
        pytest.skip("it takes Chromium and pdftotext to see what is printed")
    page = report.write(small_run).path
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'me'}"]
    paper = tmp_path / "paper.pdf"
    subprocess.run(
        [browser, *options, f"--print-to-pdf={paper}", page.as_uri()],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    told = subprocess.run([reader, paper, "-"], check=True, capture_output=True, text=True).stdout
    assert told.count("Formula.") == page.read_text("utf-8").count("<b>Formula.</b>")
    assert told.count("snellen run …") == page.read_text("utf-8").count("snellen run …")


def test_two_models_of_one_name_are_told_apart(tmp_path):
    exam = plugins.exam("abstraction", transformations="mirrored", repeats=2, samples=60, tests=60)
    folder = RunFolder(tmp_path)
    folder.begin(Plan("abstraction", plugins.settings.dump(exam), ("chance",), "snellen run …"))
    for seed in (1, 2):
        for item in exam.items():
            folder.append(conduct(exam, plugins.subject(f"chance,seed={seed}"), item))
    (graded,) = report.grade_folder(folder)
    assert {v.subject for v in graded.result.verdicts} == {"chance (ce-1-1)", "chance (ce-1-2)"}


@pytest.fixture
def small_run(tmp_path):
    """A run of four subjects, two of which are baselines."""
    exam = plugins.exam("abstraction", transformations="mirrored,rotated", **TINY)
    folder = RunFolder(tmp_path / "run")
    asked = ("simulated,person=2", "simulated,person=1", "nearest", "chance")
    folder.begin(Plan("abstraction", plugins.settings.dump(exam), asked, "snellen run …"))
    for who in asked:
        for item in exam.items():
            folder.append(conduct(exam, plugins.subject(who), item))
    return folder


TINY = {"repeats": 3, "samples": 60, "tests": 60}


def test_the_order_in_which_records_arrive_leaves_no_trace(small_run):
    (log,) = small_run.path.glob("log-*.jsonl")
    plan, *lines = log.read_text().splitlines(keepends=True)
    written = []
    for seed in range(3):
        report.write(RunFolder(small_run.path))
        beside = small_run.path / "report_files"
        written.append({p.name: p.read_bytes() for p in beside.glob("*.csv")})
        random.Random(seed).shuffle(lines)
        log.write_text("".join([plan, *lines]))
    assert written[0]
    assert written[0] == written[1] == written[2]
    (graded,) = report.grade_folder(small_run)
    order = list(dict.fromkeys(v.subject for v in graded.result.verdicts))
    assert order == ["simulated-1", "simulated-2", "nearest", "chance"]
    assert [r.item for r in graded.records[:12]] == list(graded.exam.items())


def test_models_come_in_the_order_in_which_they_were_asked_for(small_run):
    small_run.begin(Plan("abstraction", {**TINY}, ("torch:b/zeta.py:net", "alpha.onnx"), "…"))
    (record, *_) = small_run.records()
    for name in ("alpha.onnx", "net"):
        small_run.append(replace(record, subject=name, fingerprint=name, trials={}))
    graded = report.grade_folder(small_run)[0]
    order = list(dict.fromkeys(r.subject for r in graded.records))
    assert order == ["net", "alpha.onnx", "simulated-1", "simulated-2", "nearest", "chance"]


@pytest.mark.parametrize(
    "measures", [{}, {"asked": 3}, {"asked": {"known": "ten"}}, {"asked": {}, "seen": None}]
)
def test_measures_that_cannot_be_graded_are_told_with_the_log_and_the_remedy(small_run, measures):
    (record, *_) = small_run.records()
    small_run.append(replace(record, measures={**measures}, trials={}))
    with pytest.raises(SnellenError, match=r"records in .*run: .*; if a log there was edited, put"):
        report.write(small_run)


def test_a_folder_without_a_run_is_told(tmp_path):
    RunFolder(tmp_path)
    with pytest.raises(LogError, match="holds no run; make one with"):
        report.write(RunFolder(tmp_path))
