"""The settings and errors with the real clients, each if it is installed."""

import asyncio
import importlib.util
import unittest
from collections.abc import Callable
from typing import Any

from purser import (
    AsyncPurser,
    Charge,
    PaymentRequiredError,
    PurserError,
    ServiceApiError,
    as_payment_required,
    guard,
)
from test_service import TOLD, WHY, purser_by

Says = Callable[[Any, str, str], str]
"""A call with the settings of a user: which model, and what to say. Returns the text of the answer."""


def messages(text: str) -> Any:
    return [{"role": "user", "content": text}]


def by_openai(user: Any, model: str, text: str) -> str:
    from openai import OpenAI

    answer = OpenAI(**user.openai()).chat.completions.create(model=model, messages=messages(text))
    return answer.choices[0].message.content or ""


def by_openai_streamed(user: Any, model: str, text: str) -> str:
    from openai import OpenAI

    stream = OpenAI(**user.openai()).chat.completions.create(model=model, messages=messages(text), stream=True)
    return "".join(choice.delta.content or "" for chunk in stream for choice in chunk.choices)


def by_async_openai(user: Any, model: str, text: str) -> str:
    from openai import AsyncOpenAI

    async def run() -> str:
        client = AsyncOpenAI(**user.async_openai())
        answer = await client.chat.completions.create(model=model, messages=messages(text))
        return answer.choices[0].message.content or ""

    return asyncio.run(run())


def by_async_openai_streamed(user: Any, model: str, text: str) -> str:
    from openai import AsyncOpenAI

    async def run() -> str:
        client = AsyncOpenAI(**user.async_openai())
        stream = await client.chat.completions.create(model=model, messages=messages(text), stream=True)
        return "".join([choice.delta.content or "" async for chunk in stream for choice in chunk.choices])

    return asyncio.run(run())


def by_langchain(user: Any, model: str, text: str) -> str:
    from langchain_openai import ChatOpenAI

    return str(ChatOpenAI(model=model, **user.langchain()).invoke(text).content)


def by_langchain_streamed(user: Any, model: str, text: str) -> str:
    from langchain_openai import ChatOpenAI

    async def run() -> str:
        chat = ChatOpenAI(model=model, **user.langchain())
        return "".join([str(part.content) async for part in chat.astream(text)])

    return asyncio.run(run())


def by_litellm(user: Any, model: str, text: str) -> str:
    import litellm

    litellm.suppress_debug_info = True
    answer: Any = litellm.completion(model=f"openai/{model}", messages=messages(text), **user.litellm())
    return str(answer.choices[0].message.content)


def by_litellm_streamed(user: Any, model: str, text: str) -> str:
    import litellm

    litellm.suppress_debug_info = True
    stream: Any = litellm.completion(model=f"openai/{model}", messages=messages(text), stream=True, **user.litellm())
    return "".join(choice.delta.content or "" for chunk in stream for choice in chunk.choices)


def by_async_litellm(user: Any, model: str, text: str) -> str:
    import litellm

    litellm.suppress_debug_info = True

    async def run() -> str:
        settings = user.async_litellm()
        answer: Any = await litellm.acompletion(model=f"openai/{model}", messages=messages(text), **settings)
        return str(answer.choices[0].message.content)

    return asyncio.run(run())


def by_pydantic_ai(user: Any, model: str, text: str) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    chat = OpenAIChatModel(model, provider=OpenAIProvider(**user.pydantic_ai()))
    return str(Agent(chat).run_sync(text).output)


def by_pydantic_ai_streamed(user: Any, model: str, text: str) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async def run() -> str:
        chat = OpenAIChatModel(model, provider=OpenAIProvider(**user.pydantic_ai()))
        async with Agent(chat).run_stream(text) as answer:
            return str(await answer.get_output())

    return asyncio.run(run())


def by_anthropic(user: Any, model: str, text: str) -> str:
    from anthropic import Anthropic

    answer = Anthropic(**user.anthropic()).messages.create(model=model, messages=messages(text), max_tokens=100)
    return "".join(block.text for block in answer.content if block.type == "text")


def by_anthropic_streamed(user: Any, model: str, text: str) -> str:
    from anthropic import Anthropic

    client = Anthropic(**user.anthropic())
    with client.messages.stream(model=model, messages=messages(text), max_tokens=100) as stream:
        return "".join(stream.text_stream)


def by_async_anthropic(user: Any, model: str, text: str) -> str:
    from anthropic import AsyncAnthropic

    async def run() -> str:
        client = AsyncAnthropic(**user.async_anthropic())
        answer = await client.messages.create(model=model, messages=messages(text), max_tokens=100)
        return "".join(block.text for block in answer.content if block.type == "text")

    return asyncio.run(run())


class Cases:
    """The same promises for every client. A subclass names the module that has to be installed, and the calls."""

    module = ""
    calls: tuple[Says, ...] = ()

    @classmethod
    def setUpClass(cls) -> None:
        if not TOLD:
            raise unittest.SkipTest(WHY)
        if importlib.util.find_spec(cls.module) is None:
            raise unittest.SkipTest(f"`{cls.module}` is not installed")

    def each(self: Any) -> Any:
        for says in self.calls:
            with self.subTest(says.__name__):
                yield says

    def test_it_is_answered_and_the_app_learns_the_charge_of_that_user(self: Any) -> None:
        for says in self.each():
            for purser in (purser_by(), AsyncPurser(base_url=TOLD["url"], api_key=TOLD["liveKey"])):
                charges: list[Charge] = []
                before = purser_by().balance("anna").balance_micros
                with guard():
                    said = says(purser.for_user("anna", on_charge=charges.append), "echo", "Hello")
                self.assertIn("simulator", said)
                spent = before - purser_by().balance("anna").balance_micros
                self.assertEqual([(one.charge_micros, one.is_replayed) for one in charges], [(spent, False)])
                self.assertEqual(purser_by().receipt("anna", charges[0].call_id).charged_micros, spent)

    def test_a_402_becomes_a_payment_required_error_with_its_code_and_its_link(self: Any) -> None:
        for says in self.each():
            for user, code, has_link in (
                ("nobody", "PAYMENT_REQUIRED", True),
                ("capped", "APP_SPEND_CAP_EXCEEDED", True),
                ("blocked", "WALLET_SUSPENDED", False),
            ):
                with self.assertRaises(PaymentRequiredError) as raised, guard():
                    says(purser_by().for_user(user), "echo", "Hello")
                error = raised.exception
                self.assertEqual((error.code, error.topup_url is not None), (code, has_link))
                self.assertRegex(error.correlation_id, "^cor_")
                self.assertRegex(error.message, r"^[A-Z].{10,}\.(?: https:\S+)?$")
                self.assertIsNone(error.__context__)

    def test_any_other_error_stays_the_clients_own(self: Any) -> None:
        for says in self.each():
            for model, key in (("unheard-of", ""), ("echo", "svc_live_nobody")):
                with self.assertRaises(Exception) as raised, guard():
                    says(purser_by(key).for_user("anna"), model, "Hello")
                self.assertNotIsInstance(raised.exception, (PurserError, ServiceApiError))
                self.assertIsNone(as_payment_required(raised.exception))


class OpenAITest(Cases, unittest.TestCase):
    module = "openai"
    calls = (by_openai, by_openai_streamed, by_async_openai, by_async_openai_streamed)


class AnthropicTest(Cases, unittest.TestCase):
    module = "anthropic"
    calls = (by_anthropic, by_anthropic_streamed, by_async_anthropic)


class LangChainTest(Cases, unittest.TestCase):
    module = "langchain_openai"
    calls = (by_langchain, by_langchain_streamed)


class LiteLLMTest(Cases, unittest.TestCase):
    module = "litellm"
    calls = (by_litellm, by_litellm_streamed, by_async_litellm)


class PydanticAITest(Cases, unittest.TestCase):
    module = "pydantic_ai"
    calls = (by_pydantic_ai, by_pydantic_ai_streamed)
