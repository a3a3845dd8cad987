"""The client of Purser for one app, for async code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from .api import Access, Call, access_to
from .charge import OnCharge
from .settings import UserSettings
from .top_up import TopUp, with_top_up_async
from .transport import AsyncTransport, send_in_thread
from .wire import Balance, ConnectLink, Receipt, UsageSummary

T = TypeVar("T")


class AsyncPurser:
    """``Purser`` with awaited calls. By default, each runs the standard library's HTTP client in a thread of the event
    loop's pool; ``transport`` replaces that.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        transport: AsyncTransport = send_in_thread,
        timeout_seconds: float = 30.0,
    ) -> None:
        self._access = access_to(base_url, api_key, timeout_seconds)
        self._transport = transport

    def for_user(self, user_id: str, *, on_charge: OnCharge | None = None) -> AsyncPurserUser:
        """One user, by the app's own name for them. Raises ``ValueError`` if the name is malformed.

        ``on_charge`` is called with what each chat call was charged, plain or streamed, when it has been read. It
        must not raise: a client would take that for a broken connection.
        """
        return AsyncPurserUser(self._access, user_id, self._transport, on_charge)

    async def balance(self, user_id: str, *, correlation_id: str | None = None) -> Balance:
        """Does what ``Purser.balance`` does."""
        return await self.for_user(user_id).balance(correlation_id=correlation_id)

    async def connect(
        self,
        user_id: str,
        *,
        redirect_uri: str,
        state: str | None = None,
        user_label: str | None = None,
        correlation_id: str | None = None,
    ) -> ConnectLink:
        """Does what ``Purser.connect`` does."""
        return await self.for_user(user_id).connect(
            redirect_uri=redirect_uri, state=state, user_label=user_label, correlation_id=correlation_id
        )

    async def usage_summary(
        self, user_id: str, *, month: str | None = None, correlation_id: str | None = None
    ) -> UsageSummary:
        """Does what ``Purser.usage_summary`` does."""
        return await self.for_user(user_id).usage_summary(month=month, correlation_id=correlation_id)

    async def receipt(self, user_id: str, call_id: str, *, correlation_id: str | None = None) -> Receipt:
        """Does what ``Purser.receipt`` does."""
        return await self.for_user(user_id).receipt(call_id, correlation_id=correlation_id)


class AsyncPurserUser(UserSettings):
    """One user of the app: the settings of chat clients, and the same calls as on ``AsyncPurser``."""

    def __init__(
        self, access: Access, user_id: str, transport: AsyncTransport, on_charge: OnCharge | None = None
    ) -> None:
        super().__init__(access, user_id, on_charge)
        self._transport = transport

    async def balance(self, *, correlation_id: str | None = None) -> Balance:
        return await self._ask(self._calls.balance(correlation_id))

    async def connect(
        self,
        *,
        redirect_uri: str,
        state: str | None = None,
        user_label: str | None = None,
        correlation_id: str | None = None,
    ) -> ConnectLink:
        return await self._ask(self._calls.connect(redirect_uri, state, user_label, correlation_id))

    async def usage_summary(self, *, month: str | None = None, correlation_id: str | None = None) -> UsageSummary:
        return await self._ask(self._calls.usage_summary(month, correlation_id))

    async def receipt(self, call_id: str, *, correlation_id: str | None = None) -> Receipt:
        return await self._ask(self._calls.receipt(call_id, correlation_id))

    async def with_top_up(
        self,
        call: Callable[[], Awaitable[T]],
        *,
        on_top_up: Callable[[TopUp], object],
        until: Callable[[TopUp], Awaitable[object]] | None = None,
        wait_seconds: float | None = None,
        poll_seconds: float | None = None,
    ) -> T:
        """See ``PurserUser.with_top_up``. ``on_top_up`` may be async.

        ``until`` is called before ``on_top_up`` and returns when the app itself knows that the money has arrived; it is
        cancelled when nobody waits any more. To end the wait, cancel the task.
        """
        return await with_top_up_async(
            call,
            self.balance,
            is_sandbox=self._access.is_sandbox,
            on_top_up=on_top_up,
            until=until,
            wait_seconds=wait_seconds,
            poll_seconds=poll_seconds,
        )

    async def _ask(self, call: Call[T]) -> T:
        return call.read(await self._transport(call.request))
