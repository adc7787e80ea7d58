"""Who does the work, where, and what remains to be done?

Items go to any `concurrent.futures.Executor`. Only names and settings travel:
the worker makes the exam, loads the subject once and draws the pictures itself.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import platform
import signal
import sys
import threading
import time
import traceback
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from snellen import plugins, settings
from snellen.core import Item, Record
from snellen.errors import SnellenError
from snellen.log import Plan, RunFolder, told_apart
from snellen.sitting import admit, conduct, in_step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from snellen.core import Exam, Subject

THREAD_SETTINGS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
REPORTED_VERSIONS = ("snellen", "numpy", "torch", "keras", "onnxruntime", "sklearn", "gymnasium")
IN_STEP = 32
"""Items that are sat in step on an accelerator."""
LOST = "the worker died over this item more than once; it may need more memory"

_one_at_a_time = threading.Lock()
"""Frameworks keep their randomness per process, so items in one process take turns."""


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Items to be sat by a subject in step, in words that mean the same everywhere."""

    exam: str
    settings: Mapping[str, Any]
    subject: str
    items: tuple[Item, ...]

    def singly(self) -> list[Task]:
        """Return a task for each item."""
        return [replace(self, items=(item,)) for item in self.items]


@dataclass(frozen=True, slots=True)
class Work:
    """What a run comes to: the tasks left, and how many were done before."""

    tasks: Sequence[Task]
    done: int

    @property
    def total(self) -> int:
        """All of it."""
        return sum(len(task.items) for task in self.tasks) + self.done


def plan(
    exam: str,
    values: Mapping[str, Any],
    subjects: Sequence[str],
    folder: RunFolder,
    shard: tuple[int, int] = (1, 1),
    together: int = 0,
) -> Work:
    """Find what is left to do, and refuse now what could only fail later.

    So many items are sat in step as `together` says; 0: many where that fills the batches of
    an accelerator, one elsewhere, because there a death or Ctrl-C costs least.
    """
    asked = plugins.exam(exam, **values)
    items = plugins.items(asked)
    done = {r.key for r in folder.records() if not r.error} if folder.path.is_dir() else set()
    tasks, before = [], 0
    for who in subjects:
        loaded = _subject(who)
        admit(asked, loaded)
        own = items[shard[0] - 1 :: shard[1]]
        left = [item for item in own if _record(asked, loaded, item).key not in done]
        before += len(own) - len(left)
        size = together or _usually_together(asked, loaded)
        tasks += [
            Task(exam, values, who, tuple(left[start : start + size]))
            for start in range(0, len(left), size)
        ]
    return Work(tasks, before)


def _usually_together(exam: Exam, subject: Subject) -> int:
    on_accelerator = getattr(subject, "device", "cpu") != "cpu"
    return IN_STEP if on_accelerator and "study" not in exam.needs else 1


def sequel(wish: Plan, folder: RunFolder) -> Plan | None:
    """Return what an exam wants to ask after all of a plan was done, if anything.

    An exam may have a method `sequel(records, folder)` that returns further settings; they
    must select items and leave those that were sat as they are.
    """
    exam = plugins.exam(wish.exam, **wish.settings)
    follow = getattr(exam, "sequel", None)
    tried = {r.key for r in folder.records()}
    subjects = [_subject(who) for who in wish.subjects]
    if follow is None or any(
        _record(exam, subject, item).key not in tried
        for subject in subjects
        for item in plugins.items(exam)
    ):
        return None
    shaping = settings.shaping(exam)
    own = [
        r
        for r in told_apart(folder.records())
        if r.exam == exam.name and dict(r.settings) == shaping and not r.error
    ]
    more = follow(own, folder.path)
    values = {**wish.settings, **(more or {})}
    return None if values == wish.settings else replace(wish, settings=values)


def run(tasks: Sequence[Task], executor: Executor, folder: RunFolder) -> Iterator[Record]:
    """Have the tasks done; yield each record once it is safely logged."""
    futures = {executor.submit(sit, task): task for task in tasks}
    try:
        waiting = set(futures)
        while waiting:
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                yield from map(folder.append, _outcome(future, futures[future]))
    finally:
        for future in futures:
            future.cancel()


def run_locally(
    tasks: Sequence[Task],
    folder: RunFolder,
    workers: int = 0,
    threads: int = 1,
    hurried: Callable[[], bool] = lambda: False,
) -> Iterator[Record]:
    """Have the tasks done by processes of this machine; a dead process is replaced.

    Whatever was under way when one died is tried again alone, so that no item is blamed for
    another. On Ctrl-C, or when the consumer stops early, items under way are finished and
    logged, unless `hurried` says not to wait.
    """
    left, suspects = list(tasks), list[Task]()
    workers = workers or max(1, cores() // threads)
    while left:
        alone, died = suspects[:1], list[Task]()
        with local_pool(min(workers, len(alone or left)), threads) as pool:
            futures = {pool.submit(sit, task): task for task in alone or left}
            try:
                for records, task in _until_broken(futures, died):
                    left.remove(task)
                    yield from map(folder.append, records)
            except (GeneratorExit, KeyboardInterrupt):
                _drain(futures, folder, hurried)
                raise
        suspects = suspects[1:]
        for task in died:
            left.remove(task)
            if alone:
                yield from map(folder.append, _failed(task, LOST))
            else:
                suspects += (singles := task.singly())
                left += singles


@contextlib.contextmanager
def local_pool(workers: int, threads: int = 1) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of processes that use `threads` each and do not outlive this one."""
    before = {name: os.environ.get(name) for name in THREAD_SETTINGS}
    os.environ.update(dict.fromkeys(THREAD_SETTINGS, str(threads)))
    spawn = multiprocessing.get_context("spawn")  # forking a process that holds threads deadlocks
    pool = ProcessPoolExecutor(workers, mp_context=spawn, initializer=_settle_in)
    try:
        yield pool
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def sit_all(exam: Exam, subject: Subject, into: str | Path | None = None) -> list[Record]:
    """Have a subject sit every item of an exam here and now, logged if a folder is given.

    For subjects that are Python objects; `run_locally` is for those that have a name.
    """
    admit(exam, subject)
    folder = RunFolder(into) if into else None
    known = {r.key: r for r in folder.records()} if folder and folder.path.is_dir() else {}
    if folder:
        chosen = [f"{name}={value!r}" for name, value in settings.changed(exam).items()]
        given = ", ".join([repr(exam.name), *chosen])
        said = f"snellen.sit(snellen.exam({given}), {subject.name}, into={str(into)!r})"
        folder.begin(Plan(exam.name, settings.dump(exam), (subject.name,), said))
    made = []
    for item in plugins.items(exam):
        record = known.get(_record(exam, subject, item).key)
        if record is None or record.error:
            record = replace(conduct(exam, subject, item), versions=versions())
            if folder:
                folder.append(record)
        made.append(record)
    return made


def sit(task: Task) -> list[Record]:
    """Do a task; a failure becomes a record that tells it."""
    made = []
    with _one_at_a_time:
        exam = plugins.exam(task.exam, **task.settings)
        subject = _subject(task.subject)
        for item, found in in_step(exam, subject, task.items):
            if isinstance(found, Exception):
                record = _record(exam, subject, item, error=_told(found))
            else:
                record = found
            made.append(replace(record, versions=versions()))
    return made


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def versions() -> dict[str, str]:
    """Return what the numbers may depend on, of what is loaded."""
    loaded = [name for name in REPORTED_VERSIONS if name in sys.modules]
    names = {"sklearn": "scikit-learn"}
    return {"python": platform.python_version()} | {
        name: version(names.get(name, name)) for name in loaded
    }


def _until_broken(
    futures: Mapping[Future[list[Record]], Task], died: list[Task]
) -> Iterator[tuple[list[Record], Task]]:
    """Yield records until all are in or a worker dies; add to `died` what was under way."""
    waiting = set(futures)
    while waiting:
        running = {f for f in waiting if f.running()}
        finished, waiting = wait(waiting, timeout=1.0, return_when=FIRST_COMPLETED)
        broken = {f for f in finished if isinstance(f.exception(), BrokenExecutor)}
        for future in finished - broken:
            yield _outcome(future, futures[future]), futures[future]
        if broken:
            died += [futures[future] for future in broken & running or broken]
            return


def _drain(
    futures: Mapping[Future[list[Record]], Task], folder: RunFolder, hurried: Callable[[], bool]
) -> None:
    """Call off what has not begun; log what is under way when it ends."""
    under_way = {future for future in futures if not future.cancel() and not future.done()}
    while under_way and not hurried():
        finished, under_way = wait(under_way, timeout=0.2, return_when=FIRST_COMPLETED)
        for future in finished:
            if future.exception() is None:
                for record in future.result():
                    folder.append(record)


def _outcome(future: Future[list[Record]], task: Task) -> list[Record]:
    try:
        return future.result()
    except Exception as error:  # noqa: BLE001 — whatever a worker or a cluster raises
        lost = type(error).__name__ == "KilledWorker"  # by Dask's own count
        return _failed(task, LOST if lost else _told(error))


def _failed(task: Task, told: str) -> list[Record]:
    exam, subject = plugins.exam(task.exam, **task.settings), _subject(task.subject)
    return [_record(exam, subject, item, error=told) for item in task.items]


def _told(error: BaseException) -> str:
    """Tell our own errors in their words, and others with where they came from."""
    if isinstance(error, SnellenError):
        return str(error)
    return "".join(traceback.format_exception(error))


@lru_cache(maxsize=4)
def _subject(who: str) -> Subject:
    return plugins.subject(who)


def _record(exam: Exam, subject: Subject, item: Item, error: str = "") -> Record:
    return Record(
        exam=exam.name,
        version=exam.version,
        settings=settings.shaping(exam),
        item=item,
        subject=subject.name,
        fingerprint=subject.fingerprint,
        measures={},
        error=error,
    )


def _settle_in() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: Any) -> None:
    parent.join()
    time.sleep(0.1)
    os._exit(1)
