"""Reads events of streams and Responses, one a line, and prints what the strict models of the vendor's library say is wrong."""

import json
import sys

from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter, ValidationError

EVENT = TypeAdapter(ResponseStreamEvent)
RESPONSE = TypeAdapter(Response)

for line in sys.stdin:
    kind, name, value = json.loads(line)
    model = EVENT if kind == "event" else RESPONSE
    try:
        model.validate_json(json.dumps(value), strict=True)
    except ValidationError as fault:
        # Only what is said of the event's own type: the union has fifty.
        own = [error for error in fault.errors() if "type" not in error["loc"]]
        print(name, value.get("type"), [(error["loc"][1:], error["msg"]) for error in own][:3])
