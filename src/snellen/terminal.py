"""What does a person at a terminal see of a run, and how do they stop it?"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from snellen.core import Record
    from snellen.engine import Work
    from snellen.log import RunFolder
    from snellen.report import Report


class Stop:
    """Hears Ctrl-C: the first finishes what is under way, the second does not wait."""

    def __init__(self) -> None:
        self.asked = 0
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _hear(self, *_: object) -> None:
        self.asked += 1
        if self.asked == 1:
            click.echo("\nfinishing the items under way; Ctrl-C again to leave at once", err=True)
            raise KeyboardInterrupt


@contextlib.contextmanager
def progress(work: Work) -> Iterator[Callable[[Record], int]]:
    """Show a bar on a terminal and a line now and then elsewhere; count failures."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if work.done:
        console.print(f"{work.done} of {work.total} items are done already", highlight=False)
    if not work.tasks:
        yield lambda _: 0
        return
    start, spoken, count = time.monotonic(), time.monotonic(), work.done
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        shown = bar.add_task("items", total=work.total, completed=work.done)

        def advance(record: Record) -> int:
            nonlocal spoken, count
            count += 1
            bar.update(shown, completed=count, description=record.subject)
            if record.error:
                last = record.error.strip().splitlines()[-1]
                console.print(
                    f"failed: {record.subject}, {record.item!r}: {last}",
                    markup=False,
                    soft_wrap=True,
                )
            now = time.monotonic()
            if not console.is_terminal and (now - spoken > 10 or count == work.total):
                left = (now - start) / (count - work.done) * (work.total - count)
                console.print(
                    f"{count}/{work.total} items, about {left:.0f} s left", highlight=False
                )
                spoken = now
            return bool(record.error)

        yield advance


@contextlib.contextmanager
def saying(text: str) -> Iterator[None]:
    """Say what is being done while nothing else is to be seen."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(text):
            yield
    else:
        yield


def tell_damage(folder: RunFolder) -> None:
    """Warn of lines of a log that could not be read."""
    for place in folder.damaged:
        click.secho(
            f"{place}; it is left where it is, and its item is done again", fg="yellow", err=True
        )


def conclude(report: Report) -> None:
    """Print what the report says first of each subject, and where it is."""
    colours = {"good": "green", "fair": "yellow", "poor": "red", "plain": None}
    for graded in report.graded:
        click.secho(f"\n{graded.exam.name}: {graded.question}", bold=True)
        told = set()
        for verdict in graded.result.verdicts:
            head = verdict.subject not in told
            told.add(verdict.subject)
            if head:
                click.secho(f"  {verdict.subject}: {verdict.text}", fg=colours[verdict.tone])
            else:
                click.echo(f"    {verdict.text}")
        if graded.failed:
            click.secho(f"  {len(graded.failed)} items failed; see the report", fg="red")
    click.echo(f"\nreport: {report.path}")


def print_table(rows: Sequence[Mapping[str, Any]], note: str = "") -> None:
    """Print rows under the names of all their columns, and how to read them."""
    from rich.console import Console
    from rich.table import Table

    from snellen.report.page import readable

    table = Table(box=None, pad_edge=False, header_style="dim")
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        table.add_column(
            name, overflow="fold", no_wrap=all(len(readable(r.get(name))) < 24 for r in rows)
        )
    for row in rows:
        table.add_row(*(readable(row.get(name, "")) for name in names))
    console = Console()
    if not console.is_terminal:
        console.width = 240  # a file or a pipe has no width to keep to
    console.print(table, markup=False, highlight=False)
    if note:
        console.print(note, markup=False, highlight=False)
