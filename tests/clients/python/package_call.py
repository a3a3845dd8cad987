"""One call with the settings of the Python package, for the client that is named, which gives up and retries."""

import asyncio
import json
import sys

from openai import AsyncOpenAI, OpenAI
from purser import Purser

order = json.loads(sys.argv[1])
charges = []
user = Purser(base_url=order["url"], api_key=order["key"]).for_user(order["user"], on_charge=charges.append)
messages = [{"role": "user", "content": "Hello"}]


def by_openai():
    return OpenAI(**user.openai(), timeout=1).chat.completions.create(model="large", messages=messages)


def by_async_openai():
    client = AsyncOpenAI(**user.async_openai(), timeout=1)
    return asyncio.run(client.chat.completions.create(model="large", messages=messages))


answer = globals()[f"by_{order['client']}"]()
print(json.dumps({"text": answer.choices[0].message.content, "charges": [one.charge_micros for one in charges]}))
