"""What comes of a study? Records as those of machines, and tables for other tools.

A person is a subject under a random code. Their fingerprint says which study asked whom in
which language: two people are never the same subject, and one who takes part twice is two.
"""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from snellen import settings
from snellen.core import HUMAN, PEOPLE, PERSON, Ability
from snellen.digests import digest
from snellen.errors import LogError, Unable
from snellen.log import Plan
from snellen.study import entries, quality

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from snellen.core import Lesson, Record, Sheet
    from snellen.log import RunFolder
    from snellen.sitting import Sitting
    from snellen.study.design import Design
    from snellen.study.entries import Entry
    from snellen.study.quality import Session
    from snellen.study.store import Store

AN_HOUR = 3600
COLUMNS: Mapping[str, str] = {
    "person": "random code of the participant",
    "task": "place of the item in the session, from 0",
    "purpose": "asked; gold: asked of everybody; again: asked once more",
    "item": "the exam's item, as JSON",
    "sheet": "number of the sheet within the item, from 0",
    "row": "place of the picture in its sheet, from 0",
    "shown": "place in the whole session at which it was shown, from 0",
    "stimulus": "hash of the picture and the question",
    "choice": "what was answered",
    "truth": "what would have been right, where there is such a thing",
    "seconds": "from the picture to the answer",
    "clock": "page: the browser's own; server: from page to answer, network and all",
    "dropped": "frames that the browser left out meanwhile",
}
"""Of answers.csv, and what they mean."""

SESSION = (
    "person", "group", "language", "consent", "began", "ended", "replies", "items", "right",
    "gold right", "again the same", "quick", "left out",
)  # fmt: skip
TOOLBOX = (
    "subj", "session", "trial", "rt", "object_response", "category", "condition", "imagename",
)  # fmt: skip


@dataclass(frozen=True)
class Person:
    """A participant, as the subject that their records are filed under."""

    gives: ClassVar[frozenset[Ability]] = HUMAN

    name: str
    fingerprint: str

    def answer(self, sheet: Sheet) -> NoReturn:
        """Cannot be asked again."""
        raise Unable(f"{self.name} took part in a study and cannot be asked {len(sheet)} more")

    def study(self, lesson: Lesson) -> NoReturn:
        """Cannot be taught again."""
        raise Unable(f"{self.name} took part in a study and cannot be taught {len(lesson)} more")


@dataclass(frozen=True)
class Exported:
    """What was written, and who was left out of it."""

    records: int
    kept: int
    left_out: Mapping[str, Sequence[str]]
    """Reasons by person."""
    files: Sequence[Path]


def person(design: Design, entry: Entry) -> Person:
    """Return a participant as a subject."""
    own = digest(design.digest, entry.code, entry.language)
    return Person(f"person-{entry.code}", f"{PERSON}{own}")


def export(
    design: Design, store: Store, folder: RunFolder, command: str, *, everybody: bool = False
) -> Exported:
    """Append the records of everybody who counts to a run, and write tables of all sessions.

    Who counts is said by the rules that were stated before; `everybody` leaves nobody out.
    """
    everyone = [quality.session(design, e) for e in store.read(entries.entries) if e.replies]
    least = quality.threshold(design.rules, everyone)
    why = {s.entry.code: quality.reasons(design.rules, s, least) for s in everyone}
    kept = [s for s in everyone if everybody or not why[s.entry.code]]
    made = [record for s in kept for record in _records(design, s)]
    known = _known(design, folder, {person(design, s.entry).fingerprint for s in everyone})
    folder.begin(Plan(design.asked_as, design.values, (PEOPLE,), command))
    for record in made:
        if record.key not in known:
            folder.append(record)
    tables = folder.path / "people"
    tables.mkdir(exist_ok=True)
    rows = [_session_row(design, s, why[s.entry.code]) for s in everyone]
    answers = [row for s in everyone for row in _answer_rows(s)]
    files = [
        _write(tables / "sessions.csv", SESSION, rows),
        _write(tables / "answers.csv", list(COLUMNS), answers),
        _write(tables / "model-vs-human.csv", TOOLBOX, list(_as_model_vs_human(answers))),
    ]
    left_out = {s.entry.code: why[s.entry.code] for s in everyone if s not in kept}
    return Exported(len(made), len(kept), left_out, files)


def as_psych_ds(design: Design, exported: Exported, folder: Path) -> Path:
    """Write the answers as a Psych-DS data set: data/*_data.csv with a description."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    source = next(path for path in exported.files if path.name == "answers.csv")
    (data / f"study-{_plain(design.exam.name)}_data.csv").write_bytes(source.read_bytes())
    about = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": design.about.title,
        "description": f"Answers of people to the exam {design.exam.name!r}, asked in a browser.",
        "variableMeasured": [
            {"@type": "PropertyValue", "name": name, "description": meaning}
            for name, meaning in COLUMNS.items()
        ],
    }
    path = folder / "dataset_description.json"
    path.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def _records(design: Design, made: Session) -> Iterator[Record]:
    """Account for every item that was sat to its end, once."""
    who = person(design, made.entry)
    for place, sitting in made.sittings.items():
        if made.entry.tasks[place].purpose != "again":
            seconds = np.nansum(sitting.trials.get("seconds", np.zeros(1)))
            yield replace(
                sitting.record(who, float(seconds)), settings=settings.shaping(design.exam)
            )


def _known(
    design: Design, folder: RunFolder, present: set[str]
) -> set[tuple[str, int, str, str, str]]:
    """Return what a run holds already; refuse one that holds somebody who withdrew."""
    if not folder.path.is_dir():
        return set()
    records, shaping = folder.records(), settings.shaping(design.exam)
    gone = {
        r.subject
        for r in records
        if r.fingerprint.startswith(PERSON) and r.fingerprint not in present
        if (r.exam, dict(r.settings)) == (design.exam.name, shaping)
    }
    if gone:
        raise LogError(
            f"{folder.path} holds answers of {', '.join(sorted(gone))}, who withdrew or belong to "
            "another study; delete that folder, or export into another with --into"
        )
    return {r.key for r in records}


def _session_row(design: Design, made: Session, why: Sequence[str]) -> dict[str, Any]:
    entry = made.entry
    return {
        "person": person(design, entry).name,
        "group": entry.party,
        "language": entry.language,
        "consent": entry.consent,
        "began": _hour(entry.began),
        "ended": "" if entry.ended is None else _hour(entry.ended),
        "replies": len(entry.replies),
        "items": len(made.sittings),
        "right": _rounded(made.right),
        "gold right": _rounded(made.gold),
        "again the same": _rounded(made.same),
        "quick": _rounded(made.quick(design.rules.quick_seconds)),
        "left out": "; ".join(why),
    }


def _answer_rows(made: Session) -> Iterator[dict[str, Any]]:
    """Yield every answer in the order in which it was given."""
    replies = iter(made.asked)
    for shown, (where, reply) in enumerate(replies):
        place, sheet, row = where
        sitting = made.sittings.get(place)
        if sitting is None:
            return  # an item that was left in the middle has no trials
        yield _answer_row(made, place, sheet, row, shown, sitting) | {
            "seconds": "" if reply.seconds is None else f"{reply.seconds:.4f}",
            "clock": "server" if reply.dropped is None else "page",
            "dropped": "" if reply.dropped is None else reply.dropped,
        }


def _answer_row(
    made: Session, place: int, sheet: int, row: int, shown: int, sitting: Sitting
) -> dict[str, Any]:
    trials, task = sitting.trials, made.entry.tasks[place]
    at = int(np.flatnonzero(trials["sheet"] == sheet)[0]) + row
    return {
        "person": f"person-{made.entry.code}",
        "task": place,
        "purpose": task.purpose,
        "item": task.item.key,
        "sheet": sheet,
        "row": row,
        "shown": shown,
        "stimulus": f"{int(trials['stimulus'][at]):016x}",
        "choice": str(trials["choice"][at]),
        "truth": str(trials["truth"][at]) if "truth" in trials else "",
    }


def _as_model_vs_human(answers: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield answers in the columns of the toolbox model-vs-human (Geirhos et al. 2021)."""
    for row in answers:
        if row["truth"]:
            yield {
                "subj": row["person"],
                "session": 1,
                "trial": row["shown"] + 1,
                "rt": row["seconds"],
                "object_response": row["choice"] or "na",
                "category": row["truth"],
                "condition": row["item"],
                "imagename": row["stimulus"],
            }


def _write(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def _hour(moment: float) -> str:
    """Round a time, so that it tells nobody who sat there."""
    whole = np.datetime64(int(moment) // AN_HOUR * AN_HOUR, "s")
    return f"{np.datetime_as_string(whole, unit='h')}:00Z"


def _rounded(share: float) -> float | str:
    return "" if math.isnan(share) else round(share, 4)


def _plain(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text)
