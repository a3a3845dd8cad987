"""Idempotency keys for chat calls: a retry carries the key of the call that failed, so that it is not charged again."""

from __future__ import annotations

import hashlib
import threading
import uuid

CALLS_MAX = 10_000
"""The most calls whose keys are kept: about 2 MB, and more than an app has under way at once."""


class FailedCalls:
    """The keys of calls that failed and were not retried yet, by the digest of the call. Threads may share it.

    A retry is the same call for the same user after one that failed, no matter who makes it.
    """

    def __init__(self) -> None:
        self._keys: dict[bytes, list[str]] = {}
        self._lock = threading.Lock()

    def key_of(self, call: bytes) -> str:
        """Returns the key of a failed call like this one, which is then forgotten, or else a new key."""
        with self._lock:
            keys = self._keys.get(call)
            if not keys:
                return str(uuid.uuid4())
            key = keys.pop(0)
            if not keys:
                del self._keys[call]
            return key

    def remember(self, call: bytes, key: str) -> None:
        with self._lock:
            self._keys.setdefault(call, []).append(key)
            if len(self._keys) > CALLS_MAX:
                del self._keys[next(iter(self._keys))]  # The oldest.


def digest_of(user_id: str, url: str, body: bytes) -> bytes:
    """Returns a digest of what makes two chat calls the same call."""
    return hashlib.sha256(b"\n".join((user_id.encode(), url.encode(), body))).digest()
