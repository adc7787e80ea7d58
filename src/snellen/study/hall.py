"""Who is in the house, and where is each of them?

Visitors are kept in memory between clicks and forgotten when there are too many: whoever
comes back is walked again through what was stored. A reply counts when it is on the disk;
if it cannot be written, the visitor is forgotten and the page stays where it was.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from anyio import to_thread

from snellen.study import entries
from snellen.study.guards import Bucket
from snellen.study.walk import Walk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from snellen.study.design import Design
    from snellen.study.entries import Entry
    from snellen.study.store import Store, Work
    from snellen.study.walk import Page, Reply, Shown

T = TypeVar("T")

KEPT = 1000
"""Visitors who are remembered at once, each with the pictures of an item: a megabyte or so."""


class Unknown(Exception):
    """Nobody holds that token, or no more."""


class Refused(Exception):
    """A reply that the page does not take."""


@dataclass(eq=False)
class Visitor:
    """One participant, as long as they are remembered."""

    entry: Entry
    walk: Walk
    bucket: Bucket
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    gone: bool = False
    """Whether what is remembered may differ from what is stored."""
    opened: tuple[int, float] = (-1, 0.0)
    """Which page was handed out last, and when first."""

    def saw(self, now: float) -> None:
        """Note when the present page is first handed out."""
        if self.opened[0] != self.walk.number:
            self.opened = (self.walk.number, now)

    def waited(self, now: float) -> float | None:
        """Return the seconds since the present page was first handed out."""
        return now - self.opened[1] if self.opened[0] == self.walk.number else None


class Hall:
    """All visitors of a study."""

    def __init__(
        self,
        design: Design,
        store: Store,
        clock: Callable[[], float] = time.time,
        kept: int = KEPT,
    ) -> None:
        self.design = design
        self.store = store
        self.secret = store.write(partial(entries.settle, design=design)).result()
        self.clock = clock
        self._kept = kept
        self._visitors: OrderedDict[str, Visitor] = OrderedDict()

    async def enrol(self, token: str, language: str, party: str, consent: str) -> bool:
        """Enter somebody who agreed; False if there is nothing left to ask."""
        who = entries.Newcomer(token, language, party, consent, self.clock())
        made = await self.written(partial(entries.enrol, design=self.design, who=who))
        return made is not None

    @asynccontextmanager
    async def visited(self, token: str) -> AsyncIterator[Visitor]:
        """Have a visitor for oneself, by the hash of their token."""
        while True:
            visitor = await self._visitor(token)
            async with visitor.lock:
                if not visitor.gone:
                    yield visitor
                    return

    async def page(self, token: str) -> tuple[Entry, int, Page]:
        """Return who is there, and the page that they are on with its number."""
        async with self.visited(token) as visitor:
            visitor.saw(time.monotonic())
            return visitor.entry, visitor.walk.number, visitor.walk.page

    async def picture(self, token: str, name: str) -> Shown | None:
        """Return a picture that is on the visitor's page, or will be on the next."""
        async with self.visited(token) as visitor:
            shown = visitor.walk.page.pictures
            return next((one for one in shown if one.name == name), None)

    async def reply(self, token: str, number: int, reply: Reply) -> None:
        """Take a reply, once it is stored. One to a page that was left before is let go."""
        async with self.visited(token) as visitor:
            walk = visitor.walk
            if number != walk.number or self.late(visitor.entry):
                return
            if not walk.page.takes(reply):
                raise Refused
            if reply.seconds is None:
                reply = reply._replace(seconds=visitor.waited(time.monotonic()))
            try:
                await self._taken(visitor, reply)
            except entries.AlreadyReplied:  # by another server of the same store
                self._forget(token)
            except entries.Gone:
                self._forget(token)
                raise Unknown from None
            except BaseException:
                self._forget(token)
                raise
            if walk.page.kind == "end":
                self._forget(token)

    async def withdraw(self, token: str) -> None:
        """Delete all that is stored of a visitor."""
        async with self.visited(token) as visitor:
            await self.written(partial(entries.withdraw, code=visitor.entry.code))
            self._forget(token)

    def late(self, entry: Entry) -> bool:
        """Tell whether a session was left for too long to be taken up."""
        age = self.clock() - entry.began
        return entry.ended is None and age > 3600 * self.design.sessions.resume_hours

    async def written(self, work: Work[T]) -> T:
        """Have something written and wait until it is on the disk."""
        return await asyncio.wrap_future(self.store.write(work))

    async def _taken(self, visitor: Visitor, reply: Reply) -> None:
        """Go on to the next page, and write down what led there, both or neither."""
        walk, number, before = visitor.walk, visitor.walk.number, visitor.walk.done
        await to_thread.run_sync(walk.take, reply)
        await self.written(
            partial(
                entries.note,
                participant=visitor.entry.id,
                number=number,
                reply=reply,
                done=walk.done if walk.done > before else 0,
                end=(self.clock(), self._completion()) if walk.page.kind == "end" else None,
            )
        )

    async def _visitor(self, token: str) -> Visitor:
        """Return a visitor, who is walked to their place if they were forgotten."""
        visitor = self._visitors.get(token)
        if visitor is None:
            found = await to_thread.run_sync(self._remembered, token)
            visitor = self._visitors.setdefault(token, found)
            self._make_room()
        else:
            self._visitors.move_to_end(token)
        return visitor

    def _remembered(self, token: str) -> Visitor:
        entry = self.store.read(partial(entries.find, token=token))
        if entry is None:
            raise Unknown
        return Visitor(entry, walked(self.design, entry), Bucket(rate=50, most=400))

    def _completion(self) -> str:
        return self.design.sessions.completion or entries.code(10).upper()

    def _forget(self, token: str) -> None:
        """Have the next request read anew what is stored."""
        visitor = self._visitors.pop(token, None)
        if visitor is not None:
            visitor.gone = True

    def _make_room(self) -> None:
        for token in list(self._visitors)[: max(0, len(self._visitors) - self._kept)]:
            if not self._visitors[token].lock.locked():
                self._forget(token)


def walked(design: Design, entry: Entry) -> Walk:
    """Return a session as its stored replies left it."""
    walk = Walk(design.exam, entry.tasks, entry.seed, design.sessions.rest)
    for reply in entry.replies:
        walk.take(reply)
    return walk
