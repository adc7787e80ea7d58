"""Claim: 500 people at once are answered within 300 ms (p99), and a kill -9 loses no answer.

A server of its own is started on a new store, and so many participants come in over loopback
within half a minute, until all are there at once. Each thinks a while before each answer, as
people do. What is timed is what they wait for: from the answer sent to the next page read.
With --kill the server is killed when all are there, and started again; participants reload,
as people would. In the end, what they were acknowledged is compared with what is stored.

Every answer waits for the disk. A disk that others write to is felt in the tail, not in the
median: a store in memory (sqlite:////dev/shm/study.db) shows the server alone.

    python benchmarks/study_load.py
    python benchmarks/study_load.py --store postgresql+psycopg://user@/database?host=/tmp
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import html
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from snellen.study import entries
from snellen.study.design import draft, read
from snellen.study.store import Store

HIDDEN = re.compile(rb'<input type="hidden" name="(\w+)" value="([^"]*)">')
PICTURE = re.compile(rb'src="(/picture/[^"]+)"')
MOST_WAIT = 60.0


@dataclass
class Waits:
    """Seconds that participants waited, by what for."""

    answer: list[float] = field(default_factory=list)
    """From an answer sent to the next page read."""
    enter: list[float] = field(default_factory=list)
    picture: list[float] = field(default_factory=list)
    again: int = 0
    """Requests that had to be sent again, because the server was away."""


@dataclass
class Browser:
    """As much of a browser as it takes, so that the load is the server's and not its own."""

    port: int
    waits: Waits
    cookie: str = ""
    acknowledged: dict[int, int] = field(default_factory=dict)
    """Answers after which the next page was shown, by the number of their page."""
    _line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> bytes:
        return await self._surely("GET", path, b"")

    async def post(self, path: str, fields: dict[str, str]) -> bytes:
        """Send a form, and return the page that it leads to."""
        await self._surely("POST", path, urlencode(fields).encode())
        return await self.get("/page")

    async def close(self) -> None:
        """Hang up."""
        if self._line is not None:
            self._line[1].close()
            with contextlib.suppress(OSError):
                await self._line[1].wait_closed()
        self._line = None

    async def _surely(self, method: str, path: str, body: bytes) -> bytes:
        """Try until the server is there."""
        end = time.monotonic() + MOST_WAIT
        while True:
            try:
                return await self._once(method, path, body)
            except (OSError, asyncio.IncompleteReadError):
                await self.close()
                self.waits.again += 1
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.2)

    async def _once(self, method: str, path: str, body: bytes) -> bytes:
        if self._line is None:
            self._line = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._line
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nCookie: {self.cookie}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        found = await reader.readexactly(int(length[1]) if length else 0)
        if (cookie := re.search(rb"set-cookie: (snellen=[^;]+)", head)) is not None:
            self.cookie = cookie[1].decode()
        status = int(head.split(b" ", 2)[1])
        if status not in (200, 303):
            raise RuntimeError(f"{method} {path} was answered with {status}: {found[-900:]!r}")
        return found


async def attend(browser: Browser, chance: random.Random, think: float, answers: int) -> None:
    """Come in and answer so many questions, or to the end."""
    fields = hidden(await browser.get("/"))
    page = await timed(browser.waits.enter, browser.post("/consent", fields | {"agree": "yes"}))
    for _ in range(answers):
        if b"<output" in page:
            return
        fields = hidden(page)
        if b'name="choice"' in page:
            for place in PICTURE.findall(page)[:2]:
                await timed(browser.waits.picture, browser.get(place.decode()))
            await asyncio.sleep(think * (0.5 + chance.random()))
            fields |= {"choice": str(chance.randrange(2)), "seconds": "1.5", "dropped": "0"}
        page = await timed(browser.waits.answer, browser.post("/page", fields))
        if "choice" in fields:
            browser.acknowledged[int(fields["number"])] = int(fields["choice"])


async def timed(into: list[float], work):
    start = time.perf_counter()
    made = await work
    into.append(time.perf_counter() - start)
    return made


def hidden(page: bytes) -> dict[str, str]:
    return {name.decode(): html.unescape(value.decode()) for name, value in HIDDEN.findall(page)}


class Server:
    """`snellen study serve`, in a process of its own."""

    def __init__(self, study: Path, url: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.command = [sys.executable, "-m", "snellen", "study", "serve", str(study)]
        self.command += ["--store", url, "--port", str(self.port)]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        while "experimenter" not in (line := self.process.stdout.readline()):
            if not line:
                raise SystemExit("the server did not start")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    @property
    def memory(self) -> float:
        """Megabytes that it holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    @property
    def cpu(self) -> float:
        parts = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")")[-1].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


async def load(
    server: Server, people: int, think: float, answers: int, arrive: float, kill: bool
) -> list[Browser]:
    """Have everybody take part; kill the server when all are there, if asked to."""
    waits = Waits()
    browsers = [Browser(server.port, waits) for _ in range(people)]

    async def one(n: int) -> None:
        chance = random.Random(n)
        await asyncio.sleep(chance.random() * arrive)
        try:
            await attend(browsers[n], chance, think, answers)
        finally:
            await browsers[n].close()

    async def disturb() -> None:
        await asyncio.sleep(arrive + think)
        server.kill()
        await asyncio.to_thread(server.start)

    await asyncio.gather(*map(one, range(people)), *([disturb()] if kill else []))
    return browsers


def tell(browsers: list[Browser], store: Store) -> None:
    """Print waits, and compare what was acknowledged with what is stored."""
    waits = browsers[0].waits
    for name in ("enter", "answer", "picture"):
        found = np.array(getattr(waits, name)) * 1000
        p50, p95, p99 = np.percentile(found, [50, 95, 99])
        print(f"  {name:8} {len(found):7} times   p50 {p50:5.0f} ms   p95 {p95:5.0f} ms   "
              f"p99 {p99:5.0f} ms   most {found.max():5.0f} ms")  # fmt: skip
    stored = sorted(
        sorted((n, r.choice) for n, r in enumerate(e.replies) if r.choice is not None)
        for e in store.read(entries.entries)
    )
    told = sorted(sorted(b.acknowledged.items()) for b in browsers)
    lost = sum(map(len, told)) - sum(map(len, stored))
    same = "every one is stored, once" if stored == told else f"NOT AS STORED (difference {lost})"
    print(f"  {sum(map(len, told))} answers acknowledged, {waits.again} requests repeated: {same}")
    assert stored == told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", default="", help="empty: a new SQLite file")
    parser.add_argument("--people", type=int, default=500)
    parser.add_argument("--think", type=float, default=4.0, help="mean seconds before an answer")
    parser.add_argument("--arrive", type=float, default=30.0, help="seconds in which all come")
    parser.add_argument("--pages", type=int, default=25, help="that each goes on")
    parser.add_argument("--kill", action="store_true", help="kill -9 in the middle")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder, "study.toml")
        text = draft("reasoning", {"problems": "1,5,10,19,20", "repeats": 100})
        text = text.replace("each = 6", "each = 2").replace('contact = ""', 'contact = "nobody"')
        study.write_text(text)
        url = given.store or f"sqlite:///{folder}/study.db"
        read(study)
        server = Server(study, url)
        start = time.monotonic()
        try:
            browsers = asyncio.run(
                load(server, given.people, given.think, given.pages, given.arrive, given.kill)
            )
            used, took = server.cpu, time.monotonic() - start
            memory = server.memory
        finally:
            server.kill()
        store = Store(url)
        kind = store.engine.dialect.name
        said = f"{given.people} people, {given.think:g} s a question, on {kind}"
        worked = f"the last server worked {used:.0f} s of {took:.0f} s, and holds {memory:.0f} MB"
        print(f"{said}: {worked}{', killed in the middle' * given.kill}")
        tell(browsers, store)
        store.close()


if __name__ == "__main__":
    main()
