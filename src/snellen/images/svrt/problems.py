"""Which pictures does each problem show? (Fleuret et al. 2011; 101 by Yihe et al. 2021)

A problem is a function below, entered by its number: it draws one picture of category 1
or 0 and notes its shapes. Where the rules say "redo", all is chosen anew. Places are
chosen before shapes wherever both are, because a place can often be ruled out at no cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from snellen.images.compiled import compiled
from snellen.images.svrt.board import (
    ANGLE,
    MIRRORED,
    TRIES,
    Board,
    X,
    Y,
    again,
    anywhere,
    close,
    cluttered,
    dilated,
    draw,
    drawn,
    empty,
    fits,
    free,
    hits,
    note,
    put,
    put_at,
    put_somewhere,
    roomy,
    shade,
    shaded,
    widened,
)
from snellen.images.svrt.contours import (
    SIDE,
    contour,
    mirrored,
    outline,
    region,
    scaled,
    turned,
)
from snellen.images.svrt.dice import below, uniform

if TYPE_CHECKING:
    from snellen.images.svrt.board import Area, Centres, Kinds
    from snellen.images.svrt.contours import Contour, Pixels
    from snellen.images.svrt.dice import Dice

Draw: TypeAlias = Callable[[Board, int], None]

DRAWN: dict[int, Draw] = {}
SAME, DIFFERENT = np.zeros(6, np.intp), np.arange(6)
TWO_PAIRS, THREE_AND_ONE = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
TWO_TRIPLES, THREE_PAIRS = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
ROUND = 2 * math.pi


def _problem(number: int) -> Callable[[Draw], Draw]:
    def enter(draw_one: Draw) -> Draw:
        DRAWN[number] = compiled(draw_one)
        return DRAWN[number]

    return enter


@_problem(1)
def same_or_different(board: Board, label: int) -> None:
    """1: two shapes alike; 0: two different ones."""
    kinds = SAME if label else DIFFERENT
    while again(board):
        if put_at(board, kinds, anywhere(board.dice, 2, 0, SIDE), 26.25, 2.5, 52.5):
            return


@_problem(2)
def near_the_edge(board: Board, label: int) -> None:
    """1: the small shape inside touches the big one's edge; 0: it is far from it."""
    while again(board):
        big = outline(contour(board.dice, 48.0, 21.0))
        if put_somewhere(board, big, 0, 96.0):
            x, y = _place(board, 0)
            edge = widened(dilated(shaded(big, x, y), 1 if label else 16))
            if _put_inside(board, shaded(region(big), x, y), edge, label == 1):
                return


@compiled
def _put_inside(board: Board, inside: Area, edge: Area, near: bool) -> bool:
    """Draw a new small shape inside the big one and near its edge or not, in ten tries."""
    middle_x, middle_y = _place(board, 0)
    tries = 0
    for _ in range(TRIES):
        small = outline(contour(board.dice, 10.0, 1.0))
        x = middle_x + int(uniform(board.dice, -48.0, 48.0))
        y = middle_y + int(uniform(board.dice, -48.0, 48.0))
        if free(board, small, x, y) and hits(inside, small, x, y):
            if (hits(edge, small, x, y) > 0) == near:
                draw(board, small, x, y, 1, 21.0)
                return True
            tries += 1  # none where it is not free or not inside
            if tries == 10:
                break
    return False


@compiled
def _place(board: Board, shape: int) -> tuple[int, int]:
    return int(board.shapes[shape, X]), int(board.shapes[shape, Y])


@_problem(3)
def in_contact(board: Board, label: int) -> None:
    """1: two and two shapes touch; 0: three do, and one is alone."""
    while again(board):
        cluster, barred = empty(), empty()
        shape = 0
        while shape < 4 and _attach(board, cluster, barred, 2.0, 3, shape):
            shape += 1
            if shape == (2 if label else 1):
                cluster, barred = empty(), dilated(cluster, 16)
        if shape == 4:
            return


@compiled
def _attach(board: Board, cluster: Area, barred: Area, hole: float, most: int, kind: int) -> bool:
    """Draw a shape that overlaps the cluster, if there is one, by 1..most pixels, and join it.

    Whether alone or not, the shape keeps clear of the barred area.
    """
    alone = not cluster.any()
    reach = (
        cluster if alone else dilated(cluster, 34)
    )  # a radius of 21, and another √2 because of steps
    for _ in range(100):
        x, y = below(board.dice, SIDE), below(board.dice, SIDE)
        if not (roomy(x, y, hole) and (alone or reach[y, x])):
            continue
        line = outline(contour(board.dice, 21.0, hole))
        if not fits(line, x, y) or hits(barred, line, x, y):
            continue
        if not alone and not 1 <= hits(cluster, line, x, y) <= most:
            continue  # nor would the whole shape, unless it swallowed the cluster
        whole = region(line)
        if alone or hits(cluster, whole, x, y) <= most:
            draw(board, line, x, y, kind, 21.0)
            shade(cluster, whole, x, y)
            return True
    return False


@_problem(4)
def inside_or_outside(board: Board, label: int) -> None:
    """1: the small shape is inside the big one; 0: outside."""
    while again(board):
        inside = _put_big(board, outline(contour(board.dice, 48.0, 21.0)), 96.0)
        if inside.any() and _put_small(board, inside, label == 1, 1, 21.0):
            return


@compiled
def _put_big(board: Board, big: Pixels, size: float) -> Area:
    """Draw an outline somewhere and return the area within; none if there is no room."""
    if not put_somewhere(board, big, 0, size):
        return empty()
    x, y = _place(board, 0)
    return shaded(region(big), x, y)


@compiled
def _put_small(board: Board, inside: Area, within: bool, kind: int, size: float) -> bool:
    """Draw a new small shape on the wanted side of the big one's edge, in ten tries."""
    for _ in range(10):
        if _put_beside(board, outline(contour(board.dice, 10.0, 1.0)), inside, within, kind, size):
            return True
    return False


@compiled
def _put_beside(
    board: Board, pixels: Pixels, inside: Area, within: bool, kind: int, size: float
) -> bool:
    """Draw an outline somewhere if that is free and on the wanted side of an edge."""
    x, y = below(board.dice, SIDE), below(board.dice, SIDE)
    if not free(board, pixels, x, y) or (hits(inside, pixels, x, y) > 0) != within:
        return False
    draw(board, pixels, x, y, kind, size)
    return True


@_problem(5)
def pairs_or_different(board: Board, label: int) -> None:
    """1: two pairs of shapes alike; 0: four different ones."""
    while again(board):
        if _put_in_turn(board, TWO_PAIRS if label else DIFFERENT[:4]):
            return


@_problem(7)
def triples_or_pairs(board: Board, label: int) -> None:
    """1: three and three shapes alike; 0: two, two and two."""
    while again(board):
        if _put_in_turn(board, TWO_TRIPLES if label else THREE_PAIRS):
            return


@compiled
def _put_in_turn(board: Board, kinds: Kinds) -> bool:
    """Draw shape after shape, each wherever there still is room."""
    line = outline(contour(board.dice, 21.0, 2.0))
    for shape in range(len(kinds)):
        if shape and kinds[shape] != kinds[shape - 1]:
            line = outline(contour(board.dice, 21.0, 2.0))
        if not put_somewhere(board, line, kinds[shape], 21.0):
            return False
    return True


@_problem(6)
def equally_far(board: Board, label: int) -> None:
    """1: two pairs of shapes, the two of each pair equally far apart; 0: not."""
    while again(board):
        if label:
            radius = uniform(board.dice, 0.0, 128.0)
            centres = np.empty((4, 2), np.intp)
            _place_around(board.dice, centres, 0, radius)
            _place_around(board.dice, centres, 2, radius)
        else:
            centres = anywhere(board.dice, 4, 0, 107)
            if abs(_apart(centres, 0, 1) - _apart(centres, 2, 3)) < 21:
                continue
        if not cluttered(centres) and put_at(board, TWO_PAIRS, centres, 10.0, 1.0, 10.0):
            return


@compiled
def _apart(centres: Centres, one: int, other: int) -> float:
    """Return the distance between two of the places."""
    return math.hypot(centres[one, 0] - centres[other, 0], centres[one, 1] - centres[other, 1])


@compiled
def _place_around(dice: Dice, centres: Centres, first: int, radius: float) -> None:
    """Place two opposite each other."""
    x, y = uniform(dice, 0.0, 107.0), uniform(dice, 0.0, 107.0)
    angle = uniform(dice, 0.0, ROUND)
    centres[first] = _around(x, y, radius, angle)
    centres[first + 1] = _around(x, y, -radius, angle)


@compiled
def _around(x: float, y: float, radius: float, angle: float) -> tuple[int, int]:
    return int(x + radius * math.cos(angle)), int(y + radius * math.sin(angle))


@_problem(8)
def alike_and_inside(board: Board, label: int) -> None:
    """1: the small shape is inside the big one and like it; 0: outside or different."""
    while again(board):
        within = label == 1 or uniform(board.dice, 0.0, 1.0) < 0.5
        big = contour(board.dice, 48.0, 21.0)
        alike = label == 1 or not within
        small = big if alike else contour(board.dice, 48.0, 21.0)
        line = outline(scaled(small, 0.5))
        inside = _put_big(board, outline(big), 48.0)
        if not inside.any():
            continue
        for _ in range(10):
            if _put_beside(board, line, inside, within, 0 if alike else 1, 24.0):
                return


@_problem(9)
def big_at_the_end(board: Board, label: int) -> None:
    """1: of three shapes alike in a row, the one at an end is big; 0: that in the middle."""
    while again(board):
        centres = anywhere(board.dice, 3, 0, SIDE)
        centres[1] = _between(centres, 0, 2, uniform(board.dice, 0.25, 0.75))
        points = contour(board.dice, 21.0, 2.0)
        big, small = outline(points), outline(scaled(points, 0.5))
        at = 2 if label else 1
        if not put(board, big, centres[at, 0], centres[at, 1], 0, 21.0):
            continue
        inside = shaded(region(big), centres[at, 0], centres[at, 1])
        if _put_out(board, small, inside, centres, 0) and _put_out(
            board, small, inside, centres, 1 if label else 2
        ):
            return


@compiled
def _put_out(board: Board, small: Pixels, inside: Area, centres: Centres, at: int) -> bool:
    """Draw the small shape at one of the places if that is free and not inside the big one."""
    x, y = centres[at, 0], centres[at, 1]
    return put(board, small, x, y, 0, 10.5) and not hits(inside, small, x, y)


@compiled
def _between(centres: Centres, one: int, other: int, share: float) -> tuple[int, int]:
    """Return the place with this share of the one and the rest of the other."""
    rest = 1 - share
    return (
        int(share * centres[one, 0] + rest * centres[other, 0]),
        int(share * centres[one, 1] + rest * centres[other, 1]),
    )


@_problem(10)
def square_or_not(board: Board, label: int) -> None:
    """1: four shapes alike at the corners of a square; 0: anywhere."""
    while again(board):
        centres = _square(board.dice) if label else anywhere(board.dice, 4, 0, SIDE)
        if not cluttered(centres) and put_at(board, SAME, centres, 10.0, 1.0, 10.0):
            return


@compiled
def _square(dice: Dice) -> Centres:
    x, y = uniform(dice, 10.0, 138.0), uniform(dice, 10.0, 138.0)
    radius, angle = uniform(dice, 0.0, 64.0), uniform(dice, 0.0, ROUND)
    centres = np.empty((4, 2), np.intp)
    for corner in range(4):
        centres[corner] = _around(x, y, radius, angle + corner * math.pi / 2)
    return centres


@_problem(11)
def touching_or_apart(board: Board, label: int) -> None:
    """1: a big and a small shape touch; 0: they are well apart."""
    while again(board):
        big = outline(contour(board.dice, 48.0, 16.0))
        inside = _put_big(board, big, 48.0)
        if not inside.any():
            continue
        if label:
            cluster, barred = inside, empty()
        else:
            cluster, barred = empty(), dilated(inside, 10)
        if _attach(board, cluster, barred, 7.0, 4, 1):
            return


@_problem(12)
def small_ones_together(board: Board, label: int) -> None:
    """1: on a circle, two small shapes as far from a big one; 0: one small one between."""
    while again(board):
        x, y = uniform(board.dice, 32.0, 96.0), uniform(board.dice, 32.0, 96.0)
        radius, top = uniform(board.dice, 12.8, 76.8), uniform(board.dice, 0.0, ROUND)
        half = uniform(board.dice, 0.025, 0.125) * ROUND
        apex = _around(x, y, radius, top)
        small = _around(x, y, radius, top + ROUND / 2 - half)
        right = _around(x, y, radius, top + ROUND / 2 + half)
        big, other = (apex, right) if label else (right, apex)
        if (
            roomy(big[0], big[1], 10.0)
            and roomy(small[0], small[1], 5.0)
            and roomy(other[0], other[1], 5.0)
            and _put_new(board, small, 10.0, 5.0, 0, 10.0)
            and _put_new(board, other, 10.0, 5.0, 1, 10.0)
            and _put_new(board, big, 21.0, 10.0, 2, 21.0)
        ):
            return


@compiled
def _put_new(
    board: Board, place: tuple[int, int], radius: float, hole: float, kind: int, size: float
) -> bool:
    """Draw a new shape there if that is free."""
    return put(board, outline(contour(board.dice, radius, hole)), place[0], place[1], kind, size)


@_problem(13)
def couples_or_not(board: Board, label: int) -> None:
    """1: two big shapes alike have each its small one at the same place; 0: not."""
    while again(board):
        places = anywhere(board.dice, 5, 0, SIDE)
        for axis in range(2):  # big, big, small, where the other small one goes, or would go
            moved = places[2, axis] + places[1, axis] - places[0, axis]
            places[4, axis] = moved
            if label:
                places[3, axis] = moved
        if (label or _apart(places, 3, 4) >= 32) and _put_couples(board, places):
            return


@compiled
def _put_couples(board: Board, places: Centres) -> bool:
    """Draw two big shapes and, no more than 32 steps from one each, two small ones."""
    if _apart(places, 0, 1) < 32 or max(_apart(places, 0, 2), _apart(places, 1, 3)) > 75:
        return False  # whatever the shapes, they would meet, or be too far from each other
    for place in range(5):
        if not roomy(places[place, 0], places[place, 1], 16.0 if place < 2 else 5.0):
            return False
    big = outline(contour(board.dice, 32.0, 16.0))
    for place in range(2):
        if not put(board, big, places[place, 0], places[place, 1], 0, 32.0):
            return False
    small = outline(contour(board.dice, 10.0, 5.0))
    first = put(board, small, places[2, 0], places[2, 1], 1, 10.0)
    return (
        first
        and free(board, small, places[4, 0], places[4, 1])
        and put(board, small, places[3, 0], places[3, 1], 1, 10.0)
        and close(drawn(board, 0), drawn(board, 2), 32)
        and close(drawn(board, 1), drawn(board, 3), 32)
    )


@_problem(14)
def line_or_not(board: Board, label: int) -> None:
    """1: three shapes alike in a line; 0: none of them is between the others."""
    while again(board):
        centres = anywhere(board.dice, 3, 10, 108)
        if label:
            centres[2] = _between(centres, 0, 1, uniform(board.dice, 0.0, 1.0))
        elif _in_line(centres):
            continue
        if put_at(board, SAME, centres, 10.0, 1.0, 10.0):
            return


@compiled
def _in_line(centres: Centres) -> bool:
    """Tell whether one of three is within 6 pixels of the segment between the others."""
    for middle in range(3):
        start, end = (middle + 1) % 3, (middle + 2) % 3
        across, down = centres[end, 0] - centres[start, 0], centres[end, 1] - centres[start, 1]
        x, y = centres[middle, 0] - centres[start, 0], centres[middle, 1] - centres[start, 1]
        square, along = across * across + down * down, x * across + y * down
        if 0 <= along <= square and abs(x * down - y * across) <= 6 * math.sqrt(square):
            return True
    return False


@_problem(15)
def square_of_same_or_different(board: Board, label: int) -> None:
    """1: four shapes alike at the corners of a square; 0: four different ones."""
    while again(board):
        centres = _square(board.dice)
        kinds = SAME if label else DIFFERENT
        if not cluttered(centres) and put_at(board, kinds, centres, 10.0, 1.0, 10.0):
            return


@_problem(16)
def mirrored_or_not(board: Board, label: int) -> None:
    """1: three shapes and their mirror images about the middle; 0: only the places mirror."""
    while again(board):
        centres = anywhere(board.dice, 3, 10, 108)
        points = contour(board.dice, 10.0, 1.0)
        line = outline(points)
        other = outline(mirrored(points, 1.0, 0.0)) if label else line
        place = 0
        while place < 3 and put(board, line, centres[place, 0], centres[place, 1], 0, 10.0):
            if not put(board, other, SIDE - centres[place, 0], centres[place, 1], 0, 10.0):
                break
            note(board, MIRRORED, float(label))
            place += 1
        if place == 3:
            return


@_problem(17)
def amid_or_not(board: Board, label: int) -> None:
    """1: a shape is equally far from three others, which are alike; 0: not."""
    while again(board):
        centres = anywhere(board.dice, 4, 10, 107)
        x, y = _circumcentre(centres)
        if label:
            centres[3, 0], centres[3, 1] = x, y
        elif math.hypot(centres[3, 0] - x, centres[3, 1] - y) < 21:
            continue
        if not cluttered(centres) and put_at(board, THREE_AND_ONE, centres, 10.0, 1.0, 10.0):
            return


@compiled
def _circumcentre(centres: Centres) -> tuple[int, int]:
    """Return the place equally far from the first three; one out of sight if there is none."""
    x, y = centres[0, 0], centres[0, 1]
    across, down = centres[1, 0] - x, centres[1, 1] - y
    along, up = centres[2, 0] - x, centres[2, 1] - y
    twice = 2 * (across * up - down * along)
    if twice == 0:
        return 10 * SIDE, 10 * SIDE
    one, other = across * across + down * down, along * along + up * up
    return (
        int(x + (up * one - down * other) / twice),
        int(y + (across * other - along * one) / twice),
    )


@_problem(18)
def mirrored_places_or_not(board: Board, label: int) -> None:
    """1: the places of six shapes alike mirror about the middle; 0: only their heights do."""
    while again(board):
        centres = anywhere(board.dice, 6, 10, 108)
        for place in range(3):
            centres[place + 3, 1] = centres[place, 1]
            if label:
                centres[place + 3, 0] = SIDE - centres[place, 0]
        if put_at(board, SAME, centres, 10.0, 1.0, 10.0):
            return


@_problem(19)
def same_but_for_size(board: Board, label: int) -> None:
    """1: two shapes of different size, alike; 0: different ones."""
    while again(board):
        if _put_in_sizes(board, label == 1, False):
            return


@_problem(21)
def same_but_for_size_and_angle(board: Board, label: int) -> None:
    """1: two shapes of different size, turned, alike; 0: different ones."""
    while again(board):
        if _put_in_sizes(board, label == 1, True):
            return


@compiled
def _put_in_sizes(board: Board, alike: bool, turning: bool) -> bool:
    centres = anywhere(board.dice, 2, 0, SIDE)
    sizes = uniform(board.dice, 1.0, 4.0), uniform(board.dice, 1.0, 4.0)
    largest = max(sizes)
    points = contour(board.dice, 10.5 * largest, largest)
    for place in range(2):
        if place and not alike:
            points = contour(board.dice, 10.5 * largest, largest)
        angle = uniform(board.dice, 0.0, ROUND) if turning else 0.0
        line = outline(turned(scaled(points, sizes[place] / largest), angle))
        kind, size = 0 if alike else place, 10.5 * sizes[place]
        if not put(board, line, centres[place, 0], centres[place, 1], kind, size):
            return False
        note(board, ANGLE, angle)
    return True


@_problem(20)
def mirror_images_or_different(board: Board, label: int) -> None:
    """1: two shapes mirror about the line midway between them; 0: they are different."""
    while again(board):
        centres = anywhere(board.dice, 2, 0, SIDE)
        if not _apart(centres, 0, 1):
            continue
        points = contour(board.dice, 16.0, 2.0)
        if label:
            across, down = centres[1, 0] - centres[0, 0], centres[1, 1] - centres[0, 1]
            other = mirrored(points, float(across), float(down))
        else:
            other = contour(board.dice, 16.0, 2.0)
        if _put_two(board, points, other, centres, 0 if label else 1, 16.0):
            note(board, MIRRORED, float(label))
            return


@compiled
def _put_two(
    board: Board, one: Contour, other: Contour, centres: Centres, kind: int, size: float
) -> bool:
    """Draw two shapes, the other one of this kind, where they are free."""
    return put(board, outline(one), centres[0, 0], centres[0, 1], 0, size) and put(
        board, outline(other), centres[1, 0], centres[1, 1], kind, size
    )


@_problem(22)
def line_of_same_or_different(board: Board, label: int) -> None:
    """1: three shapes alike in a line; 0: three different ones."""
    while again(board):
        centres = anywhere(board.dice, 3, 10, 108)
        centres[2] = _between(centres, 0, 1, uniform(board.dice, 0.0, 1.0))
        if put_at(board, SAME if label else DIFFERENT, centres, 10.0, 1.0, 10.0):
            return


@_problem(23)
def on_both_sides_or_one(board: Board, label: int) -> None:
    """1: one small shape inside a big one and one outside; 0: both inside or both outside."""
    while again(board):
        within = label == 1 or uniform(board.dice, 0.0, 1.0) < 0.5
        inside = _put_big(board, outline(contour(board.dice, 48.0, 21.0)), 48.0)
        if (
            inside.any()
            and _put_small(board, inside, within, 1, 10.0)
            and _put_small(board, inside, within != (label == 1), 2, 10.0)
        ):
            return


@_problem(101)
def unturned_or_turned(board: Board, label: int) -> None:
    """1: two shapes alike; 0: one of them is turned."""
    while again(board):
        points = contour(board.dice, 26.25, 2.5)
        angle = 0.0 if label else uniform(board.dice, ROUND / 12, ROUND * 11 / 12)
        other = points if label else turned(points, angle)
        if _put_two(board, points, other, anywhere(board.dice, 2, 0, SIDE), 0, 52.5):
            note(board, ANGLE, angle)
            return
