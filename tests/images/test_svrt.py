"""Pictures keep their problem's rule, look as the published ones do, and tell the truth."""

import math
import sys
from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy import ndimage

from snellen.errors import BadSetting, MissingExtra
from snellen.images.svrt import PROBLEMS, SIDE, draw, positive
from snellen.images.svrt.contours import contour, outline
from snellen.images.svrt.parsings import MOST, Parsing, Shape, sasquatch
from snellen.images.svrt.problems import DRAWN

EIGHT = np.ones((3, 3))
NESTED = (2, 4, 8, 12, 13, 23)
TOUCHING = (3, 11)


@cache
def drawn(problem):
    return draw(problem, [1, 0] * 12, seed=7)


def lines(scenes, i):
    """Return the (rows, columns) of every connected line of a picture."""
    labels, count = ndimage.label(scenes.images[i, ..., 0] == 0, EIGHT)
    return [np.argwhere(labels == number) for number in range(1, count + 1)]


def prints(scenes, i):
    """Count how often each pattern of pixels is there, wherever it is."""
    return counts(frozenset(map(tuple, line - line.min(0))) for line in lines(scenes, i))


def at(scenes, i, **which):
    """Return the places of a picture's shapes, or of those that are as wanted."""
    truth, count = scenes.truth, scenes.truth.count[i]
    wanted = [all(getattr(truth, key)[i, j] == which[key] for key in which) for j in range(count)]
    return [complex(truth.x[i, j], truth.y[i, j]) for j in range(count) if wanted[j]]


def counts(values):
    return sorted(Counter(values).values())


def gap(scenes, i):
    near, far = lines(scenes, i)
    return np.abs(near[:, None] - far).sum(2).min()


def clusters(scenes, i):
    linked = np.eye(scenes.truth.count[i], dtype=bool)
    for _, one, other in scenes.borders[scenes.borders[:, 0] == i]:
        linked[one, other] = linked[other, one] = True
    reached = np.linalg.matrix_power(linked.astype(int), 4) > 0
    return counts(map(bytes, reached))


def alike(scenes, i):
    return len(set(scenes.truth.identity[i])) == 1


def nested(scenes, i):
    return len(scenes.parsing(i).contains) == 1


def equally_far(scenes, i):
    apart = [abs(np.subtract(*at(scenes, i, identity=which))) for which in (1, 2)]
    assert abs(apart[0] - apart[1]) < 3 or abs(apart[0] - apart[1]) >= 21
    return abs(apart[0] - apart[1]) < 3


def big_at_the_end(scenes, i):
    (big,), (one, other) = at(scenes, i, size=21.0), at(scenes, i, size=10.5)
    detours = [
        abs(a - b) + abs(c - b) - abs(a - c)
        for a, b, c in ((one, big, other), (big, one, other), (big, other, one))
    ]
    assert min(detours) < 3
    return detours[0] > 3


def square(scenes, i):
    apart = sorted(abs(a - b) for a, b in combinations(at(scenes, i), 2))
    sides, diagonals = apart[:4], apart[4:]
    return np.ptp(sides) < 6 and abs(np.mean(diagonals) - math.sqrt(2) * np.mean(sides)) < 3


def small_ones_together(scenes, i):
    big, (one, other) = at(scenes, i, size=21.0)[0], at(scenes, i, size=10.0)
    return abs(one - other) < min(abs(one - big), abs(other - big))


def couples(scenes, i):
    (big, twin), (one, other) = at(scenes, i, size=32.0), at(scenes, i, size=10.0)
    return one - big == other - twin or other - big == one - twin


def in_line(scenes, i):
    ends = max(combinations(at(scenes, i), 2), key=lambda pair: abs(pair[0] - pair[1]))
    (middle,) = [place for place in at(scenes, i) if place not in ends]
    off = abs(((middle - ends[0]) / (ends[1] - ends[0])).imag) * abs(ends[1] - ends[0])
    assert off < 2 or off > 6
    return off < 2


def amid(scenes, i):
    (odd,) = next(
        few for few in (at(scenes, i, identity=1), at(scenes, i, identity=2)) if len(few) == 1
    )
    return np.ptp([abs(place - odd) for place in at(scenes, i) if place != odd]) < 3


RULES = {
    1: lambda s, i: prints(s, i) == [2],
    2: lambda s, i: gap(s, i) <= 3,
    3: lambda s, i: clusters(s, i) == [2, 2],
    4: nested,
    5: lambda s, i: prints(s, i) == [2, 2],
    6: equally_far,
    7: lambda s, i: prints(s, i) == [3, 3],
    8: lambda s, i: nested(s, i) and alike(s, i),
    9: big_at_the_end,
    10: square,
    11: lambda s, i: len(lines(s, i)) == 1,
    12: small_ones_together,
    13: couples,
    14: in_line,
    15: lambda s, i: prints(s, i) == [4],
    16: lambda s, i: (s.images[i] == s.images[i, :, ::-1]).all(),
    17: amid,
    18: lambda s, i: {SIDE - place.conjugate() for place in at(s, i)} == set(at(s, i)),
    **dict.fromkeys([19, 20, 21], alike),
    22: lambda s, i: prints(s, i) == [3],
    23: nested,
    101: lambda s, i: prints(s, i) == [2],
}
"""By problem: whether a picture keeps the rule of category 1."""


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_rule_holds_in_one_category_only(problem):
    scenes = drawn(problem)
    assert [RULES[problem](scenes, i) for i in range(len(scenes))] == scenes.labels.tolist()


def test_what_both_categories_share():
    for i in range(24):
        assert square(drawn(15), i)
        assert in_line(drawn(22), i)
        assert nested(drawn(2), i)
        assert not 3 < gap(drawn(2), i) <= 16
        assert clusters(drawn(3), i) in ([2, 2], [1, 3])
        heights = sorted(place.imag for place in at(drawn(18), i))
        assert heights[::2] == heights[1::2]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_there_are_as_many_lines_as_shapes_all_clear_of_the_margin(problem):
    scenes = drawn(problem)
    assert set(np.unique(scenes.images)) == {0, 255}
    inner = scenes.images[:, 1:-1, 1:-1]
    assert (inner == 0).sum() == (scenes.images == 0).sum()
    for i, label in enumerate(scenes.labels):
        expected = {3: 2, 11: 2 - label}.get(problem, scenes.truth.count[i])
        assert len(lines(scenes, i)) == expected


@pytest.mark.parametrize("problem", sorted({*PROBLEMS} - {*NESTED, *TOUCHING}))
def test_shapes_of_one_identity_come_out_of_each_other_as_the_truth_says(problem):
    scenes, truth = drawn(problem), drawn(problem).truth
    for i in range(0, len(scenes), 3):
        shapes = []
        for place in at(scenes, i):
            line = min(lines(scenes, i), key=lambda line: _miss(line, place))
            shapes.append(line[:, 1] + 0.5 + (line[:, 0] + 0.5) * 1j - place)
        for one, other in combinations(range(len(shapes)), 2):
            if truth.identity[i, one] != truth.identity[i, other]:
                continue
            made = shapes[one] * truth.size[i, other] / truth.size[i, one]
            if truth.mirrored[i, one] != truth.mirrored[i, other]:
                apart = at(scenes, i)[other] - at(scenes, i)[one] if problem == 20 else 1
                made = -(made / apart).conjugate() * apart
            turn = truth.angle[i, other] - truth.angle[i, one]
            made = made * complex(math.cos(turn), math.sin(turn))
            off = np.abs(made[:, None] - shapes[other])
            assert max(off.min(0).max(), off.min(1).max()) < 3.5


def _miss(line, place):
    """Return how far the middle of a line's box is from a place."""
    y, x = (line.min(0) + line.max(0)) / 2
    return abs(complex(x, y) - place)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_picture_depends_on_its_own_label_and_number_only(problem):
    again = draw(problem, [1, 0, 1], seed=7)
    np.testing.assert_array_equal(again.images, drawn(problem).images[:3])
    assert [again.parsing(i) for i in range(3)] == [drawn(problem).parsing(i) for i in range(3)]
    changed = draw(problem, [0, 0, 1], seed=7)
    assert (changed.images[0] != again.images[0]).any()
    np.testing.assert_array_equal(changed.images[1:], again.images[1:])
    assert (draw(problem, [1], seed=8).images[0] != again.images[0]).any()


PUBLISHED = {
    (10, 1): [(0.12, 0.24, 0.42), (26, 37, 45), (1.10, 1.50, 1.80)],
    (21, 2): [(0.12, 0.25, 0.43), (57, 79, 97), (1.05, 1.48, 1.81)],
    (26.25, 2.5): [(0.11, 0.22, 0.41), (68, 95, 119), (1.03, 1.41, 1.75)],
    (21, 10): [(0.39, 0.48, 0.58), (87, 97, 108), (1.48, 1.67, 1.90)],
    (48, 21): [(0.37, 0.47, 0.59), (197, 227, 253), (1.46, 1.67, 1.88)],
    (48, 16): [(0.27, 0.35, 0.50), (173, 208, 237), (1.29, 1.54, 1.81)],
}
"""Of the public generator's shapes, at 5, 50 and 95 %: area, pixels, longer side of the box."""


@pytest.mark.parametrize(("radius", "hole"), PUBLISHED)
def test_contours_are_distributed_as_the_published_ones(radius, hole):
    """The published ones are some hundreds of shapes that had found room in a picture."""
    dice = np.array([1], np.uint64)
    made = []
    for _ in range(400):
        points = contour(dice, float(radius), float(hole))
        x, y = points.T
        area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
        pixels = outline(points)
        side = np.ptp(pixels, axis=0).max() + 0.5  # as measured: to the pixel, either way
        made.append((area / math.pi / radius**2, len(pixels), side / radius))
        far = np.hypot(x, y)
        assert hole <= far.min() + 1e-9
        assert far.max() <= radius + 1e-9
        assert np.hypot(x - np.roll(x, 1), y - np.roll(y, 1)).max() <= 0.25 * math.sqrt(2)
    for ours, theirs in zip(np.transpose(made), PUBLISHED[radius, hole], strict=True):
        for value, share, margin in zip(theirs, (0.05, 0.5, 0.95), (0.08, 0.2, 0.08), strict=True):
            assert abs((ours <= value).mean() - share) < margin


@pytest.mark.parametrize(("problem", "share"), [(8, 0.175), (23, 0.27)])
def test_redoing_the_coin_too_favours_the_outside(problem, share):
    """Three standard errors of ours and of a published share of as many."""
    scenes = draw(problem, [0] * 1000, seed=2)
    inside = len(set(scenes.contains[:, 0])) / 1000
    assert abs(inside - share) < 3 * math.sqrt(2 * share * (1 - share) / 1000)


def test_relations_are_those_of_the_pixels():
    for problem in (4, 7, 13, 18):
        scenes = drawn(problem)
        for i in range(len(scenes)):
            found = lines(scenes, i)
            gaps = [np.abs(a[:, None] - b).sum(2).min() for a, b in combinations(found, 2)]
            filled = [ndimage.binary_fill_holes(_mask(line)) for line in found]
            nested = sum((a & b).any() for a, b in combinations(filled, 2))
            assert sum(gap <= 2 for gap in gaps) == len(scenes.parsing(i).borders)
            assert nested == len(scenes.parsing(i).contains)


def _mask(line):
    made = np.zeros((SIDE, SIDE), bool)
    made[tuple(line.T)] = True
    return made


@pytest.mark.parametrize("problem", [16, 20])
def test_parsings_do_not_tell_the_category_by_the_size(problem):
    for i in range(24):
        scales = [shape.scale for shape in drawn(problem).parsing(i).shapes]
        assert {abs(scale) for scale in scales} == {16.0 if problem == 20 else 10.0}
        assert scales[0] > 0
        assert (min(scales) < 0) == drawn(problem).labels[i]


def test_identities_are_numbered_in_order_of_appearance():
    orders = set()
    for i in range(24):
        identities = [shape.identity for shape in drawn(7).parsing(i).shapes]
        seen = list(dict.fromkeys(identities))
        assert seen == sorted(seen)
        assert seen[0] == 1
        orders.add(tuple(identities))
    assert len(orders) > 12


def test_a_parsing_prints_as_published():
    shapes = (Shape(30, 94, 1, 52.5), Shape(87, 49, 1, -10))
    assert str(Parsing(shapes, ((1, 0),), ((0, 1),))) == (
        "Shape(30,94,1,52.5),Shape(87,49,1,-10)\ncontains(1, 0)\nborders(0, 1)"
    )


def box(picture, top, left, bottom, right):
    picture[[top, bottom], left : right + 1] = 0
    picture[top : bottom + 1, [left, right]] = 0


def test_sasquatch_sees_places_sizes_and_nesting():
    picture = np.full((SIDE, SIDE, 1), 255, np.uint8)
    box(picture, 10, 10, 50, 50)
    box(picture, 20, 20, 40, 40)
    box(picture, 60, 60, 80, 120)
    assert sasquatch(picture) == Parsing(
        (Shape(30, 30, 1, 1.0), Shape(30, 30, 1, 21**2 / 41**2), Shape(90, 70, 2, 1.0)),
        contains=((0, 1),),
    )


def test_sasquatch_takes_a_space_shut_in_for_a_shape():
    picture = np.full((SIDE, SIDE), 255, np.uint8)
    box(picture, 10, 10, 30, 30)
    box(picture, 30, 10, 50, 30)
    box(picture, 20, 30, 40, 60)
    parsing = sasquatch(picture)
    assert len(parsing.shapes) == 3
    assert parsing.borders == ((0, 1), (0, 2), (1, 2))
    box(picture, 10, 30, 20, 60)
    box(picture, 10, 60, 40, 62)
    assert len(sasquatch(picture).shapes) > 3


@pytest.mark.parametrize("problem", [1, 5, 7, 15, 22])
def test_sasquatch_tells_same_from_different_but_not_what_is_turned(problem):
    scenes = drawn(problem)
    same = [
        counts(shape.identity for shape in sasquatch(image).shapes)
        == counts(shape.identity for shape in scenes.parsing(i).shapes)
        for i, image in enumerate(scenes.images)
    ]
    assert sum(same) >= 19
    for i in range(1, 24, 2):
        assert len({shape.identity for shape in sasquatch(drawn(101).images[i]).shapes}) > 1


@pytest.mark.parametrize("ink", [0.0, 0.02, 0.3, 0.7, 1.0])
def test_sasquatch_parses_any_picture(ink):
    noise = np.random.default_rng(0).random((SIDE, SIDE)) >= ink
    assert len(sasquatch(noise.astype(np.uint8) * 255).shapes) <= MOST


def test_the_positive_category_is_the_papers():
    assert [problem for problem in PROBLEMS if not positive(problem)] == [2, 3, 7, 9, 23]
    assert set(DRAWN) == set(PROBLEMS)


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(BadSetting, match="no problem 24; there are 1, 2"):
        draw(24, [1], seed=0)
    with pytest.raises(BadSetting, match="are 0 and 1, not 2"):
        draw(1, [1, 2], seed=0)
    assert len(draw(1, [], seed=0)) == 0


def test_without_numba_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "snellen.images.svrt.drawing", None)
    with pytest.raises(MissingExtra, match=r"snellen\[svrt\]"):
        draw(1, [1], seed=0)
