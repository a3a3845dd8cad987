"""Reads events of streams and Messages, one a line, and prints what the strict models of the vendor's library say is wrong."""

import json
import sys

from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter, ValidationError

EVENT = TypeAdapter(RawMessageStreamEvent)
MESSAGE = TypeAdapter(Message)

for line in sys.stdin:
    kind, name, value = json.loads(line)
    model = EVENT if kind == "event" else MESSAGE
    try:
        model.validate_json(json.dumps(value), strict=True)
    except ValidationError as fault:
        print(name, value.get("type"), [(error["loc"], error["msg"]) for error in fault.errors()][:3])
