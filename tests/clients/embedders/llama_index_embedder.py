import json
import sys

# settings
from llama_index.embeddings.openai import OpenAIEmbedding

# end

order = json.loads(sys.argv[1])
base_url, key, user = order["baseUrl"], order["key"], order["user"]
# settings
embedding = OpenAIEmbedding(
    model_name="vectors",
    api_base=base_url,
    api_key=key,
    default_headers={"x-service-user": user},
)
# end

try:
    vectors = [*embedding.get_text_embedding_batch(order["texts"]), embedding.get_query_embedding(order["query"])]
    print(json.dumps({"vectors": vectors, "failure": None}))
except Exception as error:
    print(json.dumps({"vectors": [], "failure": f"{type(error).__name__}: {error}"}))
