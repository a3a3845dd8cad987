import json
import sys

# settings
from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI

# end

order = json.loads(sys.argv[1])
base_url, key, user = order["baseUrl"], order["key"], order["user"]
# settings
set_default_openai_client(
    AsyncOpenAI(base_url=base_url, api_key=key, default_headers={"x-service-user": user}),
    use_for_tracing=False,
)
set_tracing_disabled(True)  # Otherwise it sends what it does to its vendor.
# end


@function_tool
def forecast(city: str) -> str:
    """Tells the weather."""
    return f"Sun in {city}."


agent = Agent(name="weather", instructions="Be brief.", model="large", tools=[forecast])
try:
    print(json.dumps({"text": Runner.run_sync(agent, "Hello").final_output, "failure": None}))
except Exception as error:
    print(json.dumps({"text": "", "failure": f"{type(error).__name__}: {error}"}))
