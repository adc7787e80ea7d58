"""One writer for hundreds: nothing is lost, nothing is doubled, on either kind of database."""

import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from snellen.errors import LogError
from snellen.study import entries
from snellen.study.design import read
from snellen.study.entries import Newcomer
from snellen.study.store import Store
from snellen.study.tables import facts, metadata, participants, replies, tasks
from snellen.study.walk import Reply
from study_files import write_study

HOUR = 3600.0


def newcomer(n, now=1e9):
    return Newcomer(f"token-{n}", "en", "", "1-x", now)


def enrol(store, design, n, now=1e9):
    return store.write(partial(entries.enrol, design=design, who=newcomer(n, now))).result()


def note(store, who, number, reply, done=0, end=None):
    work = partial(entries.note, participant=who, number=number, reply=reply, done=done, end=end)
    return store.write(work)


@pytest.fixture
def settled(store, tiny):
    store.write(partial(entries.settle, design=tiny)).result()
    return store


def test_the_migrations_make_the_very_tables_that_the_code_uses(store):
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_a_store_can_be_opened_again_and_by_two_at_once(url, tiny):
    with ThreadPoolExecutor(2) as pool:
        stores = list(pool.map(Store, [url, url]))
    secrets = [s.write(partial(entries.settle, design=tiny)).result() for s in stores]
    assert secrets[0] == secrets[1]
    for one in stores:
        one.close()


def test_a_store_keeps_to_the_study_that_it_began_with(settled, tiny, tmp_path):
    other = read(write_study(tmp_path, "reasoning", {"problems": "1"}, "each = 1",
                             name="other.toml"))  # fmt: skip
    with pytest.raises(LogError, match=r"put down otherwise.*another --store"):
        settled.write(partial(entries.settle, design=other)).result()
    settled.write(partial(entries.settle, design=tiny)).result()


def test_the_least_sat_items_are_given_next_without_overbooking_under_load(settled, tiny):
    people = 30
    with ThreadPoolExecutor(people) as pool:
        made = list(pool.map(partial(enrol, settled, tiny), range(people)))
    assert len(set(made)) == people
    found = settled.read(entries.entries)
    given = Counter(task.item.key for entry in found for task in entry.tasks)
    assert sum(given.values()) == 2 * people
    assert max(given.values()) - min(given.values()) <= 1
    for entry in found:
        assert len({task.item["problem"] for task in entry.tasks}) == 2  # distinct, as put down
    assert len({tuple(t.item.key for t in e.tasks) for e in found}) > 6  # in differing order


def test_whoever_presses_twice_is_entered_once(settled, tiny):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: enrol(settled, tiny, "same"), range(8)))
    assert len(set(made)) == 1
    assert len(settled.read(entries.entries)) == 1


def test_items_wanted_so_often_are_given_no_more_unless_somebody_left_them(store, tmp_path):
    design = read(write_study(
        tmp_path, "reasoning", {"problems": "1", "repeats": 2},
        "each = 1", "wanted = 1",
    ))  # fmt: skip
    store.write(partial(entries.settle, design=design)).result()
    _, second, third = (enrol(store, design, n) for n in range(3))
    assert third is None
    note(store, second, 0, Reply(), done=1).result()
    later = 1e9 + 25 * HOUR
    assert enrol(store, design, 3, later) is not None  # what the first one never sat
    assert enrol(store, design, 4, later) is None


def test_gold_items_are_everybodys_and_some_are_asked_again_at_the_end(store, tmp_path):
    design = read(write_study(
        tmp_path, "reasoning", {"problems": "1,4,10", "repeats": 2},
        "each = 2", "gold = [{problem = 1, repeat = 0}]",
        "again = 1", "distinct = []",
    ))  # fmt: skip
    store.write(partial(entries.settle, design=design)).result()
    for n in range(5):
        enrol(store, design, n)
    for entry in store.read(entries.entries):
        assert sorted(t.purpose for t in entry.tasks) == ["again", "asked", "asked", "gold"]
        gold = next(t for t in entry.tasks if t.purpose == "gold")
        assert (gold.item["problem"], gold.item["repeat"]) == (1, 0)
        assert entry.tasks[-1].purpose == "again"
        assert entry.tasks[-1].item in [t.item for t in entry.tasks if t.purpose == "asked"]


def test_a_page_takes_one_reply_however_many_arrive(settled, tiny):
    who = enrol(settled, tiny, 1)
    sent = [note(settled, who, 0, Reply(n % 2, 0.5, 0)) for n in range(10)]
    outcomes = [future.exception() for future in sent]
    assert outcomes[0] is None
    assert outcomes[2] is None  # the very same: as when a writer tries again
    assert all(isinstance(o, entries.AlreadyReplied) for o in outcomes[1::2])
    (entry,) = settled.read(entries.entries)
    assert entry.replies == [Reply(0, 0.5, 0)]


def test_what_fails_fails_alone_and_its_neighbours_are_written(settled, tiny):
    who, gate = enrol(settled, tiny, 1), threading.Event()

    def hold(_):
        gate.wait(5)

    def fail(connection):
        connection.execute(sa.insert(replies).values(participant=who, number=7, choice=1))
        raise RuntimeError("of its own")

    first = settled.write(hold)  # so that the others come as one group
    futures = [
        note(settled, who, 1, Reply(1)),
        settled.write(fail),
        note(settled, who, 2, Reply(0)),
    ]
    gate.set()
    first.result()
    assert isinstance(futures[1].exception(), RuntimeError)
    for future in (futures[0], futures[2]):
        future.result()
    (entry,) = settled.read(entries.entries)
    assert len(entry.replies) == 2


def test_withdrawal_deletes_everything_but_that_it_happened(settled, tiny):
    for n in (1, 2):
        who = enrol(settled, tiny, n)
        note(settled, who, 0, Reply()).result()
    gone, stays = settled.read(entries.entries)
    assert settled.write(partial(entries.withdraw, code=gone.code)).result()
    assert not settled.write(partial(entries.withdraw, code=gone.code)).result()
    assert [e.code for e in settled.read(entries.entries)] == [stays.code]
    with settled.engine.connect() as connection:
        for table, column in ((replies, "participant"), (tasks, "participant")):
            owners = set(connection.scalars(sa.select(table.c[column])))
            assert owners == {stays.id}
        rows = (
            connection.execute(sa.select(facts)).all()
            + connection.execute(sa.select(participants)).all()
        )
    assert gone.code not in repr(rows)
    assert settled.read(entries.counts).withdrawn == 1


def test_a_backup_is_a_store_that_can_be_opened(settled, tiny, tmp_path):
    who = enrol(settled, tiny, 1)
    note(settled, who, 0, Reply(None, 1.5, 3)).result()
    copy = settled.back_up(tmp_path / "copy.db")
    with pytest.raises(LogError, match="overwrites nothing"):
        settled.back_up(copy)
    other = Store(f"sqlite:///{copy}")
    assert other.read(entries.entries) == settled.read(entries.entries)
    one, two = (s.write(partial(entries.settle, design=tiny)).result() for s in (other, settled))
    assert one == two
    assert enrol(other, tiny, 2) == who + 1  # and one can go on with it
    other.close()


def test_a_wrong_address_is_refused_with_the_remedy(tmp_path):
    with pytest.raises(LogError, match="names no store; write sqlite"):
        Store("nonsense")
    with pytest.raises(LogError, match=r"cannot be used.*another with --store"):
        Store(f"sqlite:///{tmp_path}/none/there.db", patience=0)


def test_a_server_that_was_killed_has_kept_what_it_acknowledged(url, tiny, tmp_path):
    """A process writes replies as fast as it can, says which are safe, and is killed."""
    code = f"""
import itertools, sys
from functools import partial
from pathlib import Path
from snellen.study import entries
from snellen.study.design import read
from snellen.study.store import Store
from snellen.study.walk import Reply
design, store = read(Path({str(tmp_path / "study.toml")!r})), Store({url!r})
store.write(partial(entries.settle, design=design)).result()
who = [store.write(partial(entries.enrol, design=design,
    who=entries.Newcomer(f"t{{n}}", "en", "", "1", 1e9))).result() for n in range(20)]
for number in itertools.count():
    sent = [(w, store.write(partial(entries.note, participant=w, number=number,
        reply=Reply(number % 2), done=0, end=None))) for w in who]
    for w, future in sent:
        future.result()
        print(w, number, flush=True)
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        told = [process.stdout.readline() for _ in range(400)]
        process.send_signal(signal.SIGKILL)
        told += process.stdout.read().splitlines()[:-1]
    acknowledged = {tuple(map(int, line.split())) for line in told}
    store = Store(url)
    kept = {
        (entry.id, number)
        for entry in store.read(entries.entries)
        for number in range(len(entry.replies))
    }
    store.close()
    assert len(acknowledged) >= 400
    assert acknowledged <= kept


def test_a_database_that_restarts_meanwhile_loses_nothing_and_doubles_nothing(postgres, tiny):
    store = Store(postgres.database())
    store.write(partial(entries.settle, design=tiny)).result()
    who = enrol(store, tiny, 1)
    stop, sent = threading.Event(), []

    def go_on():
        while not stop.is_set():
            sent.append(note(store, who, len(sent), Reply(len(sent) % 2)))
            time.sleep(0.002)

    writer = threading.Thread(target=go_on)
    writer.start()
    time.sleep(0.2)
    postgres.stop("immediate")
    postgres.start()
    time.sleep(0.2)
    stop.set()
    writer.join()
    assert [future.exception(timeout=30) for future in sent] == [None] * len(sent)
    (entry,) = store.read(entries.entries)
    assert entry.replies == [Reply(n % 2) for n in range(len(sent))]
    store.close()
