"""Which of two subjects is better, on the very pictures that both were asked?"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from snellen.errors import BadSetting
from snellen.log import told_apart
from snellen.stats import bootstrap, holm, mcnemar, sign_flip

if TYPE_CHECKING:
    import numpy.typing as npt

    from snellen.core import Item, Record
    from snellen.log import RunFolder

FEWEST_ITEMS = 6
"""With fewer items the interval is over pictures: a bootstrap of few things tells little."""
NOTE = (
    "difference: first minus second, with a 95 % bootstrap interval over items, or over pictures "
    f"where there are fewer than {FEWEST_ITEMS} items. McNemar's exact test takes pictures as "
    "independent, and one that was asked several times as one; the permutation test flips whole "
    "items, as repeats of training ask for. Both two-sided, Holm-corrected over the rows."
)


class Pair(NamedTuple):
    """What two subjects made of the pictures of one item that both were asked."""

    stimuli: npt.NDArray[np.uint64]
    first: npt.NDArray[np.bool_]
    second: npt.NDArray[np.bool_]


def compare(
    folder: RunFolder, first: str, second: str, by: str = ""
) -> tuple[list[dict[str, Any]], str]:
    """Return a row for each exam (and each value of a facet), and how to read them."""
    groups = _paired(told_apart(folder.records()), first, second, by)
    rows, plain, permuted = [], [], []
    for (exam, group), pairs in groups.items():
        ids, a, b = (np.concatenate(column) for column in zip(*pairs, strict=True))
        distinct, place = np.unique(ids, return_inverse=True)
        ahead = np.bincount(place, a.astype(float) - b, len(distinct))
        by_item = np.array([(p.first.sum(), p.second.sum(), len(p.first)) for p in pairs], float)
        by_picture = np.stack(
            [np.bincount(place, column, len(distinct)) for column in (a, b, np.ones(len(a)))], 1
        )
        difference = bootstrap(
            by_item if len(pairs) >= FEWEST_ITEMS else by_picture,
            lambda drawn: (drawn[..., 0] - drawn[..., 1]).sum(1) / drawn[..., 2].sum(1),
        )
        plain.append(mcnemar(int((ahead > 0).sum()), int((ahead < 0).sum())))
        permuted.append(sign_flip((by_item[:, 0] - by_item[:, 1]) / by_item[:, 2]))
        rows.append(
            {
                "exam": exam,
                **({by: group} if by else {}),
                "items": len(pairs),
                "pictures": len(distinct),
                "answers": len(a),
                first: float(a.mean()),
                second: float(b.mean()),
                "difference": difference,
            }
        )
    for row, p, q in zip(rows, holm(plain), holm(permuted), strict=True):
        row |= {"p McNemar": float(p), "p permutation": float(q)}
    return rows, NOTE


def _paired(
    records: list[Record], first: str, second: str, by: str
) -> dict[tuple[str, Any], list[Pair]]:
    sat: dict[str, dict[tuple[str, str, Item], Record]] = {first: {}, second: {}}
    for r in records:
        if r.subject in sat and not r.error:
            sat[r.subject][r.exam, repr(sorted(r.settings.items())), r.item] = r
    names = sorted({r.subject for r in records})
    for who, found in sat.items():
        if not found:
            raise BadSetting(f"no complete record of {who!r} is here; there are {', '.join(names)}")
    groups: dict[tuple[str, Any], list[Pair]] = defaultdict(list)
    common = sat[first].keys() & sat[second].keys()
    for key in sorted(common, key=lambda k: (*k[:2], k[2].key)):
        one, other = sat[first][key], sat[second][key]
        if by and by not in one.item:
            raise BadSetting(
                f"items of {one.exam!r} have no facet {by!r}; they have {', '.join(one.item)}"
            )
        if (pair := _pair(one, other)) is not None:
            groups[one.exam, one.item[by] if by else ""].append(pair)
    if not groups:
        raise BadSetting(f"{first!r} and {second!r} were asked no picture in common")
    return dict(sorted(groups.items(), key=str))


def _pair(one: Record, other: Record) -> Pair | None:
    """Match answers by stimulus; a stimulus asked several times is matched in order."""
    if "truth" not in one.trials or "truth" not in other.trials:
        return None
    first, second = (_occurrences(r.trials["stimulus"]) for r in (one, other))
    _, here, there = np.intersect1d(first, second, return_indices=True)
    if not len(here):
        return None
    return Pair(
        one.trials["stimulus"][here],
        (one.trials["choice"] == one.trials["truth"])[here],
        (other.trials["choice"] == other.trials["truth"])[there],
    )


def _occurrences(ids: npt.NDArray[np.uint64]) -> npt.NDArray[Any]:
    """Name each answer by its stimulus and how often that came before."""
    order = np.argsort(ids, kind="stable")
    ranked = ids[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    count = np.empty(len(ids), np.uint64)
    count[order] = np.arange(len(ids)) - np.repeat(starts, np.diff(np.r_[starts, len(ids)]))
    made = np.empty(len(ids), [("id", "<u8"), ("count", "<u8")])
    made["id"], made["count"] = ids, count
    return made
