import json
import sys

# settings
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

# end

order = json.loads(sys.argv[1])
base_url, key, user = order["baseUrl"], order["key"], order["user"]
# settings
client = AsyncOpenAI(base_url=base_url, api_key=key, default_headers={"x-service-user": user})
model = OpenAIResponsesModel("large", provider=OpenAIProvider(openai_client=client))
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
