"""What is there to see in a result? Figures as data; `report` draws them.

Each kind is a few columns and knows its own rows, so the picture, the table behind
it and the CSV cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from snellen.core import Images
    from snellen.stats import Interval


@dataclass(frozen=True, kw_only=True)
class _Caption:
    """What every figure says about itself."""

    name: str
    title: str
    caption: str = ""
    formula: str = ""


@dataclass(frozen=True, kw_only=True)
class Table(_Caption):
    """Rows of cells; an Interval is printed with its ends."""

    cells: Sequence[Mapping[str, Any]]
    plain: Sequence[str] = ()
    """Columns whose intervals are not shares, and are printed as numbers."""

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return the cells, intervals spread over three columns."""
        return [_spread(row) for row in self.cells]


@dataclass(frozen=True, kw_only=True)
class Dots(_Caption):
    """Values with their intervals, by group and series, beside a null and a reference."""

    groups: Sequence[str]
    series: Mapping[str, Sequence[Interval | None]]
    null: float | None = None
    null_name: str = "chance"
    reference: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    """Published values, by their source."""
    axis: str = "accuracy"
    percent: bool = True
    bounds: tuple[float, float] | None = (0.0, 1.0)

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return a row a dot, published ones too."""
        made = [
            _spread({"group": group, "series": name, self.axis: value})
            for name, values in self.series.items()
            for group, value in zip(self.groups, values, strict=True)
            if value is not None
        ]
        made += [
            {"group": group, "series": source, self.axis: value}
            for source, values in self.reference.items()
            for group, value in zip(self.groups, values, strict=True)
            if value is not None
        ]
        return made


@dataclass(frozen=True, kw_only=True)
class Curves(_Caption):
    """Values with their intervals along an axis, a line a series."""

    x: Sequence[float]
    series: Mapping[str, Sequence[Interval | None]]
    x_axis: str
    y_axis: str
    null: float | None = None
    null_name: str = "chance"
    log_x: bool = False
    percent: bool = True

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return a row a point."""
        return [
            _spread({"series": name, self.x_axis: x, self.y_axis: value})
            for name, values in self.series.items()
            for x, value in zip(self.x, values, strict=True)
            if value is not None
        ]


@dataclass(frozen=True, kw_only=True)
class Matrix(_Caption):
    """A value for every pair of a row and a column; NaN is left blank."""

    row_names: Sequence[str]
    column_names: Sequence[str]
    values: Sequence[Sequence[float]]
    notes: Sequence[Sequence[str]] = ()
    """What is written in the cells; the values if left out."""
    diverging: bool = False
    percent: bool = True
    bounds: tuple[float, float] | None = None

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return a row a cell."""
        return [
            {"row": row, "column": column, "value": value}
            | ({"note": self.notes[i][j]} if self.notes else {})
            for i, row in enumerate(self.row_names)
            for j, column in enumerate(self.column_names)
            if np.isfinite(value := float(self.values[i][j]))
        ]


@dataclass(frozen=True, kw_only=True)
class Raster(_Caption):
    """Square grids of many values over two axes, side by side on one scale; NaN is left blank.

    Element [i, j] of a panel lies at the i-th place along x and the j-th along y, the least at
    the bottom left.
    """

    panels: Mapping[str, Any]
    """(n, n) values each, by what is written above."""
    x_axis: str
    y_axis: str
    opacity: Mapping[str, Any] = field(default_factory=dict)
    """(n, n) from 0 to 1 each: how much a value rests on; of all panels or of none."""
    extent: tuple[float, float] = (0.0, 1.0)
    """Where both axes begin and end."""
    bounds: tuple[float, float] | None = None
    """Of the scale; the least and the greatest of all panels if left out."""
    scale_axis: str = ""
    log: bool = False
    diverging: bool = False
    percent: bool = False

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return a row a panel and place along x, with a column a place along y.

        A row an element would be a megabyte a panel in every report.
        """
        return [
            {"panel": panel, "shows": shows, self.x_axis: x}
            | {
                f"{self.y_axis} {y}": f"{value:.5g}" if np.isfinite(value) else ""
                for y, value in zip(places, line, strict=True)
            }
            for shows, grids in (("value", self.panels), ("opacity", self.opacity))
            for panel, grid in grids.items()
            for places in (self.places(len(grid)),)
            for x, line in zip(places, np.asarray(grid, float), strict=True)
        ]

    def places(self, count: int) -> list[float]:
        """Return the middles of that many elements along an axis."""
        low, high = self.extent
        middles = low + (np.arange(count) + 0.5) / count * (high - low)
        return [round(float(x), 6) for x in middles]


@dataclass(frozen=True, kw_only=True)
class Boxes(_Caption):
    """How values are spread: least, quartiles, most and mean, by group and series."""

    groups: Sequence[str]
    series: Mapping[str, Sequence[Sequence[float]]]
    axis: str
    percent: bool = True

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return a row a box."""
        return [
            {"group": group, "series": name, "count": len(values)}
            | dict(zip(PERCENTILES, percentiles(values), strict=True))
            | {"mean": float(np.mean(values))}
            for name, boxes in self.series.items()
            for group, values in zip(self.groups, boxes, strict=True)
            if len(values)
        ]


PERCENTILES = ("least", "25 %", "median", "75 %", "most")


def percentiles(values: Sequence[float]) -> list[float]:
    """Return the least, the quartiles and the most."""
    return [float(q) for q in np.percentile(np.asarray(values, float), [0, 25, 50, 75, 100])]


@dataclass(frozen=True, kw_only=True)
class Gallery(_Caption):
    """Pictures with a line under each, in rows that have a name."""

    shelves: Mapping[str, tuple[Images, Sequence[str]]]
    large: bool = False
    """Whether pictures are to be looked at one by one."""

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return a row a picture: where it hangs and what is written under it."""
        return [
            {"shelf": shelf, "place": place, "text": text}
            for shelf, (_, texts) in self.shelves.items()
            for place, text in enumerate(texts)
        ]


class Ellipse(NamedTuple):
    """An ellipse by its centre, its two half axes and the degrees the longer one is turned."""

    x: float
    y: float
    long: float
    short: float
    degrees: float


def ellipse(cloud: Sequence[Sequence[float]], level: float = 0.95) -> Ellipse | None:
    """Return an ellipse that holds that share of the dots; None of fewer than three.

    Its form is that of the dots inside it, so that a few strays do not draw it out.
    """
    dots = np.asarray(cloud, float).reshape(-1, 2)
    dots = dots[np.isfinite(dots).all(axis=1)]
    if len(dots) < 3:
        return None
    inside = np.ones(len(dots), bool)
    for _ in range(10):
        middle = dots[inside].mean(axis=0)
        form = np.cov(dots[inside].T) + 1e-18 * np.eye(2)
        away = np.einsum("ij,jk,ik->i", dots - middle, np.linalg.inv(form), dots - middle)
        reach = float(np.quantile(away, level))
        inside = away <= max(reach, float(np.sort(away)[2]))
    values, vectors = np.linalg.eigh(form)
    short, long = np.sqrt(values * reach)
    degrees = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])) % 180
    return Ellipse(*map(float, (*middle, long, short, degrees)))


@dataclass(frozen=True, kw_only=True)
class Map(_Caption):
    """Named places on a plane of which only distances mean something; NaN is left out."""

    names: Sequence[str]
    points: Sequence[Sequence[float]]
    clouds: Sequence[Sequence[Sequence[float]]] = ()
    """For each name, where draws put it; drawn as dots and an ellipse that holds 95 % of them."""
    unit: str = "distance"

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return a row a place, with its ellipse, then a row a dot of its cloud."""
        made: list[dict[str, Any]] = []
        for name, (x, y), cloud in self.places():
            held = ellipse(cloud)
            around = {f"ellipse {k}": v for k, v in held._asdict().items()} if held else {}
            made.append({"name": name, "x": x, "y": y} | around)
        made += [
            {"name": name, "draw": draw, "x": float(x), "y": float(y)}
            for name, _, cloud in self.places()
            for draw, (x, y) in enumerate(cloud)
            if np.isfinite([x, y]).all()
        ]
        return made

    def places(self) -> list[tuple[str, tuple[float, float], Sequence[Sequence[float]]]]:
        """Return the names that have a place, each with its cloud."""
        clouds = self.clouds or [()] * len(self.names)
        return [
            (name, (float(x), float(y)), cloud)
            for name, (x, y), cloud in zip(self.names, self.points, clouds, strict=True)
            if np.isfinite([x, y]).all()
        ]


@dataclass(frozen=True, kw_only=True)
class Tree(_Caption):
    """What joins what, and at which height: a dendrogram."""

    names: Sequence[str]
    merges: Sequence[tuple[int, int, float]]
    """The two that join and the height they do at; names come first, then merges, in order."""
    support: Sequence[float] = ()
    """For each merge, the share of draws that have it; not written at the last, which all have."""
    axis: str = "distance"

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return a row a merge: who is on either side."""
        below = self.below()
        return [
            {
                "one side": ", ".join(self.names[leaf] for leaf in below[a]),
                "other side": ", ".join(self.names[leaf] for leaf in below[b]),
                self.axis: height,
            }
            | ({"support": self.support[place]} if self.support else {})
            for place, (a, b, height) in enumerate(self.merges)
        ]

    def below(self) -> list[list[int]]:
        """Return the names that hang on each name and merge, in the order they are drawn in."""
        made = [[leaf] for leaf in range(len(self.names))]
        for a, b, _ in self.merges:
            made.append(made[a] + made[b])
        return made


def _spread(row: Mapping[str, Any]) -> dict[str, Any]:
    """Lay an interval out over three columns."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if hasattr(value, "low"):
            flat |= {name: value.value, f"{name} low": value.low, f"{name} high": value.high}
        else:
            flat[name] = value
    return flat
