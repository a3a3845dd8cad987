"""Makes the calls of a test. Each call arrives as a line of JSON; a line goes back with what the client's user learned."""

import json
import sys

said = sys.stdout
sys.stdout = sys.stderr  # Keeps the output of libraries away from the answers.


def serve(ask):
    """Reports that it is ready, then makes one call at a time: libraries that load lazily fail if several calls come first."""
    print("{}", file=said, flush=True)
    for line in sys.stdin:
        print(json.dumps(ask(json.loads(line))), file=said, flush=True)


def told_by(completion):
    """The user's view of an answer in the compatible format."""
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
    """The fields of an exception of the vendor's library, or of a library built on it."""
    fields = getattr(error, "body", None)
    return {
        "message": str(error),
        "status": getattr(error, "status_code", None),
        "code": getattr(error, "code", None),
        "link": fields.get("topupUrl") if isinstance(fields, dict) else None,
        "linkInHeaders": headers.get("x-service-topup-url") if headers is not None else None,
    }
