"""The calls to the service, as requests and ways to read their answers. Sync and async clients share them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from .errors import ServiceApiError
from .failure import refusal_of
from .retries import FailedCalls
from .transport import HttpAnswer, HttpRequest
from .version import VERSION
from .wire import Balance, ConnectLink, Malformed, Receipt, UsageSummary, read

T = TypeVar("T")

_KEY = re.compile(r"[\x21-\x7e]+")
_ROOT = re.compile(r"https?://[^/@?#\s]+(/[^?#\s]*)?", re.IGNORECASE)
_USER_ID = re.compile(r"[\x21-\x7e]{1,256}")


@dataclass(frozen=True)
class Access:
    """How to reach the service. All values have been checked."""

    root: str
    """The root address, without a slash at its end."""
    api_key: str = field(repr=False)
    timeout_seconds: float
    failed_calls: FailedCalls = field(default_factory=FailedCalls, repr=False)

    @property
    def is_sandbox(self) -> bool:
        return self.api_key.startswith("svc_test_")


def access_to(base_url: str, api_key: str, timeout_seconds: float) -> Access:
    """Checks how to reach the service. Raises ``ValueError`` if the address or the key is malformed."""
    if not isinstance(api_key, str) or _KEY.fullmatch(api_key) is None:
        raise ValueError("`api_key` is missing or malformed.")
    return Access(root=_root_of(base_url), api_key=api_key, timeout_seconds=timeout_seconds)


def _root_of(base_url: str) -> str:
    root = base_url.rstrip("/") if isinstance(base_url, str) else ""
    if _ROOT.fullmatch(root) is not None and not root.endswith("/v1") and _has_valid_port(root):
        return root
    # Without the address: it may hold a password.
    raise ValueError("`base_url` must be the root address of the service, such as https://purser.example, without /v1.")


def _has_valid_port(address: str) -> bool:
    try:
        return urlsplit(address).port is None or True
    except ValueError:
        return False


def checked_user(user_id: str) -> str:
    # A missing name would become the text `None`: one wallet shared by all users without a name.
    if not isinstance(user_id, str) or _USER_ID.fullmatch(user_id) is None:
        raise ValueError("`user_id` must be 1 to 256 visible ASCII characters, without spaces.")
    return user_id


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and the class of its answer."""

    request: HttpRequest
    root: str
    kind: type[T]

    def read(self, answer: HttpAnswer) -> T:
        """Raises every refusal."""
        refusal = refusal_of(answer.status, answer.headers, answer.body)
        if refusal is not None:
            raise refusal
        try:
            return read(self.kind, json.loads(answer.body))
        except (Malformed, ValueError, RecursionError):
            correlation_id = answer.headers.get("x-correlation-id", "")
        message = f"The server at {self.root} is not Purser."
        raise ServiceApiError(status=answer.status, code="UNKNOWN", message=message, correlation_id=correlation_id)


@dataclass(frozen=True)
class UserCalls:
    """The calls about one user."""

    access: Access
    user_id: str

    def balance(self, correlation_id: str | None) -> Call[Balance]:
        return self._call(Balance, "/balance", correlation_id)

    def connect(
        self, redirect_uri: str, state: str | None, user_label: str | None, correlation_id: str | None
    ) -> Call[ConnectLink]:
        given = {"redirectUri": redirect_uri, "state": state, "userLabel": user_label}
        body = {name: value for name, value in given.items() if value is not None}
        return self._call(ConnectLink, "/connect", correlation_id, body)

    def usage_summary(self, month: str | None, correlation_id: str | None) -> Call[UsageSummary]:
        query = "" if month is None else f"?{urlencode({'month': month})}"
        return self._call(UsageSummary, f"/usage/summary{query}", correlation_id)

    def receipt(self, call_id: str, correlation_id: str | None) -> Call[Receipt]:
        return self._call(Receipt, f"/calls/{quote(call_id, safe='')}", correlation_id)

    def _call(
        self, kind: type[T], path: str, correlation_id: str | None, body: Mapping[str, str] | None = None
    ) -> Call[T]:
        headers = {
            "authorization": f"Bearer {self.access.api_key}",
            "x-service-user": self.user_id,
            "accept": "application/json",
            "user-agent": f"purser-python/{VERSION}",
        }
        if body is not None:
            headers["content-type"] = "application/json"
        if correlation_id is not None:
            headers["x-correlation-id"] = correlation_id
        request = HttpRequest(
            method="GET" if body is None else "POST",
            url=f"{self.access.root}{path}",
            headers=headers,
            body=None if body is None else json.dumps(body).encode(),
            timeout_seconds=self.access.timeout_seconds,
        )
        return Call(request=request, root=self.access.root, kind=kind)
