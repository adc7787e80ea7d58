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
from matplotlib.ticker import FuncFormatter, NullFormatter

from snellen.figures import Boxes, Curves, Dots, Gallery, Matrix, Raster, percentiles

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
