import json
import sys

# settings
from agno.agent import Agent
from agno.models.openai import OpenAIResponses

# end

order = json.loads(sys.argv[1])
base_url, key, user = order["baseUrl"], order["key"], order["user"]


def forecast(city: str) -> str:
    """Tells the weather."""
    return f"Sun in {city}."


# settings
model = OpenAIResponses(
    id="large",
    base_url=base_url,
    api_key=key,
    default_headers={"x-service-user": user},
)
# end
agent = Agent(model=model, tools=[forecast], telemetry=False)
try:
    ran = agent.run("Hello")
    # It raises nothing: the answer of a run that failed is the message of the failure.
    isOk = ran.status.value == "COMPLETED"
    print(json.dumps({"text": ran.content if isOk else "", "failure": None if isOk else ran.content}))
except Exception as error:
    print(json.dumps({"text": "", "failure": f"{type(error).__name__}: {error}"}))
