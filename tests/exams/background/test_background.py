"""Oracles with a known mind sit the exam; what it says of them is what was put there."""

import csv
import io
import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from snellen import engine
from snellen.cli import main
from snellen.core import Answers, Attachment
from snellen.errors import SnellenError
from snellen.exams.background import Background, cases, results
from snellen.exams.background.assessor import LEAF, Assessor
from snellen.exams.background.cases import CONTROLS
from snellen.exams.background.features import FEATURES
from snellen.exams.background.keywords import Seen, effects
from snellen.exams.background.strips import cut_up, strip
from snellen.images.scenery import GROUP_OF, KEYWORDS, KINDS, draw_scenes
from snellen.images.things import THINGS
from snellen.seeds import Seed
from snellen.stats import Interval
from tests_scenes import WORDS

FIRST = 1 + len(CONTROLS)
SURE, LOST = 0.9, 0.02
PAINTED = Background(
    number=45, drawn=160, count=12, pictures=90, epochs=1, repeats=1, correlations=(0.5,)
)
GROUP_OF_KIND = {kind.name: group for kind, group in zip(KINDS, GROUP_OF, strict=True)}


class Oracle:
    """Knows every picture of some cases, and how sure it is to be of the right answer."""

    gives = frozenset({"choice", "scores", "study"})

    def __init__(self, asked, mind, name="oracle"):
        self.name = self.fingerprint = name
        self.known = {}
        for case in asked:
            for place, picture in enumerate(case.pictures):
                self.known.setdefault(picture.tobytes(), (case.label, mind(case, place)))

    def answer(self, sheet):
        others = len(sheet.choices) - 1
        scores = np.full((len(sheet), others + 1), 1 / (others + 1))
        for row, picture in enumerate(sheet.images):
            if picture.tobytes() in self.known:  # probes are not
                label, sure = self.known[picture.tobytes()]
                scores[row] = (1 - sure) / others
                scores[row, sheet.choices.index(label)] = sure
        return Answers(scores.argmax(axis=1), scores)

    def study(self, lesson):
        return self


def lot(*parts):
    """A number from 0 to 1 that hangs on nothing else."""
    return float(Seed(*parts).floats(1)[0])


def sat(mind, exam=PAINTED, name="oracle"):
    return engine.sit_all(exam, Oracle(asked_of(exam), mind, name))


def asked_of(exam):
    if not exam.targets:
        return [cases.painted(exam, place) for place in range(exam.number)]
    made = []
    for item in exam.items():
        try:
            made.append(cases.photographed(exam, str(item["target"]), str(item["label"])))
        except cases.Skipped:
            continue
    return made


def found(exam, records):
    (only,) = results.findings(exam, records)
    return only


def matrix(exam, records, signal="CONF true"):
    return found(exam, records).matrices(exam, [signal])[signal]


def figure(result, name):
    return next((f for f in result.figures if f.name == name), None)


def plain(result):
    """A result as text that can be compared."""
    verdicts = [(v.subject, v.text, v.tone, v.score) for v in result.verdicts]
    return repr([verdicts, [(f.name, f.caption, list(f.rows())) for f in result.figures]])


def assessor(path):
    """One that judges by how much being right changes: a tree of two questions."""
    names = tuple(f"CONF right {name}" for name in FEATURES)
    chances = np.array([[0, 0, 0], [0.0, 0.1, 0.9], [0, 0, 0], [0.1, 0.8, 0.1], [0.9, 0.1, 0]])
    Assessor(
        names,
        starts=np.array([0]),
        feature=np.array([0, LEAF, 0, LEAF, LEAF]),
        threshold=np.array([0.02, 0, 0.1, 0, 0]),
        left=np.array([1, 0, 3, 0, 0]),
        right=np.array([2, 0, 4, 0, 0]),
        chances=chances,
        importance=np.eye(len(names))[0],
    ).save(path)
    return str(path)


# minds that are known, before painted scenes ---------------------------------------------------


def foreground(_case, _place):
    return SURE


def scenery(case, place):
    """Answers with the class that prefers the scene, whatever stands before it."""
    if place in (0, 2):  # its own scenery, which is nearly always the preferred one
        return SURE
    if place < FIRST:
        return LOST
    group = GROUP_OF_KIND[case.chosen[place - FIRST].picture.partition("-")[0]]
    return SURE if THINGS[group] == case.label else LOST


def test_who_sees_the_foreground_only_has_a_zero_matrix_and_is_called_invariant(tmp_path):
    exam = replace(PAINTED, assessor=assessor(tmp_path / "a.npz"))
    records = sat(foreground, exam)
    one = found(exam, records)
    for signal in results.JUDGED:
        assert abs(matrix(exam, records, signal).values).max() < 1e-12
    assert one.original.value == one.composites.value == one.everywhere.value == 1
    assert one.composites.low < 0.95  # 45 targets are no proof
    assert one.loss().value == one.loss("alone").value == 0
    assert not any(e.hurts for e in one.effects)
    (verdict,) = exam.grade(records).verdicts
    assert verdict.text.startswith("invariant to scenery, says the given assessor (")
    assert verdict.tone == "good"
    assert verdict.score == pytest.approx(0.95)


def test_who_sees_the_scenery_only_is_lost_elsewhere_and_on_grey(tmp_path):
    exam = replace(PAINTED, assessor=assessor(tmp_path / "a.npz"))
    records = sat(scenery, exam)
    one = found(exam, records)
    assert one.original.value == one.control("re-pasted").value == 1
    assert one.control("alone").value == one.everywhere.value == 0
    assert one.composites.high < 0.3
    assert one.loss().low > 0.7
    assert one.loss("alone").high < 0
    (verdict,) = exam.grade(records).verdicts
    assert verdict.text.startswith("not invariant to scenery")
    assert (verdict.tone, verdict.score) == ("poor", pytest.approx(0.05))


def test_the_matrix_grows_as_scenery_is_mixed_in():
    def mixed(alpha):
        def mind(case, place):
            if place < FIRST:
                return SURE
            return SURE - alpha * 0.8 * lot(case.chosen[place - FIRST].picture)

        return mind

    exam = replace(PAINTED, include="all")
    whole = matrix(exam, sat(mixed(1.0), exam)).values
    assert whole.mean() > 0.1
    for alpha in (0.0, 0.25, 0.5):
        part = matrix(exam, sat(mixed(alpha), exam)).values
        assert part == pytest.approx(alpha * whole, abs=2e-5)


def test_a_mind_that_declines_with_distance_has_the_matrix_of_its_decline():
    def mind(case, place):
        return SURE if place < FIRST else SURE - 0.5 * case.chosen[place - FIRST].distance ** 2

    exam = replace(PAINTED, include="all")
    made = matrix(exam, sat(mind, exam))
    middles = (np.arange(len(made.values)) + 0.5) / len(made.values)
    g = SURE - 0.5 * middles**2
    there = made.counts > 0
    off = abs(made.values - abs(g[:, None] - g))[there]
    assert off.mean() < 0.03  # a kernel of 10 elements smooths
    assert off.max() < 0.12
    rows, columns = np.nonzero(there)
    assert np.corrcoef(made.values[there], abs(rows - columns))[0, 1] > 0.8


@pytest.mark.parametrize("word", ["rock", "grass", "sea"])
def test_one_poisoned_keyword_is_named_first_and_alone(word, tmp_path):
    def mind(case, place):
        shown = case.words[place - FIRST].split(";") if place >= FIRST else ()
        return LOST if word in shown else SURE

    exam = replace(PAINTED, assessor=assessor(tmp_path / "a.npz"))
    records = sat(mind, exam)
    first, *others = found(exam, records).effects
    assert first.word == word
    assert first.hurts
    assert first.p < 0.01
    assert first.adjusted.value < -0.8
    assert first.plain.value == pytest.approx(-1)
    assert not any(e.hurts for e in others)  # though many keep it company
    assert min(e.plain.high for e in others) < 0
    assert min(e.adjusted.value for e in others) > -0.1
    result = exam.grade(records)
    assert f"with all else held still: {word} -9" in result.verdicts[0].text
    assert figure(result, "keywords").cells[0]["keyword"] == word
    shelves = figure(result, "hurt-oracle, taught at 0.50").shelves
    assert next(iter(shelves)) == word
    assert len(shelves[word][0]) == len(shelves[word][1]) == results.WORST


def test_the_more_often_scenery_decides_the_larger_the_matrix():
    def follower(rho):
        def mind(case, place):
            if place < FIRST or lot(case.target, place) >= rho:
                return SURE
            return scenery(case, place)

        return mind

    sizes = [
        matrix(PAINTED, sat(follower(rho)), "CONF right").values.mean()
        for rho in (0, 0.15, 0.3, 0.5)
    ]
    assert sizes[0] < 1e-12
    assert (np.diff(sizes) > 0.02).all()


def test_repeats_of_a_target_are_not_taken_for_other_targets():
    def mind(case, place):
        return SURE if place < FIRST or lot(case.target, place) < 0.6 else LOST

    once = sat(mind)
    thrice = sat(mind, replace(PAINTED, repeats=3))
    assert len(thrice) == 3
    one, three = found(PAINTED, once), found(PAINTED, thrice)
    assert len(three.used) == 3 * len(one.used)
    assert three.count == one.count == 45
    for name in ("original", "composites", "everywhere", "plausible"):
        assert getattr(three, name) == pytest.approx(getattr(one, name))
    assert three.loss() == pytest.approx(one.loss())
    many = {e.word: e for e in three.effects}
    for e in one.effects:
        assert (many[e.word].targets, many[e.word].p) == (e.targets, e.p)
        assert many[e.word].plain == pytest.approx(e.plain)
    numbers = figure(PAINTED.grade(thrice), "losses").cells[0]
    assert numbers["targets"] == 45
    assert (
        numbers["before usual scenery"]
        == figure(PAINTED.grade(once), "losses").cells[0]["before usual scenery"]
    )


def test_records_in_any_order_give_the_same_result():
    exam = replace(PAINTED, repeats=2, include="all")
    records = sat(scenery, exam) + sat(foreground, exam, "other")
    text = plain(exam.grade(records))
    assert "oracle, taught at 0.50" in text
    assert plain(exam.grade([records[place] for place in (3, 0, 2, 1)])) == text


def test_a_grade_is_made_of_records_alone(monkeypatch):
    records = sat(scenery)
    text = plain(PAINTED.grade(records))
    for name in ("painted_world", "_library", "scene_files"):
        monkeypatch.setattr(cases, name, None)
    again = PAINTED.grade(records)
    assert plain(again) == text
    assert {"ontology", "ontology-rules"} <= {f.name for f in again.figures}


def test_the_kernel_that_is_shown_does_not_change_what_is_judged(tmp_path):
    exam = replace(PAINTED, assessor=assessor(tmp_path / "a.npz"))
    records = sat(scenery, exam)
    (wide,) = exam.grade(records).verdicts
    shown = replace(exam, kernel="sharp", differences="signed")
    assert shown.grade(records).verdicts == [wide]
    name = "matrices-oracle, taught at 0.50"
    panels = [figure(e.grade(records), name).panels["right or wrong"] for e in (exam, shown)]
    assert abs(panels[0] - panels[1]).max() > 0.1


SAME = """
import hashlib
from snellen.exams.background import Background, cases
exam = Background(number=9, drawn=30, count=4)
hashed = hashlib.sha256()
for place in range(9):
    case = cases.painted(exam, place)
    hashed.update(case.pictures.tobytes() + repr((case.chosen, case.words)).encode())
print(hashed.hexdigest())
"""


def test_the_same_seed_makes_the_same_bytes_anywhere():
    told = {
        subprocess.run(
            [sys.executable, "-c", SAME],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def test_no_painted_object_stands_before_a_scene_that_is_said_to_show_it():
    for case in asked_of(PAINTED):
        assert len(case.chosen) == PAINTED.count
        assert not any(case.label in words.split(";") for words in case.words)


def test_pictures_are_kept_in_rows_and_found_again():
    images = (
        np.zeros((90, 96, 96, 3), np.uint8) + np.arange(90, dtype=np.uint8)[:, None, None, None]
    )
    made = cut_up(strip(images))
    assert abs(made[:90].astype(int) - images).max() <= 2
    assert len(strip(np.zeros((1003, 8, 8, 3), np.uint8))) > 0  # as many as can be asked for


def test_nothing_surely_hurts_where_errors_fall_by_lot():
    rng = np.random.default_rng(0)
    for _ in range(12):
        seen = [
            Seen(
                [frozenset(w for w in WORDS if rng.random() < 0.3) for _ in range(10)],
                rng.random(10),
                (rng.random(10) < 0.7).astype(float),
            )
            for _ in range(30)
        ]
        assert not any(e.hurts for e in effects(seen))


def test_keywords_that_few_targets_tell_apart_are_not_judged():
    one = Seen([frozenset("a"), frozenset("b")], np.array([0.1, 0.9]), np.array([1.0, 0.0]))
    assert effects([one] * 7) == []
    assert [e.word for e in effects([one] * 8)] == ["b", "a"]
    assert effects([]) == []


# photographs -----------------------------------------------------------------------------------

INKS = {"blue": (0, 0, 255), "green": (0, 255, 0), "red": (255, 0, 0)}
SIDE = 32


def save(picture, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(path)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Squares in three colours before painted scenes, with masks and tags; no exam changes it."""
    root = tmp_path_factory.mktemp("photos")
    scenes = draw_scenes(Seed("test scenes"), 60, SIDE)
    behind = draw_scenes(Seed("test targets"), 24, SIDE)
    lines = []
    for place in range(60):
        words = [KEYWORDS[k] for k in np.flatnonzero(scenes.present[place])]
        words += [["red"], ["gold_reds"], ["crimson"], [], [], []][place % 6]
        lines.append([f"s{place:02}.png", ";".join(words)])
        save(scenes.pictures[place], root / "scenes" / lines[-1][0])
    for place in range(24):
        label = list(INKS)[place % 3]
        top, left = 6 + place % 5, 6 + place % 7
        alpha = np.zeros((SIDE, SIDE), np.uint8)
        alpha[top : top + 13, left : left + 13] = 255
        picture = np.where(alpha[..., None] > 0, np.uint8(INKS[label]), behind.pictures[place])
        save(picture, root / "targets" / label / f"t{place:02}.png")
        save(alpha, root / "masks" / label / f"t{place:02}.png")
        words = [KEYWORDS[k] for k in np.flatnonzero(behind.present[place])]
        lines.append([f"{label}/t{place:02}.png", ";".join(words)])
    write_tags(root / "tags.csv", lines)
    (root / "relatives.json").write_text(json.dumps({"red": ["crimson"]}))
    return root


def write_tags(path, lines):
    text = io.StringIO()
    csv.writer(text).writerows([("picture", "keywords"), *lines])
    path.write_text(text.getvalue())


def photographed(root, **more):
    usual = {name: str(root / name) for name in ("targets", "scenes", "masks")}
    usual |= {"tags": str(root / "tags.csv"), "relatives": str(root / "relatives.json")}
    return Background(**{**usual, "side": SIDE, "count": 10, **more})


@pytest.fixture
def mine(photos, tmp_path):
    """A copy of the photographs that may be harmed."""
    for file in photos.rglob("*.*"):
        copy = tmp_path / file.relative_to(photos)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    return tmp_path


def test_photographs_are_cut_out_and_laid_before_scenes(photos):
    exam = photographed(photos)
    asked = asked_of(exam)
    assert len(asked) == 24
    for case in asked:
        assert case.pictures.shape == (FIRST + 10, SIDE, SIDE, 3)
        ink = np.uint8(INKS[case.label])
        shown = (case.pictures == ink).all(axis=3)
        assert (shown.sum(axis=(1, 2)) >= 100).all()  # of 169; edges fade
        assert (case.pictures[1][0, 0] == 128).all()
        away = [choice.distance for choice in case.chosen]
        assert away[0] == min(away)
        assert max(away) - min(away) > 0.3
    records = sat(foreground, exam)
    one = found(exam, records)
    assert one.chance == pytest.approx(1 / 3)
    assert one.composites.value == one.everywhere.value == 1
    assert figure(exam.grade(records), "left-out") is None


@pytest.mark.parametrize("choose", ["spread", "subsets", "closest", "random"])
def test_no_chosen_scene_shows_the_class_or_its_relatives(photos, choose):
    exam = photographed(photos, choose=choose, count=45)
    asked = {case.label: case for case in asked_of(exam)}
    barred = {"red", "gold_reds", "crimson"}
    assert not any(barred & set(words.split(";")) for words in asked["red"].words)
    assert len(asked["red"].chosen) == 30  # all that are left
    for word in barred:
        assert any(word in words.split(";") for words in asked["blue"].words)


def test_the_finer_label_bars_scenes_too(photos, tmp_path):
    groups = tmp_path / "groups.json"
    groups.write_text(json.dumps({"warm": ["red"], "cold": ["blue", "green"]}))
    exam = photographed(photos, groups=str(groups), count=45)
    warm = next(case for case in asked_of(exam) if case.label == "warm")
    assert not any("crimson" in words.split(";") for words in warm.words)


def test_the_order_of_files_and_tags_changes_nothing(photos, mine):
    with (mine / "tags.csv").open(newline="") as file:
        _, *lines = csv.reader(file)
    turned = [[name, ";".join(reversed(words.split(";")))] for name, words in reversed(lines)]
    write_tags(mine / "tags.csv", turned)
    scenes = sorted((mine / "scenes").iterdir(), reverse=True)
    held = [(path, path.read_bytes()) for path in scenes]
    for path in scenes:
        path.unlink()
    for path, data in held:
        path.write_bytes(data)
    exam, again = photographed(photos), photographed(mine)
    pairs = list(zip(asked_of(exam), asked_of(again), strict=True))
    for one, other in pairs:
        assert one.pictures.tobytes() == other.pictures.tobytes()
        assert (one.chosen, one.words) == (other.chosen, other.words)


def test_fewer_targets_are_some_of_the_more(photos):
    few, more = ({i["target"] for i in photographed(photos, most=n).items()} for n in (5, 9))
    assert len(few) == 5
    assert len(more) == 9
    assert few < more


def test_what_shapes_an_item_is_in_its_name(photos, mine):
    exam = photographed(mine, most=2)
    items = exam.items()
    assert items == photographed(mine, most=2).items()
    for name, harm in {
        "masks": lambda: save(np.eye(SIDE, dtype=np.uint8), mine / "masks" / item_mask(items[0])),
        "targets": lambda: save(np.zeros((9, 9), np.uint8), mine / "targets" / items[0]["target"]),
    }.items():
        before = exam.items()
        harm()
        assert exam.items()[0] != before[0], name
        assert exam.items()[1] == before[1], name
    for harm in (
        lambda: (mine / "scenes" / "s99.png").write_bytes(
            (mine / "scenes" / "s00.png").read_bytes()
        ),
        lambda: (mine / "relatives.json").write_text("{}"),
    ):
        before = exam.items()
        harm()
        forget()
        assert not set(exam.items()) & set(before)


def item_mask(item):
    return str(item["target"])


def forget():
    """What a process has read of files that then changed."""
    for kept in (cases.scene_files, cases.around, cases._library, cases._mask, cases._masker):
        kept.cache_clear()


def test_bad_pictures_are_left_out_and_told(mine):
    exam = photographed(mine)
    usual = {case.target: case for case in asked_of(exam)}
    used = [choice.picture for choice in usual["blue/t00.png"].chosen]
    forget()
    (mine / "targets" / "red" / "t02.png").write_bytes(b"no picture")
    (mine / "masks" / "red" / "t05.png").unlink()
    save(np.full((SIDE, SIDE), 255, np.uint8), mine / "masks" / "red" / "t08.png")
    whole = (mine / "scenes" / used[3]).read_bytes()
    (mine / "scenes" / used[3]).write_bytes(whole[: len(whole) // 2])
    lines = [line for line in (mine / "tags.csv").read_text().splitlines() if "t11" not in line]
    (mine / "tags.csv").write_text("\n".join(x for x in lines if not x.startswith("s59.png")))
    records = sat(foreground, exam)
    one = found(exam, records)
    assert one.count == 20
    case = next(case for case in one.told if case["target"] == "blue/t00.png")
    assert used[3] not in case["scenes"]
    assert len(case["scenes"]) == len(used)  # another took its place
    cells = figure(exam.grade(records), "left-out").cells
    told = {cell["such as"]: (cell["picture"], cell["reason"]) for cell in cells}
    assert told.keys() == {
        "red/t02.png", "red/t05.png", "red/t08.png", "red/t11.png", used[3], "s59.png"
    }  # fmt: skip
    for name, (kind, words) in {
        "red/t02.png": ("target", "cannot be read as a picture"),
        "red/t05.png": ("target", "holds no mask of red/t05.png"),
        "red/t08.png": ("target", "covers 100 % of the picture"),
        "red/t11.png": ("target", "has no line for it"),
        used[3]: ("scene", "cannot be read as a picture"),
        "s59.png": ("scene", "no line in"),
    }.items():
        assert told[name][0] == kind
        assert words in told[name][1]
    (verdict,) = exam.grade(records).verdicts
    assert "4 targets were left out; the table says why" in verdict.text


def test_without_tags_scenes_are_looked_at_and_bad_ones_told(mine):
    (mine / "scenes" / "s07.png").write_bytes(b"no picture")
    exam = photographed(mine, tags="", most=8)
    records = sat(foreground, exam)
    cells = figure(exam.grade(records), "left-out").cells
    (scene,) = [cell for cell in cells if cell["picture"] == "scene"]
    assert (scene["such as"], scene["how many"]) == ("s07.png", 1)
    one = found(exam, records)
    assert one.told
    assert any("plain" in words or "clutter" in words for c in one.told for words in c["words"])


def test_nothing_is_said_of_a_run_in_which_all_was_left_out(mine):
    for file in (mine / "masks").rglob("*.png"):
        file.unlink()
    exam = photographed(mine, most=3)
    result = exam.grade(sat(foreground, exam))
    assert "all 3 targets were left out, the first because" in result.verdicts[0].text
    assert result.verdicts[0].score is None
    assert [f.name for f in result.figures] == ["left-out"]


def test_without_an_assessor_nobody_is_judged(monkeypatch):
    monkeypatch.setattr(results, "SHIPPED", "none.npz")
    results.load_assessor.cache_clear()
    (verdict,) = PAINTED.grade(sat(foreground)).verdicts
    assert verdict.text.startswith("not judged: no assessor comes with this version; give one")
    assert verdict.score is None


def test_who_is_never_right_is_not_judged():
    result = PAINTED.grade(sat(lambda _case, _place: LOST))
    assert "of 45 targets none was right as it was" in result.verdicts[0].text
    everyone = replace(PAINTED, include="all")
    text = everyone.grade(sat(scenery, everyone)).verdicts[0].text
    assert "of 45 targets as they were, all of which count" in text


def test_a_scene_and_a_target_of_one_name_have_their_own_tags(tmp_path):
    scenes = draw_scenes(Seed("twins"), 6, SIDE)
    for place in range(6):
        save(scenes.pictures[place], tmp_path / "scenes" / f"{place}.png")
        save(scenes.pictures[place], tmp_path / "targets" / "ab"[place % 2] / f"{place}.png")
    lines = [[f"{place}.png", "sky"] for place in range(6)] + [["a/0.png", "sea"]]
    write_tags(tmp_path / "tags.csv", lines)
    exam = Background(
        targets=str(tmp_path / "targets"), scenes=str(tmp_path / "scenes"), side=SIDE,
        tags=str(tmp_path / "tags.csv"),
    )  # fmt: skip
    library = cases._library(exam)
    assert library.of_targets == {"a/0.png": "a/0.png"}
    assert library.scenes.pictures == tuple(f"{place}.png" for place in range(6))


def test_what_can_be_taken_for_two_files_is_taken_for_none():
    files = ["a/1.png", "b/1.png", "b/2.jpg", "3.png"]
    assert cases.named(["1", "1.png", "2", "3.png", "3"], files) == {
        "b/2.jpg": "2",
        "3.png": "3.png",
    }


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"scenes": ""}, "targets= needs scenes="),
        ({"targets": ""}, "targets= is not"),
        ({"masks": "nowhere"}, "'nowhere' is none"),
        ({"scenes": "nowhere"}, "'nowhere' is none"),
        ({"groups": '{"x": ["pink"], "y": ["grey"]}'}, "none of the pictures"),
        ({"tags": "picture,keywords\nq.png,sea\n"}, "gives tags for 0 of the 60 pictures"),
        ({"tags": "nowhere.csv"}, "tags cannot be read"),
        ({"relatives": "[]"}, "synonyms and hyponyms cannot be read"),
        ({"lessons": ("nothing",)}, "no lesson is called 'nothing'"),
        ({"count": 10, "one scene": True}, "there are 1 pictures below"),
        ({"count": 10, "one label": True}, "all pictures in .* are labelled 'blue'"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_is_asked(
    mine, tmp_path, given, told
):
    given = dict(given)
    if given.pop("one scene", False):
        for file in sorted((mine / "scenes").iterdir())[1:]:
            file.unlink()
    if given.pop("one label", False):
        for file in [
            *(mine / "targets" / "red").iterdir(),
            *(mine / "targets" / "green").iterdir(),
        ]:
            file.unlink()
    for name, suffix in (("groups", "json"), ("tags", "csv"), ("relatives", "json")):
        if given.get(name, "nowhere").startswith("nowhere"):
            continue
        path = tmp_path / f"own-{name}.{suffix}"
        path.write_text(given[name])
        given[name] = str(path)
    if given.get("targets") == "":
        given |= {"side": 0}
    with pytest.raises(SnellenError, match=told):
        photographed(mine, **given).items()


def test_a_listed_target_that_is_not_there_is_left_out(mine):
    rows = [
        (f.relative_to(mine / "targets").as_posix(), f.parent.name)
        for f in sorted((mine / "targets").rglob("*.png"))
    ]
    with (mine / "targets" / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("file", "label"), *rows, ("blue/gone.png", "blue")])
    exam = photographed(mine)
    assert len(exam.items()) == 25
    records = sat(foreground, exam)
    assert list(found(exam, records).skipped) == ["blue/gone.png"]


class Stops(Oracle):
    """Goes home after a few targets."""

    def answer(self, sheet):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().answer(sheet)


def test_a_run_that_was_stopped_goes_on_where_it_was(photos, tmp_path):
    exam = photographed(photos, most=6)
    subject = Stops(asked_of(exam), foreground)
    subject.left = 4
    with pytest.raises(KeyboardInterrupt):
        engine.sit_all(exam, subject, tmp_path)
    subject.left = 2  # no more are needed
    records = engine.sit_all(exam, subject, tmp_path)
    assert subject.left == 0
    whole = engine.sit_all(exam, Oracle(asked_of(exam), foreground))
    assert plain(exam.grade(records)) == plain(exam.grade(whole))
    kept = [r.measures["ontology"] for r in records]
    assert all(isinstance(one, Attachment) for one in kept)


EYES = '''
import numpy as np

INKS = np.array([(1, 0, 0), (0, 0, 1), (0, 1, 0)])  # the order in which they are asked about

def thing(images):
    """Which ink is there at all?"""
    return 200 * (abs(images[..., None, :] - INKS).max(axis=-1) < 0.1).mean(axis=(1, 2))
'''


def test_a_gate_lets_pass_who_scores_enough_and_nobody_else(photos, tmp_path):
    (tmp_path / "eyes.py").write_text(EYES)

    def run(subject, least, into):
        exam = photographed(photos, assessor=assessor(tmp_path / "a.npz"), most=9)
        pairs = {name: getattr(exam, name) for name in (
            "targets", "scenes", "masks", "tags", "side", "count", "assessor", "most"
        )}  # fmt: skip
        sets = [x for k, v in pairs.items() for x in ("--set", f"{k}={v}")]
        return CliRunner().invoke(main, [
            "run", "background", "-m", f"callable:{tmp_path / 'eyes.py'}:{subject}", *sets,
            "--into", str(into), "--workers", "1", "--fail-under", str(least),
        ])  # fmt: skip

    good = run("thing", 0.9, tmp_path / "good")
    assert good.exit_code == 0, good.output
    assert "thing: invariant to scenery, says the given assessor" in good.output
    dearer = run("thing", 0.99, tmp_path / "good")
    assert dearer.exit_code == 4
    assert "thing: 0.95; --fail-under is 0.99" in dearer.output


def test_intervals_of_perfect_scores_are_not_points():
    told = [{"target": str(i)} for i in range(10)]
    assert results._mean(told, [1.0] * 10).low < 0.8
    assert results._mean(told, [0.0] * 10).high > 0.2
    between = results._mean(told, [0.5] * 10)
    assert between == Interval(0.5, 0.5, 0.5)
