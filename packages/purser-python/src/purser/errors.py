"""The exceptions that this package raises, and the codes by which to tell refusals apart."""

from __future__ import annotations

from typing import Any, Literal

PaymentCode = Literal["PAYMENT_REQUIRED", "APP_SPEND_CAP_EXCEEDED", "WALLET_SUSPENDED"]
"""The codes of a 402."""

ErrorCode = Literal[
    "BAD_REQUEST",
    "UNAUTHORIZED",
    "PAYMENT_REQUIRED",
    "APP_SPEND_CAP_EXCEEDED",
    "WALLET_SUSPENDED",
    "APP_SUSPENDED",
    "MODEL_NOT_ENTITLED",
    "KEY_BUDGET_EXCEEDED",
    "NOT_FOUND",
    "PAYLOAD_TOO_LARGE",
    "TOO_MANY_REQUESTS",
    "CONCURRENT_STREAM_LIMIT",
    "UPSTREAM_THROTTLED",
    "INTERNAL_SERVER_ERROR",
    "UPSTREAM_PROVIDER_ERROR",
    "FORBIDDEN",
    "METHOD_NOT_ALLOWED",
    "CONFLICT",
]
"""Every error code of the service."""

WebhookReason = Literal["header", "signature", "stale", "body"]


class PurserError(Exception):
    """The base of all exceptions of this package."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def _fields(self) -> dict[str, Any]:
        return dict(vars(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # Task queues and process pools pickle exceptions. The default would call the class with the message alone.
        return _rebuild, (type(self), self._fields())


def _rebuild(kind: type[PurserError], fields: dict[str, Any]) -> PurserError:
    return kind(**fields)


class PaymentRequiredError(PurserError):
    """A 402: the wallet cannot pay for the call. The call was not made and cost nothing.

    - ``PAYMENT_REQUIRED``: no wallet, or too little in it. Send the user to ``topup_url``.
    - ``APP_SPEND_CAP_EXCEEDED``: the monthly cap that the user set is reached. ``topup_url``, if set, leads to the cap.
    - ``WALLET_SUSPENDED``: a bank took money back. There is no link, because paying does not help. The operator must
      act.
    """

    status: Literal[402] = 402

    def __init__(
        self, *, code: PaymentCode, message: str, correlation_id: str = "", topup_url: str | None = None
    ) -> None:
        super().__init__(message)
        self.code: PaymentCode = code
        self.correlation_id = correlation_id
        """Identifies the call in the service's logs and receipts. It is empty if the chat client dropped it."""
        self.topup_url = topup_url
        """The signed link for this user, valid for minutes. Give it to the user's browser and keep it out of logs."""


class ServiceApiError(PurserError):
    """``balance``, ``connect``, ``usage_summary`` or ``receipt`` failed with something other than a 402.

    ``code`` says why: ``UNAUTHORIZED`` (the key), ``BAD_REQUEST`` (the user or the redirect address),
    ``APP_SUSPENDED``, ``TOO_MANY_REQUESTS`` and ``INTERNAL_SERVER_ERROR`` (try again later). ``UNKNOWN``: the answer is
    not from Purser but from something in between, such as a proxy.
    """

    def __init__(
        self, *, status: int, code: ErrorCode | Literal["UNKNOWN"], message: str, correlation_id: str = ""
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code: ErrorCode | Literal["UNKNOWN"] = code
        self.correlation_id = correlation_id
        """Identifies the call in the service's logs."""


class WebhookVerificationError(PurserError):
    """A delivery that must not be trusted. Answer it with a 400.

    - ``header``: ``x-service-signature`` is missing or malformed.
    - ``signature``: the delivery was not signed with this secret, or the body is not the raw bytes that were sent. A
      framework that has parsed the body is the usual cause.
    - ``stale``: signed more than 300 seconds ago or in the future. Check the clock of this machine.
    - ``body``: signed, but not an event.
    """

    def __init__(self, reason: WebhookReason, message: str) -> None:
        super().__init__(message)
        self.reason: WebhookReason = reason
