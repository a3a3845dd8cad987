"""The service's answers and events. Amounts are whole micros, millionths of ``currency``."""

from __future__ import annotations

import re
import types
import typing
from collections import abc
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime, timezone
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast

T = TypeVar("T")


@dataclass(frozen=True)
class Balance:
    """A user's wallet for the app."""

    user_id: str
    balance_micros: int
    reserved_micros: int
    """What is set aside for running calls."""
    available_micros: int
    """What a call can spend: the balance less what is set aside."""
    currency: str
    spend_cap_micros: int | None
    """The most that the user lets the app spend in a month. It is None if there is no cap."""
    spent_this_month_micros: int
    status: Literal["active", "suspended"]


@dataclass(frozen=True)
class ConnectLink:
    """A link to the page where a user connects a wallet to the app."""

    connect_url: str
    """Send the user's browser to this address."""
    expires_at: datetime


@dataclass(frozen=True)
class ModelUsage:
    model: str
    requests: int
    prompt_tokens: int
    completion_tokens: int
    charged_micros: int


@dataclass(frozen=True)
class UsageSummary:
    """What a user spent through the app in a month."""

    user_id: str
    currency: str
    period_start: datetime
    period_end: datetime
    requests: int
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    charged_micros: int
    models: tuple[ModelUsage, ...]


@dataclass(frozen=True)
class ReceiptTokens:
    """The tokens of a call, by kind. No token counts in two parts. The parts with a default are sent only if not 0."""

    prompt: int
    cached: int
    """A part of ``prompt``, like the next one."""
    cache_write: int
    completion: int
    reasoning: int
    """A part of ``completion``."""
    cache_write_long: int = 0
    """A part of ``prompt``, like the next two: written to a cache for longer than usual."""
    audio_input: int = 0
    image_input: int = 0
    audio_output: int = 0
    """A part of ``completion``, like the next one."""
    image_output: int = 0


@dataclass(frozen=True, kw_only=True)
class ReceiptTier:
    """The prices of calls whose prompt has more tokens than this. A price of None is that of input or output."""

    above_input_tokens: int
    input_micros_per_million: int
    output_micros_per_million: int
    cached_input_micros_per_million: int | None = None
    cache_write_micros_per_million: int | None = None
    cache_write_long_micros_per_million: int | None = None
    audio_input_micros_per_million: int | None = None
    image_input_micros_per_million: int | None = None
    reasoning_micros_per_million: int | None = None
    audio_output_micros_per_million: int | None = None
    image_output_micros_per_million: int | None = None


@dataclass(frozen=True, kw_only=True)
class ReceiptPrice:
    """Prices of a million tokens. A price of None is that of input or output."""

    version: int
    input_micros_per_million: int
    cached_input_micros_per_million: int
    cache_write_micros_per_million: int
    output_micros_per_million: int
    margin_basis_points: int
    cache_write_long_micros_per_million: int | None = None
    audio_input_micros_per_million: int | None = None
    image_input_micros_per_million: int | None = None
    reasoning_micros_per_million: int | None = None
    audio_output_micros_per_million: int | None = None
    image_output_micros_per_million: int | None = None
    margin_micros_per_call: int | None = None
    micros_per_call: int | None = None
    micros_per_search: int | None = None
    tiers: tuple[ReceiptTier, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What a finished call used and cost."""

    call_id: str
    correlation_id: str | None
    user_id: str
    model: str | None
    """The model. Like ``price``, it is None if the service broke down during the call."""
    at: datetime
    outcome: Literal["answered", "abandoned", "failed", "expired"]
    estimated: bool
    """Whether the service counted the tokens itself, because the provider did not report them."""
    tokens: ReceiptTokens
    price: ReceiptPrice | None
    """The price that was in force when the call began."""
    held_micros: int
    charged_micros: int
    released_micros: int
    searches: int = 0
    """The number of web searches that the provider made."""
    late: bool = False
    """Whether it was charged after its hold had been released, because the gateway that answered was cut off."""
    session: str | None = None
    """The session that a coding agent named in a header of the call, while it can be looked up."""
    wire: str | None = None
    """The wire by which a call of a session came."""


@dataclass(frozen=True)
class BalanceLow:
    user_id: str
    available_micros: int
    threshold_micros: int
    currency: str


@dataclass(frozen=True)
class TopupCompleted:
    user_id: str
    balance_micros: int
    available_micros: int
    currency: str


@dataclass(frozen=True)
class ConnectionCreated:
    user_id: str
    connected_at: datetime


@dataclass(frozen=True, kw_only=True)
class _Event:
    id: str
    """The id of the event, which is the same in every delivery. Process each id once."""
    created_at: datetime
    """When the change happened, not when the event was sent."""
    app_id: str


@dataclass(frozen=True, kw_only=True)
class BalanceLowEvent(_Event):
    """The available balance fell below the threshold of the app's subscription."""

    data: BalanceLow
    type: Literal["balance.low"] = "balance.low"


@dataclass(frozen=True, kw_only=True)
class TopupCompletedEvent(_Event):
    """The user paid, and the money is in the wallet."""

    data: TopupCompleted
    type: Literal["topup.completed"] = "topup.completed"


@dataclass(frozen=True, kw_only=True)
class ConnectionCreatedEvent(_Event):
    """The user connected a wallet to the app for the first time."""

    data: ConnectionCreated
    type: Literal["connection.created"] = "connection.created"


@dataclass(frozen=True, kw_only=True)
class UnknownEvent(_Event):
    """An event of a later version of the service. Its data has the names of the wire, such as ``userId``."""

    data: Mapping[str, Any]
    type: str


WebhookEvent = Union[BalanceLowEvent, TopupCompletedEvent, ConnectionCreatedEvent, UnknownEvent]
"""An event as endpoints receive it. Its class says which one it is."""

_EVENTS: Mapping[str, type[WebhookEvent]] = {
    "balance.low": BalanceLowEvent,
    "topup.completed": TopupCompletedEvent,
    "connection.created": ConnectionCreatedEvent,
}


class Malformed(ValueError):
    """What was read is not of the wanted shape."""


def read_event(value: object) -> WebhookEvent:
    """Reads an event. Raises ``Malformed``."""
    given: Mapping[object, object] = cast("Mapping[object, object]", value) if isinstance(value, Mapping) else {}
    name = given.get("type")
    return read(_EVENTS.get(name, UnknownEvent) if isinstance(name, str) else UnknownEvent, given)


def read(kind: type[T], value: object) -> T:
    """Makes a dataclass of an object of the wire. Ignores fields that it does not know. Raises ``Malformed``."""
    if not isinstance(value, Mapping):
        raise Malformed(f"{kind.__name__} is not an object.")
    given = cast("Mapping[object, object]", value)
    hints = _hints_of(cast(Any, kind))
    found: dict[str, Any] = {}
    for field in fields(cast(Any, kind)):
        name = wire_name(field.name)
        if name in given:
            found[field.name] = _convert(hints[field.name], given[name], name)
        elif field.default is MISSING:
            raise Malformed(f"{kind.__name__} has no `{name}`.")
    return kind(**found)


def write(value: Any) -> Any:
    """Makes an object of the wire of a dataclass."""
    if is_dataclass(value):
        return {wire_name(field.name): write(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value


def wire_name(name: str) -> str:
    """Returns ``balanceMicros`` for ``balance_micros``."""
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


@cache
def _hints_of(kind: Any) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _convert(hint: Any, value: object, name: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or origin is Literal:  # A later version may know more values.
        return value
    if origin in (Union, types.UnionType):  # The only unions are those with None.
        return None if value is None else _convert(arguments[0], value, name)
    if origin is tuple and isinstance(value, list):
        return tuple(_convert(arguments[0], element, name) for element in cast("list[object]", value))
    if origin is abc.Mapping and isinstance(value, dict):
        return cast("dict[str, Any]", value)
    if is_dataclass(hint):
        return read(cast("type[Any]", hint), value)
    if hint is datetime and isinstance(value, str):
        try:
            return datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            raise Malformed(f"`{name}` is not a time.") from None
    # A bool is an int in Python, but not on the wire.
    if isinstance(hint, type) and isinstance(value, hint) and isinstance(value, bool) == (hint is bool):
        return value
    raise Malformed(f"`{name}` has another type.")
