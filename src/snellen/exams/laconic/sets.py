"""What do others make of what one subject left? MEPIs as a data set, written and asked about."""

from __future__ import annotations

import csv
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.core import Item, Sheet
from snellen.digests import digest
from snellen.errors import Unloadable
from snellen.exams.laconic.lattice import whole
from snellen.exams.laconic.search import PROMPT
from snellen.images.photos import read_photo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.core import Answers, Flow, Record

COLUMNS = (
    "file", "label", "owner", "reduction", "source", "content", "bytes", "ratio", "margin", "asked",
    "minimal",
)  # fmt: skip
LIST, ACCOUNT = "labels.csv", "manifest.json"


def write(records: Sequence[Record], folder: Path) -> Path:
    """Write MEPIs as PNG files with `labels.csv`, which this and other programs read back."""
    rows = []
    for r in sorted(records, key=lambda r: (r.subject, r.item.key)):
        data = r.measures["mepi"].data
        owner, reduction = _plain(r.subject), _plain(str(r.item["reduction"]))
        file = Path(owner, reduction, f"{_plain(str(r.item['picture']))}-{digest(data)[:8]}.png")
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)
        rows.append({**_row(r), "file": file.as_posix(), "content": digest(data)})
    with (folder / LIST).open("w", newline="", encoding="utf-8") as held:
        writer = csv.DictWriter(held, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / ACCOUNT).write_text(json.dumps(_account(records), indent=1) + "\n", "utf-8")
    _rows.cache_clear()
    return folder


def items(path: str, among: str, each: int = 0) -> list[Item]:
    """One item for each owner and reduction of a set, or for so many pictures of it."""
    if not path:
        return []
    groups: dict[tuple[str, str], list[str]] = {}
    for row in _rows(path):
        groups.setdefault((row["owner"], row["reduction"]), []).append(row["content"])
    made = []
    for (owner, reduction), contents in groups.items():
        size = each or len(contents)
        for start in range(0, len(contents), size):
            part = {"first": start, "count": size} if each else {}
            content = digest(*contents[start : start + size])
            made.append(
                Item(owner=owner, reduction=reduction, content=content, among=among, **part)
            )
    return made


def examine(path: str, item: Item, names: tuple[str, ...], side: int) -> Flow:
    """Ask about all MEPIs of one owner and reduction, as they were last shown to it."""
    rows = [
        row
        for row in _rows(path)
        if (row["owner"], row["reduction"]) == (item["owner"], item["reduction"])
    ]
    if "first" in item:
        first = int(item["first"])
        rows = rows[first : first + int(item["count"])]
    pictures = [read_photo(Path(path, row["file"])) for row in rows]
    channels = max(picture.shape[2] for picture in pictures)
    shown = [whole(picture, side) for picture in pictures]
    images = np.stack([np.broadcast_to(s, (side, side, channels)) for s in shown])
    truth = np.array([names.index(row["label"]) for row in rows], np.intp)
    given = {"source": np.array([row["source"] for row in rows])}
    answers: Answers = yield Sheet(images, names, truth, given=given, prompt=PROMPT)
    right = [row["source"] for row, fine in zip(rows, answers.right, strict=True) if fine]
    return {"right": right, "asked": [row["source"] for row in rows]}


@lru_cache(maxsize=4)
def _rows(path: str) -> list[dict[str, str]]:
    try:
        with Path(path, LIST).open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise Unloadable(
            f"{path} holds no set of MEPIs ({error.strerror}); make one with: snellen laconic-set"
        ) from error
    if not rows or not set(COLUMNS) <= set(rows[0]):
        raise Unloadable(f"{path}/{LIST} should have the columns {', '.join(COLUMNS)}, and rows")
    return rows


def _row(record: Record) -> dict[str, Any]:
    measures, measure = record.measures, record.settings["entropy"][0]
    return {
        "label": record.item["label"],
        "owner": record.subject,
        "reduction": record.item["reduction"],
        "source": record.item["picture"],
        "bytes": measures["bytes"][measure],
        "ratio": measures["bytes"][measure] / measures["bytes before"][measure],
        "margin": measures["margin"],
        "asked": measures["asked"],
        "minimal": measures["minimal"],
    }


def _account(records: Sequence[Record]) -> dict[str, Any]:
    return {
        "what": "minimal-entropy positive images: the least that their owner still names rightly",
        "pictures": len(records),
        "owners": {r.subject: r.fingerprint for r in records},
        "settings": records[0].settings,
        "encoders": sorted({r.measures["encoder"] for r in records}),
        "paths": [
            {"owner": r.subject, **r.item, **{k: r.measures[k] for k in ("values", "size")}}
            for r in records
        ],
    }


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-.") or "nameless"
