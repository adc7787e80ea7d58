"""How do hundreds of people write at once, and nothing is lost? One writer, in groups.

Whatever is to be written waits in a queue for a single thread. It takes all that has come
meanwhile, does it in one transaction, and only when that is on the disk does it say so to
whoever waits. If a piece fails, all are done again, each in a savepoint of its own. So a busy
study commits less often than it is answered, nobody waits for a lock, and what was acknowledged
survives a kill. If the database goes away for a while, the group is tried again, as is: work is
written so that it may be.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from snellen.errors import LogError, extra

with extra("study", "a study's store"):
    import sqlalchemy as sa
    from alembic import command
    from alembic.config import Config
    from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError

from snellen.study.tables import metadata

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")
Work: TypeAlias = Callable[[sa.Connection], T]

IN_A_GROUP = 256
PATIENCE = 30.0
"""Seconds for which a database that went away is waited for."""
READERS = 8


class _Job(NamedTuple):
    work: Work[Any]
    outcome: Future[Any]


class Store:
    """A database of one study."""

    def __init__(self, url: str, patience: float = PATIENCE) -> None:
        self.engine = _engine(url)
        self._patience = patience
        self._writing = self.engine.execution_options(writes=True)
        at_one_moment = "SERIALIZABLE" if self.engine.name == "sqlite" else "REPEATABLE READ"
        self._reading = self.engine.execution_options(isolation_level=at_one_moment)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        with self._told():
            _migrate(self._writing)
        self._writer = threading.Thread(target=self._write_on, name="study-writer", daemon=True)
        self._writer.start()

    def write(self, work: Work[T]) -> Future[T]:
        """Have something written; the future holds once it is on the disk.

        `work` may be done again after a failure, so it must not mind finding its own traces.
        """
        job = _Job(work, Future())
        self._jobs.put(job)
        return job.outcome

    def read(self, work: Work[T]) -> T:
        """Read something, all of it as it was at one moment."""
        with self._told():
            return self._patiently(partial(self._looked, work))

    def close(self) -> None:
        """Write what is waiting, then let go of the database."""
        self._jobs.put(None)
        self._writer.join()
        self.engine.dispose()

    def back_up(self, path: Path) -> Path:
        """Copy everything, as it is at one moment, into a new SQLite file: a store like this."""
        if path.exists():
            raise LogError(f"{path} exists; a backup overwrites nothing: choose another name")

        def copy(connection: sa.Connection) -> None:
            with other._writing.begin() as there:
                for table in metadata.sorted_tables:
                    rows = [dict(row) for row in connection.execute(sa.select(table)).mappings()]
                    if rows:
                        there.execute(sa.insert(table), rows)

        other = Store(f"sqlite:///{path}")
        try:
            self.read(copy)
        finally:
            other.close()
        return path

    def _looked(self, work: Work[T]) -> T:
        with self._reading.begin() as connection:
            return work(connection)

    def _write_on(self) -> None:
        last = False
        while not last:
            group, last = self._gathered()
            if not group:
                continue
            try:
                results = self._patiently(partial(self._written, group))
            except Exception as error:  # noqa: BLE001 — told to everybody who waits
                results = [error] * len(group)
            for job, result in zip(group, results, strict=True):
                if isinstance(result, BaseException):
                    job.outcome.set_exception(result)
                else:
                    job.outcome.set_result(result)

    def _gathered(self) -> tuple[list[_Job], bool]:
        """Wait for work, and take all that is there; tell whether it was the last."""
        group: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            group.append(job)
            if len(group) == IN_A_GROUP:
                return group, False
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return group, False
        return group, True

    def _written(self, group: list[_Job]) -> list[Any]:
        """Do the work of a group in one transaction; if a piece fails, apart from each other."""
        try:
            with self._writing.begin() as connection:
                return [job.work(connection) for job in group]
        except Exception as error:
            if _is_away(error):
                raise
        return self._written_apart(group)

    def _written_apart(self, group: list[_Job]) -> list[Any]:
        """Do each piece in a savepoint of its own, so that one that fails fails alone."""
        results: list[Any] = []
        with self._writing.begin() as connection:
            for job in group:
                try:
                    with connection.begin_nested():
                        results.append(job.work(connection))
                except Exception as error:
                    if _is_away(error):
                        raise
                    results.append(error)
        return results

    def _patiently(self, attempt: Callable[[], T]) -> T:
        """Try until the database is there again, or patience ends."""
        end, pause = time.monotonic() + self._patience, 0.05
        while True:
            try:
                return attempt()
            except DBAPIError as error:
                if not _is_away(error) or time.monotonic() + pause > end:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in our words that the database is not there."""
        try:
            yield
        except (OperationalError, InterfaceError) as error:
            place = self.engine.url.render_as_string(hide_password=True)
            raise LogError(
                f"the store {place} cannot be used: {error.orig}; see that it is there and that "
                "this user may write to it, or name another with --store"
            ) from error


def _is_away(error: Exception) -> bool:
    """Tell a fault of the database, that may pass, from one of the work."""
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    return lost or isinstance(error, OperationalError | InterfaceError)


def _engine(url: str) -> sa.Engine:
    try:
        with extra("postgres", f"the store {url.partition(':')[0]}"):
            engine = sa.create_engine(url, pool_size=READERS, max_overflow=0)
    except ArgumentError as error:
        raise LogError(
            f"{url!r} names no store; write sqlite:///study.db, or "
            "postgresql+psycopg://user@host/database"
        ) from error
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _settle)
        sa.event.listen(engine, "begin", _begin)
    return engine


def _settle(connection: Any, _: Any) -> None:
    """Let readers and the writer not wait for each other, and commits be on the disk."""
    connection.isolation_level = None  # transactions are begun below, not by the driver
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "busy_timeout=20000",
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _migrate(engine: sa.Engine) -> None:
    """Bring the tables up to date; of several that start at once, one does it."""
    config = Config()
    config.set_main_option("script_location", str(files("snellen.study") / "migrations"))
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(1862)"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
