"""How are the keywords of town and field painted? A function each, named as the keyword."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snellen.images.scenery.canvas import ink, mixed, stack

if TYPE_CHECKING:
    from snellen.images.scenery.canvas import Canvas, Plane

WHITE = ink(245, 245, 242)
DARK = ink(44, 46, 52)
GLASS = ink(120, 160, 190)
WALLS = [(214, 190, 156), (196, 110, 84), (226, 222, 210), (160, 170, 180), (206, 164, 116)]
BRIGHT = [(206, 48, 48), (40, 96, 178), (240, 190, 50), (236, 236, 236), (52, 140, 96)]


def field(c: Canvas) -> None:
    """Paint rows of crops that meet at the horizon."""
    top = c.lines.get("field", c.horizon)
    edge = top + 0.02 * (c.ridge(4) - 0.5)
    meet, far = c.dice.number(0.2, 0.8), c.horizon - 0.06
    rows = (c.x - meet) / np.maximum(c.y - far, 0.02) * c.dice.number(3.5, 5)
    furrow = np.clip(np.abs(rows - np.floor(rows) - 0.5) * 5 - 0.75, 0, 1)
    crop = c.dice.pick([(206, 178, 78), (132, 164, 66), (188, 158, 88)])
    green, earth = c.tint(crop), c.tint((134, 98, 66), 10)
    c.below(edge, mixed(earth, green * (0.88 + 0.24 * c.field(20, 20)), furrow))


def road(c: Canvas) -> None:
    """Paint asphalt to the horizon, a broken line along its middle."""
    top = c.lines.get("road", c.horizon)
    depth = np.clip((c.y - top) / (1 - top), 0, 1)
    meet, near = c.dice.number(0.4, 0.6), c.dice.number(0.4, 0.6)
    middle, half = mixed(meet, near, depth), 0.03 + 0.37 * depth
    away = np.abs(c.x - middle)
    cover = np.clip((half - away) * c.side + 0.5, 0, 1) * (c.y > top)
    grey = c.tint((104, 106, 112), 10) * (0.92 + 0.16 * c.field(24, 24))
    # dashes of equal length on the ground: their phase goes with 1 / depth
    phase = 1.6 / (depth + 0.22)
    dash = (phase - np.floor(phase) < 0.55) & (depth > 0.04)
    paint = np.clip((0.035 * half / 0.4 + 0.004 - away) * c.side + 0.5, 0, 1) * dash
    c.stroke(cover, mixed(grey, WHITE * 0.95, paint))


def house(c: Canvas) -> None:
    """Paint walls, a pitched roof, a door and windows."""
    few = max(c.crowd[1] - 1, 1)
    for x, y, size in c.spots(1, few, narrow=0.14):
        half, tall = size * c.dice.number(0.15, 0.2), size * c.dice.number(0.18, 0.25)
        wall = c.tint(c.dice.pick(WALLS), 10)
        roof = c.tint((236, 240, 246) if c.frost else c.dice.pick([(148, 62, 48), (96, 82, 82)]), 8)
        top, high = y - tall, size * c.dice.number(0.11, 0.16)
        c.box(x + half * 0.4, top - high, x + half * 0.62, top, ink(120, 82, 70))
        c.box(x - half, top, x + half, y, wall)
        c.polygon(roof, (x, top - high), (x + half * 1.2, top), (x - half * 1.2, top))
        door = half * 0.2
        c.box(x - door, y - tall * 0.55, x + door, y, c.tint((96, 66, 46), 10))
        lit = ink(255, 226, 140) if c.frost else GLASS
        for over in (-0.62, 0.62):
            left, right = x + (over - 0.2) * half, x + (over + 0.2) * half
            c.box(left, top + tall * 0.24, right, top + tall * 0.58, lit)


def skyscraper(c: Canvas) -> None:
    """Paint towers side by side with rows of windows."""
    count = c.dice.whole(2, 4)
    start = c.dice.number(0.02, 0.2)
    foot = c.horizon + 0.05
    for number in range(count):
        half = c.dice.number(0.075, 0.12)
        x = (start + (number + 0.5) * 0.8 / count + c.dice.number(-0.03, 0.03)) % 1
        top = c.horizon * c.dice.number(0.12, 0.5)
        wall = c.tint(
            c.dice.pick([(112, 128, 148), (150, 146, 140), (92, 104, 124), (168, 130, 112)])
        )
        c.box(x - half, top, x + half, foot, wall)
        c.box(x + half * 0.7, top, x + half, foot, wall * 0.8)
        across, down = (c.x - x) / half * 2.5, (c.y - top) * 22
        pane = (np.abs(across - np.floor(across) - 0.5) < 0.3) & (down - np.floor(down) > 0.45)
        inside = (np.abs(c.x - x) < half * 0.8) & (c.y > top + 0.02) & (c.y < foot - 0.04)
        c.stroke((pane & inside).astype(np.float32), c.tint((206, 222, 234), 12))


def fence(c: Canvas) -> None:
    """Paint posts and two rails across the picture."""
    wood = c.tint(c.dice.pick([(238, 236, 228), (142, 108, 76), (120, 96, 78)]), 8)
    y, tall = c.dice.number(*c.standing), c.dice.number(0.11, 0.15)
    for share in (0.3, 0.68):
        c.box(0.0, y - tall * share - 0.011, 1.0, y - tall * share + 0.011, wood * 0.9)
    step = c.dice.number(0.13, 0.17)
    x = c.dice.number(0.0, step)
    while x < 1:
        c.box(x - 0.014, y - tall, x + 0.014, y, wood)
        x += step


def lantern(c: Canvas) -> None:
    """Paint lamps on tall posts."""
    iron = c.tint((62, 66, 72), 8)
    for x, y, size in c.spots(1, 2, narrow=0.1):
        top = y - size * c.dice.number(0.5, 0.62)
        c.box(x - size * 0.014, top, x + size * 0.014, y, iron)
        c.box(x - size * 0.036, top - size * 0.005, x + size * 0.036, top + size * 0.02, iron)
        c.disc(x, top - size * 0.045, size * 0.05, size * 0.055, c.tint((255, 238, 176), 6))


def car(c: Canvas) -> None:
    """Paint a car or two, seen from the side."""
    for x, y, size in c.spots(1, 2, narrow=0.18, aisle=0.0):
        paint, half = c.tint(c.dice.pick(BRIGHT), 12), size * 0.17
        tall, way = half * 0.42, c.dice.pick([-1, 1])
        body, roof = y - tall * 1.15, y - tall * 2.15
        left, right = x - half * 0.58 + way * half * 0.1, x + half * 0.5 + way * half * 0.1
        shape = (left + half * 0.2, roof), (right - half * 0.2, roof), (right, body), (left, body)
        c.polygon(paint * 0.92, *shape)
        for start, end in ((left + half * 0.14, x), (x + half * 0.08, right - half * 0.14)):
            c.box(start + half * 0.06, roof + tall * 0.2, end, body, GLASS)
        c.disc(x, body + tall * 0.15, half, tall * 0.3, paint)
        c.box(x - half, body + tall * 0.12, x + half, y - tall * 0.25, paint)
        for over in (-0.55, 0.55):
            c.disc(x + over * half, y - tall * 0.28, half * 0.21, half * 0.21, DARK)
            c.disc(x + over * half, y - tall * 0.28, half * 0.09, half * 0.09, WHITE * 0.8)


def boat(c: Canvas) -> None:
    """Paint sailing boats on the water."""
    water = max(c.lines.get("sea", c.horizon), c.lines.get("lake", c.horizon))
    shore = c.lines.get("sand", 0.9)
    for _ in range(c.dice.whole(1, 2)):
        depth = c.dice.number(0.25, 0.85)
        x, y = c.dice.number(0.15, 0.85), mixed(water, shore, depth)
        size = 0.1 + 0.1 * depth
        hull, sail = c.tint(c.dice.pick(BRIGHT), 10), c.tint((248, 246, 238), 6)
        corners = (x - size, y - size * 0.35), (x + size, y - size * 0.35)
        c.line((x, y - size * 0.3), (x, y - size * 2.0), 0.016, ink(110, 80, 56))
        top, low = y - size * 2.0, y - size * 0.5
        c.polygon(sail, (x + 0.012, top), (x + size * 0.9, low), (x + 0.012, low))
        c.polygon(
            sail * 0.86, (x - 0.012, top + size * 0.3), (x - 0.012, low), (x - size * 0.7, low)
        )
        c.polygon(hull, *corners, (x + size * 0.65, y), (x - size * 0.7, y))


def parasol(c: Canvas) -> None:
    """Paint a striped shade on a pole."""
    for x, y, size in c.spots(1, 2, narrow=0.16):
        colour, half = c.tint(c.dice.pick(BRIGHT[:3]), 12), size * c.dice.number(0.15, 0.19)
        top = y - size * c.dice.number(0.3, 0.36)
        c.box(x - size * 0.012, top, x + size * 0.012, y, ink(236, 232, 222))
        across = np.clip((c.x - x) / half, -1, 1)
        # a rounded roof with four panels that narrow towards its edges
        dome = top - half * 0.75 * np.sqrt(np.clip(1 - across * across, 0, 1))
        inside = np.minimum(c.y - dome, top - c.y) * c.side + 0.5
        cover = np.clip(inside, 0, 1) * (np.abs(c.x - x) < half)
        panel = np.abs(np.floor(across * 2.5 + 0.5)) == 1
        c.stroke(cover, mixed(colour, WHITE, panel.astype(np.float32)))


def stand(c: Canvas) -> None:
    """Paint tiers full of people."""
    top, foot = c.horizon * c.dice.number(0.3, 0.5), c.horizon + 0.03
    coats = [c.tint(c.dice.pick(BRIGHT), 20) for _ in range(3)]
    coats += [c.tint((70, 74, 86)), c.tint((224, 186, 158)), c.tint((190, 194, 200))]
    rows, cols = 16, 30
    seats = (c.dice.numbers(rows, cols) * len(coats)).astype(np.intp)
    down = np.clip((c.y - top) / (foot - top) * rows, 0, rows - 1).astype(np.intp)
    people = stack(coats, seats[down, np.minimum((c.x * cols).astype(np.intp), cols - 1)])
    shade = 0.75 + 0.35 * (c.y - top) / (foot - top)
    gangway = np.abs(c.x * 4 - np.floor(c.x * 4) - 0.5) < 0.035
    seated = mixed(people * shade, ink(176, 178, 182), 0.8 * gangway)
    c.below(top, seated, foot)
    c.box(0.0, top - 0.035, 1.0, top + 0.02, c.tint((210, 214, 220), 8))
    c.box(0.0, foot - 0.045, 1.0, foot, c.tint(c.dice.pick(BRIGHT), 10))


def pitch(c: Canvas) -> None:
    """Paint a mown lawn in stripes, with white lines."""
    top = c.lines.get("pitch", c.horizon)
    meet = c.dice.number(0.3, 0.7)
    rows = (c.x - meet) / (c.y - c.horizon + 0.35) * 5
    light = 1 + 0.16 * ((np.floor(rows) % 2) - 0.5) + 0.06 * (c.field(24, 30) - 0.5)
    green = c.tint((70, 150, 62), 10) * light
    lines = np.zeros_like(green[0])
    for share in (0.14, 0.55):
        away = np.abs(c.y - top - share * (1 - top))
        lines = np.maximum(lines, np.clip((0.011 + 0.006 * share - away) * c.side + 0.5, 0, 1))
    c.below(top, mixed(green, WHITE, lines * 0.9))


def goal(c: Canvas) -> None:
    """Paint posts, a bar and a net."""
    x, half = c.dice.number(0.32, 0.68), c.dice.number(0.17, 0.24)
    foot = c.horizon + c.dice.number(0.1, 0.18)
    top = foot - half * c.dice.number(0.72, 0.85)
    mesh = _net(c, x, half) * ((c.y > top) & (c.y < foot)) * (np.abs(c.x - x) < half)
    c.stroke(mesh * 0.5, WHITE)
    for left, up, right, down in (
        (x - half - 0.013, top, x - half + 0.013, foot),
        (x + half - 0.013, top, x + half + 0.013, foot),
        (x - half - 0.013, top - 0.013, x + half + 0.013, top + 0.013),
    ):
        c.box(left, up, right, down, WHITE)


def _net(c: Canvas, x: float, half: float) -> Plane:
    """Return where the strings of a net are."""
    across, down = (c.x - x) / half * 5, c.y / half * 5
    over = np.abs(across - np.floor(across) - 0.5) > 0.34
    along = np.abs(down - np.floor(down) - 0.5) > 0.34
    return np.asarray(over | along, np.float32)
