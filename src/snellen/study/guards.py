"""What may a request hold, who may send it, and how many of them?

No address is looked at: limits are on each participant, and on newcomers as a whole.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 4096
"""Of a form: ours have some two hundred."""
MOST_FIELDS = 20
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "Cache-Control": "no-store",
}
"""On every response, unless it says otherwise itself."""
AS_SENT = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


class TooMuch(Exception):
    """A form is larger than any of ours, or not a form at all."""


def new_token() -> str:
    """Make what a browser holds to be known again."""
    return secrets.token_urlsafe(32)


def hashed(token: str) -> str:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def signed(secret: str, purpose: str, text: str = "") -> str:
    """Return what only the holder of the secret can make of a text."""
    return hmac.new(secret.encode(), f"{purpose}:{text}".encode(), "sha256").hexdigest()[:40]


def same(one: str, other: str) -> bool:
    """Compare in a time that does not tell how far they agree."""
    return hmac.compare_digest(one.encode(), other.encode())


async def form(request: Request) -> dict[str, str]:
    """Read a small form; of a name that comes twice, the first value."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise TooMuch
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise TooMuch
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise TooMuch from error
    return dict(reversed(pairs))


@dataclass
class Bucket:
    """Lets through `rate` a second on the whole, and `most` at once."""

    rate: float
    most: float
    level: float = field(init=False)
    at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.level = self.most

    def take(self, now: float | None = None) -> bool:
        """Take one out; False if there is none.

        >>> bucket = Bucket(rate=1, most=2, at=0.0)
        >>> [bucket.take(now) for now in (0, 0, 0, 1)]
        [True, True, False, True]
        """
        now = time.monotonic() if now is None else now
        self.level = min(self.most, self.level + (now - self.at) * self.rate)
        self.at = now
        if self.level < 1:
            return False
        self.level -= 1
        return True


class Headed:
    """Puts the headers of safety on everything that goes out."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its response back."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def heading(message: Message) -> None:
            if message["type"] == "http.response.start":
                said = {name.lower() for name, _ in message["headers"]}
                more = [(name, value) for name, value in AS_SENT if name not in said]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await self.app(scope, receive, heading)
