import json
import sys

# settings
from anthropic import AsyncAnthropic
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

# end

order = json.loads(sys.argv[1])
root_url, key, user = order["baseUrl"].removesuffix("/v1"), order["key"], order["user"]
# settings
client = AsyncAnthropic(base_url=root_url, api_key=key, default_headers={"x-service-user": user})
model = AnthropicModel("large", provider=AnthropicProvider(anthropic_client=client))
agent = Agent(model)
# end


@agent.tool_plain
def forecast(city: str) -> str:
    """Tells the weather."""
    return f"Sun in {city}."


try:
    print(json.dumps({"text": agent.run_sync("Hello").output, "failure": None}))
except Exception as error:
    print(json.dumps({"text": "", "failure": f"{type(error).__name__}: {error}"}))
