import json
import sys

# settings
from langchain_openai import ChatOpenAI

# end

order = json.loads(sys.argv[1])
base_url, key, user = order["baseUrl"], order["key"], order["user"]
# settings
model = ChatOpenAI(
    model="large-codex",  # A name with `codex`, or one that begins as `gpt-6` does: it speaks the Responses wire.
    base_url=base_url,
    api_key=key,
    default_headers={"x-service-user": user},
)
# end


def forecast(city: str) -> str:
    """Tells the weather."""
    return f"Sun in {city}."


try:
    able = model.bind_tools([forecast])
    messages = [("user", "Hello")]
    while (answer := able.invoke(messages)).tool_calls:
        results = [{"role": "tool", "tool_call_id": call["id"], "content": forecast(**call["args"])} for call in answer.tool_calls]
        messages = [*messages, answer, *results]
    print(json.dumps({"text": answer.text, "failure": None}))
except Exception as error:
    print(json.dumps({"text": "", "failure": f"{type(error).__name__}: {error}"}))
