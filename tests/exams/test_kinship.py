"""How hard tests are, and how alike."""

import csv
import math

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import snellen
from snellen.cli import main
from snellen.core import Answers, Lesson
from snellen.errors import BadSetting, SnellenError, UnknownName, Unloadable
from snellen.exams.kinship.findings import Merger, findings, wanting
from snellen.exams.kinship.measure import Paired, Unpaired, equation_3, fieller, kinship
from snellen.exams.kinship.pictures import SIDE, called, picture_test, spread, stitched
from snellen.seeds import Seed
from snellen.sitting import conduct
from snellen.stats import Mean

V = {"M": 0.9932, "F": 0.9251, "C10": 0.8099, "C100": 0.4892, "CP": 0.1015}
PUBLISHED = [
    ("M", "C10", 0.87495, 0.290),
    ("M", "C100", 0.69815, 0.171),
    ("M", "F", 0.9518, 0.216),
    ("C10", "C100", 0.5452, 0.651),
    ("F", "C10", 0.8354, 0.557),
    ("F", "C100", 0.65905, 0.221),
    ("M", "CP", 0.51055, 0.083),
    ("F", "CP", 0.4802, 0.080),
    ("C10", "CP", 0.48355, -0.079),  # printed without its sign
    ("C100", "CP", 0.42175, -0.652),  # likewise
]


@pytest.mark.parametrize(("a", "b", "ab", "s"), PUBLISHED)
def test_equation_3_gives_tables_2_and_3_of_the_paper_with_their_signs(a, b, ab, s):
    assert round(equation_3(V[a], V[b], ab), 3) == s
    assert round(equation_3(V[b], V[a], ab), 3) == s
    assert round(kinship(Paired([V[a]], [V[b]], [ab])).s.value, 3) == s


def test_equation_3_is_the_paper_s_difference_of_distances_between_both_tests():
    for ab in np.linspace(0.3, 0.9, 7):
        printed = (abs(0.9 - ab) - abs(0.3 - ab)) / abs(0.9 - 0.3)
        assert equation_3(0.9, 0.3, ab) == pytest.approx(printed)
    assert equation_3(0.9, 0.3, 0.1) == 1
    assert equation_3(0.9, 0.3, 0.95) == -1
    assert math.isnan(equation_3(0.5, 0.5, 0.5))


@settings(max_examples=60, deadline=None)
@given(st.floats(0.05, 0.95), st.floats(0.3, 0.5), st.floats(0.6, 0.95))
def test_an_agent_whose_parts_do_not_disturb_each_other_has_its_null(share, b, a):
    noise = 0.001 * np.array([1.0, -1.0, 0.5])
    scores = Paired(a + noise, b + noise, share * a + (1 - share) * b + noise)
    found = kinship(scores, share)
    assert found.s.value == pytest.approx(found.null, abs=1e-9)
    assert found.sufficient == "yes"
    assert found.p == pytest.approx(1, abs=0.01)


def test_order_of_naming_changes_nothing_but_who_is_called_the_easier():
    rng = np.random.default_rng(1)
    a, b, ab = (level + rng.normal(0, 0.01, 5) for level in (0.9, 0.6, 0.7))
    one, other = kinship(Paired(a, b, ab), 0.3), kinship(Paired(b, a, ab), 0.7)
    for k, other_k in ((one.s, other.s), (one.gap, other.gap)):
        assert k == pytest.approx(other_k)
    assert (one.error, one.null) == pytest.approx((other.error, other.null))
    assert (one.swapped, other.swapped) == (False, True)


def test_s_is_undefined_where_the_gap_is_within_three_of_its_errors():
    close = kinship(Unpaired(Mean(0.80, 0.01, 9), Mean(0.78, 0.01, 9), Mean(0.7, 0.01, 9)))
    wide = kinship(Unpaired(Mean(0.80, 0.01, 9), Mean(0.70, 0.01, 9), Mean(0.7, 0.01, 9)))
    assert not close.defined
    assert wide.defined


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Fieller's set is exact: repeats share their luck, and three of them are enough."""
    rng = np.random.default_rng(0)
    truth = 1 - 2 * (0.80 - 0.70) / (0.95 - 0.70)
    for repeats in (3, 6):
        inside = []
        for _ in range(1500):
            luck = rng.normal(0, 0.02, repeats)
            a, b, ab = (v + luck + rng.normal(0, 0.01, repeats) for v in (0.95, 0.70, 0.80))
            found = kinship(Paired(a, b, ab))
            inside.append(found.s.low <= truth <= found.s.high)
        assert 0.935 < np.mean(inside) < 0.965


def test_common_luck_cancels_out_of_paired_scores():
    luck = np.array([0.03, -0.02, 0.01, -0.04, 0.02])
    jitter = np.array([1.0, -2.0, 0.5, 1.5, -1.0]) * 1e-3
    rows = [v + luck + w * jitter for v, w in ((0.95, 1), (0.7, -1), (0.8, 2))]
    paired = kinship(Paired(*rows))
    means = [Mean(r.mean(), r.std(ddof=1) / math.sqrt(5), 4) for r in rows]
    assert paired.error < 0.3 * kinship(Unpaired(*means)).error


def test_the_error_is_the_known_formula_for_unpaired_scores():
    """Var S ≈ [(1−S)²σ_A² + (1+S)²σ_B² + 4σ_AB²]/g²."""
    a, b, ab = Mean(0.95, 0.004, 9), Mean(0.7, 0.007, 9), Mean(0.8, 0.009, 9)
    s, g = equation_3(a.value, b.value, ab.value), a.value - b.value
    parts = ((1 - s) * a.error) ** 2 + ((1 + s) * b.error) ** 2 + (2 * ab.error) ** 2
    assert kinship(Unpaired(a, b, ab)).error == pytest.approx(math.sqrt(parts) / g)


def test_fieller_agrees_with_a_search_over_ratios():
    upper, lower, both, freedom = Mean(0.1, 0.02, 6), Mean(0.25, 0.03, 6), 2e-4, 6
    low, high = fieller(upper, lower, both, freedom)
    from scipy.stats import t as student

    ratios = np.linspace(-1, 2, 300_001)
    spread_ = np.sqrt(0.02**2 - 2 * ratios * both + ratios**2 * 0.03**2)
    kept = ratios[np.abs(0.1 - ratios * 0.25) <= student.ppf(0.975, freedom) * spread_]
    assert (kept.min(), kept.max()) == pytest.approx((low, high), abs=1e-4)


def test_sufficiency_says_when_it_cannot_tell():
    def told(ab, error):
        return kinship(Unpaired(Mean(0.9, 0.01, 9), Mean(0.6, 0.01, 9), Mean(ab, error, 9)))

    assert told(0.75, 0.01).sufficient == "yes"
    assert told(0.45, 0.01).sufficient == "no"
    assert told(0.61, 0.05).sufficient == "unsure"


def test_classes_are_even_after_any_number_of_pictures():
    labels = np.repeat(np.arange(5), 40)
    places = spread(labels, 200, Seed("spread"))
    assert sorted(places) == list(range(200))
    for count in (5, 10, 73, 150):
        among = np.bincount(labels[places[:count]], minlength=5)
        assert among.max() - among.min() <= 1
    assert (spread(labels, 30, Seed("spread")) == places[:30]).all()


def test_stitching_lays_pictures_side_by_side():
    left, right = np.zeros((2, SIDE, SIDE, 1), np.uint8), np.ones((2, SIDE, SIDE, 1), np.uint8)
    made = stitched(left, right)
    assert made.shape == (2, SIDE, 2 * SIDE, 1)
    assert (made[:, :, :SIDE] == 0).all()
    assert (made[:, :, SIDE:] == 1).all()


def test_a_test_may_be_a_folder_of_pictures_of_any_size(tmp_path):
    for label, name in enumerate(("cat", "dog")):
        (tmp_path / name).mkdir()
        for n in range(6):
            picture = np.full((10 + 9 * n, 20 + n), 100 * label + n, np.uint8)
            Image.fromarray(picture).save(tmp_path / name / f"{n}.png")
    made = picture_test(str(tmp_path))
    assert made.teaching.shape == (8, SIDE, SIDE, 1)
    assert made.testing.shape == (4, SIDE, SIDE, 1)
    assert (made.testing.max(axis=(1, 2, 3)) >= 100).tolist() == (made.testing_labels == 1).tolist()


def test_a_bare_word_is_a_name_unless_there_is_such_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownName, match=r"'oddities'.*cifar-100"):
        picture_test("oddities")
    with pytest.raises(Unloadable, match="no such file or folder"):
        picture_test("oddities.npz")
    (tmp_path / "things" / "cat").mkdir(parents=True)
    for n in range(3):
        Image.new("L", (8, 8)).save(tmp_path / "things" / "cat" / f"{n}.png")
    assert picture_test("own=things").classes == ("cat",)


def test_altered_tests_are_what_they_say():
    whole, noisy, permuted = (picture_test(f"glyphs{t}") for t in ("", "~noisy", "~permuted"))
    first, second = picture_test("glyphs~first"), picture_test("glyphs~second")
    assert (permuted.testing_labels == (whole.testing_labels + 1) % 10).all()
    assert (noisy.teaching_labels == whole.teaching_labels).all()
    assert np.abs(noisy.teaching.astype(int) - whole.teaching).mean() > 20
    assert len(first) + len(second) == len(whole)
    seen = {p.tobytes() for p in first.teaching}
    assert not seen & {p.tobytes() for p in second.teaching}
    with pytest.raises(BadSetting, match="no ~odd"):
        picture_test("glyphs~odd")


def exam(**values):
    usual = {"tests": ("glyphs", "things"), "size": 120, "epochs": 1, "questions": 40}
    return snellen.exam("kinship", **{**usual, "repeats": 2, "most": 2, **values})


class Knowing:
    """Remembers what it was taught, and notes it."""

    name, fingerprint = "knowing", "knowing"
    gives = frozenset({"choice", "scores", "study"})

    def __init__(self):
        self.lessons = []

    def study(self, lesson: Lesson):
        self.lessons.append(lesson)
        return self

    def answer(self, sheet):
        return Answers(np.zeros(len(sheet), np.intp))


def test_a_merger_teaches_its_shares_of_both_and_every_item_of_a_repeat_begins_alike():
    asked, pupil = exam(shares=(0.25,)), Knowing()
    items = [i for i in asked.items() if i["repeat"] == 1]
    for item in items:
        conduct(asked, pupil, item)
    merged = next(x for i, x in zip(items, pupil.lessons, strict=True) if "first" in i)
    assert np.bincount(merged.labels // 10 > 0).tolist() == [30, 90]
    assert merged.choices[0] == "glyphs: 0"
    assert merged.choices[10] == "things: " + picture_test("things").classes[0]
    assert len({lesson.seed for lesson in pupil.lessons}) == 1
    sizes = sorted(
        (str(i["test"]), len(x)) for i, x in zip(items, pupil.lessons, strict=True) if "test" in i
    )
    assert sizes == [("glyphs", 30), ("glyphs", 120), ("things", 90), ("things", 120)]


def test_what_a_merger_shows_of_a_test_is_what_its_matched_lesson_shows():
    asked, pupil = exam(), Knowing()
    items = [i for i in asked.items() if i["repeat"] == 0]
    for item in items:
        conduct(asked, pupil, item)
    taught = dict(zip(items, pupil.lessons, strict=True))
    merged = next(x for i, x in taught.items() if "first" in i)
    own = next(x for i, x in taught.items() if i.get("test") == "glyphs" and i["taught"] == 60)
    shown = {p.tobytes() for p in merged.images}
    assert {p.tobytes() for p in own.images} <= shown


def test_a_test_merged_with_itself_has_two_names_for_everything_or_one():
    asked, pupil = exam(selves=True), Knowing()
    items = [i for i in asked.items() if i.get("first") == i.get("second") == "glyphs"]
    for item in items[:2]:
        conduct(asked, pupil, item)
    separate, shared = pupil.lessons
    assert len(separate.choices) == 20
    assert shared.choices == picture_test("glyphs").classes
    assert len({p.tobytes() for p in shared.images}) == 120


def test_stitched_heads_are_asked_one_by_one_or_as_the_paper_did():
    each, paper = exam(merge="stitched"), exam(merge="stitched", heads="argmax")
    item = next(i for i in each.items() if "first" in i)
    record = conduct(each, Knowing(), item)
    assert set(record.measures["parts"]) == {"glyphs", "things"}
    assert record.trials["truth"][0].startswith("glyphs: ")
    assert record.trials["truth"][-1].startswith("things: ")
    alone = conduct(paper, Knowing(), item)
    assert len(alone.trials["truth"]) == 40
    assert all(t.startswith("glyphs") for t in alone.trials["truth"])


def test_wrong_settings_are_told():
    for values, told in (
        ({"tests": ("things", "a/things.npz")}, "two tests are called 'things'"),
        ({"further": ("glyphs+digits=9",)}, "not there"),
        ({"further": ("glyphs",)}, "first.second=10"),
    ):
        with pytest.raises(SnellenError, match=told):
            exam(**values)
    with pytest.raises(BadSetting, match="'things' has 3996 pictures"):
        exam(size=4001).items()
    with pytest.raises(BadSetting, match="same classes"):
        conduct(
            exam(labels="shared"),
            Knowing(),
            next(i for i in exam(labels="shared").items() if "first" in i),
        )


def records(asked, scores, subject="made"):
    """Records of a subject whose scores are given by what it was asked."""
    from dataclasses import replace

    one = conduct(asked, Knowing(), asked.items()[0])
    made = []
    for item in asked.items():
        measures = {"score": scores(item), "variance": 1e-4, "parts": {}}
        if "first" in item:
            measures["parts"] = {
                n: [scores(item), 1e-4, 40] for n in (item["first"], item["second"])
            }
        made.append(replace(one, item=item, subject=subject, measures=measures, trials={}))
    return made


def scores_with(jitter):
    """An agent that loses 10 points on half a lesson and nothing on a merger."""

    def score(item):
        noise = jitter * (Seed(item.key).floats(1)[0] - 0.5)
        if "first" in item:
            return 0.5 * (0.85 + 0.55) + noise
        level = 0.95 if item["test"] == "glyphs" else 0.65
        return level - (0.10 if item["taught"] < 120 else 0.0) + noise

    return score


def test_s_paper_takes_halving_a_lesson_for_kinship_and_s_matched_does_not():
    asked = exam(repeats=6, most=6)
    (found,) = findings(asked, records(asked, scores_with(0.01)))
    pair = found.pairs[Merger("glyphs", "things")]
    assert pair.paper.s.value == pytest.approx(0.67, abs=0.05)
    assert pair.halving.s.value == pytest.approx(0.67, abs=0.05)
    assert pair.matched.s.low < 0 < pair.matched.s.high
    assert pair.matched.p > 0.05
    assert pair.loss.value == pytest.approx(0, abs=0.01)


def test_pairs_are_repeated_until_s_is_sure_enough_and_no_longer():
    asked = exam(repeats=4, most=12, error=0.05)
    rough = records(asked, scores_with(0.10))
    more = asked.sequel(rough, None)
    (wish,) = more["further"]
    assert wish.startswith("glyphs+things=")
    assert 4 < int(wish.partition("=")[2]) <= 8
    again = snellen.exam("kinship", **{**exam_settings(asked), **more})
    assert {i["repeat"] for i in again.items()} == set(range(int(wish.partition("=")[2])))
    assert set(asked.items()) <= set(again.items())
    assert asked.sequel(records(asked, scores_with(0.001)), None) is None
    assert (
        wanting(exam(repeats=4, most=4), records(exam(repeats=4, most=4), scores_with(0.1))) == {}
    )


def exam_settings(asked):
    from snellen import settings as of

    return of.dump(asked)


def test_a_report_tells_the_null_beside_every_s():
    asked = exam(repeats=5, most=5)
    result = asked.grade(records(asked, scores_with(0.01)))
    names = [figure.name for figure in result.figures]
    assert names[:5] == ["difficulty", "s-paper-made", "s-matched-made", "nulls-made", "pairs"]
    (verdict,) = result.verdicts
    assert "0 differ surely" in verdict.text
    assert "is the smaller lesson alone" in verdict.text


def test_real_agents_sit_it(tmp_path):
    pytest.importorskip("torch")
    asked = exam(merge=("sampled", "stitched"), shares=(0.25, 0.5, 0.75), selves=True)
    made = snellen.sit(asked, snellen.subject("elu-cnn,width=2"), into=tmp_path)
    result = asked.grade(made)
    assert {"shares-elu-cnn-2-glyphs-things", "selves"} <= {f.name for f in result.figures}
    for figure in result.figures:
        assert figure.rows()


def test_the_network_has_the_paper_s_numbers_of_parameters():
    pytest.importorskip("torch")
    from snellen.subjects.networks import elu_cnn

    def count(**shape):  # Keras counts running means too, and not how often they were renewed
        state = elu_cnn(**shape).state_dict()
        return sum(v.numel() for k, v in state.items() if not k.endswith("batches_tracked"))

    stitched_sizes = [count(classes=20, size=32, across=64, width=w) for w in (32, 16, 8, 4, 2, 1)]
    assert stitched_sizes == [370_164, 113_668, 38_988, 15_040, 6_414, 2_938]
    assert count(classes=20) == 329_204
    assert count(classes=10) == 308_714


def table(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return str(path)


def test_numbers_of_others_are_compared_from_a_file(tmp_path):
    rows = [["test", "value"], *([k, v] for k, v in V.items())]
    rows += [[f"{a}+{b}", ab] for a, b, ab, _ in PUBLISHED]
    into = tmp_path / "run"
    done = CliRunner().invoke(
        main, ["kinship-from", table(tmp_path / "t.csv", rows), "--into", str(into)]
    )
    assert done.exit_code == 0, done.output
    with next((into / "report_files").rglob("*s-paper-given.csv")).open() as file:
        cells = {(r["row"], r["column"]): float(r["value"]) for r in csv.DictReader(file)}
    for (a, b), (_, _, _, s) in zip(((a, b) for a, b, *_ in PUBLISHED), PUBLISHED, strict=True):
        assert cells[a, b] == cells[b, a] == pytest.approx(s, abs=5e-4)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([["test", "score"], ["A", 1]], "no column 'value'"),
        ([["test", "value"], ["A", 1], ["B", 0.5]], "and of their merger"),
        ([["test", "value"], ["A", 1], ["B", 2], ["A+B", 0.7]], "line 3: value is '2'"),
        ([["test", "value"], ["A", 1], ["B", 0.2], ["A+C", 0.7]], "'A\\+C' merges 'C'"),
        ([["test", "value", "taught"], ["A", 1, "some"]], "whole or part"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path, rows, told):
    import re

    done = CliRunner().invoke(main, ["kinship-from", table(tmp_path / "t.csv", rows)])
    assert done.exit_code == 1
    assert re.search(told, done.output), done.output


def test_names_are_taken_from_paths():
    pairs = {"a/mnist.npz": "mnist", "x=a/b": "x", "digits": "digits", "m.npz~noisy": "m~noisy"}
    assert {spec: called(spec) for spec in pairs} == pairs
