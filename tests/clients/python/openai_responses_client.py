import json

from answer import Answer
from openai import OpenAI
from worker import failure_of, serve


def ask(order):
    client = OpenAI(
        base_url=order["baseUrl"],
        api_key=order["key"],
        default_headers={"x-service-user": order["user"]},
    )
    body = order["body"]
    heard = {"text": "", "calls": [], "usage": None}
    try:
        if order["stream"]:
            listen(client, order, heard)
        elif "text" in body:
            del body["text"]
            # settings
            response = client.responses.parse(**body, text_format=Answer)  # A model of pydantic.
            # end
            hear(response, heard)
            heard["text"] = response.output_parsed.model_dump_json()
        else:
            # settings
            response = client.responses.create(**body)
            # end
            hear(response, heard)
    except Exception as error:
        response = getattr(error, "response", None)
        heard["failure"] = failure_of(error, response.headers if response is not None else None)
    return heard


def listen(client, order, heard):
    body = order["body"]
    # settings
    with client.responses.stream(**body) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                heard["text"] += event.delta
            # end
            if order["leaves"] and heard["text"]:
                return
        # settings
        response = stream.get_final_response()
    # end
    hear(response, heard)


def hear(response, heard):
    heard["text"] = response.output_text
    heard["calls"] = [
        {"id": item.call_id, "name": item.name, "arguments": json.loads(item.arguments)}
        for item in response.output
        if item.type == "function_call"
    ]
    usage = response.usage
    heard["usage"] = usage and {"prompt": usage.input_tokens, "completion": usage.output_tokens}


serve(ask)
