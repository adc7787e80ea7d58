"""What does a figure look like on paper? One function for each kind of figure."""

from __future__ import annotations

import io
import math
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Ellipse as Patch
from matplotlib.ticker import FuncFormatter, NullFormatter
from matplotlib.transforms import Affine2D

from snellen.figures import (
    Boxes,
    Curves,
    Dots,
    Ellipse,
    Gallery,
    Map,
    Matrix,
    Raster,
    Tree,
    ellipse,
    percentiles,
)
from snellen.report import labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from snellen.core import Images
    from snellen.stats import Interval

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6A3D9A", "#444444")
"""Okabe and Ito's, told apart by the colour-blind too; marks differ as well."""
MARKS = "osD^vPX*"
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "svg.hashsalt": "snellen",
    "pdf.fonttype": 42,
    "savefig.bbox": "tight",
    "legend.frameon": False,
    "text.parse_math": False,  # a $ in a subject's name is a $
}
WIDTH = 7.0
PALEST = 0.15
"""How much colour is left to a value that rests on nothing."""
INCH = 72
"""Points, in which letters are measured."""
MANY_DOTS = 2000
"""More than these are drawn as pixels."""


def picture(figure: Any, kind: str = "svg") -> bytes:
    """Return a figure as `svg`, `pdf` or `png`: the same bytes for the same figure."""
    with mpl.rc_context(STYLE):
        canvas = draw(figure)
        FigureCanvasAgg(canvas)
        held = io.BytesIO()
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        canvas.savefig(held, format=kind, metadata=undated, dpi=150)
    return held.getvalue()


@singledispatch
def draw(figure: Any) -> Canvas:
    """Draw a figure; a new kind registers its own function."""
    raise NotImplementedError(f"there is no way to draw a {type(figure).__name__}")


@draw.register
def _(figure: Dots) -> Canvas:
    count = max(1, len(figure.series))
    canvas, axes = _page(height=1.1 + len(figure.groups) * (0.22 + 0.17 * count))
    middle = np.arange(len(figure.groups))[::-1].astype(float)
    shift = np.linspace(0.32, -0.32, count) if count > 1 else np.zeros(1)
    for place, (name, values) in enumerate(figure.series.items()):
        _interval_marks(axes, middle + shift[place], values, place, name)
    for source, references in figure.reference.items():
        spots = [(x, y) for x, y in zip(references, middle, strict=True) if x is not None]
        if spots:
            x, y = zip(*spots, strict=True)
            axes.scatter(x, y, marker="|", s=420, color="#777777", linewidths=1.6, zorder=1)
            axes.scatter(
                [], [], marker="|", s=60, color="#777777", linewidths=1.6, label=_said(source)
            )
    if figure.null is not None:
        axes.axvline(
            figure.null, color="#999999", ls="--", lw=1, label=_said(figure.null_name), zorder=0
        )
    axes.set_yticks(middle, figure.groups)
    axes.set_ylim(-0.6, len(figure.groups) - 0.4)
    axes.set_xlabel(figure.axis)
    axes.grid(axis="x", color="#eeeeee")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    for edge in middle[:-1] - 0.5:
        axes.axhline(edge, color="#eeeeee", lw=0.8, zorder=0)
    if figure.bounds:
        _bound(axes.set_xlim, figure.bounds, axes.get_xlim())
    _percent(axes.xaxis, wanted=figure.percent)
    _legend(axes)
    return canvas


@draw.register
def _(figure: Curves) -> Canvas:
    canvas, axes = _page(height=3.6)
    for place, (name, values) in enumerate(figure.series.items()):
        kept = [(x, v) for x, v in zip(figure.x, values, strict=True) if v is not None]
        if not kept:
            continue
        xs = [x for x, _ in kept]
        colour, mark = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
        axes.plot(xs, [v.value for _, v in kept], mark + "-", color=colour, ms=4, label=_said(name))
        axes.fill_between(
            xs, [v.low for _, v in kept], [v.high for _, v in kept], color=colour, alpha=0.15
        )
    if figure.null is not None:
        axes.axhline(figure.null, color="#999999", ls="--", lw=1, label=_said(figure.null_name))
    if figure.log_x:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel(figure.x_axis)
    axes.set_ylabel(figure.y_axis)
    axes.grid(color="#eeeeee")
    _percent(axes.yaxis, wanted=figure.percent)
    _legend(axes)
    return canvas


@draw.register
def _(figure: Boxes) -> Canvas:
    count = max(1, len(figure.series))
    canvas, axes = _page(height=3.4)
    middle = np.arange(len(figure.groups), dtype=float)
    shift = (np.arange(count) - (count - 1) / 2) * 0.8 / count
    for place, (name, boxes) in enumerate(figure.series.items()):
        kept = [(at, values) for at, values in zip(middle, boxes, strict=True) if len(values)]
        if not kept:
            continue
        colour = COLOURS[place % len(COLOURS)]
        numbers = [percentiles(values) for _, values in kept]
        parts = ("whislo", "q1", "med", "q3", "whishi")
        axes.bxp(
            [{**dict(zip(parts, n, strict=True)), "fliers": []} for n in numbers],
            positions=[at + shift[place] for at, _ in kept],
            widths=0.62 / count, showfliers=False, patch_artist=True, manage_ticks=False,
            boxprops={"facecolor": colour, "alpha": 0.35, "edgecolor": colour},
            medianprops={"color": colour, "lw": 1.6},
            whiskerprops={"color": colour}, capprops={"color": colour},
        )  # fmt: skip
        means = [float(np.mean(values)) for _, values in kept]
        spots = [at + shift[place] for at, _ in kept]
        axes.plot(spots, means, "D", color=colour, ms=4, label=_said(name))
    axes.set_xticks(middle, figure.groups)
    axes.set_ylabel(figure.axis)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    _percent(axes.yaxis, wanted=figure.percent)
    _legend(axes)
    return canvas


@draw.register
def _(figure: Matrix) -> Canvas:
    values = np.asarray(figure.values, float)
    canvas, axes = _page(
        height=1.4 + 0.34 * len(values), width=min(12.0, 2.2 + 0.62 * values.shape[1])
    )
    low, high = figure.bounds or (np.nanmin(values), np.nanmax(values))
    if figure.diverging:
        low, high = -(top := max(abs(low), abs(high))), top
    colours = mpl.colormaps["RdBu_r" if figure.diverging else "cividis"].with_extremes(
        bad="#f4f4f4"
    )
    shown = axes.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto")
    for i, j in np.ndindex(values.shape):
        known = math.isfinite(values[i, j])
        if figure.notes:
            text = figure.notes[i][j]
        else:
            text = _short(float(values[i, j]), percent=figure.percent) if known else ""
        red, green, blue, _ = colours(shown.norm(values[i, j])) if known else (1, 1, 1, 1)
        light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.55
        axes.text(
            j, i, text, ha="center", va="center", fontsize=7.5, color="black" if light else "white"
        )
    if max(map(len, figure.column_names)) > 4:
        axes.set_xticks(range(values.shape[1]), figure.column_names, rotation=35, ha="right")
    else:
        axes.set_xticks(range(values.shape[1]), figure.column_names)
    axes.set_yticks(range(len(values)), figure.row_names)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return canvas


@draw.register
def _(figure: Raster) -> Canvas:
    count = len(figure.panels)
    wide = count if count <= 3 else 2 if count == 4 else 3
    tall = math.ceil(count / wide)
    side = min(3.0, (WIDTH - 1.2) / wide)
    canvas = Canvas(figsize=(1.2 + wide * side, tall * (side + 0.1) + 0.3), layout="constrained")
    grid = canvas.subplots(tall, wide, squeeze=False)
    colours = mpl.colormaps["RdBu_r" if figure.diverging else "viridis"]
    scale = _scale(figure)
    for axes, (name, values) in zip(grid.flat, figure.panels.items(), strict=False):
        painted = colours(np.ma.filled(scale(np.ma.masked_invalid(values)), 0.0))
        solid = np.asarray(figure.opacity.get(name, np.ones(np.shape(values))), float)
        painted[..., 3] = np.where(np.isfinite(values), PALEST + (1 - PALEST) * solid, 0)
        axes.imshow(
            painted.swapaxes(0, 1), origin="lower", extent=figure.extent * 2, interpolation="none"
        )
        axes.set_title(_said(name), fontsize=8.5)
        ticks = np.linspace(*figure.extent, 3)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    for axes in grid.flat[count:]:
        axes.set_axis_off()
    canvas.supxlabel(figure.x_axis, fontsize=9)
    canvas.supylabel(figure.y_axis, fontsize=9)
    shades = mpl.cm.ScalarMappable(scale, colours)
    bar = canvas.colorbar(shades, ax=grid, aspect=18 * tall, label=figure.scale_axis)
    bar.outline.set_visible(False)
    if figure.log:
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
    _percent(bar.ax.yaxis, wanted=figure.percent)
    return canvas


@draw.register
def _(figure: Gallery) -> Canvas:
    tall = len(figure.shelves)
    wide = max(len(images) for images, _ in figure.shelves.values())
    side = min(1.5 if figure.large else 0.85, (WIDTH - 1.0) / wide)
    lines = max((t.count("\n") for _, texts in figure.shelves.values() for t in texts), default=0)
    height = tall * (side + 0.22 + 0.12 * lines)
    canvas = Canvas(figsize=(1.0 + wide * side, height), layout="constrained")
    grid = canvas.subplots(tall, wide, squeeze=False)
    for row, (name, (images, texts)) in enumerate(figure.shelves.items()):
        for column, axes in enumerate(grid[row]):
            axes.set(xticks=[], yticks=[])
            for side_of in axes.spines.values():  # a white picture ends somewhere too
                side_of.set(visible=column < len(images), color="#dddddd", linewidth=0.6)
            if column < len(images):
                axes.imshow(_visible(images[column]), cmap="gray", vmin=0, vmax=1)
                axes.set_title(
                    texts[column], fontsize=6.5, pad=1.5, fontweight="normal", loc="center"
                )
        grid[row][0].text(
            -0.12, 0.5, name, transform=grid[row][0].transAxes, ha="right", va="center", fontsize=8
        )
    return canvas


@draw.register
def _(figure: Map) -> Canvas:
    places = figure.places()
    dots = np.array([at for _, at, _ in places]).reshape(-1, 2)
    clouds = [np.asarray(cloud, float).reshape(-1, 2) for _, _, cloud in places]
    ellipses = [ellipse(cloud.tolist()) for cloud in clouds]
    canvas, axes, scale = _plane(np.concatenate([dots, *clouds, *map(_ends, ellipses)]))
    for place, (at, cloud, held) in enumerate(zip(dots, clouds, ellipses, strict=True)):
        colour = COLOURS[place % len(COLOURS)]
        pixels = sum(map(len, clouds)) > MANY_DOTS
        axes.plot(*cloud.T, ".", color=colour, ms=2.5, mew=0, alpha=0.25, rasterized=pixels)
        if held:
            axes.add_patch(
                Patch(
                    (held.x, held.y), 2 * held.long, 2 * held.short, angle=held.degrees,
                    fill=False, color=colour, lw=1.0, alpha=0.7,
                )
            )  # fmt: skip
        mark = MARKS[place // len(COLOURS) % len(MARKS)]
        axes.plot(*at, mark, color=colour, ms=6, mec="white", mew=0.6, zorder=3)
    corner = np.array([axes.get_xlim()[0], axes.get_ylim()[0]])
    bar = _scale_bar(axes, scale, figure.unit)
    _name_places(axes, [name for name, _, _ in places], (dots - corner) * scale, bar)
    return canvas


@draw.register
def _(figure: Tree) -> Canvas:
    size, count = 9.0, len(figure.names)
    left = max((labels.size(name, size)[0] for name in figure.names), default=0) / INCH + 0.15
    wide, tall = max(WIDTH - left - 0.2, 3.0), 0.25 * count + 0.1
    canvas = Canvas(figsize=(left + wide + 0.2, tall + 0.6))
    area = (left, 0.5, wide, tall)
    axes = canvas.add_axes(_share(area, canvas))
    order = figure.below()[-1] if figure.merges else list(range(count))
    heights = [0.0] * count + [height for _, _, height in figure.merges]
    middle = [float(count - 1 - order.index(leaf)) for leaf in range(count)]
    top = max(max(heights) * 1.06, 1e-9)
    axes.set(xlim=(0, top), ylim=(-0.6, count - 0.4))
    lines: list[tuple[float, float, float, float]] = []
    for place, (a, b, height) in enumerate(figure.merges):
        middle.append((middle[a] + middle[b]) / 2)
        last = place == len(figure.merges) - 1
        lines += [(heights[side], height, middle[side], middle[side]) for side in (a, b)]
        low, high = sorted((middle[a], middle[b]))
        lines.append((height, height, low, high))
        if last:
            lines.append((height, top, middle[-1], middle[-1]))
    for x0, x1, y0, y1 in lines:
        axes.plot([x0, x1], [y0, y1], color="#444444", lw=1.2, solid_capstyle="projecting")
    axes.set_yticks(middle[:count], figure.names, fontsize=size)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(figure.axis)
    _write_support(axes, figure, [*zip(heights, middle, strict=True)][count:], lines)
    return canvas


def _ends(held: Ellipse | None) -> Any:
    """Return the corners of the upright rectangle about an ellipse."""
    if held is None:
        return np.empty((0, 2))
    turn = math.radians(held.degrees)
    across = math.hypot(held.long * math.cos(turn), held.short * math.sin(turn))
    up = math.hypot(held.long * math.sin(turn), held.short * math.cos(turn))
    return np.array([[held.x - across, held.y - up], [held.x + across, held.y + up]])


def _plane(dots: Any) -> tuple[Canvas, Axes, float]:
    """Return axes on which both directions have one scale, and how many points a unit takes."""
    dots = dots[np.isfinite(dots).all(axis=1)]
    low, high = (dots.min(axis=0), dots.max(axis=0)) if len(dots) else (np.zeros(2), np.ones(2))
    extent = np.maximum(high - low, 1e-9)
    margin = np.array([60.0, 26.0])
    room = np.array([WIDTH, 5.6]) * INCH - 2 * margin
    scale = float((room / np.maximum(extent, extent.max() / 20)).min())
    page = np.array([WIDTH * INCH, max(extent[1] * scale, 1.4 * INCH) + 2 * margin[1]])
    canvas = Canvas(figsize=tuple(page / INCH))
    axes = canvas.add_axes((0.0, 0.0, 1.0, 1.0))
    half = page / scale / 2
    (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
    axes.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color="#dddddd")
    return canvas, axes, scale


def _scale_bar(axes: Axes, scale: float, unit: str) -> labels.Box:
    """Draw a round length in a corner, as maps have it, and return what it covers."""
    most = 1.2 * INCH / scale
    power = 10.0 ** math.floor(math.log10(most))
    length = max(step * power for step in (1, 2, 5) if step * power <= most)
    text, left, bottom = f"{unit} {length:g}", 8.0, 8.0
    x, y = (low + by / scale for low, by in zip((axes.get_xlim()[0], axes.get_ylim()[0]),
                                                (left, bottom), strict=True))  # fmt: skip
    axes.plot([x, x + length], [y, y], color="#777777", lw=1.6, solid_capstyle="butt")
    axes.annotate(text, (x, y), (0, 3), textcoords="offset points", fontsize=7.5, color="#555555")
    wide, tall = labels.size(text, 7.5)
    return labels.Box(left, bottom - 2, left + max(wide, length * scale), bottom + 5 + tall)


def _name_places(axes: Axes, names: Sequence[str], at: Any, bar: labels.Box) -> None:
    """Write names beside their places, which are in points from the lower left."""
    font, dot, gap = 8.5, 3.5, 6.0
    page = labels.Box(3, 3, *(side - 3 for side in _extent(axes)))
    taken = [bar] + [labels.Box(x - dot, y - dot, x + dot, y + dot) for x, y in at]
    choices = [
        labels.around(x, y, *labels.size(name, font), gap=gap)
        for name, (x, y) in zip(names, at, strict=True)
    ]
    boxes = labels.settled(choices, taken, page)
    for name, (x, y), box in zip(names, at, boxes, strict=True):
        _write(axes, name, box, font)
        near = min(max(x, box.left), box.right), min(max(y, box.bottom), box.top)
        if math.dist(near, (x, y)) > 2 * gap:
            axes.plot(
                [x, near[0]], [y, near[1]], color="#999999", lw=0.6, zorder=1,
                transform=_points(axes), scalex=False, scaley=False,
            )  # fmt: skip


def _write_support(
    axes: Axes,
    figure: Tree,
    joints: Sequence[tuple[float, float]],
    lines: Sequence[tuple[float, float, float, float]],
) -> None:
    """Write at every joint but the last, which all draws have, how many of them have it."""
    font = 7.5
    wide, tall = _extent(axes)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    across, up = wide / (right - left), tall / (top - bottom)
    taken = [
        labels.Box(
            (x0 - left) * across - 1, (y0 - bottom) * up - 1,
            (x1 - left) * across + 1, (y1 - bottom) * up + 1,
        )
        for x0, x1, y0, y1 in lines
    ]  # fmt: skip
    told = [*zip(joints, figure.support, strict=False)][:-1]
    told = [(joint, share) for joint, share in told if math.isfinite(share)]
    texts = [f"{100 * share:.0f} %" for _, share in told]
    choices = [
        labels.around((x - left) * across, (y - bottom) * up, *labels.size(text, font), gap=2.0)
        for text, ((x, y), _) in zip(texts, told, strict=True)
    ]
    page = labels.Box(0, 0, wide, tall)
    for text, box in zip(texts, labels.settled(choices, taken, page), strict=True):
        _write(axes, text, box, font, color="#0072B2")


def _write(axes: Axes, text: str, box: labels.Box, font: float, color: str = "black") -> None:
    middle = (box.bottom + box.top) / 2
    axes.text(
        box.left, middle, text, fontsize=font, color=color, va="center_baseline",
        transform=_points(axes),
    )  # fmt: skip


def _points(axes: Axes) -> Any:
    """Return the transform of points from the axes' lower left corner."""
    return Affine2D().scale(*(1 / side for side in _extent(axes))) + axes.transAxes


def _extent(axes: Axes) -> tuple[float, float]:
    """Return how many points wide and tall axes are."""
    held, dots = axes.bbox, axes.figure.dpi
    return float(held.width / dots * INCH), float(held.height / dots * INCH)


def _share(area: tuple[float, float, float, float], canvas: Canvas) -> Any:
    """Return inches as the share of a page that they are."""
    wide, tall = canvas.get_size_inches()
    return area[0] / wide, area[1] / tall, area[2] / wide, area[3] / tall


def _page(height: float, width: float = WIDTH) -> tuple[Canvas, Axes]:
    canvas = Canvas(figsize=(width, height), layout="constrained")
    return canvas, canvas.subplots()


def _scale(figure: Raster) -> Normalize:
    """Return the one scale of all panels, of some width even where all values are equal."""
    values = np.concatenate([np.ravel(np.asarray(grid, float)) for grid in figure.panels.values()])
    values = values[np.isfinite(values) & ((values > 0) | (not figure.log))]
    low, high = figure.bounds or ((values.min(), values.max()) if len(values) else (0.0, 1.0))
    if figure.log:
        return LogNorm(low, high if high > low else 10 * low, clip=True)
    if figure.diverging:
        low, high = -(top := max(abs(low), abs(high))), top
    return Normalize(low, high if high > low else low + 1.0, clip=True)


def _interval_marks(
    axes: Axes, y: Any, values: Sequence[Interval | None], place: int, name: str
) -> None:
    kept = [(at, v) for at, v in zip(y, values, strict=True) if v is not None]
    if not kept:
        return
    at = [a for a, _ in kept]
    colour, mark = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
    axes.hlines(at, [v.low for _, v in kept], [v.high for _, v in kept], color=colour, lw=1.6)
    axes.plot([v.value for _, v in kept], at, mark, color=colour, ms=5, label=_said(name))


def _bound(limit: Any, bounds: tuple[float, float], found: tuple[float, float]) -> None:
    """Keep to the possible values, and to those of them that occur."""
    low, high = (max(bounds[0], found[0]), min(bounds[1], found[1]))
    margin = 0.02 * (high - low)
    limit(low - margin, high + margin)


def _percent(axis: Any, *, wanted: bool) -> None:
    if wanted:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))


def _legend(axes: Axes) -> None:
    names: Mapping[str, Any] = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    if len(names) > 1:
        columns = 2 if max(map(len, names)) > 24 else 3
        axes.legend(
            names.values(),
            names,
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=columns,
            fontsize=8,
        )


def _said(name: str) -> str:
    """Keep Matplotlib from taking a name that begins with an underscore for none."""
    return f" {name}" if name.startswith("_") else name


def _visible(image: Images) -> Any:
    scaled = image / 255 if image.dtype == np.uint8 else np.clip(image, 0, 1)
    return scaled[..., 0] if image.shape[-1] == 1 else scaled


def _short(value: float, *, percent: bool) -> str:
    return f"{100 * value:.0f}" if percent else f"{value:.2g}"
