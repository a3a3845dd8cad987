"""Verifies the deliveries of webhook events."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Union

from .errors import WebhookVerificationError
from .wire import Malformed, WebhookEvent, read_event, write

FRESH_SECONDS = 300
_SECONDS = re.compile(r"[0-9]{1,15}")

_NAMES = ("id", "type", "createdAt", "appId", "data")
"""The fields, in the order of the service's own bodies."""

RawBody = Union[str, bytes, bytearray, memoryview]


def verify_webhook(
    *,
    body: RawBody,
    signature: str | None,
    secret: str | Sequence[str],
    tolerance_seconds: float = FRESH_SECONDS,
    now_seconds: float | None = None,
) -> WebhookEvent:
    """Checks the signature of a delivery and returns its event. Raises ``WebhookVerificationError``.

    The same event may arrive again, even after you have answered it, so process each ``id`` once.

    ``body`` is the raw body, byte for byte: one that a framework has parsed and serialised again has another signature.
    ``signature`` is the header ``x-service-signature``. ``secret`` is the whole signing secret, with its ``whsec_``, or
    several while you replace it. ``now_seconds`` is the current time, for tests.
    """
    secrets = [secret] if isinstance(secret, str) else list(secret or ())
    if not secrets or not all(isinstance(one, str) and one for one in secrets):
        raise ValueError("`secret` is missing.")
    seconds, digest = _parse(signature or "")
    raw = body.encode() if isinstance(body, str) else bytes(body)
    if not _is_signed(raw, seconds, digest, secrets):
        _refuse_signature()
    now = time.time() if now_seconds is None else now_seconds
    if not abs(now - int(seconds)) <= tolerance_seconds:
        raise WebhookVerificationError("stale", f"This was signed more than {tolerance_seconds:g} seconds from now.")
    return _event_of(raw)


def _refuse_signature() -> NoReturn:
    raise WebhookVerificationError("signature", "This was not signed with this secret, or the body is not the raw one.")


def _parse(header: str) -> tuple[str, str]:
    """Reads ``t`` and ``v1`` in any order. Ignores other elements, so that a later scheme can be added as ``v2``."""
    found: dict[str, str] = {}
    for element in header.split(","):
        name, _, value = element.strip().partition("=")
        found[name] = "" if name in found else value  # A repeated element is ambiguous, so it counts as missing.
    seconds, digest = found.get("t", ""), found.get("v1", "")
    if _SECONDS.fullmatch(seconds) is None or digest == "":
        raise WebhookVerificationError("header", "The header `x-service-signature` is missing or malformed.")
    return seconds, digest


def _is_signed(raw: bytes, seconds: str, digest: str, secrets: Sequence[str]) -> bool:
    """Compares in constant time, and with every secret, so that the time reveals nothing."""
    given = digest.encode("utf-8", "surrogatepass")
    matches = [hmac.compare_digest(_digest_of(one, seconds, raw).encode(), given) for one in secrets]
    return any(matches)


def _digest_of(secret: str, seconds: str, raw: bytes) -> str:
    return hmac.new(secret.encode(), seconds.encode() + b"." + raw, hashlib.sha256).hexdigest()


def _event_of(raw: bytes) -> WebhookEvent:
    try:
        return read_event(json.loads(raw.decode("utf-8-sig", "replace")))
    except (Malformed, ValueError, RecursionError):
        pass  # Reported below, without the body.
    raise WebhookVerificationError("body", "This is signed, but not an event.")


@dataclass(frozen=True)
class TestDelivery:
    """A delivery as the service would send it."""

    __test__ = False  # pytest would take the name for a test.

    body: bytes
    headers: Mapping[str, str] = field(repr=False)


def sign_test_payload(
    event: WebhookEvent | Mapping[str, Any], *, secret: str, seconds: int | None = None, attempt: int = 1
) -> TestDelivery:
    """Returns the body and headers of a delivery as the service would send it, to test an endpoint with.

    ``event`` may also be the JSON object itself. ``seconds`` is when it was signed, now by default. ``attempt`` is the
    number of the attempt, 1 to 6.
    """
    sent = dict(event) if isinstance(event, Mapping) else {name: write(event)[name] for name in _NAMES}
    body = json.dumps(sent, separators=(",", ":"), ensure_ascii=False).encode()
    signed = int(time.time()) if seconds is None else seconds
    headers = {
        "content-type": "application/json",
        "user-agent": "service-webhooks/1",
        "x-service-event-id": sent["id"],
        "x-service-event-type": sent["type"],
        "x-service-delivery-attempt": str(attempt),
        "x-service-signature": f"t={signed},v1={_digest_of(secret, str(signed), body)}",
    }
    return TestDelivery(body=body, headers=headers)
