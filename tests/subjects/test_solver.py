"""The synthesizer finds the shortest program, says when it could not, and marks with it."""

import math

import pytest

from snellen.errors import BadSetting, MissingExtra
from snellen.images.svrt.parsings import Parsing, Shape
from snellen.subjects.synthesis.encoding import question, undecided
from snellen.subjects.synthesis.programs import FIRST, Draw, Inputs, Place, Program, Relation, grid
from snellen.subjects.synthesis.solver import explains, preference, score, synthesize

pytest.importorskip("z3")
A, B, C, D = (10, 20), (90, 31), (33, 101), (71, 64)


def seen(*shapes, contains=(), borders=()):
    """Write a picture as (place, identity, scale) or just places."""
    rows = [s if len(s) == 3 else (s, 1, 10.0) for s in shapes]
    made = tuple(Shape(float(x), float(y), who, size) for (x, y), who, size in rows)
    return Parsing(made, contains, borders)


def by(*draws, relations=(), **inputs):
    """Make a program of the draws after the first."""
    return Program((FIRST, *draws), relations, Inputs(**inputs))


def moved(place, step, far=1.0):
    return place[0] + far * step[0], place[1] + far * step[1]


def test_what_has_nothing_in_common_is_drawn_at_places_of_its_own():
    found = synthesize([seen(A, B), seen(D, (20, 90))])
    assert found.lines == ("teleport r[0]", "draw s[0]", "teleport r[1]", "draw s[0]")
    # bits: 4 kinds of places, 2 positions; 2 pictures with 2 places and 1 shape
    assert found.cost == pytest.approx(2 + 1 + 2 * (40 + 1000))
    assert found.bits == 1040
    assert found.complete
    assert found.timeouts == 0


def test_a_lesser_contour_costs_more_than_any_place():
    found = synthesize([seen((A, 1, 10), (B, 2, 10)), seen((D, 1, 10), (C, 2, 10))])
    assert found.inputs.shapes == 2
    assert found.cost == pytest.approx(2 + 1 + 1 + 2 * (40 + 2000))  # one bit more: which contour


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("flip-X", lambda x, y: (128 - x, y)),
        ("flip-Y", lambda x, y: (x, 128 - y)),
        ("jitter", lambda x, y: (x + 9, y - 9)),  # 6 and 3 pixels of tolerance
    ],
)
def test_a_mirror_or_a_shake_saves_a_position(line, other):
    pictures = [seen(A, other(*A)), seen(other(*D), D), seen(C, other(*C))]
    found = synthesize(pictures)
    assert found.lines[2] == line
    assert found.cost == pytest.approx(2 + 3 * (20 + 1000))
    assert found.complete
    assert score(found, pictures[0]) == -1020
    assert score(found, seen(A, moved(other(*A), (14, 14)))) == -math.inf


def test_a_square_takes_one_place_one_length_and_quarter_turns():
    squares = [
        seen(p, moved(p, (a, b)), moved(p, (a - b, b + a)), moved(p, (-b, a)))
        for p, a, b in [((60, 60), 30, 10), ((50, 70), -12, 33), ((64, 30), 25, -4)]
    ]
    found = synthesize(squares, seconds=5)
    assert found.complete
    assert {(draw.place.kind, draw.place.turn) for draw in found.draws[2:]} <= {
        ("move", "90"),
        ("move", "-90"),
    }
    # three times: 5 kinds, 3 turns; a place, a length and a heading
    assert found.cost == pytest.approx(3 * math.log2(15) + 3 * (20 + 10 + 10 + 1000))
    bent = (*squares[0].shapes[:3], Shape(75, 75, 1, 10.0))
    assert score(found, Parsing(bent)) == -math.inf


def test_a_line_takes_two_lengths():
    program = by(Draw(Place("move", 0)), Draw(Place("move", 1)), positions=1, lengths=2)
    assert score(program, seen((10, 10), (100, 100), (40, 40))) == -1050
    assert not explains(program, seen((10, 10), (100, 100), (80, 40)))


def test_a_turn_that_is_an_input_leads_as_far_as_before():
    program = by(Draw(Place("move", 0)), Draw(Place("move", 0, "a[0]")), lengths=1, angles=1)
    equal = seen((60, 60), (60, 110), (60 + 35.4, 110 + 35.4))
    assert score(program, equal) == -1050
    assert explains(program, seen((60, 60), (60, 110), (60, 64)))  # there and back
    assert explains(program, seen((5, 60), (25, 60), (115, 60))) is False  # 20, 90 and 110 apart


def test_directions_hold_until_the_next_teleport():
    back = by(
        Draw(Place("move", 0)),
        Draw(Place("teleport", 1)),
        Draw(Place("move", 0)),
        positions=2,
        lengths=1,
    )
    step = (20, 11)
    alike = seen((20, 20), moved((20, 20), step), (70, 70), moved((70, 70), step))
    assert score(back, alike) == -1060
    unlike = seen((20, 20), moved((20, 20), step), (70, 70), moved((70, 70), (-11, 40)))
    assert score(back, unlike) == -math.inf


def test_sizes_are_told_apart_by_a_scale_and_mirrors_by_its_sign():
    large, small, mirrored = (A, 1, 21.0), (B, 1, 10.5), (B, 1, -21.0)
    shrunk = by(Draw(Place("teleport", 1), scaled=True), positions=2, scale=1)
    turned = by(Draw(Place("teleport", 1), scaled=True), positions=2, scale=-1)
    plain = by(Draw(Place("teleport", 1)), positions=2)
    assert [score(p, seen(large, small)) for p in (shrunk, turned, plain)] == [
        -1050, -math.inf, -math.inf,
    ]  # fmt: skip
    assert [score(p, seen(large, mirrored)) for p in (shrunk, turned, plain)] == [
        -math.inf, -1050, -math.inf,
    ]  # fmt: skip
    found = synthesize([seen(large, mirrored), seen((C, 1, -9.0), (D, 1, 9.0))])
    assert found.lines[-1] == "draw s[0]:scale z"
    assert found.cost == pytest.approx(1 + 2 + 1 + 2 * (10 + 40 + 1000))
    found = synthesize([seen(large, small), seen((C, 1, 9.0), (D, 1, 3.0))])
    assert found.inputs.scale == 1


def test_what_all_pictures_show_of_pairs_is_required():
    inside = [seen(A, B, contains=((0, 1),)), seen(C, D, contains=((1, 0),))]
    found = synthesize(inside)
    assert found.relations in ((Relation("contains", 0, 1),), (Relation("contains", 1, 0),))
    # a line of relations: required or not, and one of 2 ordered pairs
    assert found.cost == pytest.approx(2 + 1 + (1 + 1) + 2 * (40 + 1000))
    assert score(found, seen(A, D, contains=((0, 1),))) == -1040
    assert score(found, seen(A, D)) == -math.inf
    assert score(found, seen(A, D, contains=((0, 1),), borders=((0, 1),))) == -math.inf


def test_what_some_pictures_show_of_pairs_is_an_option_that_costs_a_bit_a_picture():
    found = synthesize([seen(A, B, borders=((0, 1),)), seen(C, D)])
    assert found.lines[-1] == "borders-option 0 1"
    assert found.cost == pytest.approx(2 + 1 + (1 + 0) + 2 * (40 + 1000 + 1))
    assert score(found, seen(A, D)) == score(found, seen(A, D, borders=((0, 1),))) == -1041


def test_relations_that_no_program_can_state_leave_none():
    chain = seen(A, B, C, contains=((0, 1), (1, 2)))
    twins = seen(A, B, C, contains=((0, 1), (0, 2)))
    found = synthesize([chain, twins], seconds=5)
    assert found.draws == ()
    assert found.complete
    assert found.cost == math.inf
    assert score(found, chain) == -math.inf


def test_a_picture_with_too_many_shapes_or_contours_cannot_be_drawn():
    found = synthesize([seen(A, B), seen(D, C)])
    assert score(found, seen(A, B, C)) == -math.inf
    assert score(found, seen((A, 1, 10.0), (B, 2, 10.0))) == -math.inf


def test_examples_with_another_count_of_shapes_are_left_out():
    odd = seen(A, B, C)
    assert synthesize([seen(A, B), odd, seen(D, C)]).cost == synthesize(
        [seen(A, B), seen(D, C)]
    ).cost  # fmt: skip


def test_a_check_that_ran_out_of_time_is_reported():
    hard = [seen(A, B, C, D), seen(B, D, (64, 9), (99, 99)), seen(C, (9, 60), (70, 12), (110, 80))]
    found = synthesize(hard, seconds=0.2, total=1.5)
    assert not found.complete
    assert found.timeouts > 0
    assert found.draws
    assert found.seconds < 5
    none = synthesize(hard, total=0.0)
    assert (none.draws, none.complete, none.checks) == ((), False, 0)


def test_what_is_not_linear_may_be_skipped_and_that_is_told():
    found = synthesize([seen(A, B, C), seen(B, D, (64, 9)), seen((9, 60), A, D)], nonlinear=2)
    assert found.skipped > 0
    assert found.timeouts == 0
    assert not found.complete


def test_the_same_examples_give_the_same_program_and_progress():
    pictures = [seen(A, B, C), seen(B, D, (64, 9)), seen((9, 60), A, D)]
    told = [], []
    first, second = (
        synthesize(pictures, nonlinear=2, seconds=9, tell=lines.append) for lines in told
    )
    assert first.lines == second.lines
    assert first.checks == second.checks
    assert told[0] == told[1] != []


def test_a_question_is_the_same_text_at_every_run():
    inputs = Inputs(positions=2, lengths=1, angles=1, borders=1)
    pictures = [seen(A, B, C, borders=((0, 2),)), seen(B, C, D)]
    once, again = (question(undecided(inputs, 3, 2, 3000.0), pictures) for _ in range(2))
    assert once == again


def test_the_grid_has_as_many_points_as_the_papers():
    assert [len(list(grid(Inputs(), drawn))) for drawn in (2, 3, 4, 6)] == [12, 27, 42, 72]


def test_the_larger_score_wins_and_a_tie_is_half():
    assert [preference(*pair) for pair in [(-1, -2), (-2, -1), (-3, -3)]] == [1.0, 0.0, 0.5]
    assert preference(-math.inf, -math.inf) == 0.5


def test_nothing_to_learn_from_and_no_solver_are_told(monkeypatch):
    with pytest.raises(BadSetting, match="at least one"):
        synthesize([])
    monkeypatch.setitem(__import__("sys").modules, "z3", None)
    with pytest.raises(MissingExtra, match="synthesis"):
        synthesize([seen(A, B)])
