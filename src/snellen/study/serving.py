"""How is a study opened to browsers? One process, on this machine alone."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from typing import TYPE_CHECKING, Any

from snellen.errors import SnellenError, extra

with extra("study", "the study server"):
    import uvicorn

from snellen.sitting import Sitting
from snellen.study.server import make_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.applications import Starlette

    from snellen.study.design import Design
    from snellen.study.store import Store

HERE = "127.0.0.1"
A_LOOK = 75
"""Seconds for which a connection is kept while somebody looks at a picture."""
KINDS = 32
"""Items of differing kinds that are drawn before anybody comes."""


def serve(
    design: Design, store: Store, port: int, public: str, told: Callable[[str], object]
) -> None:
    """Serve until stopped. No request is logged: a log would hold addresses."""
    app = make_app(design, store, public)
    with _listening(port) as door:
        warm(design)
        for name, link in app.state.house.links(public or _address(door)).items():
            told(f"{name + ':':15} {link}")
        told("Ctrl-C closes it; what was answered is stored.")
        with contextlib.suppress(KeyboardInterrupt):
            _server(app, logging.WARNING).run(sockets=[door])


@contextlib.contextmanager
def opened(design: Design, store: Store, **options: Any) -> Iterator[str]:
    """Have a study open meanwhile, for simulated participants; the address is yielded."""
    server = _server(make_app(design, store, **options), logging.ERROR)
    with _listening(0) as door:
        thread = threading.Thread(target=server.run, args=([door],), name="study-server")
        thread.start()
        try:
            yield _address(door)
        finally:
            server.should_exit = True
            thread.join()


def warm(design: Design) -> None:
    """Have one item of each kind drawn, so that no participant waits for what comes first."""
    kinds: dict[tuple[tuple[str, object], ...], Any] = {}
    for item in design.items.values():
        kind = tuple((k, v) for k, v in item.items() if k in design.sessions.distinct)
        kinds.setdefault(kind, item)
    for item in list(kinds.values())[:KINDS]:
        Sitting(design.exam, item)


def _server(app: Starlette, level: int) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            access_log=False,
            log_level=level,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=A_LOOK,
            timeout_graceful_shutdown=5,
        )
    )


def _listening(port: int) -> socket.socket:
    """Open a port of this machine to itself; whoever comes early waits."""
    try:
        return socket.create_server((HERE, port), backlog=2048)
    except OSError as error:
        raise SnellenError(
            f"port {port} of {HERE} cannot be opened ({error.strerror}); choose another with --port"
        ) from error


def _address(door: socket.socket) -> str:
    return f"http://{HERE}:{door.getsockname()[1]}"
