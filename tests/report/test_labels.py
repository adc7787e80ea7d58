"""Names that hide nothing, as long as there is room."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from snellen.figures import Map, Tree
from snellen.report.draw import draw
from snellen.report.labels import Box, around, settled, size

PAGE = Box(0, 0, 500, 400)
spots = st.tuples(st.floats(40, 460), st.floats(40, 360))


@settings(max_examples=60, deadline=None)
@given(st.lists(spots, min_size=1, max_size=10))
def test_names_cover_neither_each_other_nor_a_dot_and_stay_on_the_page(places):
    dots = [Box(x - 3, y - 3, x + 3, y + 3) for x, y in places]
    boxes = settled([around(x, y, 60, 10, gap=6) for x, y in places], dots, PAGE)
    assert all(a.shared(b) == 0 for a, b in itertools.combinations(boxes, 2))
    assert all(box.shared(dot) == 0 for box, dot in itertools.product(boxes, dots))
    assert all(box.beyond(PAGE) < 1e-6 for box in boxes)


@given(spots, st.floats(5, 90), st.floats(5, 20))
def test_the_boxes_about_a_place_have_the_size_and_leave_the_place_free(place, wide, tall):
    x, y = place
    dot = Box(x - 2, y - 2, x + 2, y + 2)
    for box in around(x, y, wide, tall, gap=4):
        assert np.allclose([box.right - box.left, box.top - box.bottom], [wide, tall])
        assert box.shared(dot) == 0


def test_where_there_is_no_room_the_least_is_covered():
    full, little = Box(0, 0, 10, 10), Box(9, 0, 19, 10)
    assert settled([[full, little]], [full], Box(0, 0, 20, 10)) == [little]


def test_the_more_is_written_the_more_room_it_takes():
    assert size("mm", 9)[0] > 1.8 * size("m", 9)[0]
    assert size("m", 18)[0] > 1.9 * size("m", 9)[0]
    assert size(" ", 9)[0] == 0
    assert size("$x", 9)[0] > size("x", 9)[0]  # no formula, but a dollar


def written(figure):
    """Return the boxes of the texts of a drawn figure, in pixels as they were rendered."""
    canvas = draw(figure)
    renderer = FigureCanvasAgg(canvas).get_renderer()
    canvas.draw(renderer)
    return [
        Box(*text.get_window_extent(renderer).extents)
        for text in canvas.axes[0].texts + canvas.axes[0].get_yticklabels()
        if text.get_text()
    ]


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 16))
def test_no_name_on_a_map_or_share_on_a_tree_is_written_over_another(seed, count):
    rng = np.random.default_rng(seed)
    names = [f"benchmark {n}" for n in range(count)]
    points = rng.normal(size=(count, 2)) * [1, 0.6]
    merges, open_ends = [], list(range(count))
    for place in range(count - 1):
        a, b = (open_ends.pop(rng.integers(len(open_ends))) for _ in range(2))
        merges.append((a, b, float(place + rng.uniform())))
        open_ends.append(count + place)
    for figure in (
        Map(name="m", title="m", names=names, points=points.tolist()),
        Tree(name="t", title="t", names=names, merges=merges, support=[1.0] * (count - 1)),
    ):
        boxes = written(figure)
        assert len(boxes) >= count
        for a, b in itertools.combinations(boxes, 2):
            smaller = min((x.right - x.left) * (x.top - x.bottom) for x in (a, b))
            assert a.shared(b) < 0.1 * smaller
