# settings
import litellm

# end
from worker import failure_of, serve, told_by

litellm.suppress_debug_info = True


def complete(base_url, key, user, **request):
    # settings
    answer = litellm.completion(
        **request,
        model="openai/large",
        api_base=base_url,
        api_key=key,
        extra_headers={"x-service-user": user},
    )
    # end
    return answer


def leave(answer):
    # settings

    answer.completion_stream.close()  # To leave a stream early. Otherwise the call goes on.
    # end


def ask(order):
    request = {**order["body"]}
    del request["model"]
    if order["stream"]:
        request["stream"] = True
        request["stream_options"] = {"include_usage": order["usage"]}
    chunks = []
    try:
        answer = complete(order["baseUrl"], order["key"], order["user"], **request)
        if not order["stream"]:
            return told_by(answer)
        for chunk in answer:
            chunks.append(chunk)
            if order["leaves"] and text_of(chunks):
                leave(answer)
                break
        return told_by(litellm.stream_chunk_builder(chunks))
    except Exception as error:
        failure = failure_of(error, getattr(error, "litellm_response_headers", None))
        return {"text": text_of(chunks), "calls": [], "failure": failure}


def text_of(chunks):
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


serve(ask)
