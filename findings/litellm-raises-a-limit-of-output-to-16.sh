#!/usr/bin/env bash
# LiteLLM raises a limit of output below 16 to 16 when it speaks Responses, and says nothing of it.
#
# Versions: litellm 1.110.2; Python 3.10 or newer, pip.
# Behaviour: a call with `max_output_tokens` 3 reaches the provider with 16, because OpenAI takes no less. This holds for every provider
#   that LiteLLM calls as `openai/` or `hosted_vllm/`, whatever its own lowest limit is, by the library and by its proxy. The same limit on
#   chat completions is left as it is. The answer repeats neither number.
# Why it matters to a metered gateway: a limit is what a hold is reckoned from, and what a caller agreed to pay for. Behind such a proxy an
#   answer has up to five times its limit. The gateway must refuse a limit below 16, or hold for 16.
# Output seen:
#   Responses: asked for 3, the provider was asked for 16
#   chat completions: asked for 3, the provider was asked for 3
# Exits 1 if any of this changes.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check litellm==1.110.2

cat > try.py <<'END'
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import litellm

asked = []


class Provider(BaseHTTPRequestHandler):
    def do_POST(self):
        asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
        text = {"type": "output_text", "text": "Hi", "annotations": []}
        answer = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
        answer["output"] = [{**message, "content": [text]}]
        answer["usage"] = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        if self.path.endswith("/chat/completions"):
            choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()
settings = {"model": "openai/m", "api_base": f"http://127.0.0.1:{server.server_port}/v1", "api_key": "k"}
litellm.responses(input="Hello", max_output_tokens=3, **settings)
print(f"Responses: asked for 3, the provider was asked for {asked[-1]['max_output_tokens']}")
litellm.completion(messages=[{"role": "user", "content": "Hello"}], max_tokens=3, **settings)
print(f"chat completions: asked for 3, the provider was asked for {asked[-1]['max_tokens']}")
END
seen=$(LITELLM_LOCAL_MODEL_COST_MAP=True NO_PROXY=127.0.0.1 python/bin/python try.py 2> said) || { cat said; exit 1; }
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'END'
Responses: asked for 3, the provider was asked for 16
chat completions: asked for 3, the provider was asked for 3
END
