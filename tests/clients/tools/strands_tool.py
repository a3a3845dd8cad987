import json
import sys

# settings
from strands import Agent
from strands.models.openai import OpenAIModel

# end

order = json.loads(sys.argv[1])
base_url, key, user = order["baseUrl"], order["key"], order["user"]
# settings
model = OpenAIModel(
    client_args={
        "base_url": base_url,
        "api_key": key,
        "default_headers": {"x-service-user": user},
    },
    model_id="large",
)
agent = Agent(model=model)
# end
agent.callback_handler = lambda **_: None

try:
    print(json.dumps({"text": str(agent("Hello")).strip(), "failure": None}))
except Exception as error:
    print(json.dumps({"text": "", "failure": f"{type(error).__name__}: {error}"}))
