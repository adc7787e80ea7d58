"""What similarities say of all tests together, and what proxies have to do with them."""

import csv
import math
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner

import snellen
from snellen.cli import main
from snellen.core import Answers, Lesson, Sheet
from snellen.errors import Unable
from snellen.exams.kinship import transfer
from snellen.exams.kinship.agreement import PROXIES, proxied, proxy_verdict, standing
from snellen.exams.kinship.findings import Findings, Merger, findings
from snellen.exams.kinship.landscape import DRAWS, landscape, redrawn, similarities
from snellen.exams.kinship.measure import Paired, kinship
from snellen.exams.kinship.pictures import picture_test
from snellen.seeds import Seed
from snellen.sitting import Sitting, admit, conduct
from snellen.testing import check_exam

TESTS = ("A", "B", "C", "D")
LEVELS = dict(zip(TESTS, (0.95, 0.80, 0.65, 0.50), strict=True))
WHOLE = 100


def sat(levels=LEVELS, s=None, repeats=4, jitter=0.004, part=True, without=()):
    """Findings of an agent with these scores, and mergers of the S that is wanted."""
    found = Findings("made")

    def told(level, *what):
        return {
            r: {
                "score": level + jitter * (Seed(str(what), r).floats(1)[0] - 0.5),
                "variance": 0.0,
                "parts": {},
            }
            for r in range(repeats)
        }

    for name, level in levels.items():
        found.alone[name, WHOLE].update(told(level, name))
        if part:
            found.alone[name, WHOLE // 2].update(told(level, name, "part"))
    for one, other in combinations(levels, 2):
        if (one, other) not in without:
            wanted = (s or {}).get((one, other), 0.0)
            a, b = levels[one], levels[other]
            merged = found.merged[Merger(one, other), WHOLE]
            merged.update(told(b + (1 - wanted) / 2 * (a - b), one, other))
    return found


def noisy_runs(seed, repeats, noise=0.02):
    rng = np.random.default_rng(seed)
    luck = rng.normal(0, noise, repeats)
    rows = [v + luck + rng.normal(0, noise / 2, repeats) for v in (0.95, 0.65, 0.75)]
    return dict(enumerate(zip(*rows, strict=True)))


@pytest.mark.parametrize("repeats", [3, 6, 20])
def test_draws_are_as_wide_as_the_interval_of_s(repeats):
    for seed in range(4):
        runs = noisy_runs(seed, repeats)
        draws = redrawn({(0, 1): runs}, 2)[:, 0, 1]
        s = kinship(Paired(*zip(*runs.values(), strict=True))).s
        low, high = np.nanquantile(draws, [0.025, 0.975])
        width = s.high - s.low
        assert (low, high) == pytest.approx((s.low, s.high), abs=0.15 * width)


def test_what_repeats_have_in_common_moves_all_pairs():
    runs = noisy_runs(1, 5)
    fewer = {r: row for r, row in runs.items() if r < 3}
    draws = redrawn({(0, 1): runs, (0, 2): runs, (1, 2): fewer}, 3)
    assert draws.shape == (DRAWS, 3, 3)
    np.testing.assert_array_equal(draws[:, 0, 1], draws[:, 0, 2])
    np.testing.assert_array_equal(draws, draws.transpose(0, 2, 1))
    known = np.isfinite(draws[:, 0, 1]) & np.isfinite(draws[:, 1, 2])
    assert np.corrcoef(draws[known, 0, 1], draws[known, 1, 2])[0, 1] > 0.2
    other = redrawn({(0, 1): noisy_runs(1, 5), (0, 2): noisy_runs(2, 5)}, 3)
    assert not np.array_equal(other[:, 0, 1], other[:, 0, 2])


def test_the_order_of_naming_does_not_change_a_draw():
    runs = noisy_runs(3, 5)
    turned = {r: (b, a, ab) for r, (a, b, ab) in runs.items()}
    one, other = (redrawn({(0, 1): r}, 2) for r in (runs, turned))
    np.testing.assert_allclose(one, other)


def test_rounding_is_no_doubt():
    runs = {r: (0.9 + r / 7, 0.3 + r / 7, 0.6 + r / 7) for r in range(4)}
    assert set(redrawn({(0, 1): runs}, 2)[:, 0, 1]) == {0.0}


def test_numbers_that_were_taken_once_have_no_draws():
    assert redrawn({(0, 1): noisy_runs(1, 4), (0, 2): {0: (0.9, 0.5, 0.7)}}, 3) is None
    s = similarities(sat(repeats=1), TESTS)
    assert s.draws is None
    drawn = {figure.name: figure for figure in landscape([s])}
    assert not drawn["map-made"].clouds
    assert not drawn["tree-made"].support
    assert "Chosen" not in drawn["diversity-made"].caption
    assert all(math.isnan(row["diversity low"]) for row in drawn["diversity-made"].rows())


def test_pairs_without_a_similarity_are_left_open_and_named():
    levels = {**LEVELS, "D": LEVELS["C"] + 0.0001}
    s = similarities(sat(levels, without=[("A", "B")]), TESTS)
    assert s.equal == (("C", "D"),)
    assert s.missing == (("A", "B"),)
    assert np.isnan(s.values[[2, 0], [3, 1]]).all()
    assert np.isnan(s.draws[:, 2, 3]).all()
    figures = {figure.name: figure for figure in landscape([s])}
    assert "(2 of 6)" in figures["tree-made"].caption
    assert "4 of 6 pairs have an S" in figures["diversity-made"].caption
    assert "map-made" not in figures  # no three tests know each other


def test_maps_are_of_s_matched_unless_it_is_known_of_fewer_pairs():
    whole, none = similarities(sat(), TESTS), similarities(sat(part=False), TESTS)
    some = sat()
    del some.alone["A", WHOLE // 2]
    assert [s.which for s in (whole, none, similarities(some, TESTS))] == [
        "matched",
        "paper",
        "paper",
    ]
    for s, told in ((whole, "S matched"), (none, "S as the paper takes it")):
        figures = {figure.name: figure for figure in landscape([s])}
        assert told in figures["map-made"].caption
        assert told in figures["diversity-made"].caption


def test_alike_tests_lie_close_and_the_most_diverse_are_found():
    s = {("A", "B"): 0.9, ("C", "D"): 0.9, ("A", "C"): -0.5}
    figures = {f.name: f for f in landscape([similarities(sat(s=s), TESTS)])}
    at = dict(zip(TESTS, np.array(figures["map-made"].points), strict=True))
    assert math.dist(at["A"], at["B"]) < 0.5 * math.dist(at["A"], at["C"])
    assert {frozenset(m[:2]) for m in figures["tree-made"].merges[:2]} == {
        frozenset((0, 1)),
        frozenset((2, 3)),
    }
    assert figures["tree-made"].support[0] > 0.95
    rows = {row["tests"]: row for row in figures["diversity-made"].rows()}
    assert list(rows) == ["all 4", "best 2", "best 3"]
    assert rows["best 2"]["which"] == "A, C"
    assert rows["best 2"]["chosen"] == "100 %"
    assert rows["all 4"]["diversity"] == pytest.approx((0.1 + 0.1 + 1.5 + 3) / 6, abs=0.02)
    assert rows["all 4"]["diversity low"] < rows["all 4"]["diversity"]


def test_of_two_tests_there_is_nothing_more_to_say():
    assert landscape([similarities(sat({"A": 0.9, "B": 0.6}), ("A", "B"))]) == []


def test_the_paper_s_table_2_has_its_diversity_and_its_best_triple(tmp_path):
    levels = {"MNIST": 0.9932, "Fashion": 0.9251, "CIFAR-10": 0.8099, "CIFAR-100": 0.4892}
    merged = [0.9518, 0.87495, 0.69815, 0.8354, 0.65905, 0.5452]
    rows = [["test", "value"], *levels.items()]
    rows += [["+".join(p), ab] for p, ab in zip(combinations(levels, 2), merged, strict=True)]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    into = tmp_path / "run"
    done = CliRunner().invoke(main, ["kinship-from", str(tmp_path / "t.csv"), "--into", str(into)])
    assert done.exit_code == 0, done.output
    with (into / "report_files" / "kinship-diversity-given.csv").open() as file:
        told = {row["tests"]: row for row in csv.DictReader(file)}
    assert float(told["all 4"]["diversity"]) == pytest.approx(0.649, abs=5e-4)
    assert told["best 3"]["which"] == "MNIST, Fashion, CIFAR-100"
    assert float(told["best 3"]["diversity"]) == pytest.approx(0.797, abs=6e-4)
    assert (into / "report_files" / "kinship-map-given.svg").exists()


class Pupil:
    """Knows the mean picture of each class; may show how far each is, or talk."""

    name, fingerprint = "pupil", "pupil"
    gives = frozenset({"choice", "scores", "signals", "study"})

    def __init__(self, shows="nothing"):
        self.shows, self.sheets, self.means = shows, [], None

    def study(self, lesson: Lesson):
        x = lesson.images.reshape(len(lesson), -1) / 255
        kinds = range(len(lesson.choices))
        self.means = np.stack([x[lesson.labels == kind].mean(axis=0) for kind in kinds])
        return self

    def answer(self, sheet: Sheet):
        self.sheets.append(sheet)
        x = sheet.images.reshape(len(sheet), -1) / 255
        scores = 20 * (x @ self.means.T - (self.means**2).sum(axis=1) / 2)
        shown = {
            "nothing": {},
            "inside": {"map": np.float32(sheet.images.transpose(0, 3, 1, 2) / 255)},
            "reasons": {"reason": np.array(["it looks so"] * len(sheet))},
        }[self.shows]
        return Answers(scores.argmax(axis=1), scores, shown)


def exam(**values):
    usual = {"tests": ("glyphs", "digits", "things"), "size": 200, "epochs": 1, "questions": 100}
    return snellen.exam("kinship", **{**usual, "repeats": 2, "most": 2, "proxies": True, **values})


def sources(asked):
    return [item for item in asked.items() if "source" in item]


def test_proxies_only_add_items():
    plain, more = exam(proxies=False), exam()
    assert set(more.items()) == set(plain.items()) | set(sources(more))
    assert len(sources(more)) == 3 * 2
    renamed = exam(tests=("glyphs", "other=digits", "things"))
    assert not set(sources(renamed)) & {i for i in sources(more) if i["source"] == "glyphs"}


def test_scores_are_needed_for_proxies_only_and_who_has_none_is_told():
    assert exam(proxies=False).needs == {"choice", "study"}
    assert exam().needs == {"choice", "study", "scores"}
    admit(exam(), snellen.subject("chance"))
    admit(exam(proxies=False), snellen.subject("simulated"))
    with pytest.raises(Unable, match=r"needs \['scores'\].*settings of the exam that ask for less"):
        admit(exam(), snellen.subject("simulated"))


def test_an_exam_with_proxies_keeps_the_contract():
    check_exam(exam(questions=40, size=60, repeats=2), most_items=100)


def test_who_was_taught_a_test_is_shown_the_others_without_a_right_answer():
    asked = exam(tests=("glyphs", "things"), questions=3000)
    sitting = Sitting(asked, sources(asked)[0])
    sheets, pupil = [], Pupil()
    while sitting.step is not None:
        if isinstance(sitting.step, Lesson):
            assert len(sitting.step) == 200
            pupil.study(sitting.step)
            sitting.advance()
        else:
            sheets.append(sitting.step)
            sitting.advance(pupil.answer(sitting.step.blind()))
    own, other = sheets
    assert (own.truth is None, other.truth is None) == (False, True)
    assert own.choices == other.choices == picture_test("glyphs").classes
    assert max(len(own), len(other)) == transfer.MOST
    assert {own.asks, other.asks} == {frozenset({"choice", "scores"})}
    assert {sheet.blind().welcomes for sheet in sheets} == {frozenset({"signals"})}


def looks(shows="nothing", **values):
    asked = exam(**values)
    return {i["source"]: conduct(asked, Pupil(shows), i).measures for i in sources(asked)[::-1]}


def test_the_same_test_under_other_names_is_nearer_than_another_test():
    seen = looks(tests=("glyphs", "glyphs~permuted", "things"), size=1000, questions=400)
    same, other = (seen["glyphs"]["targets"][name] for name in ("glyphs~permuted", "things"))
    assert same["leep"] > other["leep"] + 0.1
    assert same["logme"] > other["logme"]
    assert same["fisher"] < other["fisher"]
    assert same["transport"] < 0.2 * other["transport"]
    assert seen["glyphs"]["score"] > 0.3


def test_who_shows_what_goes_on_inside_is_judged_by_it_and_others_by_their_answers():
    seen = {shows: looks(shows)["glyphs"] for shows in ("nothing", "inside", "reasons")}
    assert {shows: m["inside"] for shows, m in seen.items()} == {
        "nothing": "",
        "inside": "map",
        "reasons": "",
    }
    assert seen["nothing"] == seen["reasons"]
    there, here = (seen[shows]["targets"]["digits"] for shows in ("nothing", "inside"))
    assert there["leep"] == here["leep"]
    assert there["transport"] != here["transport"]


def test_two_tests_that_are_a_point_each_lie_farthest_apart():
    labels, sure = np.zeros(30, int), np.ones((30, 1))
    for width in (1, 7):
        one, other = (transfer.Seen(labels, sure, np.full((30, width), x), "") for x in (3.0, 5.0))
        assert transfer.compared(one, other)["transport"] == pytest.approx(1)
        assert transfer.compared(one, one)["transport"] == pytest.approx(0, abs=1e-9)
    assert transfer.compared(one, one)["leep"] is None  # one label: nothing to know


def looked(f, names, values):
    """Let an agent's proxies be these, the other way round a little different."""
    for one in names:
        for repeat in range(2):
            f.looked[one][repeat] = {"score": 0.5, "inside": "", "targets": {}}
            for other in names:
                if one != other:
                    pair = (one, other) if (one, other) in values else (other, one)
                    shift = 0.01 if one < other else -0.01
                    row = {p.key: (-1 if p.distance else 1) * values[pair] + shift for p in PROXIES}
                    f.looked[one][repeat]["targets"][other] = row
    return f


@cache
def suite_of(count, mixed=False):
    names = [f"T{n}" for n in range(count)]
    levels = {name: 0.95 - 0.1 * n for n, name in enumerate(names)}
    pairs = list(combinations(names, 2))
    s = {pair: 0.8 * (2 * Seed(*pair).floats(1)[0] - 1) for pair in pairs}
    said = [s[pairs[n]] for n in Seed("mixed").shuffled(len(pairs))] if mixed else s.values()
    f = looked(sat(levels, s, jitter=1e-4), names, dict(zip(pairs, said, strict=True)))
    return standing(f, names, similarities(f, names))


def test_a_perfect_proxy_agrees_whichever_way_it_counts():
    found = suite_of(6)
    for proxy in PROXIES:
        agreement = found.agreements[proxy.key]
        assert agreement.spearman.value == pytest.approx(1)
        assert agreement.kendall.value == pytest.approx(1)
        assert agreement.p == pytest.approx(1 / 720)
        assert found.adjusted[proxy.key] == pytest.approx(4 / 720)
    text = proxy_verdict(found).text
    assert text.startswith("Cheap proxies, of 15 pairs: LEEP (ρ = 1.00")
    assert "surely rank them as S does" in text
    both, *_ = found.values["leep"].items()
    assert both[1].value == pytest.approx(found.s.pairs[both[0]].value, abs=0.01)


def test_a_proxy_that_says_something_else_is_not_believed():
    found = suite_of(6, mixed=True)
    assert min(found.adjusted.values()) > 0.05
    assert "none surely ranks them" in proxy_verdict(found).text


def test_few_tests_cannot_tell_and_the_report_says_so():
    found = suite_of(4)
    assert found.reach == pytest.approx(4 / 24)
    assert "which so few tests cannot tell from luck" in proxy_verdict(found).text
    table = next(f for f in proxied([found]) if f.name == "agreement-numbers")
    assert "4 tests can be named in 24 ways, so that no proxy gets below 0.17" in table.caption
    assert not any("can be named" in f.caption for f in proxied([suite_of(6)]))


def test_proxies_are_told_without_mergers_too():
    f = looked(Findings("made"), ["A", "B"], {("A", "B"): 0.3})
    found = standing(f, ["A", "B"], None)
    (table,) = proxied([found])
    assert table.rows()[0]["LEEP"] == pytest.approx(0.3)
    assert proxy_verdict(found) is None
    assert standing(sat(), TESTS, None) is None


def test_what_is_not_there_yet_is_not_concluded_from():
    asked = exam(tests=("glyphs", "things"))
    (first, *_), pupil = sources(asked), Pupil()
    assert not asked.grade([conduct(asked, pupil, first)]).figures


def test_what_was_seen_before_a_test_was_added_is_still_known_and_does_not_count_first():
    def record(asked, leep):
        one = conduct(asked, Pupil(), sources(asked)[0])
        told = {name: {**row, "leep": leep} for name, row in one.measures["targets"].items()}
        return replace(one, measures={**one.measures, "targets": told})

    now, before = record(exam(), 0.9), record(exam(tests=("glyphs", "digits")), 0.1)
    later = record(exam(tests=("glyphs", "glyphs~noisy")), 0.2)
    (found,) = findings(exam(), [now, before, later])
    told = found.looked["glyphs"][0]["targets"]
    assert {name: row["leep"] for name, row in told.items()} == {
        "digits": 0.9,
        "things": 0.9,
        "glyphs~noisy": 0.2,
    }
    assert set(now.measures["targets"]) == {"digits", "things"}


def test_a_real_agent_shows_what_goes_on_inside_of_it(tmp_path):
    pytest.importorskip("torch")
    asked = exam(size=60, questions=40)
    made = snellen.sit(asked, snellen.subject("elu-cnn,width=2"), into=tmp_path)
    inside = {r.measures["inside"] for r in made if "source" in r.item}
    assert len(inside) == 1
    assert inside != {""}
    made += snellen.sit(asked, snellen.subject("chance"), into=tmp_path)
    result = asked.grade(made)
    names = [figure.name for figure in result.figures]
    assert "proxies-elu-cnn-2" in names
    assert "proxies-chance" not in names
    assert "map-chance" not in names
    for figure in result.figures:
        assert figure.rows()
