"""How is a study opened to browsers? One process, on this machine alone."""

from __future__ import annotations

import contextlib
import logging
import queue
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


def serve(
    design: Design, store: Store, port: int, public: str, told: Callable[[str], object]
) -> None:
    """Serve until stopped. No request is logged: a log would hold addresses."""
    app = make_app(design, store, public)
    warm(design)
    server = _Server(
        _config(app, port, logging.WARNING),
        lambda at: _tell(app.state.house.links(public or at), told),
    )
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        raise SnellenError(f"port {port} of {HERE} is taken; choose another with --port")


@contextlib.contextmanager
def opened(design: Design, store: Store, port: int = 0, **options: Any) -> Iterator[str]:
    """Have a study open meanwhile, for simulated participants; the address is yielded."""
    app = make_app(design, store, **options)
    up: queue.SimpleQueue[str] = queue.SimpleQueue()
    server = _Server(_config(app, port, logging.ERROR), up.put)
    thread = threading.Thread(target=server.run, name="study-server", daemon=True)
    thread.start()
    try:
        yield up.get(timeout=30)
    finally:
        server.should_exit = True
        thread.join()


def warm(design: Design) -> None:
    """Have one item of each kind drawn, so that no participant waits for what comes first."""
    seen: set[tuple[tuple[str, object], ...]] = set()
    for item in design.items.values():
        kind = tuple((k, v) for k, v in item.items() if k in design.sessions.distinct)
        if kind not in seen and len(seen) < 32:
            seen.add(kind)
            Sitting(design.exam, item)


def _config(app: Starlette, port: int, level: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=HERE,
        port=port,
        access_log=False,
        log_level=level,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=A_LOOK,
        timeout_graceful_shutdown=5,
    )


class _Server(uvicorn.Server):
    """Says where it is once it can be reached."""

    def __init__(self, config: uvicorn.Config, up: Callable[[str], None]) -> None:
        super().__init__(config)
        self._up = up

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """Open the port, then tell."""
        await super().startup(sockets)  # type: ignore[arg-type]
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            self._up(f"http://{HERE}:{port}")


def _tell(links: dict[str, str], told: Callable[[str], object]) -> None:
    for name, link in links.items():
        told(f"{name + ':':15} {link}")
    told("Ctrl-C closes it; what was answered is stored.")
