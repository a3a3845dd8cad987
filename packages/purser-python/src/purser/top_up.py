"""Waits for a user to pay after a refusal, and makes the call once more."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from .errors import PaymentCode, PaymentRequiredError, ServiceApiError
from .guard import guard
from .wire import Balance

T = TypeVar("T")

WAIT_SECONDS = 600.0
_WAIT_SECONDS_MAX = 2_000_000.0
POLL_SECONDS = 3.0
_POLL_SECONDS_MIN = 0.25
_STOP_SECONDS = 0.25
"""How many seconds it takes a sync wait for ``until`` to notice ``stop``, at most."""


@dataclass(frozen=True)
class TopUp:
    """What to show a user who has to pay."""

    topup_url: str
    """The signed link for this user, valid for minutes. Give it to the user's browser and keep it out of logs."""
    code: PaymentCode
    message: str
    correlation_id: str


Change = Literal["paid", "maybe", None]
"""What a look at the balance shows. ``paid``: the user has paid or raised the cap. ``maybe``: the call may succeed."""


@dataclass(frozen=True)
class _Seen:
    balance: int = 0
    reserved: int = 0
    cap: float = math.inf
    spent: int = 0
    is_active: bool = False


_NOTHING = _Seen()


def _seen_in(found: Balance) -> _Seen:
    cap = math.inf if found.spend_cap_micros is None else found.spend_cap_micros
    return _Seen(
        found.balance_micros, found.reserved_micros, cap, found.spent_this_month_micros, found.status == "active"
    )


def _seen_despite(error: Exception) -> _Seen | None:
    """Returns what a failed look shows, or None if the balance cannot be read now. Raises what is refused for good."""
    if isinstance(error, PaymentRequiredError):
        return _NOTHING
    # Anything else, also a lost connection, may work at the next look.
    if isinstance(error, OSError) or (isinstance(error, ServiceApiError) and error.status >= 429):
        return None
    raise error


class _Watch:
    """Compares each look with the last one, by what the call was refused for: the cap, or else the money."""

    def __init__(self, code: PaymentCode, first: _Seen | None) -> None:
        self._is_cap = code == "APP_SPEND_CAP_EXCEEDED"
        self._before = first

    def change(self, now: _Seen | None) -> Change:
        if now is None:
            return None
        last = self._before
        lowest = now.balance if last is None else min(now.balance, last.balance)
        self._before = _Seen(lowest, now.reserved, now.cap, now.spent, now.is_active)
        if not now.is_active or (now.spent >= now.cap if self._is_cap else now.balance <= 0):
            return None
        if last is None:
            return "maybe"
        if now.cap > last.cap or now.spent < last.spent if self._is_cap else now.balance > last.balance:
            return "paid"
        # Perhaps the money was only set aside for other calls, and some of it is back.
        return "maybe" if now.reserved < last.reserved else None


@dataclass(frozen=True)
class _Refusal:
    error: PaymentRequiredError
    top_up: TopUp


def _refusal_to_wait_for(error: PaymentRequiredError, *, is_sandbox: bool, has_until: bool) -> _Refusal:
    # Play money has no balance that could be polled.
    if error.topup_url is None or (is_sandbox and not has_until):
        raise error
    return _Refusal(error, TopUp(error.topup_url, error.code, error.message, error.correlation_id))


def _time_of(seconds: float | None, otherwise: float) -> float:
    return otherwise if seconds is None or math.isnan(seconds) else max(0.0, min(seconds, _WAIT_SECONDS_MAX))


def with_top_up(
    call: Callable[[], T],
    balance: Callable[[], Balance],
    *,
    is_sandbox: bool,
    on_top_up: Callable[[TopUp], object],
    until: threading.Event | None,
    stop: threading.Event | None,
    wait_seconds: float | None,
    poll_seconds: float | None,
) -> T:
    """Does what ``PurserUser.with_top_up`` says."""
    outcome = _attempt(call)
    if not isinstance(outcome, PaymentRequiredError):
        return outcome.result
    refusal = _refusal_to_wait_for(outcome, is_sandbox=is_sandbox, has_until=until is not None)
    deadline = time.monotonic() + _time_of(wait_seconds, WAIT_SECONDS)
    stopped = stop or threading.Event()

    def look() -> _Seen | None:
        try:
            return _seen_in(balance())
        except Exception as error:
            return _seen_despite(error)

    def pause(seconds: float) -> bool:
        """Waits, and returns whether there is time left after it."""
        left = deadline - time.monotonic()
        return not stopped.wait(max(0.0, min(seconds, left))) and time.monotonic() < deadline

    watch = None if until is not None else _Watch(refusal.error.code, look())  # Read before the user can pay.
    on_top_up(refusal.top_up)
    if until is not None:
        while not until.wait(max(0.0, min(_STOP_SECONDS, deadline - time.monotonic()))):
            if not pause(0):
                raise refusal.error
        return _finally(call)
    every = max(_time_of(poll_seconds, POLL_SECONDS), _POLL_SECONDS_MIN)
    while watch is not None and pause(every):
        change = watch.change(look())
        if change == "paid":
            return _finally(call)
        if change == "maybe":
            outcome = _attempt(call)
            if not isinstance(outcome, PaymentRequiredError):
                return outcome.result
            if outcome.code != refusal.error.code:
                raise outcome
            # The same refusal as before: nobody has paid yet, so the wait continues.
    raise refusal.error


async def with_top_up_async(
    call: Callable[[], Awaitable[T]],
    balance: Callable[[], Awaitable[Balance]],
    *,
    is_sandbox: bool,
    on_top_up: Callable[[TopUp], object],
    until: Callable[[TopUp], Awaitable[object]] | None,
    wait_seconds: float | None,
    poll_seconds: float | None,
) -> T:
    """Does what ``AsyncPurserUser.with_top_up`` says."""
    outcome = await _attempt_async(call)
    if not isinstance(outcome, PaymentRequiredError):
        return outcome.result
    refusal = _refusal_to_wait_for(outcome, is_sandbox=is_sandbox, has_until=until is not None)
    every = max(_time_of(poll_seconds, POLL_SECONDS), _POLL_SECONDS_MIN)
    waiting = asyncio.ensure_future(_until_funded(call, balance, refusal, on_top_up, until, every))
    try:
        await asyncio.wait({waiting}, timeout=_time_of(wait_seconds, WAIT_SECONDS))
        tried = waiting.result() if waiting.done() else refusal.error
    finally:
        waiting.cancel()  # When the time is up, or this call is cancelled.
        await asyncio.gather(waiting, return_exceptions=True)
    if isinstance(tried, PaymentRequiredError):
        raise tried
    if tried is not None:
        return tried.result
    with guard():
        return await call()


async def _until_funded(
    call: Callable[[], Awaitable[T]],
    balance: Callable[[], Awaitable[Balance]],
    refusal: _Refusal,
    on_top_up: Callable[[TopUp], object],
    until: Callable[[TopUp], Awaitable[object]] | None,
    every: float,
) -> _Done[T] | None:
    """Returns when the refused call can be paid, or with its result if it succeeded because other calls had ended."""

    async def look() -> _Seen | None:
        try:
            return _seen_in(await balance())
        except Exception as error:
            return _seen_despite(error)

    watch = None if until is not None else _Watch(refusal.error.code, await look())  # Read before the user can pay.
    told = None if until is None else asyncio.ensure_future(until(refusal.top_up))  # The user may pay at once.
    try:
        shown = on_top_up(refusal.top_up)
        if isinstance(shown, Awaitable):
            await shown
        if told is not None:
            await told
    finally:
        if told is not None:
            told.cancel()
    while watch is not None:
        await asyncio.sleep(every)
        change = watch.change(await look())
        if change == "paid":
            break
        if change == "maybe":
            outcome = await _attempt_async(call)
            if not isinstance(outcome, PaymentRequiredError):
                return outcome
            if outcome.code != refusal.error.code:
                raise outcome
    return None


@dataclass(frozen=True)
class _Done(Generic[T]):
    result: T


def _attempt(call: Callable[[], T]) -> _Done[T] | PaymentRequiredError:
    try:
        with guard():
            return _Done(call())
    except PaymentRequiredError as error:
        return error


async def _attempt_async(call: Callable[[], Awaitable[T]]) -> _Done[T] | PaymentRequiredError:
    try:
        with guard():
            return _Done(await call())
    except PaymentRequiredError as error:
        return error


def _finally(call: Callable[[], T]) -> T:
    with guard():
        return call()
