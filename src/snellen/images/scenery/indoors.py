"""How are the keywords of a room painted? A function each, named as the keyword."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snellen.images.scenery.canvas import ink, mixed, stack

if TYPE_CHECKING:
    from snellen.images.scenery.canvas import Canvas

WHITE = ink(246, 245, 240)
DARK = ink(46, 44, 46)
WOODS = [(164, 116, 74), (126, 84, 54), (196, 152, 104), (102, 72, 52)]
PAPERS = [(232, 220, 196), (196, 214, 206), (214, 204, 222), (236, 206, 178), (190, 206, 222)]
CLOTHS = [(178, 60, 56), (62, 98, 148), (96, 132, 92), (204, 150, 70), (128, 92, 140)]


def wall(c: Canvas) -> None:
    """Paint plain or striped paper, with a skirting board."""
    colour = c.tint(c.dice.pick(PAPERS), 10)
    light = 1.04 - 0.14 * c.field(1, 2)
    if c.dice.chance(0.45):
        stripe = c.x * c.dice.whole(7, 11)
        light = light - 0.07 * (stripe - np.floor(stripe) < 0.5)
    skirting = np.clip((c.y - c.horizon + 0.035) * c.side + 0.5, 0, 1)
    c.below(-1.0, mixed(colour * light, WHITE * 0.94, skirting), c.horizon)


def floor(c: Canvas) -> None:
    """Paint planks that run to the far wall, or tiles."""
    depth = np.maximum(c.y - c.horizon + 0.3, 0.02)
    across = (c.x - c.dice.number(0.35, 0.65)) / depth * 3
    board = np.floor(across)
    if c.dice.chance(0.6):
        wood = c.tint(c.dice.pick(WOODS), 10)
        shades = np.asarray(c.dice.numbers(64), np.float32)
        seam = np.clip((across - board) * 10, 0, 1)
        made = wood * (0.86 + 0.22 * shades[board.astype(np.intp) % 64]) * (0.72 + 0.28 * seam)
    else:
        rows = np.floor(2.0 / depth)
        tile = ((board + rows) % 2).astype(np.float32)
        made = mixed(c.tint((226, 222, 212), 8), c.tint((150, 158, 164), 14), tile)
    c.below(c.horizon, made)


def window(c: Canvas) -> None:
    """Paint a white frame with the day behind it, curtains at its sides."""
    x, half = c.place(), c.dice.number(0.12, 0.15)
    top, low = c.horizon * 0.14, c.horizon * c.dice.number(0.62, 0.7)
    c.box(x - half - 0.02, top - 0.02, x + half + 0.02, low + 0.03, WHITE)
    share = np.clip((c.y - top) / (low - top), 0, 1)
    day = mixed(ink(*c.mood.high), ink(*c.mood.low), share)
    hills = np.clip((share - 0.78 + 0.1 * c.ridge(6)) * 30, 0, 1)
    c.panel(x - half, top, x + half, low, mixed(day, ink(112, 160, 96), hills))
    c.box(x - 0.01, top, x + 0.01, low, WHITE)
    c.box(x - half, (top + low) / 2 - 0.01, x + half, (top + low) / 2 + 0.01, WHITE)
    cloth = c.tint(c.dice.pick(CLOTHS), 10)
    for left in (x - half - 0.06, x + half - 0.01):
        c.box(left, top - 0.04, left + 0.07, low + 0.07, cloth)
        c.box(left + 0.028, top - 0.04, left + 0.042, low + 0.07, cloth * 0.8)


def shelf(c: Canvas) -> None:
    """Paint cases full of books."""
    lined = c.lined == "shelf"
    middles = c.free(0.2, 0.5, 0.8) if lined else [c.place()]
    half = 0.145 if lined else 0.13
    wood = c.tint(c.dice.pick(WOODS), 8)
    top, foot = c.horizon * c.dice.number(0.1, 0.2), c.horizon + 0.04
    backs = [c.tint(c.dice.pick(CLOTHS), 24) for _ in range(5)]
    backs += [c.tint((224, 210, 180), 16), c.tint((70, 60, 60), 16)]
    rows, cols = 5, 44
    books = (c.dice.numbers(rows, cols) * len(backs)).astype(np.intp)
    heights = np.asarray(c.dice.numbers(rows, cols), np.float32)
    down = np.clip((c.y - top) / (foot - top) * rows, 0, rows - 0.01)
    row = down.astype(np.intp)
    col = np.minimum((c.x * cols).astype(np.intp), cols - 1)
    tall = down - row > 0.16 + 0.22 * heights[row, col]
    spines = mixed(wood * 0.55, stack(backs, books[row, col]), tall.astype(np.float32))
    board = np.clip((np.abs(down - row - 0.5) - 0.43) * 40, 0, 1)
    filled = mixed(spines, wood, board)
    if len(middles) == 3 and c.dice.chance(0.4):
        middles = middles[::2]
    for x in middles:
        c.box(x - half - 0.015, top - 0.02, x + half + 0.015, foot + 0.015, wood)
        c.panel(x - half, top, x + half, foot, filled)


def table(c: Canvas) -> None:
    """Paint a top on four legs."""
    wood = c.tint(c.dice.pick(WOODS), 10)
    for x, y, size in c.spots(1, max(c.crowd[1] - 1, 1), narrow=0.24):
        half, tall = size * c.dice.number(0.24, 0.3), size * c.dice.number(0.2, 0.24)
        top = y - tall
        for over, rise, shade in (
            (-0.7, 0.06, 0.6),
            (0.7, 0.06, 0.6),
            (-0.93, 0, 0.85),
            (0.93, 0, 0.85),
        ):
            leg, foot = x + over * half, y - rise * size
            c.box(leg - size * 0.018, top, leg + size * 0.018, foot, wood * shade)
        back = top - size * 0.075
        near = (x + half, top), (x - half, top)
        c.polygon(wood * 1.18, (x - half * 0.78, back), (x + half * 0.78, back), *near)
        c.box(x - half, top, x + half, top + size * 0.035, wood * 0.92)


def chair(c: Canvas) -> None:
    """Paint a back, a seat and legs."""
    wood = c.tint(c.dice.pick([*WOODS, *CLOTHS]), 10)
    for x, y, size in c.spots(1, c.crowd[1], narrow=0.12):
        half, tall = size * 0.085, size * c.dice.number(0.16, 0.19)
        seat, top, thin = y - tall, y - tall * 2.2, size * 0.014
        for over, rise in ((-0.75, 0.035), (0.75, 0.035), (-1, 0), (1, 0)):
            leg = x + over * half
            c.box(leg - thin, seat, leg + thin, y - rise * size, wood * (0.65 if rise else 0.9))
        for over in (-0.8, 0.8):
            c.box(x + over * half - thin, top, x + over * half + thin, seat, wood * 0.9)
        c.box(x - half * 0.95, top, x + half * 0.95, top + tall * 0.5, wood)
        c.box(x - half * 0.95, seat - tall * 0.35, x + half * 0.95, seat - tall * 0.2, wood * 0.9)
        near = (x + half * 1.12, seat + size * 0.02), (x - half * 1.12, seat + size * 0.02)
        back = seat - size * 0.03
        c.polygon(wood * 1.15, (x - half * 0.9, back), (x + half * 0.9, back), *near)


def sofa(c: Canvas) -> None:
    """Paint a seat for three, with cushions."""
    cloth = c.tint(c.dice.pick(CLOTHS), 12)
    x, y = c.dice.number(0.3, 0.7), c.horizon + c.dice.number(0.14, 0.2)
    half, tall = c.dice.number(0.24, 0.3), c.dice.number(0.24, 0.28)
    top, seat = y - tall, y - tall * 0.45
    c.disc(x, top + 0.03, half, 0.05, cloth * 0.95)
    c.box(x - half, top + 0.03, x + half, y - 0.02, cloth * 0.9)
    for over in (-0.46, 0.46):
        left, right = x + (over - 0.42) * half, x + (over + 0.42) * half
        c.box(left, top + 0.04, right, seat, cloth * 1.08)
        c.box(left, seat, right, seat + tall * 0.18, cloth * 1.22)
    for way in (-1, 1):
        arm = x + way * half
        c.disc(arm, seat - tall * 0.08, 0.045, 0.045, cloth * 1.05, light=0.15)
        c.box(arm - 0.045, seat - tall * 0.08, arm + 0.045, y - 0.02, cloth * 0.98)
        c.box(arm - 0.02, y - 0.02, arm + 0.02, y, DARK)
    pillow = c.tint(c.dice.pick(CLOTHS), 20)
    over = x + c.dice.pick([-1, 1]) * half * 0.6
    c.polygon(
        pillow,
        (over, seat - 0.12),
        (over + 0.06, seat - 0.05),
        (over, seat + 0.02),
        (over - 0.06, seat - 0.05),
    )


def lamp(c: Canvas) -> None:
    """Paint a shade that hangs from the ceiling, lit."""
    shade = c.tint(c.dice.pick([(250, 214, 130), (240, 170, 96), (246, 236, 206)]), 8)
    count = c.dice.whole(1, 2)
    start = c.dice.number(0.25, 0.75)
    for number in range(count):
        x = (start + number * 0.42) % 0.9 + 0.05
        low, half = c.dice.number(0.17, 0.23), c.dice.number(0.07, 0.095)
        c.box(x - 0.008, 0.0, x + 0.008, low - 0.09, DARK)
        c.disc(x, low, half * 0.5, 0.026, ink(255, 252, 226))
        top, edge = half * 0.45, (x + half, low)
        c.polygon(shade, (x - top, low - 0.1), (x + top, low - 0.1), edge, (x - half, low))


def picture(c: Canvas) -> None:
    """Paint a framed landscape or a blot on the wall."""
    x, y = c.place(), c.horizon * c.dice.number(0.28, 0.38)
    half, high = c.dice.number(0.085, 0.125), c.dice.number(0.075, 0.11)
    c.box(
        x - half - 0.024,
        y - high - 0.024,
        x + half + 0.024,
        y + high + 0.024,
        c.tint((110, 78, 46), 14),
    )
    c.box(x - half - 0.006, y - high - 0.006, x + half + 0.006, y + high + 0.006, WHITE)
    edge = y + high * (0.6 - 1.1 * c.ridge(7))
    low = np.clip((c.y - edge) * c.side + 0.5, 0, 1)
    ground, air = c.tint(c.dice.pick(CLOTHS), 20), c.tint(c.dice.pick(PAPERS), 10)
    c.panel(x - half, y - high, x + half, y + high, mixed(air, ground, low))


def cupboard(c: Canvas) -> None:
    """Paint a worktop over doors along the wall, and cases above."""
    kinds = [(232, 228, 216), (124, 158, 160), (172, 124, 82), (206, 186, 152), (110, 130, 108)]
    front = c.tint(c.dice.pick(kinds), 8)
    foot, top = c.horizon + 0.06, c.horizon - 0.2
    doors = c.x * c.dice.whole(4, 6)
    part = doors - np.floor(doors)
    seam = 0.74 + 0.26 * np.clip((0.5 - np.abs(part - 0.5)) * 14, 0, 1)
    c.panel(0.0, top, 1.0, foot, front * seam)
    c.box(0.0, top - 0.035, 1.0, top + 0.012, c.tint((96, 88, 84), 14))
    c.box(0.0, foot - 0.03, 1.0, foot, front * 0.5)
    knob = (np.abs(part - 0.8) < 0.07) & (np.abs(c.y - top - 0.07) < 0.014)
    c.stroke(knob.astype(np.float32), DARK)
    left = c.place() - 0.17
    for start in (left, left + 0.175):
        c.box(start, 0.03, start + 0.165, c.horizon * 0.38, front * 1.04)
        c.box(start + 0.02, 0.055, start + 0.145, c.horizon * 0.38 - 0.025, front * 0.9)


def stove(c: Canvas) -> None:
    """Paint an oven with knobs, a pot on it and a hood above."""
    x, half = c.dice.number(0.2, 0.8), 0.13
    foot, top = c.horizon + 0.07, c.horizon - 0.23
    steel = c.tint((206, 208, 212), 10)
    hood = c.horizon * 0.28
    c.box(x - 0.045, 0.0, x + 0.045, hood - 0.03, steel * 0.9)
    c.polygon(
        steel,
        (x - 0.06, hood - 0.05),
        (x + 0.06, hood - 0.05),
        (x + half, hood + 0.03),
        (x - half, hood + 0.03),
    )
    c.box(x - half, top, x + half, foot, steel)
    c.box(x - half, top - 0.012, x + half, top + 0.014, DARK)
    c.box(x - half * 0.72, top + 0.1, x + half * 0.72, foot - 0.05, ink(60, 52, 54))
    c.box(x - half * 0.72, top + 0.1, x + half * 0.72, top + 0.125, ink(236, 160, 80))
    for over in (-0.66, -0.22, 0.22, 0.66):
        c.disc(x + over * half, top + 0.05, 0.016, 0.016, DARK)
    pot = c.tint(c.dice.pick(CLOTHS), 14)
    over = x + c.dice.pick([-1, 1]) * half * 0.4
    c.box(over - 0.05, top - 0.085, over + 0.05, top - 0.012, pot)
    c.box(over - 0.065, top - 0.09, over + 0.065, top - 0.068, pot * 0.75)


def rug(c: Canvas) -> None:
    """Paint an oval on the floor with rings of colour."""
    x, y = c.dice.number(0.3, 0.7), c.horizon + (1 - c.horizon) * c.dice.number(0.5, 0.7)
    wide, high = c.dice.number(0.3, 0.4), (1 - c.horizon) * c.dice.number(0.26, 0.36)
    one, other = c.tint(c.dice.pick(CLOTHS), 14), c.tint(c.dice.pick(PAPERS), 10)
    for share, colour in ((1.0, one), (0.84, other), (0.66, one * 0.85), (0.36, other)):
        c.disc(x, y, wide * share, high * share, colour)


def plant(c: Canvas) -> None:
    """Paint leaves out of a pot."""
    green = c.tint(c.dice.pick([(66, 132, 68), (92, 146, 66), (48, 112, 74)]), 10)
    x, foot = c.dice.pick([0.09, 0.91]) + c.dice.number(-0.03, 0.03), c.horizon + 0.12
    pot, size = c.tint((188, 104, 72), 16), c.dice.number(0.9, 1.15)
    rim = foot - 0.13 * size
    for over, up in ((-0.9, 0.5), (0.9, 0.5), (-0.55, 0.85), (0.55, 0.85), (0.0, 1.0)):
        tip = (x + over * 0.15 * size, rim - up * 0.25 * size)
        shade = green * c.dice.number(0.82, 1.18)
        c.line((x, rim), tip, 0.016, shade * 0.8)
        c.disc(
            (x + tip[0] * 3) / 4,
            (rim + tip[1] * 3) / 4,
            0.04 * size,
            0.06 * size,
            shade,
            light=0.15,
        )
    corners = (x - 0.07 * size, rim), (x + 0.07 * size, rim)
    c.polygon(pot, *corners, (x + 0.05 * size, foot), (x - 0.05 * size, foot))
    c.box(x - 0.08 * size, rim - 0.02, x + 0.08 * size, rim + 0.02, pot * 1.12)


def board(c: Canvas) -> None:
    """Paint a blackboard with writing."""
    x, half = c.dice.number(0.46, 0.54), c.dice.number(0.22, 0.28)
    c.taken.append(x)
    top, low = c.horizon * 0.2, c.horizon * c.dice.number(0.66, 0.74)
    c.box(x - half - 0.022, top - 0.022, x + half + 0.022, low + 0.022, c.tint((158, 116, 74), 10))
    slate = c.tint(c.dice.pick([(42, 84, 68), (48, 56, 62)]), 6)
    c.panel(x - half, top, x + half, low, slate * (0.9 + 0.2 * c.field(3, 5)))
    for number in range(4):
        y = top + (low - top) * (number + 0.7) / 4.4
        end = x - half * 0.85 + half * c.dice.number(0.7, 1.6)
        c.box(x - half * 0.85, y - 0.008, end, y + 0.008, ink(206, 214, 208))


def door(c: Canvas) -> None:
    """Paint a door with two panels and a handle."""
    x, half = c.place(), c.dice.number(0.1, 0.12)
    top, colour = c.horizon * 0.16, c.tint(c.dice.pick([*WOODS, (222, 220, 212)]), 8)
    c.box(x - half - 0.025, top - 0.025, x + half + 0.025, c.horizon, WHITE * 0.92)
    c.box(x - half, top, x + half, c.horizon, colour)
    middle = top + (c.horizon - top) * 0.48
    for up, down in ((top + 0.035, middle - 0.02), (middle + 0.025, c.horizon - 0.04)):
        c.box(x - half * 0.66, up, x + half * 0.66, down, colour * 0.8)
    c.disc(x + half * 0.8, middle, 0.018, 0.018, ink(236, 200, 96))


def clock(c: Canvas) -> None:
    """Paint a round white face with two hands."""
    x, y = c.dice.number(0.14, 0.86), c.dice.number(0.11, 0.16)
    radius = c.dice.number(0.062, 0.078)
    c.disc(x, y, radius, radius, c.tint(c.dice.pick([(46, 44, 46), *CLOTHS]), 8))
    c.disc(x, y, radius * 0.8, radius * 0.8, WHITE)
    c.line((x, y), (x, y - radius * 0.66), 0.014, DARK)
    way = c.dice.pick([-1, 1])
    c.line((x, y), (x + way * radius * 0.5, y + radius * 0.12), 0.014, DARK)
