"""A session is led, forgotten and walked again, and asks what the exam itself would ask."""

import numpy as np
import pytest

from snellen import plugins
from snellen.core import Answers, Lesson, Sheet
from snellen.sitting import Sitting
from snellen.study.walk import ON_A_PAGE, ON_DISPLAY, Page, Reply, Task, Walk, order

READ = Reply()


class Flow:
    """An exam of given steps."""

    name, version, needs = "flow", 1, frozenset({"choice"})

    def __init__(self, *steps):
        self.steps, self.handed = steps, []

    def examine(self, _):
        for step in self.steps:
            answers = yield step
            self.handed.append(answers)
        return {}


def pictures(count, first=0):
    return (np.arange(count, dtype=np.uint8) + first)[:, None, None, None] * np.ones(
        (1, 4, 4, 1), np.uint8
    )


def lesson(count, first=0):
    return Lesson(pictures(count, first), np.arange(count) % 2, ("no", "yes"))


def sheet(count, first=100, **more):
    return Sheet(pictures(count, first), ("no", "yes"), np.zeros(count, np.intp), **more)


def walk(*steps, tasks=1, rest=0, seed="s"):
    exam = Flow(*steps)
    made = Walk(exam, [Task({"n": n}) for n in range(tasks)], seed, rest)
    made.exam = exam
    made.take(READ)
    return made


def test_pictures_of_a_sheet_come_in_an_order_of_ones_own_and_answers_in_the_sheets():
    for seed in ("one", "two"):
        asked = walk(sheet(6), seed=seed)
        exam, shown = asked.exam, []
        while asked.page.kind == "question":
            value = int(asked.page.picture.image[0, 0, 0])
            shown.append(value - 100)
            asked.take(Reply(value % 2, float(value)))
        assert shown == order(seed, 0, 0, 6).tolist()
        (handed,) = exam.handed
        assert handed.choice.tolist() == [0, 1, 0, 1, 0, 1]
        assert handed.seconds.tolist() == [100, 101, 102, 103, 104, 105]
    assert order("one", 0, 0, 6).tolist() != order("two", 0, 0, 6).tolist()


def test_what_was_taught_stays_in_view_unless_it_is_too_much():
    few = walk(lesson(4), sheet(1))
    assert few.page.kind == "lesson"
    few.take(READ)
    assert [one.choice for one in few.page.board] == [0, 1, 0, 1]
    many = walk(lesson(ON_DISPLAY + 1), sheet(1))
    pages = -(-(ON_DISPLAY + 1) // ON_A_PAGE)
    for _ in range(pages):
        assert many.page.kind == "lesson"
        assert len(many.page.board) <= ON_A_PAGE
        many.take(READ)
    assert many.page.kind == "question"
    assert not many.page.board


def test_the_truth_about_an_answer_is_told_with_the_next_question():
    asked = walk(lesson(2), sheet(1), lesson(1), sheet(1), sheet(1))
    asked.take(READ)
    assert asked.page.told is None
    asked.take(Reply(1))
    assert asked.page.told == (1, 0)
    assert len(asked.page.board) == 3
    asked.take(Reply(0))
    assert asked.page.kind == "question"
    assert asked.page.told is None  # no lesson came after that answer


@pytest.mark.parametrize("reply", [READ, Reply(2), Reply(-1), Reply(7)])
def test_a_question_takes_one_of_its_answers_only(reply):
    asked = walk(sheet(1))
    with pytest.raises(ValueError, match="does not take"):
        asked.take(reply)
    assert asked.number == 1


def test_replies_beyond_the_choices_reach_the_exam_where_it_offers_them():
    asked = walk(sheet(1, instead=("more",)))
    exam = asked.exam
    asked.take(Reply(2))
    assert exam.handed[0].choice.tolist() == [2]
    assert asked.page.kind == "end"


def test_breaks_come_between_items_and_the_end_takes_nothing():
    asked, kinds = walk(sheet(1), tasks=3, rest=1), []
    while asked.page.kind != "end":
        kinds.append(asked.page.kind)
        asked.take(Reply(0) if asked.page.kind == "question" else READ)
    assert kinds == ["question", "rest", "question", "rest", "question"]
    assert asked.done == 3
    assert not asked.page.takes(READ)
    assert asked.page.progress == 1


def test_only_pictures_of_the_page_may_be_fetched_and_names_tell_nothing():
    asked = walk(sheet(3))
    assert len(list(asked.page.pictures)) == 2  # this one and the next
    one, other = (walk(sheet(3), seed=seed).page.picture.name for seed in ("a", "b"))
    assert one != other
    assert len(one) == 20
    assert list(Page("rest").pictures) == []


def test_a_session_walked_again_is_where_it_was_and_asks_what_the_exam_asks(tmp_path):
    exam = plugins.exam("reasoning", problems="1,4", repeats=1, protocol="human")
    tasks = [Task(item) for item in exam.items()]
    first, replies = Walk(exam, tasks, "seed"), []
    rng = np.random.default_rng(0)
    while first.page.kind != "end":
        question = first.page.kind == "question"
        reply = Reply(int(rng.integers(2)), 0.5, 0) if question else READ
        replies.append(reply)
        first.take(reply)
        if rng.random() < 0.1:
            sat = {}
            again = Walk(exam, tasks, "seed", 0, lambda n, s, sat=sat: sat.update({n: s}))
            for one in replies:
                again.take(one)
            assert (again.number, again.page.kind) == (first.number, first.page.kind)
            assert [s.name for s in again.page.pictures] == [s.name for s in first.page.pictures]
    sat = {}
    again = Walk(exam, tasks, "seed", 0, lambda n, s: sat.update({n: s}))
    for one in replies:
        again.take(one)
    for place, task in enumerate(tasks):
        direct = Sitting(exam, task.item)
        given = iter(sat[place].trials["choice"])
        while (step := direct.step) is not None:
            if isinstance(step, Lesson):
                direct.advance()
            else:
                choice = step.choices.index(str(next(given)))
                direct.advance(Answers(np.array([choice]), seconds=np.array([0.5])))
        assert direct.measures == sat[place].measures
        for name, column in direct.trials.items():
            np.testing.assert_array_equal(column, sat[place].trials[name])
