"""`snellen laconic-set`: how do the MEPIs of a run become a data set for others?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from snellen.errors import SnellenError
from snellen.exams.laconic.sets import ACCOUNT, LIST, write

if TYPE_CHECKING:
    from snellen.core import Desk


@click.command("laconic-set")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder to write.  [default: RUN/laconic-set]",
)
@click.option("--owner", multiple=True, help="Only the MEPIs of this subject. Repeatable.")
@click.option("--reduction", multiple=True, help="Only those of this reduction. Repeatable.")
@click.pass_obj
def laconic_set(
    desk: Desk,
    run: Path,
    out: Path | None,
    owner: tuple[str, ...],
    reduction: tuple[str, ...],
) -> None:
    """Write the MEPIs of a run as PNG files with their labels, to test others on.

    They are read back by: snellen run laconic --set pictures=FOLDER, and asked about as they
    are by --set mepis=FOLDER.
    """  # fmt: skip
    records = [r for r in desk.read(run) if r.measures.get("mepi") is not None]
    chosen = [
        r
        for r in records
        if (not owner or r.subject in owner)
        and (not reduction or str(r.item["reduction"]) in reduction)
    ]
    if not chosen:
        owners = sorted({r.subject for r in records})
        reductions = sorted({str(r.item["reduction"]) for r in records})
        raise SnellenError(
            f"{run} holds no MEPIs of that kind; it has owners {', '.join(owners) or 'none'} and "
            f"reductions {', '.join(reductions) or 'none'}"
        )
    folder = write(chosen, out or run / "laconic-set")
    click.echo(f"{len(chosen)} MEPIs: {folder}  ({LIST}, {ACCOUNT})")
