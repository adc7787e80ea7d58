"""What do many people together need of a picture, and how does it compare with machines?"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.core import PEOPLE, PERSON
from snellen.figures import Table
from snellen.stats import Interval, bootstrap, error_consistency, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from snellen.core import Figure, Item, Record

PUBLISHED = {"colour": "54–59 %", "resolution": "54–59 %", "crop": "143 %"}
"""What people needed of what the best machine did (Carrasco et al. 2020, §1)."""
PUBLISHED_RIGHT = "77.8 %"
FEWEST = 8
"""Pictures that two must share for their errors to be compared."""


def together(records: Sequence[Record], measure: str) -> list[Record]:
    """Let one record stand for all people who were asked about the same.

    It is that of the person whose need was the (lower) median of those who named the picture
    rightly; of a picture that nobody named rightly, anybody's.
    """
    kept = [r for r in records if not _of_person(r)]
    groups: dict[Item, list[Record]] = defaultdict(list)
    for r in records:
        if _of_person(r):
            groups[r.item].append(r)
    for group in groups.values():
        right = sorted((r for r in group if r.measures["right"]), key=lambda r: _ratio(r, measure))
        one = right[(len(right) - 1) // 2] if right else group[0]
        kept.append(replace(one, subject=PEOPLE))
    return [_named(r) for r in kept]


def merged(crossed: Sequence[Record]) -> list[Record]:
    """Put together what one subject, or people, made of the parts of an owner's MEPIs."""
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for r in crossed:
        groups[r.party, r.item["owner"], r.item["reduction"]].append(r)
    return [
        replace(
            group[0],
            subject=who,
            measures={
                part: [source for r in group for source in r.measures[part]]
                for part in ("right", "asked")
            },
        )
        for (who, _, _), group in groups.items()
    ]


def figures(records: Sequence[Record], measure: str) -> list[Figure]:
    """Set people beside the best machine, reduction by reduction, and beside the paper."""
    own = [r for r in records if _of_person(r)]
    if not own:
        return []
    machines = [r for r in together(records, measure) if not _of_person(r)]
    cells = []
    for reduction in dict.fromkeys(str(r.item["reduction"]) for r in own):
        asked = [r for r in own if r.item["reduction"] == reduction]
        right = [r for r in asked if r.measures["right"]]
        best, who = _best([r for r in machines if r.item["reduction"] == reduction], measure)
        need = _by_person(right, measure)
        cells.append(
            {
                "reduction": reduction,
                "persons": len({r.fingerprint for r in asked}),
                "responses": len(asked),
                "right": wilson(len(right), len(asked)),
                "right in the paper": PUBLISHED_RIGHT,
                "entropy ratio": need,
                "best machine": who,
                "of its need": need.value / best,
                "of its need in the paper": PUBLISHED.get(reduction, "–"),
                "median steps": float(np.median([r.measures["asked"] for r in asked])),
            }
        )
    return [
        Table(
            name="people",
            title="People beside the best machine",
            caption=(
                "Upwards from a void picture, as people were asked. Right: of all responses, with "
                "a Wilson interval; the others are inconclusive. The entropy ratio is the mean "
                "over responses, its interval from a bootstrap over persons. Of its need: that "
                "mean, divided by the mean of the machine that needs least. The paper had other "
                "pictures and machines, and coarser steps upwards overestimate what is needed."
            ),
            formula=f"mean of {measure}(MEPI) ÷ {measure}(original); bootstrap over persons",
            cells=cells,
        )
    ]


def consistency(crossed: Sequence[Record]) -> list[Figure]:
    """Ask of every two who read the same MEPIs whether they misread the same ones."""
    cells = []
    for (one, own), (other, theirs) in itertools.combinations(_readings(crossed).items(), 2):
        pairs = [
            np.array(list(itertools.product(own[place], theirs[place])))
            for place in own
            if place in theirs and place[1] not in (one, other)  # their own they read by design
        ]
        if len(pairs) >= FEWEST:
            cells.append(
                {
                    "first": one,
                    "second": other,
                    "MEPIs": len(pairs),
                    "error consistency κ": _over_pictures(pairs),
                    "ceiling": error_consistency(*np.concatenate(pairs).T).ceiling,
                }
            )
    return [
        Table(
            name="consistency",
            title="Who misreads the same pictures?",
            caption=(
                "Of MEPIs that both were asked about and neither left. κ: 1 where they are right "
                "and wrong on the same, 0 as by chance; 95 % bootstrap intervals over pictures. "
                "Ceiling: the most that κ can be for two of these accuracies. Of people, every "
                "answer counts beside every answer of the other to the same picture."
            ),
            formula="κ = (agreement − expected) ÷ (1 − expected), expected = pq + (1 − p)(1 − q)",
            cells=cells,
            plain=["error consistency κ"],
        )
    ] if cells else []  # fmt: skip


def _readings(crossed: Sequence[Record]) -> dict[str, dict[tuple[Any, ...], list[bool]]]:
    """Return by reader, and by reduction, owner and picture, which answers were right."""
    readers: dict[str, dict[tuple[Any, ...], list[bool]]] = defaultdict(dict)
    for r in merged(crossed):
        right: Counter[str] = Counter(r.measures["right"])
        asked: Counter[str] = Counter(r.measures["asked"])
        for source, times in asked.items():
            place = r.item["reduction"], r.item["owner"], source
            readers[r.subject][place] = [n < right[source] for n in range(times)]
    return readers


def _over_pictures(pairs: Sequence[npt.NDArray[np.bool_]]) -> Interval:
    """Return kappa with its interval; pictures are drawn, with all answers to them.

    Of each picture four counts suffice: both right, only the first, only the second, neither.
    """
    counts = [
        [(a & b).sum(), (a & ~b).sum(), (~a & b).sum(), (~a & ~b).sum()]
        for a, b in (answers.T for answers in pairs)
    ]

    def kappa(drawn: npt.NDArray[Any]) -> npt.NDArray[Any]:
        both, first, second, neither = np.moveaxis(drawn.sum(axis=1), -1, 0)
        total = both + first + second + neither
        p, q = (both + first) / total, (both + second) / total
        expected = p * q + (1 - p) * (1 - q)
        with np.errstate(invalid="ignore", divide="ignore"):
            made = ((both + neither) / total - expected) / (1 - expected)
        return np.asarray(np.nan_to_num(made))

    return bootstrap(np.array(counts, float), kappa)


def _of_person(record: Record) -> bool:
    return record.fingerprint.startswith(PERSON)


def _ratio(record: Record, measure: str) -> float:
    found = record.measures
    return float(found["bytes"][measure] / found["bytes before"][measure])


def _named(record: Record) -> Record:
    """Tell a machine that went upwards from the same one that went down."""
    if "direction" not in record.item or record.subject == PEOPLE:
        return record
    return replace(record, subject=f"{record.subject}, upwards")


def _by_person(records: Sequence[Record], measure: str) -> Interval:
    """Return the mean ratio over responses; persons are drawn, with all of their responses."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for r in records:
        held = sums[r.fingerprint]
        held[0] += _ratio(r, measure)
        held[1] += 1
    return bootstrap(
        np.array(list(sums.values())),
        lambda drawn: drawn[..., 0].sum(axis=1) / drawn[..., 1].sum(axis=1),
    )


def _best(records: Sequence[Record], measure: str) -> tuple[float, str]:
    """Return the least mean need of a machine, and which one it is."""
    needs: dict[str, list[float]] = defaultdict(list)
    for r in records:
        if r.measures["right"]:
            needs[r.subject].append(_ratio(r, measure))
    means = [(float(np.mean(found)), who) for who, found in needs.items()]
    return min(means, default=(math.nan, "–"))
