"""What is written down about a participant, and what can be read of it?

Functions of a connection, each a piece of one transaction. Those that write may be done
twice and leave the same behind.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from snellen.core import Item
from snellen.errors import LogError, extra

with extra("study", "a study's store"):
    import sqlalchemy as sa
    from sqlalchemy.dialects import postgresql, sqlite
    from sqlalchemy.exc import IntegrityError

from snellen.seeds import Seed
from snellen.study.tables import facts, participants, replies, tasks
from snellen.study.walk import Reply, Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.study.design import Design
    from snellen.study.walk import Purpose

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""None that is taken for another."""


class AlreadyReplied(Exception):
    """Something else was replied to that page before."""


class Gone(Exception):
    """That participant withdrew."""


@dataclass(frozen=True)
class Entry:
    """All that is stored of one participant."""

    id: int
    code: str
    seed: str
    language: str
    party: str
    consent: str
    began: float
    ended: float | None
    completion: str | None
    tasks: Sequence[Task]
    replies: Sequence[Reply]


class Newcomer(NamedTuple):
    """Who wants to take part."""

    token: str
    """The hash of what their browser holds."""
    language: str
    party: str
    consent: str
    now: float


def settle(connection: sa.Connection, design: Design) -> str:
    """Give the store to a study, unless it belongs to another; return its secret."""
    known = _facts(connection)
    if not known:
        known = {"study": design.digest, "secret": secrets.token_hex(32), "withdrawn": "0"}
        rows = [{"name": name, "value": value} for name, value in known.items()]
        connection.execute(sa.insert(facts), rows)
    if known["study"] != design.digest:
        raise LogError(
            "the store belongs to a study that was put down otherwise: its exam, sessions, rules "
            "or consent have changed since it began; undo that, or begin anew with another --store"
        )
    return known["secret"]


def enrol(connection: sa.Connection, design: Design, who: Newcomer) -> int | None:
    """Enter a participant and what they are to sit; None if there is nothing left to ask.

    The items that were asked least come first, and at the same count in random order. Items of
    sessions that were left for too long are free again.
    """
    connection.execute(  # one at a time, also where several servers share a database
        sa.select(facts.c.value).where(facts.c.name == "study").with_for_update()
    )
    known = connection.scalar(sa.select(participants.c.id).where(participants.c.token == who.token))
    if known is not None:
        return int(known)
    seed = secrets.token_hex(16)
    given = _assigned(design, _taken(connection, design, who.now), seed)
    if not given:
        return None
    row = {
        "code": code(8),
        "token": who.token,
        "seed": seed,
        "language": who.language,
        "party": who.party,
        "consent": who.consent,
        "began": who.now,
    }
    made = connection.execute(sa.insert(participants).values(row).returning(participants.c.id))
    number = int(made.scalar_one())
    connection.execute(
        sa.insert(tasks),
        [
            {
                "participant": number,
                "place": place,
                "item": task.item.key,
                "purpose": task.purpose,
                "done": False,
            }
            for place, task in enumerate(given)
        ],
    )
    return number


def note(
    connection: sa.Connection,
    participant: int,
    number: int,
    reply: Reply,
    done: int,
    end: tuple[float, str] | None,
) -> None:
    """Write down a reply, how many tasks are over with it, and the end if it was the last."""
    row = {"participant": participant, "number": number, **reply._asdict()}
    entered = _insert(connection, replies).values(row).on_conflict_do_nothing()
    try:
        fresh = connection.execute(entered.returning(replies.c.number)).first()
    except IntegrityError as error:
        raise Gone from error
    if fresh is None:
        where = (replies.c.participant == participant) & (replies.c.number == number)
        columns = [replies.c[name] for name in Reply._fields]
        if tuple(connection.execute(sa.select(*columns).where(where)).one()) != tuple(reply):
            raise AlreadyReplied
        return
    if done:
        over = (tasks.c.participant == participant) & (tasks.c.place < done)
        connection.execute(sa.update(tasks).where(over, ~tasks.c.done).values(done=True))
    if end is not None:
        who = participants.c.id == participant
        values = {"ended": end[0], "completion": end[1]}
        connection.execute(sa.update(participants).where(who).values(values))


def find(connection: sa.Connection, token: str) -> Entry | None:
    """Return what is stored of whoever holds a token."""
    found = entries(connection, participants.c.token == token)
    return found[0] if found else None


def entries(connection: sa.Connection, *where: sa.ColumnElement[bool]) -> list[Entry]:
    """Return what is stored of all participants, or of some, in the order in which they came."""
    people = connection.execute(
        sa.select(participants).where(*where).order_by(participants.c.id)
    ).mappings()
    some = sa.select(participants.c.id).where(*where)
    given: dict[int, list[Task]] = {}
    for row in connection.execute(
        sa.select(tasks)
        .where(tasks.c.participant.in_(some))
        .order_by(tasks.c.participant, tasks.c.place)
    ):
        item = Item(json.loads(row.item))
        given.setdefault(row.participant, []).append(Task(item, cast("Purpose", row.purpose)))
    said: dict[int, list[Reply]] = {}
    for row in connection.execute(
        sa.select(replies)
        .where(replies.c.participant.in_(some))
        .order_by(replies.c.participant, replies.c.number)
    ):
        reply = Reply(row.choice, row.seconds, row.dropped)
        said.setdefault(row.participant, []).append(reply)
    return [
        Entry(
            **{name: value for name, value in person.items() if name != "token"},
            tasks=given.get(person["id"], []),
            replies=said.get(person["id"], []),
        )
        for person in people
    ]


def latest(connection: sa.Connection, count: int) -> list[Entry]:
    """Return what is stored of those who finished last."""
    last = sa.select(participants.c.id).where(participants.c.ended.is_not(None))
    some = last.order_by(participants.c.ended.desc()).limit(count)
    return entries(connection, participants.c.id.in_(some))


def withdraw(connection: sa.Connection, code: str) -> bool:
    """Delete all that is stored of a participant; only that somebody withdrew is counted."""
    known = connection.scalar(sa.select(participants.c.id).where(participants.c.code == code))
    if known is None:
        return False
    for table in (replies, tasks):
        connection.execute(sa.delete(table).where(table.c.participant == known))
    connection.execute(sa.delete(participants).where(participants.c.id == known))
    count = int(_facts(connection)["withdrawn"]) + 1
    counted = sa.update(facts).where(facts.c.name == "withdrawn").values(value=str(count))
    connection.execute(counted)
    return True


class Counts(NamedTuple):
    """How far a study is."""

    began: int
    ended: int
    withdrawn: int
    replies: int
    sat: Mapping[str, int]
    """Sittings that are over, by item."""


def counts(connection: sa.Connection) -> Counts:
    """Count what is there, without reading it all."""
    people = connection.execute(
        sa.select(sa.func.count(), sa.func.count(participants.c.ended)).select_from(participants)
    ).one()
    done = (
        sa.select(tasks.c.item, sa.func.count().label("number"))
        .where(tasks.c.done)
        .group_by(tasks.c.item)
    )
    return Counts(
        people[0],
        people[1],
        int(_facts(connection).get("withdrawn", 0)),
        connection.scalar(sa.select(sa.func.count()).select_from(replies)) or 0,
        {row.item: row.number for row in connection.execute(done)},
    )


def code(letters: int) -> str:
    """Make a code that nobody guesses and everybody can type."""
    return "".join(secrets.choice(LETTERS) for _ in range(letters))


def _insert(connection: sa.Connection, table: sa.Table) -> Any:
    """Return an insert that can be told what to do about a row that is there already."""
    return {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[connection.dialect.name](
        table
    )


def _facts(connection: sa.Connection) -> dict[str, str]:
    return {row.name: row.value for row in connection.execute(sa.select(facts))}


def _taken(connection: sa.Connection, design: Design, now: float) -> Counter[str]:
    """Count the sittings of each item that are over or may still be."""
    alive = participants.c.began > now - 3600 * design.sessions.resume_hours
    found = connection.execute(
        sa.select(tasks.c.item, sa.func.count().label("number"))
        .join(participants, participants.c.id == tasks.c.participant)
        .where(tasks.c.purpose == "asked", tasks.c.done | alive)
        .group_by(tasks.c.item)
    )
    return Counter({row.item: row.number for row in found})


def _assigned(design: Design, taken: Counter[str], seed: str) -> list[Task]:
    """Choose what one participant sits, and in which order; nothing if nothing is left."""
    sessions, gold = design.sessions, [Task(item, "gold") for item in design.gold]
    apart = {task.item.key for task in gold}
    items = [item for key, item in design.items.items() if key not in apart]
    chance = Seed("assigned", seed).shuffled(len(items))
    ranked = sorted(range(len(items)), key=lambda n: (taken[items[n].key], chance[n]))
    asked: list[Task] = []
    met: set[tuple[str, object]] = set()
    for n in ranked:
        item = items[n]
        facets = {(name, item[name]) for name in sessions.distinct if name in item}
        full = sessions.wanted and taken[item.key] >= sessions.wanted
        if len(asked) < sessions.each and not full and not facets & met:
            asked.append(Task(item))
            met |= facets
    if not asked:
        return []
    mixed = [*asked, *gold]
    mixed = [mixed[n] for n in Seed("order of tasks", seed).shuffled(len(mixed))]
    return mixed + [Task(task.item, "again") for task in asked[: sessions.again]]
