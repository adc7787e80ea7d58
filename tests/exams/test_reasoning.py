"""The visual reasoning test: its numbers, its two protocols, and its report."""

import itertools

import numpy as np
import pytest
from click.testing import CliRunner

from snellen import plugins
from snellen.cli import main
from snellen.core import Answers, Lesson, Sheet
from snellen.errors import BadSetting
from snellen.exams.reasoning import pictures
from snellen.exams.reasoning.results import published, references
from snellen.exams.reasoning.success import alpha_of, passing, passing_interval
from snellen.images.svrt import PROBLEMS, draw
from snellen.log import RunFolder
from snellen.seeds import Seed
from snellen.sitting import Sitting, conduct
from snellen.stats import Interval


def exam(**values):
    return plugins.exam("reasoning", **values)


# numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 0.8, 1.0])
def test_passing_is_the_sum_over_all_sequences_that_pass(alpha):
    run, count = 3, 9
    total = 0.0
    for answers in itertools.product((0, 1), repeat=count):
        longest = max(len(list(g)) if k else 0 for k, g in itertools.groupby(answers))
        if longest >= run:
            total += np.prod([alpha if a else 1 - alpha for a in answers])
    assert passing(alpha, run, count) == pytest.approx(total)


def test_passing_meets_the_papers_figures():
    assert passing(0.5) == pytest.approx(0.1134, abs=5e-5)
    assert passing(0.9) == pytest.approx(0.9941, abs=5e-5)
    carried = passing_interval(Interval(0.8, 0.5, 1.2))
    assert carried.low == pytest.approx(passing(0.5))
    assert carried.high == 1.0
    assert alpha_of(0.8) == pytest.approx(0.9)


def test_the_published_table_has_the_papers_means():
    rows = {p: row for p, row in published().items() if p != 101}
    assert set(published()) == set(PROBLEMS)
    means = {name: 100 * np.mean([row[name] for row in rows.values()])
             for name in ("people", "Sasquatch", "corrected")}  # fmt: skip
    assert means["people"] == pytest.approx(86.30, abs=0.01)
    assert means["Sasquatch"] == pytest.approx(81.40, abs=0.01)
    assert means["corrected"] == pytest.approx(88.99, abs=0.01)
    assert references(1)["best CNN of Table 6"] == pytest.approx(0.3388, abs=5e-5)
    assert references(101) == {}


# what is asked -------------------------------------------------------------------------------


def test_more_pictures_begin_with_the_same_and_pair_the_categories():
    few, labels = pictures("tests", 7, 0, 10)
    more, more_labels = pictures("tests", 7, 0, 20)
    np.testing.assert_array_equal(few, more[:10])
    np.testing.assert_array_equal(labels, more_labels[:10])
    assert (more_labels.reshape(-1, 2).sum(axis=1) == 1).all()
    assert 0 < more_labels[::2].sum() < 10  # the order tells nothing
    other, _ = pictures("tests", 7, 1, 10)
    assert (other != few).any()
    lesson, _ = pictures("lesson", 7, 0, 10)
    assert (lesson != few).any()


def test_plus_is_the_papers_plus():
    for problem in (1, 3):  # of 3, the generator's 0 is the paper's +: three in contact
        images, labels = pictures("lesson", problem, 0, 4)
        category = labels if problem == 1 else 1 - labels
        seed = Seed("reasoning", "lesson", problem, 0).number()
        np.testing.assert_array_equal(images, draw(problem, category.tolist(), seed).images)


def test_items_of_a_grown_exam_are_those_before():
    small = exam(problems=(1, 2), repeats=1)
    large = exam(problems=(1, 2, 3), repeats=2, examples=(1, 3), protocol=("machine", "human"))
    assert set(small.items()) <= set(large.items())


@pytest.mark.parametrize(
    ("values", "told"),
    [({"problems": 24}, "no problem 24"), ({"examples": 0}, "examples"), ({"tests": 1}, "tests")],
)
def test_what_makes_no_sense_is_refused(values, told):
    with pytest.raises(BadSetting, match=told):
        exam(**values)


class Oracle:
    """Is right as often as it is told, and knows the truth from the exam's own pictures."""

    name, fingerprint = "oracle", "oracle"
    gives = frozenset({"choice", "study"})

    def __init__(self, script):
        self.script, self.asked, self.lessons = script, 0, []

    def study(self, lesson):
        self.lessons.append(lesson)
        return self

    def answer(self, sheet):
        images, truth = pictures("tests", 1, 0, 35)
        place = next(i for i, image in enumerate(images) if (image == sheet.images[0]).all())
        right = self.script[self.asked]
        self.asked += 1
        return Answers(np.array([truth[place] if right else 1 - truth[place]]))


@pytest.mark.parametrize(
    ("script", "passed", "asked"),
    [
        ([True] * 35, True, 7),
        ([False] + [True] * 34, True, 8),
        (([True] * 6 + [False]) * 5, False, 35),
        ([False] * 28 + [True] * 7, True, 35),
    ],
)
def test_people_pass_with_seven_right_running(script, passed, asked):
    human = exam(problems=1, repeats=1, protocol="human")
    (item,) = human.items()
    oracle = Oracle(script)
    record = conduct(human, oracle, item)
    assert record.measures["passed"] is passed
    assert len(record.measures["answers"]) == asked
    assert len(oracle.lessons[0]) == 2  # one of each is shown before anything is asked
    assert len(oracle.lessons) == asked + (not passed)  # and the truth after each but the last
    assert len(record.trials["choice"]) == asked


def test_who_was_taught_before_is_tested_as_it_is():
    human = exam(problems=1, repeats=1, protocol="as-is", examples=20)
    sitting = Sitting(human, human.items()[0])
    assert isinstance(sitting.step, Lesson)
    assert len(sitting.step) == 40
    sitting.advance()
    while sitting.step is not None:
        assert isinstance(sitting.step, Sheet)
        sitting.advance(Answers(np.array([0])))
    assert len(sitting.measures["answers"]) <= 35


# a run ---------------------------------------------------------------------------------------


def test_a_run_is_reported_beside_people_and_chance(tmp_path):
    folder = tmp_path / "run"
    command = [
        "run", "reasoning", "-m", "synthesis", "-m", "nearest,to=lesson", "--into", str(folder),
        "--set", "problems=4,12,17", "--set", "repeats=2", "--set", "tests=30", "-w", "1",
        "--set", "examples=1,3", "--set", "protocol=machine,human",
    ]  # fmt: skip
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    for told in (
        "synthesis: after 3 + 3 examples",
        "chance: 50 %",
        "The test that people sit was passed in",
    ):
        assert told in done.output
    page = (folder / "report.html").read_text()
    for told in (
        *(f"Figure {number}" for number in (1, 2, 3, 4)),
        *("people (Fleuret et al. 2011)", "The rules that were found"),
        *("lie one in the other", "count(nested, all)"),
    ):
        assert told in page, told
    records = RunFolder(folder).records()
    assert len(records) == 3 * 2 * 3 * 3  # subjects × repeats × problems × (two counts, human)
    own = [r for r in records if r.subject == "synthesis" and r.item["examples"] == 3]
    share = sum(r.measures["right"] for r in own) / sum(r.measures["asked"] for r in own)
    assert share > 0.85
    wrong = [r for r in records if "mistakes" in r.measures]
    assert wrong
    assert all(len(r.measures["reasons"]) == len(r.measures["truths"]) for r in wrong)


def test_what_was_taught_most_nearly_as_in_the_paper_is_told_first():
    for examples, told in (((1, 3, 6), "after 3 + 3"), ((5, 2), "after 2 + 2")):
        asked = exam(problems=4, repeats=2, tests=10, examples=examples)
        records = [conduct(asked, plugins.subject("chance"), item) for item in asked.items()]
        (verdict,) = asked.grade(records).verdicts
        assert verdict.text.startswith(told)
