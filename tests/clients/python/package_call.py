"""One call with the settings of the Python package, for the client that is named. The client gives up and retries."""

import asyncio
import json
import sys
from types import SimpleNamespace

from purser import Purser

order = json.loads(sys.argv[1])
charges = []
user = Purser(base_url=order["url"], api_key=order["key"]).for_user(order["user"], on_charge=charges.append)
messages = [{"role": "user", "content": "Hello"}]


def by_openai():
    from openai import OpenAI

    return OpenAI(**user.openai(), timeout=1).chat.completions.create(model="large", messages=messages)


def by_async_openai():
    from openai import AsyncOpenAI

    client = AsyncOpenAI(**user.async_openai(), timeout=1)
    return asyncio.run(client.chat.completions.create(model="large", messages=messages))


def by_langchain():
    from langchain_openai import ChatOpenAI

    content = ChatOpenAI(model="large", timeout=1, **user.langchain()).invoke("Hello").content
    return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=content))])


def by_litellm():
    import litellm

    return litellm.completion(model="openai/large", messages=messages, timeout=1, num_retries=3, **user.litellm())


answer = globals()[f"by_{order['client']}"]()
print(json.dumps({"text": answer.choices[0].message.content, "charges": [one.charge_micros for one in charges]}))
