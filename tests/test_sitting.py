"""What comes back from a subject is checked before it is believed."""

import numpy as np
import pytest

from snellen.core import Answers, Sheet
from snellen.errors import BadAnswer
from snellen.sitting import mark

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


def test_marked_answers_keep_what_was_given_and_gain_the_truth():
    scores = np.eye(3)[:2]
    marked = mark(sheet(), Answers(np.array([0, -1]), scores, seconds=np.ones(2)), "who")
    assert marked.right.tolist() == [True, False]
    assert marked.scores is scores
    assert marked.seconds.tolist() == [1, 1]
