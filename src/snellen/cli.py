"""The command: `snellen run`, `report`, `compare`, `export`, `ls`, `show`, `doctor`, `demo`.

Exit codes: 0 complete, 1 error, 2 usage, 3 finished with failed items, 4 a score below
--fail-under, 130 stopped.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from snellen import terminal
from snellen.blurbs import blurb
from snellen.study.command import study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from snellen.core import Exam, Record, Subject
    from snellen.engine import Work
    from snellen.log import Plan, RunFolder
    from snellen.report import Report

FAILED_ITEMS, FAILED_EXAM, STOPPED = 3, 4, 130
COMMANDS = "snellen.commands"
"""Click commands that exams bring along; their object is a `core.Desk`."""


class _Group(click.Group):
    """Print what went wrong and what to do about it; --debug adds the traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name our own commands and those that exams bring along."""
        return [*super().list_commands(ctx), *sorted(entry_points(group=COMMANDS).names)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find our own commands and those that exams bring along."""
        own = super().get_command(ctx, cmd_name)
        brought = entry_points(group=COMMANDS)
        if own is not None or cmd_name not in brought.names:
            return own
        found: click.Command = brought[cmd_name].load()
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List all commands; those that exams bring along are not loaded for it."""
        own = {name: super(_Group, self).get_command(ctx, name) for name in self.commands}
        rows = [(name, c.get_short_help_str(64)) for name, c in sorted(own.items()) if c]
        rows += [(point.name, blurb(point)) for point in sorted(entry_points(group=COMMANDS))]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        from snellen.errors import BadSetting, SnellenError, UnknownName

        try:
            return super().invoke(ctx)
        except SnellenError as error:
            if ctx.params.get("debug"):
                raise
            click.secho(f"snellen: {error}", fg="red", err=True)
            ctx.exit(2 if isinstance(error, BadSetting | UnknownName) else 1)
        except KeyboardInterrupt:
            click.secho("stopped before anything was begun", fg="yellow", err=True)
            ctx.exit(STOPPED)


HELP = """Give image classifiers, and people, an eye exam.

\b
snellen ls                                    what there is
snellen run abstraction -m my_net.py:build    examine a model
snellen report runs/abstraction               one HTML file
"""


@click.group(cls=_Group, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="snellen")
@click.pass_context
def main(ctx: click.Context, *, debug: bool) -> None:  # noqa: ARG001 — the group reads it
    """Run a command; `HELP` says which there are."""
    ctx.obj = _Desk()


main.add_command(study)


class _Desk:
    """What commands that exams bring along may do with run folders and subjects."""

    def read(self, folder: Path) -> Sequence[Record]:
        """Return the complete records of a run."""
        from snellen.log import RunFolder, told_apart

        return [r for r in told_apart(RunFolder(folder).records()) if not r.error]

    def keep(self, folder: Path, exam: Exam, records: Sequence[Record]) -> None:
        """Log records that were made elsewhere, and write and tell the report."""
        from snellen import settings
        from snellen.log import Plan, RunFolder

        run, who = RunFolder(folder), dict.fromkeys(r.subject for r in records)
        known = {r.key for r in run.records()} if folder.is_dir() else set()
        run.begin(Plan(exam.name, settings.dump(exam), tuple(who), _command()))
        for record in records:
            if record.key not in known:
                run.append(record)
        terminal.conclude(_report(run))

    def subject(self, who: str) -> Subject:
        """Return the subject of that name, file or address."""
        from snellen import plugins

        return plugins.subject(who)


def _run_options(command: Any) -> Any:
    """Add the options that every command that examines has."""
    for option in (
        click.option(
            "--workers", "-w", type=click.IntRange(0), default=0, show_default="a core each",
            help="Processes.",
        ),
        click.option(
            "--threads", type=click.IntRange(1), default=1, show_default=True,
            help="Threads of each process; workers × threads must not exceed the cores.",
        ),
        click.option(
            "--report/--no-report", "wants_report", default=True,
            help="Write the report at the end.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@main.command()
@click.argument("exam")
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="SUBJECT",
    help="Who sits it: a name, onnx:FILE, my_net.py:build, … (see: snellen ls). Repeatable.",
)
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the exam (see: snellen show EXAM). Repeatable.",
)
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    show_default="runs/EXAM",
    help="The run folder; what it holds already is not done again.",
)
@click.option("--scheduler", default="", metavar="ADDRESS", help="Have a Dask cluster do the work.")
@click.option(
    "--shard",
    default="1/1",
    show_default=True,
    metavar="I/N",
    help="Only every N-th item, from the I-th: for job arrays.",
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda", "mps"]),
    default="auto",
    show_default=True,
    help="Where PyTorch models run.",
)
@click.option(
    "--together",
    type=click.IntRange(0),
    default=0,
    show_default="32 on a GPU, 1 on a CPU",
    help="Items that advance in step, so that a model is asked full batches.",
)
@click.option("--baselines/--no-baselines", default=True, help="Also examine the exam's baselines.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="SCORE",
    help="Exit with 4 if the score of anyone but a baseline is lower (exams with a score).",
)
@_run_options
def run(
    exam: str,
    models: tuple[str, ...],
    pairs: tuple[str, ...],
    into: Path | None,
    scheduler: str,
    shard: str,
    device: str,
    together: int,
    fail_under: float | None,
    *,
    baselines: bool,
    workers: int,
    threads: int,
    wants_report: bool,
) -> None:
    """Examine models. Stop it with Ctrl-C; the same command goes on where it was."""
    from snellen import plugins
    from snellen.log import Plan, RunFolder

    _check_threads(workers, threads)
    os.environ["SNELLEN_DEVICE"] = device
    values = _pairs(pairs)
    asked = plugins.exam(exam, **values)
    chosen = models or asked.candidates
    subjects = list(dict.fromkeys([*chosen, *(asked.baselines if baselines else ())]))
    folder = RunFolder(into or Path("runs", asked.name))
    wish = Plan(_anywhere(exam), values, tuple(subjects), _command())
    means = _Means(workers, threads, _shard(shard), scheduler, together)
    failed = _examine(folder, wish, means)
    if wants_report or fail_under is not None:
        made = _report(folder)
        terminal.conclude(made)
    _leave(failed)
    if fail_under is not None:
        _gate(made, asked.name, fail_under)


@main.command()
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs/demo"),
    show_default=True,
    help="The run folder.",
)
@_run_options
def demo(into: Path, *, workers: int, threads: int, wants_report: bool) -> None:
    """Run a small version of every exam with what is built in."""
    from snellen import plugins
    from snellen.log import Plan, RunFolder

    folder = RunFolder(into)
    failed = 0
    for name in plugins.registered(plugins.EXAMS):
        quick = plugins.exam_class(name).quick
        asked = plugins.exam(name, **quick)
        pairs = [f"--set {k}={_written(v)}" for k, v in quick.items()]
        command = " ".join(["snellen run", name, *pairs, "--into", shlex.quote(str(into))])
        wish = Plan(name, quick, (*asked.candidates, *asked.baselines), command)
        failed += _examine(folder, wish, _Means(workers, threads))
    if wants_report:
        terminal.conclude(_report(folder))
    _leave(failed)


@study.command()
@click.argument("exams", nargs=-1, required=True)
@click.option("--people", type=click.IntRange(1), default=40, show_default=True, help="How many.")
@click.option(
    "--as",
    "subject",
    default="simulated,person={},schooled=true",
    show_default=True,
    help="Who takes part in their place; {} is the number of the person.",
)
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs/rehearsal"),
    show_default=True,
    help="The run folder.",
)
@_run_options
def rehearse(
    exams: tuple[str, ...],
    people: int,
    subject: str,
    into: Path,
    *,
    workers: int,
    threads: int,
    wants_report: bool,
) -> None:
    """Try out studies before people come: simulated ones beside the machines, in one report."""
    from snellen import plugins
    from snellen.log import Plan, RunFolder
    from snellen.study.rehearsal import rehearse as rehearsed

    folder = RunFolder(into)
    for name in exams:
        quick = plugins.exam_class(name).quick
        asked = plugins.exam(name, **quick)
        with terminal.saying(f"{people} simulated people take part in {name}"):
            rehearsed(name, quick, people, subject, folder, _command())
        wish = Plan(_anywhere(name), quick, (*asked.candidates, *asked.baselines), _command())
        _examine(folder, wish, _Means(workers, threads))
    if wants_report:
        terminal.conclude(_report(folder))


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The HTML file.  [default: FOLDER/report.html]",
)
def report(folder: Path, out: Path | None) -> None:
    """Write a run's report anew from its log."""
    from snellen.log import RunFolder
    from snellen.report import write

    terminal.conclude(write(RunFolder(folder), out))


@main.command()
@click.argument("first")
@click.argument("second")
@click.option(
    "--into", "folder", type=click.Path(path_type=Path), required=True, help="The run folder."
)
@click.option(
    "--by", metavar="FACET", default="", help="Compare within each value of a facet of the items."
)
def compare(first: str, second: str, folder: Path, by: str) -> None:
    """Compare two subjects on the pictures that both were asked."""
    from snellen.compare import compare as compared
    from snellen.log import RunFolder

    terminal.print_table(*compared(RunFolder(folder), first, second, by))


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where to.  [default: FOLDER/export]",
)
@click.option("--trials/--no-trials", default=True, help="Every single answer too.")
def export(folder: Path, out: Path | None, *, trials: bool) -> None:
    """Write records and answers as CSV and Parquet."""
    from snellen.export import export as exported
    from snellen.log import RunFolder

    for path in exported(RunFolder(folder), out or folder / "export", trials=trials):
        click.echo(path)


@main.command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
def ls(folder: Path | None) -> None:
    """List exams and subjects, or what a run folder holds."""
    from snellen import show

    for title, rows in show.listing(folder):
        click.secho(title, bold=True)
        terminal.print_table(rows)


@main.command()
@click.argument("exam")
@click.option(
    "--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A setting of the exam. Repeatable."
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The contact sheet.  [default: EXAM.png]",
)
def show(exam: str, pairs: tuple[str, ...], out: Path | None) -> None:
    """Show what an exam asks: its formulas, its settings, and a sheet of its pictures."""
    from snellen import plugins
    from snellen import show as showing
    from snellen.errors import LogError

    asked = plugins.exam(exam, **_pairs(pairs))
    click.echo(showing.describe(asked))
    terminal.print_table(showing.setting_rows(asked))
    path = out or Path(f"{asked.name}.png")
    sheet = showing.contact_sheet(asked)
    try:
        path.write_bytes(sheet)
    except OSError as error:
        raise LogError(f"cannot write {path}: {error.strerror}") from error
    click.echo(f"pictures: {path}")


@main.command()
@click.argument("subject")
@click.option(
    "--device", type=click.Choice(["auto", "cpu", "cuda", "mps"]), default="auto", show_default=True
)
def doctor(subject: str, device: str) -> None:
    """Look a subject over: what it takes, what it gives, what it does not say."""
    from snellen.doctor import examine

    os.environ["SNELLEN_DEVICE"] = device
    findings, complaints, fit = examine(subject)
    width = max(len(name) for name, _ in findings)
    for name, text in findings:
        click.echo(f"{name:{width}}  {text}")
    for complaint in complaints:
        click.secho(f"! {complaint}", fg="yellow")
    if not complaints:
        click.secho("nothing is missing", fg="green")
    sys.exit(0 if fit else 1)


@dataclass(frozen=True)
class _Means:
    """Who does the work, and which part of it."""

    workers: int
    threads: int
    part: tuple[int, int] = (1, 1)
    scheduler: str = ""
    together: int = 0


def _examine(folder: RunFolder, wish: Plan, means: _Means) -> int:
    """Have a plan carried out, and what follows from it; return how many items failed."""
    from snellen import engine

    def replan() -> Work:
        with terminal.saying("loading subjects"):
            return engine.plan(
                wish.exam, wish.settings, wish.subjects, folder, means.part, means.together
            )

    replan()  # what cannot work is refused before anything is written
    folder.begin(wish)
    failed = _do(replan, folder, means)
    following = engine.sequel(wish, folder)
    if following is not None:
        failed += _examine(folder, following, means)
    return failed


def _do(replan: Callable[[], Work], folder: RunFolder, means: _Means) -> int:
    """Have the work done with a progress bar; return how many items failed."""
    work, stop, failed = replan(), terminal.Stop(), 0
    terminal.tell_damage(folder)
    try:
        with stop, terminal.progress(work) as advance:
            for record in _done(work, folder, means, hurried=lambda: stop.asked > 1):
                failed += advance(record)
    except KeyboardInterrupt:
        done = replan().done
        click.secho(
            f"stopped with {done} of {work.total} items done; "
            f"the same command goes on:\n  {_command()}",
            fg="yellow",
            err=True,
        )
        sys.exit(STOPPED)
    return failed


def _done(
    work: Work, folder: RunFolder, means: _Means, hurried: Callable[[], bool]
) -> Iterator[Record]:
    """Yield what is done, here or by a cluster, as it is logged."""
    from snellen import engine

    if not means.scheduler:
        yield from engine.run_locally(work.tasks, folder, means.workers, means.threads, hurried)
        return
    with _dask(means.scheduler) as executor:
        yield from engine.run(work.tasks, executor, folder)


@contextlib.contextmanager
def _dask(address: str) -> Iterator[Executor]:
    from snellen.errors import SnellenError, extra

    with extra("dask", "a Dask scheduler"):
        from distributed import Client
    try:
        client: Any = Client(address, timeout="10s", set_as_default=False)  # type: ignore[no-untyped-call]
    except OSError as error:
        raise SnellenError(
            f"no Dask scheduler answers at {address} ({error}); start one with: dask scheduler"
        ) from error
    with client:
        yield client.get_executor(retries=2)


def _report(folder: RunFolder) -> Report:
    from snellen.report import write

    with terminal.saying("writing the report"):
        return write(folder)


def _leave(failed: int) -> None:
    if failed:
        click.secho(f"{failed} items failed; the same command tries them again", fg="red", err=True)
        sys.exit(FAILED_ITEMS)


def _gate(made: Report, exam: str, least: float) -> None:
    """Leave with a code of its own if anybody's score is too low, or if there is none."""
    verdicts = [
        verdict
        for graded in made.graded
        if graded.exam.name == exam
        for verdict in graded.result.verdicts
        if verdict.subject not in graded.exam.baselines
    ]
    if all(verdict.score is None for verdict in verdicts):
        click.secho(f"--fail-under: {exam!r} gave nobody a score to compare", fg="red", err=True)
        sys.exit(FAILED_EXAM)
    low = [v for v in verdicts if v.score is None or v.score < least]
    for verdict in low:
        told = "has no score" if verdict.score is None else f"{verdict.score:.2f}"
        click.secho(f"{verdict.subject}: {told}; --fail-under is {least}", fg="red", err=True)
    if low:
        sys.exit(FAILED_EXAM)


def _pairs(pairs: Sequence[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise click.UsageError(f"--set takes NAME=VALUE, and {pair!r} has no '='")
        if name in made:
            raise click.UsageError(
                f"--set {name} is given twice; say all its values at once: "
                f"--set {name}={made[name]},{value}"
            )
        made[name] = value
    return made


def _shard(text: str) -> tuple[int, int]:
    try:
        place, count = (int(part) for part in text.split("/"))
    except ValueError:
        place, count = 0, 0
    if not 1 <= place <= count:
        raise click.UsageError(f"--shard takes I/N with I from 1 to N, and got {text!r}")
    return place, count


def _check_threads(workers: int, threads: int) -> None:
    from snellen.engine import cores

    if threads > cores() or workers * threads > cores():
        raise click.UsageError(
            f"{workers or 1} workers × {threads} threads are more than this machine's "
            f"{cores()} cores; leave out --workers or --threads"
        )


def _anywhere(exam: str) -> str:
    """Name an exam in a file so that the report can be made from another folder too."""
    file, colon, name = exam.rpartition(":")
    return f"{Path(file).resolve()}:{name}" if colon and Path(file).is_file() else exam


def _written(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _command() -> str:
    return shlex.join(["snellen", *sys.argv[1:]])
