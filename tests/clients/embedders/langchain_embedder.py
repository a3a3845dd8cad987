import json
import sys

# settings
from langchain_openai import OpenAIEmbeddings

# end

order = json.loads(sys.argv[1])
base_url, key, user = order["baseUrl"], order["key"], order["user"]
# settings
embeddings = OpenAIEmbeddings(
    model="vectors",
    base_url=base_url,
    api_key=key,
    default_headers={"x-service-user": user},
    check_embedding_ctx_length=False,  # Otherwise it sends numbers of OpenAI's tokens, and fetches their list.
)
# end

try:
    vectors = [*embeddings.embed_documents(order["texts"]), embeddings.embed_query(order["query"])]
    print(json.dumps({"vectors": vectors, "failure": None}))
except Exception as error:
    print(json.dumps({"vectors": [], "failure": f"{type(error).__name__}: {error}"}))
