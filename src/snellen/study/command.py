"""`snellen study`: how is a study made, opened, watched, rehearsed and taken home?"""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from snellen.study.design import Design
    from snellen.study.store import Store

PORT = 8707


@click.group()
def study() -> None:
    """Have people sit an exam in their browsers."""


def _on_a_study(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what every command on a study takes."""
    for add in (
        click.argument("file", type=click.Path(path_type=Path, dir_okay=False)),
        click.option(
            "--store", "url", envvar="SNELLEN_STORE", default="",
            help="Where answers go: sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE.  "
            "[default: a file beside the study's]",
        ),
    ):  # fmt: skip
        command = add(command)
    return command


@study.command()
@click.argument("exam")
@click.option(
    "--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A setting of the exam. Repeatable."
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("study.toml"),
    show_default=True,
    help="The study file.",
)
def new(exam: str, pairs: tuple[str, ...], out: Path) -> None:
    """Write a study file for an exam: read it, fill in who answers for it, change what you like."""
    from snellen.errors import LogError
    from snellen.study.design import draft

    text = draft(exam, dict(_pair(pair) for pair in pairs))
    if out.exists():
        raise LogError(f"{out} exists; a study is not overwritten: choose another name with -o")
    out.write_text(text, "utf-8")
    click.echo(f"{out}: fill in contact, then: snellen study serve {shlex.quote(str(out))}")


@study.command()
@_on_a_study
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True)
@click.option(
    "--public",
    default="",
    metavar="URL",
    help="Where a proxy on this machine offers it, such as https://lab.example.org/study.",
)
def serve(file: Path, url: str, port: int, public: str) -> None:
    """Open a study to participants, on this machine alone unless a proxy stands before it."""
    from snellen.study import serving

    with _opened(file, url) as (design, store):
        click.echo("drawing the first pictures", err=True)
        serving.serve(design, store, port, public, told=click.echo)


@study.command()
@_on_a_study
def status(file: Path, url: str) -> None:
    """Tell how far a study is."""
    from snellen.study.quality import overview

    with _opened(file, url) as (design, store):
        found = overview(design, store)
    for name, count in found.counts.items():
        click.echo(f"{name:10} {count}")
    click.echo(f"{len(found.items)} items, each sat {found.least} to {found.most} times")


@study.command()
@_on_a_study
@click.argument("subject", default="simulated,person={}")
@click.option("--participants", type=click.IntRange(1), default=10, show_default=True)
@click.option(
    "--at-once", type=click.IntRange(1), default=8, show_default=True, help="Participants."
)
@click.option("--at", "link", default="", metavar="LINK", help="A study that is open already.")
def simulate(
    file: Path, url: str, subject: str, participants: int, at_once: int, link: str
) -> None:
    """Have a subject take part through the pages; {} in its name is the participant's number.

    For trying out a study before people come. What it answers is stored as theirs would be: give
    it a --store of its own.
    """
    import asyncio

    from snellen import plugins
    from snellen.study import serving
    from snellen.study.simulate import simulate as simulated

    who = [plugins.subject(subject.replace("{}", str(n + 1))) for n in range(participants)]
    with _opened(file, url) as (design, store), ExitStack() as open_for:
        here = link or open_for.enter_context(serving.opened(design, store))
        codes = asyncio.run(simulated(here, who, at_once))
    click.echo(f"{len(codes)} participants took part, the last with the code {codes[-1]}")


@study.command()
@_on_a_study
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    help="The run folder.  [default: runs/NAME of the study file]",
)
@click.option("--everybody", is_flag=True, help="Leave nobody out, whatever the rules say.")
@click.option(
    "--psych-ds", type=click.Path(path_type=Path, file_okay=False), help="Also a Psych-DS data set."
)
def export(
    file: Path, url: str, into: Path | None, psych_ds: Path | None, *, everybody: bool
) -> None:
    """Write what people answered as records of a run, and as tables."""
    from snellen.log import RunFolder
    from snellen.study import people

    into = into or Path("runs", file.stem)
    command = shlex.join(["snellen", *sys.argv[1:]])
    with _opened(file, url) as (design, store):
        made = people.export(design, store, RunFolder(into), command, everybody=everybody)
        if psych_ds:
            click.echo(people.as_psych_ds(design, made, psych_ds))
    for path in made.files:
        click.echo(path)
    for code, why in made.left_out.items():
        click.echo(f"left out: {code} ({', '.join(why)})")
    click.echo(
        f"{made.records} records of {made.kept} people; "
        f"next: snellen report {shlex.quote(str(into))}"
    )


@study.command()
@_on_a_study
@click.argument("code")
def withdraw(file: Path, url: str, code: str) -> None:
    """Delete all that is stored of a participant, by the code that they were told."""
    from snellen.errors import UnknownName
    from snellen.study import entries

    with _opened(file, url, belongs=False) as (_, store):
        if not store.write(lambda c: entries.withdraw(c, code.removeprefix("person-"))).result():
            raise UnknownName(f"nobody in this study has the code {code!r}; nothing was deleted")
    click.echo(f"everything of {code} is deleted; folders that were exported before still hold it")


@study.command()
@_on_a_study
@click.argument("copy", type=click.Path(path_type=Path, dir_okay=False))
def backup(file: Path, url: str, copy: Path) -> None:
    """Copy the whole store, as it is at one moment, into a new SQLite file."""
    with _opened(file, url, belongs=False) as (_, store):
        click.echo(store.back_up(copy))


@contextmanager
def _opened(file: Path, url: str, *, belongs: bool = True) -> Iterator[tuple[Design, Store]]:
    """Open a study and its store, which must belong to it unless that does not matter."""
    from functools import partial

    from snellen.study import entries
    from snellen.study.design import read
    from snellen.study.store import Store

    design = read(file)
    store = Store(url or f"sqlite:///{file.with_suffix('.db')}")
    try:
        if belongs:
            store.write(partial(entries.settle, design=design)).result()
        yield design, store
    finally:
        store.close()


def _pair(pair: str) -> tuple[str, str]:
    name, equals, value = pair.partition("=")
    if not equals:
        raise click.UsageError(f"--set takes NAME=VALUE, and {pair!r} has no '='")
    return name, value
