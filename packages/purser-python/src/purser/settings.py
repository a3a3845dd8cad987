"""The settings of chat clients for one user. Nothing here needs a client to be installed."""

from __future__ import annotations

import importlib
from typing import Any, TypedDict

from .api import Access, UserCalls, checked_user
from .charge import OnCharge
from .http_clients import ChatWatch, async_http_client, http_client


class _OpenAISettings(TypedDict):
    base_url: str
    api_key: str
    default_headers: dict[str, str]


class OpenAISettings(_OpenAISettings, total=False):
    http_client: Any
    """Sends an idempotency key with each chat call. It is left out if ``openai`` is not installed."""


class LiteLLMSettings(TypedDict):
    api_base: str
    api_key: str
    extra_headers: dict[str, str]
    client: Any
    """A client of ``openai``, which LiteLLM is built on."""


class UserSettings:
    """What ``PurserUser`` and ``AsyncPurserUser`` have in common."""

    user_id: str
    base_url: str
    """The base address for chat clients: the root address and ``/v1``."""
    headers: dict[str, str]
    """Tells the service which user pays."""

    def __init__(self, access: Access, user_id: str, on_charge: OnCharge | None) -> None:
        self.user_id = checked_user(user_id)
        self.base_url = f"{access.root}/v1"
        self.headers = {"x-service-user": user_id}
        self._access = access
        self._calls = UserCalls(access, user_id)
        urls = frozenset(f"{self.base_url}/{path}" for path in ("chat/completions", "responses", "messages", "embeddings"))
        self._watch = ChatWatch(urls, access.failed_calls, on_charge)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.user_id!r})"

    @property
    def api_key(self) -> str:
        """The app's key."""
        return self._access.api_key

    def openai(self) -> OpenAISettings:
        """Returns the options of ``OpenAI(**...)``, each time with a new HTTP client, as ``OpenAI`` has one."""
        return self._openai(http_client(self._watch))

    def async_openai(self) -> OpenAISettings:
        """Returns the options of ``AsyncOpenAI(**...)``."""
        return self._openai(async_http_client(self._watch))

    def langchain(self) -> dict[str, Any]:
        """Returns the options of ``ChatOpenAI(model=..., **...)`` of LangChain, sync and async."""
        clients = {"http_client": http_client(self._watch), "http_async_client": async_http_client(self._watch)}
        return {**self._openai(None), **clients}

    def anthropic(self) -> OpenAISettings:
        """Returns the options of ``Anthropic(**...)``, whose base address is the root."""
        return {**self._openai(http_client(self._watch, "anthropic")), "base_url": self._access.root}

    def async_anthropic(self) -> OpenAISettings:
        """Returns the options of ``AsyncAnthropic(**...)``."""
        return {**self._openai(async_http_client(self._watch, "anthropic")), "base_url": self._access.root}

    def litellm(self) -> LiteLLMSettings:
        """Returns the options of ``litellm.completion(model="openai/...", **...)``."""
        return self._litellm(_openai_module().OpenAI(**self.openai()))

    def async_litellm(self) -> LiteLLMSettings:
        """Returns the options of ``litellm.acompletion(model="openai/...", **...)``."""
        return self._litellm(_openai_module().AsyncOpenAI(**self.async_openai()))

    def pydantic_ai(self) -> dict[str, Any]:
        """Returns the options of ``OpenAIChatModel(..., provider=OpenAIProvider(**...))`` of Pydantic AI."""
        return {"openai_client": _openai_module().AsyncOpenAI(**self.async_openai())}

    def _openai(self, client: Any) -> OpenAISettings:
        settings: OpenAISettings = {
            "base_url": self.base_url,
            "api_key": self.api_key,
            "default_headers": dict(self.headers),
        }
        return settings if client is None else {**settings, "http_client": client}

    def _litellm(self, client: Any) -> LiteLLMSettings:
        headers = dict(self.headers)
        return {"api_base": self.base_url, "api_key": self.api_key, "extra_headers": headers, "client": client}


def _openai_module() -> Any:
    """LiteLLM and Pydantic AI call through ``openai``, so it is there if they are."""
    return importlib.import_module("openai")
