"""Reads what we said on a wire, one value a line, and prints what the strict models of the vendor's library say is wrong with it."""

import importlib
import json
import sys

from pydantic import TypeAdapter, ValidationError

MODELS = {
    "chunk": ("openai.types.chat", "ChatCompletionChunk"),
    "completion": ("openai.types.chat", "ChatCompletion"),
    "event of Responses": ("openai.types.responses", "ResponseStreamEvent"),
    "response": ("openai.types.responses", "Response"),
    "event of Messages": ("anthropic.types", "RawMessageStreamEvent"),
    "message": ("anthropic.types", "Message"),
    "error of Messages": ("anthropic.types", "ErrorResponse"),
}
FAULTS_MAX = 20
adapters = {}
faults = []


def adapter(kind):
    if kind not in adapters:
        module, name = MODELS[kind]
        adapters[kind] = TypeAdapter(getattr(importlib.import_module(module), name))
    return adapters[kind]


for line in sys.stdin:
    kind, name, value = json.loads(line)
    try:
        adapter(kind).validate_json(json.dumps(value), strict=True)
    except ValidationError as fault:
        # Of a union with many members, only what is said of the value's own type.
        own = [error for error in fault.errors() if "type" not in error["loc"]] or fault.errors()
        faults.append((name, kind, value.get("type"), [(error["loc"], error["msg"]) for error in own][:3]))

for fault in faults[:FAULTS_MAX]:
    print(*fault)
