"""How requests reach the service. The default needs nothing but the standard library."""

from __future__ import annotations

import asyncio
import http.client
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import IO, Any

ANSWER_BYTES_MAX = 4_194_304


@dataclass(frozen=True)
class HttpRequest:
    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    """With the app's key."""
    body: bytes | None
    timeout_seconds: float


@dataclass(frozen=True)
class HttpAnswer:
    """Every answer, whatever its status. A transport follows no redirect: it would carry the key to another host."""

    status: int
    headers: Mapping[str, str]
    """Their names in lower case."""
    body: bytes


Transport = Callable[[HttpRequest], HttpAnswer]
"""Sends a request. Raises ``OSError`` if there is no connection, or no answer in time."""

AsyncTransport = Callable[[HttpRequest], Awaitable[HttpAnswer]]
"""The same, awaited."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def send(request: HttpRequest) -> HttpAnswer:
    """Sends a request over a connection of its own. The timeout is that of each wait for the network."""
    asked = urllib.request.Request(request.url, data=request.body, headers=dict(request.headers), method=request.method)
    try:
        try:
            response: Any = _opener.open(asked, timeout=request.timeout_seconds)
        except urllib.error.HTTPError as refused:
            response = refused
        with response:
            body: bytes = response.read(ANSWER_BYTES_MAX + 1)
            if len(body) <= ANSWER_BYTES_MAX:
                response.read()  # Raises if the answer broke off: a read with a limit does not.
            headers = {name.lower(): value for name, value in response.headers.items()}
            status: int = response.status
    except http.client.HTTPException as broken:
        raise ConnectionError(f"The connection broke: {type(broken).__name__}.") from broken
    if len(body) > ANSWER_BYTES_MAX:
        raise ConnectionError(f"The answer has more than {ANSWER_BYTES_MAX} bytes.")
    return HttpAnswer(status=status, headers=headers, body=body)


async def send_in_thread(request: HttpRequest) -> HttpAnswer:
    """Sends a request from a thread of the event loop's pool. A cancelled call leaves its thread until the timeout."""
    return await asyncio.to_thread(send, request)
