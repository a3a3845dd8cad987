import json
import sys

# settings
import dspy

# end

order = json.loads(sys.argv[1])
base_url, key, user = order["baseUrl"], order["key"], order["user"]
more = {"timeout": order["timeoutSeconds"]} if "timeoutSeconds" in order else {}
# settings
lm = dspy.LM(
    "openai/large",
    api_base=base_url,
    api_key=key,
    extra_headers={"x-service-user": user},
    # end
    cache=False,
    **more,
    # settings
)
dspy.configure(lm=lm)
# end

try:
    print(json.dumps({"text": lm("Hello")[0], "failure": None}))
except Exception as error:
    print(json.dumps({"text": "", "failure": f"{type(error).__name__}: {error}"}))
