"""HTTP clients for ``openai``, everything built on it, and ``anthropic``. They send an idempotency key with each call, the same
one with its retries, and report charges. Every answer passes unchanged, also a 402.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .charge import ChargeWatch, OnCharge
from .retries import FailedCalls, digest_of

_KEY = "idempotency-key"


@dataclass(frozen=True)
class ChatWatch:
    """What the HTTP clients of one user need to know."""

    urls: frozenset[str]
    """The addresses of calls that are charged. Other requests are left alone."""
    failed: FailedCalls
    on_charge: OnCharge | None

    def begin(self, request: Any) -> _Attempt | None:
        """Gives a call its key. Returns None for any other request."""
        url = str(request.url)
        if url.split("?")[0] not in self.urls:  # Clients of Messages add ``?beta=true``.
            return None
        if _KEY in request.headers:  # The app's own.
            return _Attempt(self, None, "")
        call = digest_of(request.headers.get("x-service-user", ""), url, request.content)
        key = self.failed.key_of(call)
        request.headers[_KEY] = key
        return _Attempt(self, call, key)


@dataclass
class _Attempt:
    watch: ChatWatch
    call: bytes | None
    key: str
    has_failed: bool = True

    def is_plain(self, response: Any) -> bool:
        """Whether the answer has to be read here: one that breaks off has not arrived, even if its headers did."""
        self.has_failed = not response.is_success
        is_plain = bool(response.is_success) and _is_of_type(response, "application/json")
        self.has_failed = self.has_failed or is_plain
        return is_plain

    def arrived(self, response: Any) -> Any:
        self.has_failed = not response.is_success
        if self.watch.on_charge is not None:
            charge = ChargeWatch(response.headers, self.watch.on_charge)
            if _is_of_type(response, "text/event-stream"):
                _watch_stream(response, charge)
            else:
                charge.plain()
        return response

    def end(self) -> None:
        # A call that the caller gave up counts as failed too: a client's own timeout looks the same, and the answer may
        # have been paid for.
        if self.has_failed and self.call is not None:
            self.watch.failed.remember(self.call, self.key)


def _is_of_type(response: Any, wanted: str) -> bool:
    return str(response.headers.get("content-type", "")).startswith(wanted)


def _watch_stream(response: Any, charge: ChargeWatch) -> None:
    read, read_async = response.iter_bytes, response.aiter_bytes

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        for part in read(chunk_size):
            charge.streamed(part)
            yield part

    async def aiter_bytes(chunk_size: int | None = None) -> AsyncIterator[bytes]:
        async for part in read_async(chunk_size):
            charge.streamed(part)
            yield part

    response.iter_bytes, response.aiter_bytes = iter_bytes, aiter_bytes


def http_client(watch: ChatWatch, module: str = "openai") -> Any:
    """Makes a client with the defaults of the module's own, or returns None if the module is not installed."""
    return _client_of((module, "DefaultHttpxClient"), _sync_class, watch)


def async_http_client(watch: ChatWatch, module: str = "openai") -> Any:
    """Makes such a client for ``AsyncOpenAI`` and its like."""
    return _client_of((module, "DefaultAsyncHttpxClient"), _async_class, watch)


def _client_of(names: tuple[str, str], subclass: Callable[[Any], Any], watch: ChatWatch) -> Any:
    module, name = names
    try:
        base = getattr(importlib.import_module(module), name, None)
    except ImportError:
        base = None
    if base is None:
        return None
    client = subclass(base)()
    client.purser_watch = watch
    return client


def _sync_class(base: Any) -> Any:
    def send(self: Any, request: Any, **options: Any) -> Any:
        attempt = self.purser_watch.begin(request)
        if attempt is None:
            return base.send(self, request, **options)
        try:
            response = base.send(self, request, **options)
            if attempt.is_plain(response):
                response.read()
            return attempt.arrived(response)
        finally:
            attempt.end()

    def close(self: Any) -> None:
        # As `openai` closes its own clients: apps drop them, and an open socket would warn.
        with suppress(Exception):
            self.close()

    return type("PurserHttpClient", (base,), {"send": send, "__del__": close})


def _async_class(base: Any) -> Any:
    async def send(self: Any, request: Any, **options: Any) -> Any:
        attempt = self.purser_watch.begin(request)
        if attempt is None:
            return await base.send(self, request, **options)
        try:
            response = await base.send(self, request, **options)
            if attempt.is_plain(response):
                await response.aread()
            return attempt.arrived(response)
        finally:
            attempt.end()

    def close(self: Any) -> None:
        with suppress(Exception):
            asyncio.get_running_loop().create_task(self.aclose())

    return type("PurserAsyncHttpClient", (base,), {"send": send, "__del__": close})
