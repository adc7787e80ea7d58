"""How are the keywords of the open country painted? A function each, named as the keyword."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snellen.images.scenery.canvas import ink, mixed

if TYPE_CHECKING:
    from snellen.images.scenery.canvas import Canvas, Plane, Spot

WHITE = ink(250, 250, 252)


def sky(c: Canvas) -> None:
    """Paint from the top to the horizon, paler as it goes down."""
    share = np.minimum(c.y / c.horizon, 1)
    c.below(-1.0, mixed(c.tint(c.mood.high), c.tint(c.mood.low, 8), share), c.horizon + 0.02)


def sun(c: Canvas) -> None:
    """Paint a bright disc in a small glow."""
    x, y = c.dice.number(0.1, 0.9), c.dice.number(0.1, 0.55) * c.horizon + 0.04
    radius = c.dice.number(0.055, 0.085)
    c.disc(x, y, radius * 1.5, radius * 1.5, mixed(c.tint(c.mood.low, 4), ink(255, 236, 170), 0.5))
    c.disc(x, y, radius, radius, c.tint((255, 226, 110), 8))


def cloud(c: Canvas) -> None:
    """Paint heaps of white with grey beneath."""
    lit, shaded = c.tint((250, 250, 252), 4), c.tint((205, 212, 224), 6)
    for _ in range(c.dice.whole(1, 3)):
        x, y = c.dice.number(0.1, 0.9), c.dice.number(0.12, 0.6) * c.horizon
        wide = c.dice.number(0.12, 0.2)
        c.disc(x, y + 0.02, wide, wide * 0.26, shaded)
        for share in (-0.55, 0.5, 0.0):
            puff = wide * c.dice.number(0.34, 0.5)
            c.disc(x + share * wide, y - puff * 0.35, puff, puff * 0.75, lit, light=0.04)


def mountain(c: Canvas) -> None:
    """Paint two ranges of sharp peaks, the far one in haze, snow on what is high."""
    tall = c.horizon * c.dice.number(0.6, 0.85)
    rock = c.tint((104, 104, 118), 12)
    haze = c.tint(c.mood.low, 6)
    white = c.horizon - tall * (0.2 if c.frost else c.dice.number(0.45, 0.75))
    for far, reach, peaks in ((0.5, 1.0, 3), (0.12, 0.8, 2)):
        big = c.ridge(2 * peaks, smooth=False, valleys=0.45)
        edge = c.horizon - tall * reach * (0.12 + 0.8 * big + 0.1 * c.ridge(22, smooth=False))
        rough = c.field(10, 12)
        # a face is lit as its ridge falls, and the border between two faces runs down crooked
        depth = c.y - edge
        column = (c.x + depth * (1.3 * rough - 0.65)) * c.side
        lit = (np.diff(big, append=big[-1:] * 2) > 0).astype(np.float32)
        light = lit[np.clip(column, 0, c.side - 1).astype(np.intp)]
        stone = rock * (0.66 + 0.36 * light + 0.2 * rough)
        snowy = np.clip((white - c.y + 0.2 * (rough - 0.5)) * 14, 0, 1)
        coloured = mixed(stone, WHITE * (0.8 + 0.2 * light), snowy)
        c.below(edge, mixed(coloured, haze, far), c.horizon + 0.03)


def hill(c: Canvas) -> None:
    """Paint soft rounded heights."""
    green = (222, 230, 240) if c.frost else c.dice.pick([(96, 150, 88), (120, 158, 92)])
    near, haze = c.tint(green), c.tint(c.mood.low, 6)
    tall = c.horizon * c.dice.number(0.2, 0.36)
    for far, reach in ((0.45, 1.0), (0.15, 0.62)):
        edge = c.horizon - tall * reach * (0.15 + 0.85 * c.ridge(c.dice.whole(2, 4)))
        shaded = near * (0.88 + 0.2 * c.field(6, 8))
        c.below(edge, mixed(shaded, haze, far), c.horizon + 0.03)


def cliff(c: Canvas) -> None:
    """Paint blocks of layered rock with steep walls."""
    bands = np.asarray(c.dice.numbers(24), np.float32)
    which = np.minimum((c.y * 24 + 0.8 * c.field(3, 5)).astype(np.intp), 23)
    light = 0.8 + 0.32 * bands[which] + 0.16 * (c.field(5, 18) - 0.5)
    stone = c.tint((202, 124, 78), 12) * light
    base, tall = c.horizon + 0.03, c.horizon * c.dice.number(0.45, 0.75)
    for number in range(c.dice.whole(2, 3)):
        middle = (0.12, 0.85, 0.48)[number] + c.dice.number(-0.07, 0.07)
        half, top = c.dice.number(0.13, 0.25), base - tall * c.dice.number(0.55, 1.0)
        flat = np.abs(c.x[0] - middle) - half - 0.012 * c.ridge(30, smooth=False)
        edge = top + np.clip(flat * 4.5, 0, 9) + 0.02 * c.ridge(16, smooth=False)
        side = np.clip((c.x - middle) / half * 0.5 + 0.5, 0, 1)
        c.below(edge, stone * (1.08 - 0.3 * side), base)


def _ripples(c: Canvas, rows: int, cols: int, top: float) -> Plane:
    """Return glints, finer towards the line `top`: 1 at the crest, mostly 0."""
    depth = np.clip((c.y - top) / max(1 - top, 0.05), 0, 1)
    waves = c.field(rows, cols) * (1 - depth) + c.field(rows // 2, cols // 2) * depth
    crests: Plane = np.clip((waves - 0.62) * 5, 0, 1)
    return crests


def sea(c: Canvas) -> None:
    """Paint water to the horizon, with foam where it meets a shore."""
    top = c.lines.get("sea", c.horizon)
    deep, near = c.tint((24, 88, 150)), c.tint((58, 158, 186))
    share = np.clip((c.y - top) / (1 - top) * 1.4, 0, 1)
    water = mixed(mixed(deep, near, share), WHITE, 0.45 * _ripples(c, 40, 9, top))
    c.below(top, water)


def lake(c: Canvas) -> None:
    """Paint still water between its banks, with the sky in it."""
    top = c.lines.get("lake", c.horizon)
    x, wide = c.dice.number(0.35, 0.65), c.dice.number(0.48, 0.75)
    high = c.dice.number(0.13, 0.2)
    middle = top + high * 0.9
    down = np.clip((c.y - middle) / high, -1, 1)
    reach = wide * np.sqrt(1 - down * down) + 0.03 * (c.field(10, 1)[:, :1] - 0.5)
    cover = np.clip((reach - np.abs(c.x - x)) * c.side * 0.6, 0, 1) * (np.abs(down) < 1)
    blue = mixed(c.tint((64, 122, 172)), c.tint((132, 182, 208)), (down + 1) / 2)
    c.stroke(cover, mixed(blue, WHITE, 0.35 * _ripples(c, 36, 6, top)))


def river(c: Canvas) -> None:
    """Paint a winding band that widens as it comes near."""
    top = c.lines.get("river", c.horizon + 0.02)
    depth = np.clip((c.y - top) / (1 - top), 0, 1)
    start, end = c.dice.number(0.3, 0.7), c.dice.number(0.25, 0.75)
    bend = c.dice.pick([-1, 1]) * c.dice.number(0.14, 0.22)
    # a wave whose bends grow with nearness: t(1 − t)(1 − 2t) has two
    middle = mixed(start, end, depth) + bend * 10 * depth * (1 - depth) * (1 - 2 * depth)
    half = 0.018 + 0.15 * depth * depth + 0.03 * depth
    cover = np.clip((half - np.abs(c.x - middle)) * c.side + 0.5, 0, 1) * (c.y > top)
    water = mixed(c.tint((78, 140, 178)), c.tint((48, 112, 162)), depth)
    c.stroke(cover, mixed(water, WHITE, 0.5 * _ripples(c, 30, 9, top)))


def sand(c: Canvas) -> None:
    """Paint pale ground with ripples, wet at its upper edge where there is water."""
    top = c.lines.get("sand", c.horizon)
    edge = top + 0.03 * (c.ridge(4) - 0.5) + 0.012 * (c.ridge(11) - 0.5)
    colour = c.tint((226, 198, 148), 12)
    dunes = 0.9 + 0.14 * c.field(5, 3) + 0.05 * c.field(28, 7)
    depth = c.y - edge
    wet = np.clip(1 - depth * 14, 0, 1) if "sand" in c.lines else 0.0
    made = colour * (dunes - 0.22 * wet)
    if "sand" in c.lines:
        foam = np.clip(1 - np.abs(depth - 0.008) * 55, 0, 1)
        made = mixed(made, WHITE, foam * 0.9)
    c.below(edge, made)


def grass(c: Canvas) -> None:
    """Paint green ground with blades, lighter far away."""
    top = c.lines.get("grass", c.horizon)
    edge = top + 0.025 * (c.ridge(5) - 0.5)
    far, near = c.tint((146, 180, 92), 10), c.tint((74, 132, 52), 12)
    share = np.clip((c.y - top) / (1 - top), 0, 1)
    blades = 0.84 + 0.14 * c.field(5, 6) + 0.18 * c.field(24, 46)
    c.below(edge, mixed(far, near, share) * blades)


def snow(c: Canvas) -> None:
    """Paint white ground with blue shade in its hollows."""
    top = c.lines.get("snow", c.horizon)
    edge = top + 0.05 * (c.ridge(3) - 0.5)
    lit, shade = c.tint((246, 249, 253), 3), c.tint((190, 208, 232), 6)
    drifts = np.clip(1.5 * c.field(6, 3) - 0.45, 0, 1)
    c.below(edge, mixed(lit, shade, 0.75 * drifts + 0.1 * c.field(20, 14)))


def rock(c: Canvas) -> None:
    """Paint a few boulders."""
    grey = c.tint((128, 122, 116), 14)
    for x, y, size in c.spots(2, 4):
        wide, high = size * c.dice.number(0.08, 0.13), size * c.dice.number(0.06, 0.1)
        lean = c.dice.number(-0.3, 0.3) * wide
        top = (x + lean - wide * 0.45, y - high), (x + lean + wide * 0.35, y - high * 0.9)
        foot = (x + wide, y - high * 0.25), (x + wide * 0.85, y), (x - wide * 0.9, y)
        left = (x - wide, y - high * 0.4)
        c.polygon(grey, *top, *foot, left)
        c.polygon(grey * 1.22, *top, (x + lean * 0.5, y - high * 0.5), left)
        c.polygon(grey * 0.72, (x + lean * 0.5, y - high * 0.5), *foot[:2], (x, y))


def _crown(c: Canvas, spot: Spot, wide: float, high: float, green: Plane) -> None:
    """Round leaves in bunches, the darkest behind."""
    for over, up, size, shade in (
        (-0.5, -0.15, 0.6, 0.78),
        (0.5, -0.1, 0.6, 0.7),
        (0.05, -0.25, 0.78, 0.88),
        (-0.3, 0.3, 0.55, 1.05),
        (0.28, 0.22, 0.55, 0.95),
    ):
        x = spot.x + (over + c.dice.number(-0.12, 0.12)) * wide
        y = spot.y - (up + c.dice.number(-0.08, 0.08)) * high
        c.disc(x, y, size * wide, size * high, green * shade, light=0.22)


def tree(c: Canvas) -> None:
    """Paint a trunk and a round crown."""
    bark = c.tint((96, 68, 46), 10)
    green = c.dice.pick([(70, 128, 54), (88, 142, 60), (52, 108, 58), (150, 128, 48)])
    for spot in c.spots(*c.crowd):
        tall = spot.size * c.dice.number(0.38, 0.52)
        thick = tall * 0.045
        c.box(spot.x - thick, spot.y - tall * 0.5, spot.x + thick, spot.y, bark)
        middle = spot._replace(y=spot.y - tall * 0.68)
        _crown(c, middle, tall * c.dice.number(0.3, 0.36), tall * 0.33, c.tint(green, 10))


def bush(c: Canvas) -> None:
    """Paint leaves close to the ground."""
    green = c.dice.pick([(76, 124, 58), (98, 138, 62), (62, 104, 62)])
    for spot in c.spots(2, 4):
        high = spot.size * c.dice.number(0.06, 0.1)
        _crown(c, spot._replace(y=spot.y - high * 0.7), high * 1.5, high, c.tint(green, 10))


def fir(c: Canvas) -> None:
    """Paint a dark pointed tree in three storeys, white when it has snowed."""
    green = c.tint((38, 88, 64), 12)
    few, many = c.crowd
    for x, y, size in c.spots(few, many + 1):
        tall = size * c.dice.number(0.36, 0.52)
        half = tall * c.dice.number(0.22, 0.27)
        c.box(x - tall * 0.035, y - tall * 0.16, x + tall * 0.035, y, ink(84, 60, 44))
        for low, wide, shade in ((0.1, 1.0, 0.85), (0.36, 0.78, 1.0), (0.6, 0.54, 1.15)):
            top, foot = y - tall * min(low + 0.44, 1.0), y - tall * low
            reach = half * wide
            c.polygon(green * shade, (x, top), (x + reach, foot), (x - reach, foot))
            if c.frost:
                side = (x - reach * 0.95, foot - tall * 0.015)
                c.polygon(WHITE * 0.97, (x, top), (x + reach * 0.12, top + tall * 0.2), side)


def palm(c: Canvas) -> None:
    """Paint a leaning trunk and fronds that hang."""
    bark, green = c.tint((140, 106, 70), 10), c.tint((58, 132, 62), 12)
    for x, y, size in c.spots(1, 2, narrow=0.15):
        tall, lean = size * c.dice.number(0.42, 0.55), c.dice.number(-0.14, 0.14)
        head_x, head_y, bend = x + lean, y - tall, x + lean * 0.35
        c.line((x, y), (bend, y - tall * 0.5), size * 0.045, bark)
        c.line((bend, y - tall * 0.52), (head_x, head_y), size * 0.036, bark * 1.08)
        for over, down in (
            (-1, 0.5),
            (1, 0.5),
            (-0.95, -0.05),
            (0.95, -0.05),
            (-0.5, -0.5),
            (0.5, -0.5),
        ):
            reach = tall * c.dice.number(0.36, 0.46)
            tip = (head_x + over * reach, head_y + down * reach * 0.8)
            knee = (head_x + over * reach * 0.55, head_y + (down - 0.62) * reach * 0.55)
            shade = green * c.dice.number(0.8, 1.2)
            c.line((head_x, head_y), knee, size * 0.04, shade)
            c.line(knee, tip, size * 0.032, shade)


def blossom(c: Canvas) -> None:
    """Paint dots of colour all over the ground."""
    kinds = [(238, 62, 70), (250, 212, 60), (244, 244, 250), (176, 92, 200), (250, 140, 170)]
    colours = [c.tint(c.dice.pick(kinds), 8), c.tint(c.dice.pick(kinds), 8)]
    for number, (x, y, size) in enumerate(c.spots(14, 20)):
        radius = size * 0.024
        c.disc(x, y, radius, radius * 0.85, colours[number % 2], light=0.15)


def cactus(c: Canvas) -> None:
    """Paint a column with two arms."""
    green = c.tint((74, 132, 76), 12)
    for x, y, size in c.spots(1, 3, narrow=0.12):
        tall = size * c.dice.number(0.32, 0.44)
        thick = tall * 0.1
        for over, low, high in ((0.0, 0.0, 1.0), (-0.27, 0.38, 0.72), (0.27, 0.28, 0.6)):
            half = thick if over == 0 else thick * 0.68
            middle, top, foot = x + over * tall, y - tall * high, y - tall * low
            c.disc(middle, top, half, half, green * 1.05)
            c.box(middle - half, top, middle + half, foot, green * (1.05 if over < 0 else 0.95))
            if over:
                inner, outer = sorted((x, middle))
                c.disc(middle, foot, half, half, green * 0.95)
                c.box(inner, foot - half, outer, foot + half, green * 0.95)


def bird(c: Canvas) -> None:
    """Paint a small flock, wings up."""
    dark = c.tint((52, 54, 66), 12)
    x, y = c.dice.number(0.2, 0.8), c.dice.number(0.15, 0.5) * c.horizon
    for number in range(c.dice.whole(3, 5)):
        wing = c.dice.number(0.045, 0.065)
        over = x + (number % 3 - 1) * 0.15 + c.dice.number(-0.03, 0.03)
        up = y + (number // 3 - 0.5) * 0.12 + c.dice.number(-0.04, 0.04)
        for way in (-1, 1):
            c.line((over, up), (over + way * wing, up - wing * 0.6), 0.02, dark)
