import json
import sys

# settings
from openai import OpenAI

# end

order = json.loads(sys.argv[1])
base_url, key, user = order["baseUrl"], order["key"], order["user"]
# settings
client = OpenAI(base_url=base_url, api_key=key, default_headers={"x-service-user": user})
# end

try:
    vectors = []
    for texts in (order["texts"], order["query"]):
        # settings
        answer = client.embeddings.create(model="vectors", input=texts)
        # end
        vectors += [each.embedding for each in answer.data]
    print(json.dumps({"vectors": vectors, "failure": None}))
except Exception as error:
    print(json.dumps({"vectors": [], "failure": f"{type(error).__name__}: {error}"}))
