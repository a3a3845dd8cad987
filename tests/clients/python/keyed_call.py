"""One call with a key of its own, as the guide for app developers shows it. The client gives up and retries."""

import json
import sys
from uuid import uuid4

from openai import OpenAI

order = json.loads(sys.argv[1])
client = OpenAI(
    base_url=order["baseUrl"],
    api_key=order["key"],
    default_headers={"x-service-user": order["user"]},
    timeout=1,
)
answer = client.chat.completions.create(
    model="large",
    messages=[{"role": "user", "content": "Hello"}],
    extra_headers={"idempotency-key": str(uuid4())},
)
print(answer.choices[0].message.content)
