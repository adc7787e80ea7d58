"""A pole to balance, in pictures: it moves and looks as it should, and pictures play it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from snellen.core import Answers, Sheet
from snellen.images.cartpole import (
    CHOICES,
    balanced,
    begun,
    ceiling,
    drive,
    fallen,
    full,
    lesson,
    moments,
    pictures,
    pushed,
    shown,
)
from snellen.images.cartpole.drawing import _drawn


def finished(driving, answer):
    """Answer every sheet of a drive; return the sheets and what came of the games."""
    sheets, answers = [], None
    try:
        while True:
            sheets.append(driving.send(answers))
            answers = answer(sheets[-1])
    except StopIteration as end:
        return sheets, end.value


def truthful(sheet):
    return Answers(sheet.truth)


# how it moves ---------------------------------------------------------------------------------


def test_games_move_and_end_as_gymnasium_s_do():
    gymnasium = pytest.importorskip("gymnasium")
    game = gymnasium.make("CartPole-v1").unwrapped
    rng = np.random.default_rng(0)
    ends = 0
    for seed in range(20):
        game.reset(seed=seed)
        states, over = np.array([game.state]), False
        while not over:
            push = int(rng.random() < 0.7)
            _, _, over, _, _ = game.step(push)
            states = pushed(states, np.array([bool(push)]))
            np.testing.assert_allclose(states[0], game.state, rtol=1e-12, atol=1e-14)
            assert fallen(states)[0] == over
            ends += over
    assert ends == 20


def test_games_begin_as_gymnasium_s_do_and_with_their_own_seed():
    states = begun(range(4000))
    assert np.abs(states).max() <= 0.05
    assert abs(states.mean()) < 0.002
    assert states.std() == pytest.approx(0.1 / 12**0.5, rel=0.03)
    assert (begun([7, 9]) == states[[7, 9]]).all()


def test_the_good_balancer_loses_no_game_and_recovers_from_pushes_by_lot():
    states, over = begun(range(1000)), np.zeros(1000, bool)
    rng = np.random.default_rng(0)
    for step in range(600):
        lot = rng.random(1000) < 0.5
        states = pushed(states, lot if step < 3 else balanced(states))
        over |= fallen(states)
    assert not over.any()


def test_games_by_lot_last_as_long_as_they_do():
    rng = np.random.default_rng(0)
    lengths, going, states = np.zeros(5000), np.ones(5000, bool), begun(range(5000))
    while going.any():
        states = pushed(states, rng.random(5000) < 0.5)
        lengths += going
        going &= ~fallen(states)
    assert lengths.mean() == pytest.approx(22.2, abs=0.7)


# how it looks ---------------------------------------------------------------------------------


def averaged(large, height, width):
    """Average a picture down: each pixel by the part that lies in it."""

    def shares(count, length):
        edges, pixels = np.linspace(0, length, count + 1)[:, None], np.arange(length)
        inside = np.minimum(edges[1:], pixels + 1) - np.maximum(edges[:-1], pixels)
        return np.maximum(inside, 0) / length * count

    return shares(height, large.shape[0]) @ large @ shares(width, large.shape[1]).T


STATES = st.tuples(
    st.floats(-2.5, 2.5) | st.floats(-0.3, 0.3), st.just(0.0), st.floats(-0.22, 0.22), st.just(0.0)
)


@given(STATES, st.booleans(), st.sampled_from([(32, 32), (32, 16), (40, 28)]))
@settings(max_examples=12, deadline=None)
def test_a_small_picture_is_a_much_larger_one_averaged_down(state, whole, shape):
    states = np.array([state])
    fine = np.linspace(150, 350, 1601), np.linspace(265, 335, 281)
    large = _drawn(states, *fine, whole)[0, ..., 0].astype(float)
    small = pictures(states, height=shape[0], width=shape[1], whole=whole)[0, ..., 0].astype(float)
    apart = np.abs(small - averaged(large, *shape))
    assert apart.max() <= 20  # in the pixels where the edge of the cart crosses the pole's
    assert apart.mean() < 0.2


def test_a_small_picture_shows_the_middle_of_the_whole_one():
    """Edges within a pixel of the whole picture are blurred there, so some differ a little."""
    states = moments(4, 5, wander=1.0).now
    cut = full(states)[:, 150:350, 265:335, 0].astype(float)
    small = pictures(states)[..., 0].astype(float)
    apart = np.abs(small - [averaged(large, 32, 32) for large in cut])
    assert apart.max() < 32
    assert apart.mean() < 0.5


@pytest.mark.parametrize("state", [(0, 0, 0, 0), (0.013, 0, 0.1, 0), (-1.2, 0, -0.2, 0)])
def test_a_large_picture_is_what_polygons_of_pillow_make(state):
    """Drawn eight times as large with hard edges, and averaged down."""
    big = 8
    x, _, angle, _ = state
    picture = Image.new("L", (600 * big, 400 * big), 255)
    pen = ImageDraw.Draw(picture)
    middle, axle = 300 + 125 * x, 292.5
    turned = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])
    pole = np.array([(-5, -5), (-5, 120), (5, 120), (5, -5)]) @ turned.T + (middle, axle)

    def box(left, top, right, bottom):
        return [left * big, top * big, right * big - 1, bottom * big - 1]

    pen.rectangle(box(middle - 25, 285, middle + 25, 315), fill=0)
    pen.polygon([tuple(corner * big - 0.5) for corner in pole], fill=161)
    pen.ellipse(box(middle - 5, axle - 5, middle + 5, axle + 5), fill=139)
    pen.rectangle(box(0, 300, 600, 301), fill=0)
    theirs = np.asarray(picture.reduce(big), float)
    ours = full(np.array([state], float))[0, ..., 0].astype(float)
    apart = np.abs(ours - theirs)
    assert apart.max() <= 32
    assert (apart > 16).sum() <= 60  # Pillow's outlines are an eighth of a pixel wider
    assert apart.mean() < 0.05


def test_the_parts_have_their_greys():
    large = full(np.array([[0.0, 0, 0, 0]]))[0, ..., 0]
    assert large[10, 10] == 255
    assert large[310, 280] == large[300, 10] == 0
    assert large[200, 300] == round(0.299 * 202 + 0.587 * 152 + 0.114 * 101) == 161
    assert large[292, 300] == round(0.299 * 129 + 0.587 * 132 + 0.114 * 203) == 139
    assert large[172, 300] < 255
    assert large[171, 300] == 255
    assert (large != 255).any(axis=0)[[274, 275, 324, 325]].all()  # the track is everywhere
    assert (large[310] == 0).sum() == 50


def test_a_pole_that_leans_to_the_right_leans_to_the_right():
    upright, leaning = full(np.array([[0, 0, 0, 0], [0, 0, 0.2, 0]], float))[..., 0]
    tip = np.flatnonzero(leaning[180] < 255).mean()
    assert tip == pytest.approx(300 + 112.5 * np.tan(0.2), abs=1)
    assert np.flatnonzero(upright[180] < 255).mean() == pytest.approx(299.5)


def test_states_that_differ_by_less_than_a_pixel_look_alike_on_whole_pixels_only():
    states = np.array([[0.001, 0, 0.001, 0], [0.002, 0, 0.0011, 0]])
    alike = pictures(states, whole=True)
    apart = pictures(states)
    assert (alike[0] == alike[1]).all()
    assert (apart[0] != apart[1]).any()


def test_pictures_do_not_depend_on_how_many_are_drawn_together():
    games = moments(300, 3)
    assert (pictures(games.now)[200:210] == pictures(games.now[200:210])).all()


def test_a_single_frame_hides_the_speed_and_two_show_it():
    states = np.array([[0.0, -1.0, 0.02, 0.5], [0.0, 1.0, 0.02, -0.5]])
    later = pushed(states, np.array([True, True]))
    later[1, [0, 2]] = later[0, [0, 2]]
    games = moments(2, 1)._replace(before=states - later * 0, now=later)
    one = shown(games)
    assert (one[0] == one[1]).all()
    moved = games._replace(before=np.stack([states[0], states[1] + [0.04, 0, -0.02, 0]]))
    two = shown(moved, 2)
    assert two.shape == (2, 32, 32, 1)
    assert (two[0, :, 1::2] == two[1, :, 1::2]).all()
    assert (two[0, :, ::2] != two[1, :, ::2]).any()
    assert (two[:, :, 1::2] == pictures(later, width=16)).all()


# what is taught -------------------------------------------------------------------------------


def test_a_lesson_is_repeated_exactly_and_is_even():
    one, same, other = lesson(500, 1), lesson(500, 1), lesson(500, 2)
    assert (one.images == same.images).all()
    assert (one.labels == same.labels).all()
    assert (one.images != other.images).any()
    assert one.choices == CHOICES
    assert 0.4 < one.labels.mean() < 0.6


def test_moments_come_from_games_that_go_on():
    """Each present state follows from the one before by a push, or begins a game."""
    games = moments(1000, 4, wander=0.5)
    left, right = (pushed(games.before, np.full(1000, side)) for side in (False, True))
    follows = (left == games.now).all(axis=1) | (right == games.now).all(axis=1)
    begins = (games.before == games.now).all(axis=1) & (np.abs(games.now) <= 0.05).all(axis=1)
    assert (follows | begins).all()
    assert begins[:64].all()
    assert 64 < begins.sum() < 200
    assert not fallen(games.now).any()


def test_games_by_lot_are_as_short_as_games_by_lot_are():
    games = moments(20_000, 1, wander=1.0)
    begins = (games.before == games.now).all(axis=1).sum()
    assert 20_000 / begins == pytest.approx(22.2, rel=0.1)


def test_a_ceiling_is_what_counting_says():
    images = np.array([0, 0, 0, 1, 1, 2, 3, 3], np.uint8).reshape(-1, 1, 1, 1)
    labels = np.array([0, 0, 1, 1, 1, 0, 1, 0])
    found = ceiling(images, labels)
    assert found.both == 5 / 8
    assert found.most == 6 / 8
    # taught 0→0, 0→1 (a tie: the first), 1→1, 3→1; asked 0: 0, 1: 1, 2: 0, 3: 0
    assert found.least == 2 / 4


def test_pictures_that_hide_the_speed_have_a_low_ceiling_and_states_have_none():
    games = moments(4000, 1, wander=0.25)
    hidden = ceiling(shown(games, whole=True), games.labels)
    assert hidden.both > 0.7
    assert hidden.most < 0.75
    states = games.now.reshape(-1, 4, 1, 1)
    assert ceiling(states, games.labels).most == 1


# how it is played -----------------------------------------------------------------------------


def test_the_good_balancer_s_answers_keep_the_pole_up():
    sheets, shares = finished(drive(range(5), limit=60), truthful)
    assert shares.tolist() == [1.0] * 5
    assert len(sheets) == 60
    assert sheets[0].images.shape == (5, 32, 32, 1)


def test_one_sided_pushes_fall_and_leave_the_turns_to_the_rest():
    sheets, shares = finished(drive(range(8)), lambda s: Answers(np.zeros(len(s), int)))
    lengths = np.rint(shares * 200).astype(int)
    assert lengths.min() >= 7
    assert lengths.max() <= 12
    assert [len(s) for s in sheets] == [(lengths > step).sum() for step in range(len(sheets))]
    for step, sheet in enumerate(sheets):
        assert sheet.given["game"].tolist() == np.flatnonzero(lengths > step).tolist()
        assert set(sheet.given["step"]) == {step}


def test_games_do_not_depend_on_who_plays_beside_them():
    together = finished(drive(range(6)), lambda s: Answers(1 - s.truth))[1]
    alone = [finished(drive([seed]), lambda s: Answers(1 - s.truth))[1][0] for seed in range(6)]
    assert together.tolist() == alone


def test_who_knows_other_things_too_pushes_by_what_it_says_of_pushing():
    """Digits come first; a pupil that is sure of a digit still prefers one of the pushes."""
    names = (*"0123456789", *CHOICES)

    def answer(sheet):
        assert sheet.choices == names
        assert set(sheet.truth) <= {10, 11}
        scores = np.zeros((len(sheet), 12))
        scores[:, 3] = 9
        scores[np.arange(len(sheet)), sheet.truth] = 1
        return Answers(scores.argmax(axis=1), scores)

    assert finished(drive([1], choices=names, first=10, limit=50), answer)[1] == 1


def test_a_choice_that_is_no_push_counts_as_the_nearer_one():
    names = ("cat", *CHOICES, "dog")
    other = {1: 0, 2: 3}
    answer = lambda sheet: Answers(np.array([other[t] for t in sheet.truth]))  # noqa: E731
    assert finished(drive([1], choices=names, first=1, limit=50), answer)[1] == 1


def test_pictures_come_as_they_were_taught():
    wide = lambda images: np.pad(images, ((0, 0), (0, 0), (0, 32), (0, 0)))  # noqa: E731
    sheets, _ = finished(drive([1], frames=2, framed=wide, limit=3), truthful)
    assert all(isinstance(sheet, Sheet) for sheet in sheets)
    assert sheets[0].images.shape == (1, 32, 64, 1)
    first, last = sheets[0].images[0], sheets[2].images[0]
    assert (first[:, :32:2] == first[:, 1:32:2]).all()  # at first nothing has moved
    assert (last[:, :32:2] != last[:, 1:32:2]).any()
