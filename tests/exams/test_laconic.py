"""The least that is named rightly: reached by the rules, minimal, and the same each time."""

import csv
import io
import itertools
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from snellen import engine, plugins
from snellen.cli import main
from snellen.core import Answers
from snellen.errors import BadSetting, Unloadable
from snellen.exams.laconic.lattice import Lattice, squashed, whole
from snellen.exams.laconic.search import (
    METHODS,
    Beam,
    Search,
    exhaustive,
    least,
    powell,
    straight,
)  # fmt: skip
from snellen.images.labelled import asked_labels, choices, open_collection
from snellen.images.reductions import CROP, ways
from snellen.log import RunFolder
from snellen.sitting import conduct

TWO = ("yes", "no")


def picture(seed, height, width, channels=3):
    """Smooth noise: a picture that can be reduced in every way."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (4, 4, 3)).astype(np.uint8)
    made = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
    return made[..., :channels].copy()


def linear(seed, side, channels):
    """A subject that weighs pixels: unlike anybody's, but monotone in none of the ways."""
    weights = np.random.default_rng(seed).normal(size=(side * side * channels, 2))

    def scores(images):
        return images.reshape(len(images), -1) / 255 @ weights

    return scores


def ask(scores, sheet):
    found = scores(sheet.images)
    return Answers(found.argmax(axis=1), found, truth=sheet.truth)


def run(lattice, scores, method, budget=0, truth=None):
    """Search until the end; return the search, what it found, and every sheet it asked."""
    if truth is None:
        truth = int(scores(lattice.shown(lattice.start)[None]).argmax())
    search, asked = Search(lattice, TWO, truth, budget), []
    flow = least(search, method)
    try:
        sheet = next(flow)
        while True:
            asked.append(sheet)
            sheet = flow.send(ask(scores, sheet))
    except StopIteration as end:
        return search, end.value, asked


CASES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10_000),
        "height": st.integers(1, 40),
        "width": st.integers(1, 40),
        "channels": st.sampled_from([1, 3]),
    }
)


# the rules -----------------------------------------------------------------------------------


@given(CASES, st.sampled_from(["crop", "combined", "colour+blur"]), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_every_step_of_a_path_lowers_the_entropy_and_no_further_step_is_right(case, way, width):
    image = picture(**case)
    lattice = Lattice(image, ways(way), 12)
    scores = linear(case["seed"], 12, case["channels"])
    search, found, _ = run(lattice, scores, Beam(width))
    path = found.path
    assert path[0].state == lattice.start
    truth = search.truth
    for before, after in itertools.pairwise(path):
        assert lattice.bits(after.state) < lattice.bits(before.state)
        assert after.state in lattice.steps(before.state)  # a single step, no stride
    for node in path:  # asked alone and anew, each is right
        assert scores(lattice.shown(node.state)[None]).argmax() == truth
    for step in lattice.steps(found.state):
        assert scores(lattice.shown(step)[None]).argmax() != truth
    assert search.is_minimal(found)


@given(CASES, st.sampled_from(["colour", "resolution", "blur", "jpeg", "frequencies"]))
@settings(max_examples=40, deadline=None)
def test_a_single_way_is_searched_exactly(case, way):
    lattice = Lattice(picture(**case), ways(way), 12)
    scores = linear(case["seed"], 12, case["channels"])
    search, found, _ = run(lattice, scores, straight)
    here, truth = lattice.start, search.truth
    while (further := lattice.edge(here, 0)) is not None:
        if scores(lattice.shown(further)[None]).argmax() != truth:
            break
        here = further
    assert found.state == here
    assert search.is_minimal(found)


def test_nothing_beats_the_oracle_and_a_wide_beam_comes_near_it():
    """On coarse lattices of which every state can be visited; near is meant on the average."""
    gaps = []
    for seed in range(20):
        lattice = Lattice(picture(seed, 5, 5), ways("colour+crop"), 8, rungs=5)
        assert {len(ladder) for ladder in lattice.ladders} == {5}
        scores = linear(seed, 8, 3)
        _, best, _ = run(lattice, scores, exhaustive)
        found = [run(lattice, scores, Beam(width))[1].bits for width in (1, 8)]
        assert best.bits <= min(found)
        gaps.append(min(found) / best.bits)
    assert np.exp(np.log(gaps).mean()) < 1.2


def test_a_picture_that_starts_wrong_has_none():
    lattice = Lattice(picture(0, 9, 9), ways("combined"), 8)
    scores = linear(0, 8, 3)
    wrong = 1 - int(scores(lattice.shown(lattice.start)[None]).argmax())
    for method in (Beam(), powell, exhaustive):
        search, found, asked = run(lattice, scores, method, truth=wrong)
        assert found is None
        assert len(search.replies) == len(asked) == 1


@pytest.mark.parametrize("corner", [(0, 0), (0, -1), (-1, 0), (-1, -1)])
def test_who_looks_at_one_corner_is_left_with_that_corner(corner):
    image = np.full((40, 32, 3), 250, np.uint8)
    image[::2, ::3] = 200

    def scores(images):
        seen = images[:, corner[0], corner[1]].mean(axis=1) > 160
        return np.stack([seen, ~seen], axis=1).astype(float)

    lattice = Lattice(image, ways("crop"), 40)
    _, found, _ = run(lattice, scores, Beam())
    kept = np.argwhere((lattice.picture(found.state) != lattice.neutral).any(axis=2))
    height, width = np.ptp(kept, axis=0) + 1
    assert max(height, width) <= 2  # what interpolation needs of it
    assert kept[0 if corner[0] == 0 else -1][0] == corner[0] % 40
    assert (kept[:, 1] == corner[1] % 32).any()


def test_powell_finds_what_is_right_but_proves_nothing():
    lattice = Lattice(picture(3, 30, 30), ways("combined"), 12)
    scores = linear(3, 12, 3)
    search, found, _ = run(lattice, scores, powell)
    assert scores(lattice.shown(found.state)[None]).argmax() == search.truth
    assert found.bits < lattice.bits(lattice.start)
    assert len(found.path) == 2


@pytest.mark.parametrize("method", [Beam(2), powell, exhaustive])
def test_a_budget_is_kept_to_and_what_was_found_by_then_counts(method):
    lattice = Lattice(picture(5, 30, 30), ways("combined"), 12)
    scores = linear(5, 12, 3)
    search, found, _ = run(lattice, scores, method, budget=30)
    assert len(search.replies) <= 30
    assert found is not None
    whole_search, complete, _ = run(lattice, scores, Beam(2))
    assert complete.bits <= found.bits or method is not Beam(2)
    counts = [count for count, _ in whole_search.curve]
    bits = [b for _, b in whole_search.curve]
    assert counts == sorted(counts)
    assert bits == sorted(bits, reverse=True)


@given(CASES)
@settings(max_examples=20, deadline=None)
def test_by_the_letter_the_very_next_picture_must_have_less_entropy(case):
    lattice = Lattice(picture(**case), ways("colour"), 12, strict=True)
    lenient = Lattice(picture(**case), ways("colour"), 12)
    for rung in range(len(lattice.ladders[0]) - 1):
        further, leap = lattice.edge((rung,), 0), lenient.edge((rung,), 0)
        assert further in (None, leap)
        if further is None and leap is not None:  # a picture that takes more lies between
            between = [(r,) for r in range(rung + 1, leap[0])]
            assert any(lattice.bits(state) >= lattice.bits((rung,)) for state in between)


def test_a_guard_keeps_a_share_of_the_margin():
    lattice = Lattice(picture(5, 30, 30), ways("combined"), 12)
    scores = linear(5, 12, 3)
    truth = int(scores(lattice.shown(lattice.start)[None]).argmax())
    search = Search(lattice, TWO, truth, guard=0.5)
    flow = least(search, Beam(caution=0.1))
    sheet = next(flow)
    with pytest.raises(StopIteration) as end:  # noqa: PT012 — the last of many
        while True:
            sheet = flow.send(ask(scores, sheet))
    path = end.value.value.path
    assert min(node.margin for node in path) >= 0.5 * path[0].margin > 0
    _, free, _ = run(lattice, scores, Beam(caution=0.1))
    assert free.margin < 0.5 * path[0].margin
    assert search.is_minimal(end.value.value)


def test_a_subject_without_scores_is_searched_too():
    lattice = Lattice(picture(7, 20, 20), ways("combined"), 12)
    scores = linear(7, 12, 3)
    truth = int(scores(lattice.shown(lattice.start)[None]).argmax())
    search = Search(lattice, TWO, truth)
    flow = least(search, Beam())
    sheet = next(flow)
    with pytest.raises(StopIteration) as end:  # noqa: PT012 — the last of many
        while True:
            found = ask(scores, sheet)
            sheet = flow.send(Answers(found.choice, truth=sheet.truth))
    assert search.is_minimal(end.value.value)
    assert np.isnan(end.value.value.margin)


def test_an_error_in_a_minimiser_is_not_swallowed():
    lattice = Lattice(picture(7, 20, 20), ways("combined"), 12)
    flow = least(Search(lattice, TWO, 0), METHODS["powell"])
    sheet = next(flow)
    sheet = flow.send(Answers(np.zeros(1, np.intp), truth=sheet.truth))
    with pytest.raises(AttributeError):
        flow.send(None)


# what is shown -------------------------------------------------------------------------------


@given(CASES, st.data())
@settings(max_examples=60, deadline=None)
def test_crops_never_stretch_and_look_the_same_whichever_part_is_computed(case, data):
    image = picture(**case)
    side = data.draw(st.sampled_from([7, 12, 32, 60]))
    lattice = Lattice(image, ways("combined"), side)
    state = tuple(data.draw(st.integers(0, len(ladder) - 1)) for ladder in lattice.ladders)
    if lattice.step(state, 0, 0) is None:
        return
    small = lattice.picture(state)
    np.testing.assert_array_equal(lattice.shown(state), whole(small, side))
    uncropped = tuple(
        0 if way.name in CROP else rung for way, rung in zip(lattice.ways, state, strict=True)
    )
    kept = (small != lattice.neutral).any(axis=2)
    np.testing.assert_array_equal(small[kept], lattice.picture(uncropped)[kept])


def test_shown_pictures_are_those_of_pillow():
    image = picture(1, 50, 30)
    ours = squashed(image, 64, (0, 50, 0, 30), 127)
    theirs = np.asarray(Image.fromarray(image).resize((64, 64), Image.Resampling.BICUBIC))
    assert np.abs(ours.astype(int) - theirs).max() <= 2


def test_one_pixel_has_no_further_step():
    lattice = Lattice(np.full((1, 1, 3), 9, np.uint8), ways("combined"), 8)
    _, found, asked = run(lattice, linear(0, 8, 3), Beam())
    assert found.bits <= lattice.bits(lattice.start)
    assert len(asked) <= 40


# the exam ------------------------------------------------------------------------------------


def exam(**values):
    return plugins.exam("laconic", **values)


def test_a_record_holds_the_certificate():
    asked = exam(per_class=1, entropy="png,zlib_raw")
    pupil = plugins.subject("tutored,width=2")
    items = (i for i in asked.items() if i["reduction"] == "combined")
    records = (conduct(asked, pupil, item) for item in items)
    record = next(r for r in records if r.measures["right"])
    found = record.measures
    assert found["minimal"] is True
    assert found["path"][0][0] == [0] * 6
    bits = [step[1] for step in found["path"]]
    assert bits == sorted(set(bits), reverse=True)
    assert found["failing"]
    assert all(margin < 0 for _, margin in found["failing"])
    assert found["margin"] >= 0
    assert found["bytes"]["png"] == len(found["mepi"].data)
    assert "Pillow" in found["encoder"]
    assert found["asked"] + 1 == len(record.trials["choice"])  # and the void picture
    left = np.asarray(Image.open(io.BytesIO(found["mepi"].data)))
    assert list(left.shape[:2]) == found["size"]


@pytest.fixture
def photos(tmp_path):
    """A folder of every kind of trouble."""
    root = tmp_path / "photos"
    root.mkdir()
    rows = [("file", "label")]
    for n, label in enumerate(["yes", "no"] * 3):
        Image.fromarray(picture(n, 30 + n, 40)).save(root / f"{n}.png")
        rows.append((f"{n}.png", label))
    Image.new("CMYK", (20, 20), (9, 99, 0, 9)).save(root / "ink.jpg")
    (root / "torn.png").write_bytes((root / "0.png").read_bytes()[:90])
    Image.fromarray(np.full((1, 1), 40_000, np.uint16)).save(root / "one.png")
    rows += [("ink.jpg", "no"), ("torn.png", "yes"), ("one.png", "yes")]
    with (root / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return root


CODE = """
import numpy as np

def bright(images):
    level = images.reshape(len(images), -1).mean(axis=1)
    return np.stack([level, 1 - level], axis=1)

def dark(images):
    return 1 - bright(images)

def red(images):
    level = images[..., 0].reshape(len(images), -1).mean(axis=1)
    return np.stack([level, 1 - level], axis=1)
"""


@pytest.fixture
def net(tmp_path):
    (tmp_path / "net.py").write_text(CODE)
    return tmp_path / "net.py"


def command(photos, net, folder, *more):
    return [
        "run", "laconic", "-m", f"{net}:bright", "-m", f"{net}:red", "--no-baselines",
        "--set", f"pictures={photos}", "--set", "side=16", "--set", "entropy=png",
        "--into", str(folder), *more,
    ]  # fmt: skip


def test_pictures_that_cannot_be_read_fail_alone_and_the_others_are_crossed(photos, net, tmp_path):
    folder = tmp_path / "run"
    done = CliRunner().invoke(main, command(photos, net, folder, "-w", "1"))
    assert done.exit_code == 3, done.output
    assert "torn.png cannot be read as a picture" in done.stderr
    records = RunFolder(folder).records()
    assert sum(bool(r.error) for r in records) == 8  # four reductions, two subjects
    crossed = [r for r in records if "owner" in r.item]
    assert {(r.subject, r.item["owner"]) for r in crossed} == {
        (a, b) for a in ("net.py:bright", "net.py:red") for b in ("net.py:bright", "net.py:red")
    }
    for r in crossed:
        if r.subject == r.item["owner"]:  # by definition, and from the file that was saved
            assert r.measures["right"] == r.measures["asked"]
    page = (folder / "report.html").read_text()
    for told in (
        *("What share of a picture", "Figure 1", "Figure 2", "Class by class", "Two by two"),
        "8 items failed",
    ):
        assert told in page
    again = CliRunner().invoke(main, command(photos, net, folder, "-w", "1"))
    assert "failed" in again.stderr
    assert len(RunFolder(folder).records()) == len(records)


def test_a_killed_run_ends_with_the_same_mepis_byte_for_byte(photos, net, tmp_path):
    (photos / "torn.png").write_bytes((photos / "0.png").read_bytes())
    snellen = [sys.executable, "-m", "snellen"]
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    more = ("-w", "2", "--no-report")
    subprocess.run([*snellen, *command(photos, net, calm, *more)], check=True, capture_output=True)
    process = subprocess.Popen(
        [*snellen, *command(photos, net, killed, *more)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    end = time.monotonic() + 60
    while not list(killed.glob("artefacts/*/*.png")):
        assert time.monotonic() < end
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = len(RunFolder(killed).records())
    subprocess.run(
        [*snellen, *command(photos, net, killed, *more)], check=True, capture_output=True
    )
    one, other = ({r.key: r for r in RunFolder(f).records()} for f in (calm, killed))
    assert before < len(one)
    assert one.keys() == other.keys()
    for key, record in one.items():
        mine, theirs = record.measures, other[key].measures
        assert {k: v for k, v in mine.items() if k not in ("mepi", "original")} == {
            k: v for k, v in theirs.items() if k not in ("mepi", "original")
        }
        if "mepi" in mine:
            assert mine["mepi"].data == theirs["mepi"].data


def test_a_set_of_mepis_is_written_and_read_back(photos, net, tmp_path):
    folder, out = tmp_path / "run", tmp_path / "set"
    CliRunner().invoke(main, command(photos, net, folder, "-w", "1", "--no-report"))
    done = CliRunner().invoke(
        main, ["laconic-set", str(folder), "-o", str(out), "--reduction", "combined"]
    )
    assert done.exit_code == 0, done.output
    account = json.loads((out / "manifest.json").read_text())
    collection = open_collection(str(out))
    assert account["pictures"] == len(collection.labels) > 4
    assert set(collection.labels.values()) <= {"yes", "no"}
    name = next(iter(collection.labels))
    assert collection.read(name).dtype == np.uint8
    asked = exam(pictures=str(out), side=16, reductions="colour", entropy="png")
    records = engine.sit_all(asked, plugins.subject(f"{net}:bright"))
    assert any(r.measures["right"] for r in records)
    nobody = CliRunner().invoke(main, ["laconic-set", str(folder), "--owner", "nobody"])
    assert nobody.exit_code == 1
    assert "it has owners net.py:bright, net.py:red" in nobody.output


def test_settings_that_cannot_be_are_explained(tmp_path):
    for values, told in (
        ({"reductions": "colours"}, "no reduction is called 'colours'"),
        ({"entropy": "gif"}, "no entropy is called 'gif'"),
        ({"groups": "none.json"}, "groups cannot be read"),
    ):
        with pytest.raises(BadSetting, match=told):
            exam(**values)
    (tmp_path / "empty").mkdir()
    with pytest.raises(Unloadable, match="should hold a folder of pictures for each class"):
        exam(pictures=str(tmp_path / "empty")).items()
    with pytest.raises(Unloadable, match="holds no set of MEPIs"):
        exam(mepis=str(tmp_path / "empty")).items()
    with pytest.raises(Unloadable, match="no such folder"):
        exam(pictures=str(tmp_path / "nowhere")).items()


def test_labels_may_be_asked_about_in_groups(tmp_path):
    rows = [("file", "class_index"), ("a.png", "281"), ("b.png", "151"), ("c.png", "999")]
    for name, _ in rows[1:]:
        Image.new("L", (8, 8)).save(tmp_path / name)
    with (tmp_path / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert asked_labels(str(tmp_path), "", "imagenet20") == {"a.png": "cat", "b.png": "dog"}
    assert len(choices(str(tmp_path), "", "imagenet20")) == 20
    assert choices(str(tmp_path), "", "") == ("151", "281", "999")


def test_growing_a_run_keeps_what_was_done():
    few, more = exam(per_class=1), exam(per_class=2, reductions="colour,blur")
    assert {i.key for i in few.items() if i["reduction"] == "colour"} <= {
        i.key for i in more.items()
    }
    first, second = few.items()[0], more.items()[0]
    assert first == second
    one, other = (next(e.examine(first)) for e in (few, more))
    np.testing.assert_array_equal(one.images, other.images)
