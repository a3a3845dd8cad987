import json
import os
import sys
import tempfile

order = json.loads(sys.argv[1])
directory = tempfile.TemporaryDirectory()
os.environ.update(MEM0_DIR=directory.name, MEM0_TELEMETRY="False")
# settings
from mem0 import Memory

# end

base_url, key, dimensions = order["baseUrl"], order["key"], order["dimensions"]
folder = os.path.join(directory.name, "vectors")
# settings
service = {"api_key": key, "openai_base_url": base_url}
embedder = {**service, "model": "vectors", "embedding_dims": dimensions}
store = {"embedding_model_dims": dimensions, "path": folder}
memory = Memory.from_config(
    {
        "llm": {"provider": "openai", "config": {**service, "model": "large"}},
        "embedder": {"provider": "openai", "config": embedder},
        "vector_store": {"provider": "qdrant", "config": store},
    }
)
# end

try:
    for text in order["texts"]:
        memory.add(text, user_id="anna", infer=False)
    found = memory.search(order["query"], filters={"user_id": "anna"})["results"]
    print(json.dumps({"found": [each["memory"] for each in found], "failure": None}))
except Exception as error:
    print(json.dumps({"found": [], "failure": f"{type(error).__name__}: {error}"}))
