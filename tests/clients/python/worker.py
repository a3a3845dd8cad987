"""Makes the calls of a test: a line of JSON comes in for each, and one goes out with what the client's user was told."""

import json
import sys

said = sys.stdout
sys.stdout = sys.stderr  # What a library prints is no answer.


def serve(ask):
    """Says that it is ready, then makes one call after the other: libraries that load parts of themselves late do not bear several at first."""
    print("{}", file=said, flush=True)
    for line in sys.stdin:
        print(json.dumps(ask(json.loads(line))), file=said, flush=True)


def told_by(completion):
    """What an answer in the shape of the compatible format tells."""
    message = completion.choices[0].message
    calls = [
        {"id": call.id, "name": call.function.name, "arguments": json.loads(call.function.arguments)}
        for call in message.tool_calls or []
    ]
    return {"text": message.content or "", "calls": calls, "usage": usage_of(completion)}


def usage_of(answer):
    usage = getattr(answer, "usage", None)
    return usage and {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens}


def failure_of(error, headers):
    """What can be read from an exception of the vendor's library, and of those that are made of it."""
    fields = getattr(error, "body", None)
    return {
        "message": str(error),
        "status": getattr(error, "status_code", None),
        "code": getattr(error, "code", None),
        "link": fields.get("topupUrl") if isinstance(fields, dict) else None,
        "linkInHeaders": headers.get("x-service-topup-url") if headers is not None else None,
    }
