import pickle

import numpy as np
import pytest

from snellen.core import MOST_PRACTICE, Answers, Item, Lesson, Practice, Sheet, Turn

IMAGES = np.arange(2 * 4 * 4, dtype=np.uint8).reshape(2, 4, 4, 1)


def test_equal_stimuli_share_an_id_and_others_do_not():
    twice = Sheet(np.concatenate([IMAGES, IMAGES]), ("a", "b"))
    ids = twice.ids()
    assert (ids[:2] == ids[2:]).all()
    assert ids[0] != ids[1]
    assert (Sheet(IMAGES, ("a", "c")).ids() != ids[:2]).all()
    assert (Sheet(IMAGES, ("a", "b"), prompt="?").ids() != ids[:2]).all()
    assert (Sheet(IMAGES.astype(np.float32), ("a", "b")).ids() != ids[:2]).all()
    assert (Sheet(IMAGES.reshape(2, 2, 8, 1), ("a", "b")).ids() != ids[:2]).all()


def test_the_id_of_a_stimulus_is_the_same_everywhere():
    assert [f"{i:016x}" for i in Sheet(IMAGES, ("a", "b")).ids()] == GOLDEN_IDS


GOLDEN_IDS = ["da4c98e315c7af9c", "52c97ba32b4d896b"]


def test_a_blind_sheet_keeps_the_question_and_hides_the_truth():
    sheet = Sheet(IMAGES, ("a", "b"), np.array([0, 1]), given={"k": np.array([1, 2])}, prompt="?")
    blind = sheet.blind()
    assert blind.truth is None
    assert not blind.given
    assert (blind.ids() == sheet.ids()).all()


@pytest.mark.parametrize(
    ("images", "told"),
    [
        (IMAGES[..., 0], "1 or 3"),
        (IMAGES.astype(np.float64), "float32"),
        (np.zeros((2, 4, 4, 2), np.uint8), "1 or 3"),
    ],
)
def test_pictures_of_another_form_are_refused(images, told):
    with pytest.raises(ValueError, match=told):
        Sheet(images, ("a", "b"))


def test_labels_must_be_places_of_choices():
    with pytest.raises(ValueError, match=r"0\.\.1"):
        Lesson(IMAGES, np.array([0, 2]), ("a", "b"))
    with pytest.raises(ValueError, match="2 pictures came with labels"):
        Lesson(IMAGES, np.array([0]), ("a", "b"))
    with pytest.raises(ValueError, match="column 'k' holds 1"):
        Sheet(IMAGES, ("a", "b"), given={"k": np.array([1])})


def test_an_item_is_its_facets_in_any_order_and_survives_the_post():
    item = Item(level=8, row="rotated")
    assert item == Item({"row": "rotated", "level": 8})
    assert hash(item) == hash(Item(row="rotated", level=8))
    assert pickle.loads(pickle.dumps(item)) == item
    assert item != Item(level=9, row="rotated")
    assert dict(item) == {"level": 8, "row": "rotated"}


def test_answers_are_right_only_against_a_truth():
    answers = Answers(np.array([0, 1]))
    with pytest.raises(ValueError, match="no right answers"):
        _ = answers.right
    assert Answers(np.array([0, 1]), truth=np.array([0, 0])).right.tolist() == [True, False]


SEEN, BOTH, DICE = np.zeros((2, 3), np.float32), np.ones((2, 2), bool), np.arange(2)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ((SEEN.astype(float), BOTH, DICE), "come as float32"),
        ((SEEN[0], BOTH, DICE), r"float32 \(n, size\), not as float32 \(3,\)"),
        ((SEEN, BOTH[:1], DICE), "2 observations came with valid actions"),
        ((SEEN, BOTH.astype(int), DICE), r"not bool \(n, actions\)"),
        ((SEEN, BOTH, DICE[:1]), "2 games came with dice"),
        ((SEEN, np.array([[True, False], [False, False]]), DICE), "should be over"),
    ],
)
def test_a_turn_that_does_not_fit_together_is_refused(columns, told):
    with pytest.raises(ValueError, match=told):
        Turn(*columns)


def test_practice_leaves_the_seeds_of_games_that_count_alone():
    Practice(None, 10, MOST_PRACTICE - 11)
    with pytest.raises(ValueError, match="for games that count"):
        Practice(None, 10, MOST_PRACTICE - 10)
    with pytest.raises(ValueError, match="at least a step"):
        Practice(None, 0)
