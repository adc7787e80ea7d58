"""What comes back from a subject is checked before it is believed."""

from dataclasses import dataclass

import numpy as np
import pytest

from snellen.core import Answers, Sheet
from snellen.errors import BadAnswer
from snellen.sitting import in_step, mark

IMAGES = np.zeros((2, 4, 4, 1), np.uint8)
FIRST = np.array([0, 0])


def sheet(*asks):
    return Sheet(IMAGES, ("a", "b", "c"), np.array([0, 1]), asks=frozenset({"choice", *asks}))


@pytest.mark.parametrize(
    ("asked", "answers", "told"),
    [
        (sheet(), Answers(np.array([0])), r"choices of shape \(1,\); let it return one index"),
        (sheet(), Answers(np.array([0, 3])), r"offers 0\.\.2; let it return places"),
        (sheet("scores"), Answers(FIRST), "gave no scores, and the sheet asks for them; let"),
        (sheet("signals"), Answers(FIRST), "gave no signals, and the sheet asks for them; let"),
        (sheet(), Answers(FIRST, np.zeros((2, 2))), r"\(2, 2\), not \(2, 3\); let it return"),
        (sheet(), Answers(FIRST, [[0.0] * 3, [np.nan] * 3]), "NaN or infinite scores; look"),
        (sheet(), Answers(FIRST, np.full((2, 3), -np.inf)), "very low instead"),
    ],
)
def test_answers_that_do_not_fit_are_refused_by_name_and_with_the_remedy(asked, answers, told):
    with pytest.raises(BadAnswer, match=f"^subject 'who' .*{told}"):
        mark(asked, answers, "who")


def test_what_may_be_replied_instead_is_numbered_after_the_choices():
    asked = Sheet(IMAGES, ("a", "b"), np.array([0, 1]), instead=("more", "all of it"))
    marked = mark(asked, Answers(np.array([3, 1])), "who")
    assert marked.right.tolist() == [False, True]
    with pytest.raises(BadAnswer, match=r"offers 0\.\.3"):
        mark(asked, Answers(np.array([4, 1])), "who")
    assert asked.blind().instead == asked.instead
    plain = Sheet(IMAGES, ("a", "b"))
    assert (plain.ids() != asked.ids()).all()  # another question
    assert (plain.ids() == Sheet(IMAGES, ("a", "b"), instead=()).ids()).all()


def test_items_in_step_are_asked_together_only_where_the_same_is_offered():
    @dataclass
    class Two:
        name, version, needs = "two", 1, frozenset({"choice"})

        def examine(self, item):
            answers = yield Sheet(IMAGES, ("a",), instead=item["instead"])
            return {"choice": answers.choice.tolist()}

    class Last:
        name, gives, fingerprint = "last", frozenset({"choice"}), "last"

        def answer(self, sheet):
            return Answers(np.full(len(sheet), len(sheet.instead)))

    items = [{"instead": ()}, {"instead": ("x", "y")}]
    found = [r.measures["choice"] for _, r in in_step(Two(), Last(), items)]
    assert found == [[0, 0], [2, 2]]


def test_marked_answers_keep_what_was_given_and_gain_the_truth():
    scores = np.eye(3)[:2]
    marked = mark(sheet(), Answers(np.array([0, -1]), scores, seconds=np.ones(2)), "who")
    assert marked.right.tolist() == [True, False]
    assert marked.scores is scores
    assert marked.seconds.tolist() == [1, 1]
