# settings
from anthropic import Anthropic

# end
from answer import Answer
from worker import failure_of, serve


def connect(base_url, key, user):
    root_url = base_url.removesuffix("/v1")
    # settings
    client = Anthropic(
        base_url=root_url,
        api_key=key,
        default_headers={"x-service-user": user},
    )
    # end
    return client


def ask(order):
    client = connect(order["baseUrl"], order["key"], order["user"])
    body = order["body"]
    heard = {"text": "", "calls": [], "usage": None}
    try:
        if order["stream"]:
            listen(client, order, heard)
        elif "output_config" in body:
            del body["output_config"]
            # settings

            message = client.messages.parse(**body, output_format=Answer)  # A model of pydantic.
            # end
            hear(message, heard)
            heard["text"] = message.parsed_output.model_dump_json()
        else:
            # settings

            message = client.messages.create(**body)
            # end
            hear(message, heard)
    except Exception as error:
        heard["failure"] = failed(error)
    return heard


def listen(client, order, heard):
    body = order["body"]
    # settings

    with client.messages.stream(**body) as stream:
        for text in stream.text_stream:
            heard["text"] += text
            # end
            if order["leaves"]:
                return
        # settings
        message = stream.get_final_message()
    # end
    hear(message, heard)


def hear(message, heard):
    heard["text"] = "".join(block.text for block in message.content if block.type == "text")
    heard["calls"] = [
        {"id": block.id, "name": block.name, "arguments": block.input}
        for block in message.content
        if block.type == "tool_use"
    ]
    heard["usage"] = {"prompt": message.usage.input_tokens, "completion": message.usage.output_tokens}


def failed(error):
    """The fields of an exception, whose body has the code within."""
    response = getattr(error, "response", None)
    failure = failure_of(error, response.headers if response is not None else None)
    body = getattr(error, "body", None)
    code = body.get("error", {}).get("code") if isinstance(body, dict) else None
    return {**failure, "code": code}


serve(ask)
