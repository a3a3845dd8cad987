"""What a type checker must accept and refuse in an app's code. It is checked in strict mode, and not run.

Each `type: ignore` is a mistake that the checker has to find: one that it does not find is reported as unused.
"""

from typing import Literal, assert_never

from litellm import completion
from openai import AsyncOpenAI, OpenAI
from pydantic_ai.providers.openai import OpenAIProvider

from purser import (
    AsyncPurser,
    BalanceLowEvent,
    Charge,
    ConnectionCreatedEvent,
    PaymentRequiredError,
    Purser,
    ServiceApiError,
    TopupCompletedEvent,
    UnknownEvent,
    WebhookEvent,
    guard,
)

purser = Purser(base_url="https://purser.test", api_key="k")
user = purser.for_user("anna", on_charge=lambda charge: print(charge.charge_micros + 1))
client = OpenAI(**user.openai())
async_client = AsyncOpenAI(**user.async_openai())
provider = OpenAIProvider(**user.pydantic_ai())
answer = completion(model="openai/demo", messages=[], **user.litellm())
charges: list[Charge] = []
purser.for_user("anna", on_charge=charges.append)
text: str = user.with_top_up(lambda: "text", on_top_up=lambda top_up: print(top_up.topup_url.upper()))
purser.balance()  # type: ignore[call-arg]
print(purser.balance("anna").month)  # type: ignore[attr-defined]
user.with_top_up(lambda: 1)  # type: ignore[call-arg]


def returns_after_a_guard() -> str:
    with guard():
        return "text"


async def use_async() -> str:
    async def call() -> str:
        return "text"

    own = AsyncPurser(base_url="https://purser.test", api_key="k").for_user("anna")
    micros: int = (await own.balance()).available_micros
    return str(micros) + await own.with_top_up(call, on_top_up=print)


def tell(error: PaymentRequiredError | ServiceApiError) -> str:
    if isinstance(error, ServiceApiError):
        return "later" if error.code == "TOO_MANY_REQUESTS" else str(error.status)
    link: str = error.topup_url  # type: ignore[assignment]
    if error.code == "UNHEARD_OF":  # type: ignore[comparison-overlap]
        return ""
    status: Literal[402] = error.status
    return f"{status}{link}"


def amount(event: WebhookEvent) -> int:
    if isinstance(event, BalanceLowEvent):
        return event.data.threshold_micros
    if isinstance(event, TopupCompletedEvent):
        return event.data.balance_micros
    if isinstance(event, ConnectionCreatedEvent):
        return event.data.connected_at.year
    if isinstance(event, UnknownEvent):
        return len(event.data)
    assert_never(event)
