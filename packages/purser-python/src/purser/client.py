"""The client of Purser for one app, for sync code."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from .api import Access, Call, access_to
from .charge import OnCharge
from .settings import UserSettings
from .top_up import TopUp, with_top_up
from .transport import Transport, send
from .wire import Balance, ConnectLink, Receipt, UsageSummary

T = TypeVar("T")


class Purser:
    """Purser for one app. Sends nothing until a method is called. Threads may share it.

    ``base_url`` is the root address of the service, without ``/v1``. ``api_key`` is the app's key: keep it on your
    server, because anybody who has it can spend for every user. ``transport`` replaces the standard library's HTTP
    client. ``timeout_seconds`` is how long a request waits for the network. Raises ``ValueError`` if an argument is
    malformed.
    """

    def __init__(
        self, *, base_url: str, api_key: str, transport: Transport = send, timeout_seconds: float = 30.0
    ) -> None:
        self._access = access_to(base_url, api_key, timeout_seconds)
        self._transport = transport

    def for_user(self, user_id: str, *, on_charge: OnCharge | None = None) -> PurserUser:
        """One user, by the app's own name for them. Raises ``ValueError`` if the name is malformed.

        ``on_charge`` is called with what each chat call was charged, plain or streamed, when it has been read. It
        must not raise: a client would take that for a broken connection.
        """
        return PurserUser(self._access, user_id, self._transport, on_charge)

    def balance(self, user_id: str, *, correlation_id: str | None = None) -> Balance:
        """Returns the user's wallet. Raises ``PaymentRequiredError`` if there is none, and with a test key."""
        return self.for_user(user_id).balance(correlation_id=correlation_id)

    def connect(
        self,
        user_id: str,
        *,
        redirect_uri: str,
        state: str | None = None,
        user_label: str | None = None,
        correlation_id: str | None = None,
    ) -> ConnectLink:
        """A link to the page where the user connects a wallet to the app. Raises ``ServiceApiError``.

        ``redirect_uri`` is where the user returns to. It must match one of the app's ``redirectUris``, character by
        character. ``state`` is returned with the redirect. ``user_label`` shows the user which account of the app they
        connect: an e-mail or a name.
        """
        return self.for_user(user_id).connect(
            redirect_uri=redirect_uri, state=state, user_label=user_label, correlation_id=correlation_id
        )

    def usage_summary(
        self, user_id: str, *, month: str | None = None, correlation_id: str | None = None
    ) -> UsageSummary:
        """What the user spent through the app in a month. Empty with a test key. Raises ``ServiceApiError``.

        ``month`` is a UTC month, such as ``2026-01``. The current month by default.
        """
        return self.for_user(user_id).usage_summary(month=month, correlation_id=correlation_id)

    def receipt(self, user_id: str, call_id: str, *, correlation_id: str | None = None) -> Receipt:
        """What one call of the user used and cost.

        Raises ``ServiceApiError`` with ``NOT_FOUND`` if there is no such call, if it is still running, and with a test
        key.
        """
        return self.for_user(user_id).receipt(call_id, correlation_id=correlation_id)


class PurserUser(UserSettings):
    """One user of the app: the settings of chat clients, and the same calls as on ``Purser``."""

    def __init__(self, access: Access, user_id: str, transport: Transport, on_charge: OnCharge | None = None) -> None:
        super().__init__(access, user_id, on_charge)
        self._transport = transport

    def balance(self, *, correlation_id: str | None = None) -> Balance:
        return self._ask(self._calls.balance(correlation_id))

    def connect(
        self,
        *,
        redirect_uri: str,
        state: str | None = None,
        user_label: str | None = None,
        correlation_id: str | None = None,
    ) -> ConnectLink:
        return self._ask(self._calls.connect(redirect_uri, state, user_label, correlation_id))

    def usage_summary(self, *, month: str | None = None, correlation_id: str | None = None) -> UsageSummary:
        return self._ask(self._calls.usage_summary(month, correlation_id))

    def receipt(self, call_id: str, *, correlation_id: str | None = None) -> Receipt:
        return self._ask(self._calls.receipt(call_id, correlation_id))

    def with_top_up(
        self,
        call: Callable[[], T],
        *,
        on_top_up: Callable[[TopUp], object],
        until: threading.Event | None = None,
        stop: threading.Event | None = None,
        wait_seconds: float | None = None,
        poll_seconds: float | None = None,
    ) -> T:
        """Runs a call like ``guard``. If it is refused with a 402 and a link, passes the link on, waits, calls again.

        The wait ends when the wallet has more money, or the cap is higher if the cap was the reason. Then the call runs
        once more, and its outcome is the result. If money that was set aside for other calls returns meanwhile, the
        call is tried early, and the wait goes on after the same refusal.

        ``on_top_up`` is called once. ``until`` is an event that the app sets when it knows that the money has arrived,
        for example from a ``topup.completed`` at its endpoint; without it, the balance is polled. ``stop`` ends the
        wait. ``wait_seconds`` is ten minutes by default, ``poll_seconds`` three and at least a quarter. Raises the
        ``PaymentRequiredError`` if there is no link, if the time is up or ``stop`` is set, and with a test key unless
        ``until`` is given.
        """
        return with_top_up(
            call,
            self.balance,
            is_sandbox=self._access.is_sandbox,
            on_top_up=on_top_up,
            until=until,
            stop=stop,
            wait_seconds=wait_seconds,
            poll_seconds=poll_seconds,
        )

    def _ask(self, call: Call[T]) -> T:
        return call.read(self._transport(call.request))
