import json
import sys

# settings
from langchain_anthropic import ChatAnthropic

# end

order = json.loads(sys.argv[1])
root_url, key, user = order["baseUrl"].removesuffix("/v1"), order["key"], order["user"]
# settings
model = ChatAnthropic(
    model="large",
    base_url=root_url,
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
