"""Finds refusals of the service in raw answers and in the exceptions of chat clients."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from .errors import ErrorCode, PaymentCode, PaymentRequiredError, ServiceApiError

PAYMENT_CODES = get_args(PaymentCode)
_MESSAGE = "Payment is required."
_DEPTH_MAX = 5
"""Clients wrap exceptions in exceptions of their own, seldom deeper than this."""
_GROUP_MAX = 10


@dataclass(frozen=True)
class Failure:
    """The fields of the service's error envelope that were present."""

    code: str | None = None
    message: str | None = None
    correlation_id: str | None = None
    topup_url: str | None = None

    def or_else(self, other: Failure) -> Failure:
        """Returns this failure, with the other's fields where it has none."""
        return Failure(
            code=self.code or other.code,
            message=self.message or other.message,
            correlation_id=self.correlation_id or other.correlation_id,
            topup_url=self.topup_url or other.topup_url,
        )


def refusal_of(
    status: int, headers: Mapping[str, str], body: bytes | str
) -> PaymentRequiredError | ServiceApiError | None:
    """Returns the error that an answer of the service means, from any HTTP client, or None if it is below 300."""
    if status < 300:
        return None
    known = _read_body(body).or_else(_in_headers(headers))
    if status == 402:
        return _payment_required(status, known)
    return ServiceApiError(
        status=status,
        code=cast(ErrorCode, known.code or "UNKNOWN"),
        message=known.message or f"The service answered {status}.",
        correlation_id=known.correlation_id or "",
    )


def as_payment_required(error: object) -> PaymentRequiredError | None:
    """Finds the ``PaymentRequiredError`` behind an exception of a chat client, or a response object of ``httpx``,
    ``requests`` or ``openai``. Returns None if there is none. Use it where ``guard`` cannot catch anything.
    """
    return _search(error, 0)


def _search(raised: object, depth: int) -> PaymentRequiredError | None:
    if isinstance(raised, PaymentRequiredError):
        return raised
    failure = _failure_of(raised)
    # Other services answer with a 402 too, a payment processor for one. Only ours names a correlation id or a link.
    is_ours = failure.correlation_id is not None or failure.topup_url is not None
    status = _status_of(raised)
    found = _payment_required(status if is_ours else None, failure)
    if depth == _DEPTH_MAX or (found is not None and failure.code is not None):
        return found
    # LiteLLM keeps only the headers, so the code is in the exception that it was handling.
    for inner in _inside(raised, has_context=status == 402):
        deeper = _search(inner, depth + 1)
        if deeper is not None:
            return deeper
    return found


def _inside(raised: object, *, has_context: bool) -> Iterator[object]:
    yield _get(raised, "__cause__")
    # Only of a 402: an exception in the app's own handler of a 402 has the 402 as its context, and is another error.
    if has_context:
        yield _get(raised, "__context__")
    exceptions = _get(raised, "exceptions")  # A group, as Pydantic AI raises for several models.
    if isinstance(exceptions, (list, tuple)):
        yield from cast("tuple[object, ...]", exceptions)[:_GROUP_MAX]


def _payment_required(status: object, failure: Failure) -> PaymentRequiredError | None:
    """Accepts the status 402 or one of its codes: in the middle of a stream, an error has no status."""
    is_known = failure.code in PAYMENT_CODES
    if status != 402 and not is_known:
        return None
    return PaymentRequiredError(
        code=cast(PaymentCode, failure.code) if is_known else "PAYMENT_REQUIRED",
        message=failure.message or _MESSAGE,
        correlation_id=failure.correlation_id or "",
        topup_url=failure.topup_url,
    )


def _failure_of(raised: object) -> Failure:
    """Reads the envelope from an exception or a response.

    ``openai``, LangChain and Pydantic AI keep the inner ``error`` as ``body``, LiteLLM only the headers, and ``httpx``
    and ``requests`` the response.
    """
    response = _get(raised, "response")
    body = _get(raised, "body")
    known = _in_envelope(body).or_else(_in_error(body))
    if known == Failure():
        known = _in_text(response).or_else(_in_text(raised))
    for headers in (_get(response, "headers"), _get(raised, "headers"), _get(raised, "litellm_response_headers")):
        known = known.or_else(_in_headers(headers))
    return known


def _status_of(raised: object) -> object:
    response = _get(raised, "response")
    for holder, name in ((raised, "status_code"), (response, "status_code"), (raised, "status"), (response, "status")):
        status = _get(holder, name)
        if isinstance(status, int):
            return status
    return None


def _in_text(response: object) -> Failure:
    """Reads the envelope in the text of a response that has been read."""
    text = _get(response, "text")
    return _read_body(text) if isinstance(text, str) else Failure()


def _read_body(body: bytes | str) -> Failure:
    try:
        return _in_envelope(json.loads(body))
    except (ValueError, RecursionError):
        return Failure()  # The answer does not come from the service.


def _in_envelope(body: object) -> Failure:
    """From a whole body: ``{"error": {...}, "topupUrl": ...}``."""
    given = _mapping(body)
    fields, link = _in_error(given.get("error")), given.get("topupUrl")
    return replace(fields, topup_url=link) if isinstance(link, str) else fields


def _in_error(fields: object) -> Failure:
    given = _mapping(fields)
    found = [given.get(name) for name in ("code", "message", "correlationId", "topupUrl")]
    return Failure(*(value if isinstance(value, str) else None for value in found))


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _in_headers(headers: object) -> Failure:
    def header(name: str) -> str | None:
        try:
            value = cast(Any, headers).get(name)
        except Exception:
            return None
        return value if isinstance(value, str) else None

    return Failure(correlation_id=header("x-correlation-id"), topup_url=header("x-service-topup-url"))


def _get(value: object, name: str) -> object:
    """Reads an attribute, or returns None. A foreign property may raise anything: ``httpx`` does for unread text."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None
