"""What would come of a study? It is held once with simulated people, through its real pages."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from snellen import plugins
from snellen.study import entries, people
from snellen.study.design import draft, read
from snellen.study.serving import opened
from snellen.study.simulate import simulate
from snellen.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.log import RunFolder
    from snellen.study.people import Exported

NOBODY = "nobody: this is a rehearsal"
AT_ONCE = 8


def rehearse(
    exam: str, values: Mapping[str, Any], count: int, subject: str, folder: RunFolder, command: str
) -> Exported:
    """Hold a study of an exam with so many of a subject, and export what comes of it.

    The study file and its store are kept in the folder; whoever took part before is not asked
    again.
    """
    name = plugins.exam_class(exam).name
    place = folder.path / "rehearsal"
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{name}.toml"
    file.write_text(draft(exam, values, NOBODY), "utf-8")
    design, store = read(file), Store(f"sqlite:///{place / name}.db")
    try:
        store.write(partial(entries.settle, design=design)).result()
        before = store.read(entries.counts).began
        who = [plugins.subject(subject.replace("{}", str(n + 1))) for n in range(before, count)]
        with opened(design, store) as link:
            asyncio.run(simulate(link, who, AT_ONCE))
        return people.export(design, store, folder, command)
    finally:
        store.close()
