"""What a call was charged, from its answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Charge:
    call_id: str
    """For ``receipt``."""
    charge_micros: int
    is_replayed: bool
    """Whether the answer is that of an earlier call, given again. It was charged once, so do not count it twice."""


OnCharge = Callable[[Charge], object]

_END = re.compile(rb"\n: charge-micros=([0-9]+) call-id=\S+\n\n(?:data: \[DONE\]\n\n)?\Z")
"""The comment that ends a stream, and the frame behind it, which chat completions have. Text of a model cannot forge them:
it has no line breaks in a frame.
"""
_END_BYTES_MAX = 200


class ChargeWatch:
    """Calls ``on_charge`` with the charge of one answer. A call that was refused, that failed, or whose stream was left
    early has none.
    """

    def __init__(self, headers: Mapping[str, str], on_charge: OnCharge) -> None:
        self._headers = headers
        self._on_charge = on_charge
        self._tail = b""
        self._is_told = False

    def plain(self) -> None:
        self._tell(self._headers.get("x-service-charge-micros"))

    def streamed(self, part: bytes) -> None:
        """Reads a part of a stream, whose charge is known when its end has been read."""
        self._tail = (self._tail + part[-_END_BYTES_MAX:])[-_END_BYTES_MAX:]
        end = None if self._is_told else _END.search(self._tail)
        if end is not None:
            self._is_told = True
            self._tell(end[1].decode())

    def _tell(self, micros: str | None) -> None:
        call_id = self._headers.get("x-service-call-id")
        if micros and call_id:
            self._on_charge(Charge(call_id, int(micros), "x-service-replayed" in self._headers))
