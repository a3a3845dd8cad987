import json

# settings
from openai import OpenAI

# end
from worker import failure_of, serve, told_by, usage_of


def connect(base_url, key, user):
    # settings
    client = OpenAI(
        base_url=base_url,
        api_key=key,
        default_headers={"x-service-user": user},
    )
    # end
    return client


def ask(order):
    client = connect(order["baseUrl"], order["key"], order["user"])
    heard = {"text": "", "calls": [], "usage": None}
    try:
        if not order["stream"]:
            return told_by(client.chat.completions.create(**order["body"]))
        listen(client, order, heard)
    except Exception as error:
        response = getattr(error, "response", None)
        heard["failure"] = failure_of(error, response.headers if response is not None else None)
    return heard


def listen(client, order, heard):
    options = {"stream_options": {"include_usage": True}} if order["usage"] else {}
    calls = {}
    with client.chat.completions.create(**order["body"], **options, stream=True) as stream:
        for chunk in stream:
            heard["usage"] = usage_of(chunk) or heard["usage"]
            for choice in chunk.choices:
                heard["text"] += choice.delta.content or ""
                for part in choice.delta.tool_calls or []:
                    call = calls.setdefault(part.index, {"id": part.id, "name": part.function.name, "arguments": ""})
                    call["arguments"] += part.function.arguments or ""
            if order["leaves"] and heard["text"]:
                return
    heard["calls"] = [{**call, "arguments": json.loads(call["arguments"])} for call in calls.values()]


serve(ask)
