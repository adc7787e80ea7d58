"""`snellen background-annotate`: what do people make of the matrices, models unnamed?

A page on this machine alone, by the standard library's server: three coders, as in the paper
(Liao et al. 2022), each in an order of their own. It works without JavaScript; with it, by keys.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import closing, suppress
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import click

from snellen.errors import BadSetting, SnellenError
from snellen.exams.background.annotations import Annotations
from snellen.exams.background.pages import Asked, Pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snellen.core import Desk

LARGEST = 8192
"""Bytes of a form."""
PATIENCE = 20.0
"""Seconds that a browser may take to send one."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; img-src data:; style-src 'self'; script-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LOOPBACK = "127.0.0.1"


def serving(pages: Pages, port: int) -> ThreadingHTTPServer:
    """Return a server of these pages to this machine alone; `serve_forever` runs it."""

    class Served(_Handler):
        own = pages

    try:
        return _Server((LOOPBACK, port), Served)
    except (OSError, OverflowError) as error:
        raise SnellenError(
            f"cannot listen on port {port}: {error}; choose another one with --port"
        ) from error


@click.command("background-annotate")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--port", type=click.IntRange(0, 65535), default=8642, show_default=True,
              help="Of the page on this machine (0: any that is free).")  # fmt: skip
@click.option("--coders", type=click.IntRange(3), default=3, show_default=True,
              help="How many people may take part: an odd number, to have a majority.")  # fmt: skip
@click.pass_obj
def background_annotate(desk: Desk, run: Path, port: int, coders: int) -> None:
    """Have people judge the variance matrices of a run's models, on a page.

    The page is served to this machine alone; coders elsewhere come through a tunnel, such as
    ssh -L 8642:127.0.0.1:8642 HOST. Answers are kept in RUN/annotations, a CSV file a coder.
    """
    from snellen.exams.background.models import judgeable, models

    if coders % 2 == 0:
        raise BadSetting(f"{coders} coders may be split in halves; let an odd number take part")
    found, left_out = judgeable(models(desk.read(run)))
    kept = Annotations(run / "annotations")
    pages = Pages(found, kept, coders)
    for name, why in left_out.items():
        click.echo(f"left out: {name}: {why}", err=True)
    with closing(pages), serving(pages, port) as server:
        here = f"http://{LOOPBACK}:{server.server_port}"
        click.echo(f"models to judge: {len(found)}; coders: {coders}; the page: {here}/")
        click.echo(f"how well they agree: {here}/kappas?token={pages.token}")
        click.echo("Ctrl-C ends it; what was answered is kept, and the same command goes on")
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    click.echo(_farewell(run, kept))


def _farewell(run: Path, kept: Annotations) -> str:
    told = ", ".join(f"{name} {len(kept.of(name))}" for name in kept.coders()) or "none yet"
    where, place = shlex.quote(str(kept.folder)), shlex.quote(str(run))
    return (
        f"\nanswers: {kept.folder}  ({told})\ntrain an assessor on them:\n"
        f"  snellen background-assessor {place} --levels {where} -o assessor.npz"
    )


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let browsers hang up without a word; tell of everything else."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Reads requests and writes replies; knows nothing of what is in them."""

    own: Pages
    timeout = PATIENCE
    server_version, sys_version = "snellen", ""

    def do_GET(self) -> None:
        self._answer(None)

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.send_error(HTTPStatus.LENGTH_REQUIRED)
            return
        if len(length) > 9 or int(length) > LARGEST:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        try:
            text = self.rfile.read(int(length)).decode("utf-8")
            form = parse_qs(text, keep_blank_values=True, max_num_fields=40, errors="strict")
        except ValueError:
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        self._answer(form)

    def _answer(self, form: Mapping[str, Sequence[str]] | None) -> None:
        # a page elsewhere may have its own name lead here (DNS rebinding), but not under ours;
        # any port will do, as tunnels have their own
        if self.headers.get("Host", "").partition(":")[0] not in (LOOPBACK, "localhost"):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return
        assert isinstance(self.server, _Server)
        try:
            url = urlsplit(self.path)
            query = parse_qs(url.query, max_num_fields=9)
        except ValueError:
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        # browsers do not tell apart the ports of a machine
        cookie = f"snellen-{self.server.server_port}"
        session = _cookie(self.headers.get("Cookie", ""), cookie)
        reply = self.own.reply(Asked(url.path, query, form, session))
        self.send_response(reply.status)
        self.send_header("Content-Type", f"{reply.kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.session:
            said = f"{cookie}={reply.session}; Path=/; HttpOnly; SameSite=Strict"
            self.send_header("Set-Cookie", said)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing: the terminal holds the addresses."""


def _cookie(header: str, name: str) -> str:
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return found.value if found else ""
