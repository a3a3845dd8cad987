import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import { checkChoices } from '#providers/openai-compatible/choices.ts';
import { ChunkStream } from '#providers/openai-compatible/chunk-stream.ts';
import { errorOfFrame, errorOfStatus } from '#providers/openai-compatible/error.ts';
import { toRequest } from '#providers/openai-compatible/to-request.ts';
import { type Provider, UpstreamError } from '#providers/provider.ts';
import type { UpstreamHttp } from '#providers/upstream-http.ts';

/** A completion of all choices fits many times over; what is larger is no answer. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

interface AdapterOptions {
  readonly http: UpstreamHttp;
  /** Up to and including the version, as in `https://api.example.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/** A provider that speaks the compatible chat-completions format. */
export function createOpenAiCompatible({ http, baseUrl, apiKey }: AdapterOptions): Provider {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/chat/completions`);
  // Built from scratch: nothing that the caller's request carried can reach the provider in a header.
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'purser/1',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };

  const plain = http.endpoint(url, { ...headers, accept: 'application/json' });
  const streamed = http.endpoint(url, { ...headers, accept: 'text/event-stream' });

  return {
    complete: async (call) => {
      const body = toRequest(call, false);
      const { status, text } = await plain.whole(body, { msMax: call.timeoutMs, bytesMax: ANSWER_BYTES_MAX });
      if (text === undefined) throw errorOfStatus(status);
      return completionOf(parseJson(text));
    },
    stream: async (call, signal) => {
      const body = toRequest(call, true);
      const answer = await streamed.open(body, { silenceMsMax: call.timeoutMs, signal });
      if (answer.status === 200) return new ChunkStream(answer);
      answer.discard(); // Its text stays unread: it may hold anything.
      throw errorOfStatus(answer.status);
    },
  };
}

/** A plain answer, whole, or the error that it is instead. */
function completionOf(answer: unknown): JsonObject {
  if (!isJsonObject(answer)) throw new UpstreamError('malformed', 'The provider did not answer with JSON.');
  if (isJsonObject(answer['error'])) throw errorOfFrame(answer['error']);
  const { choices } = answer;
  if (!Array.isArray(choices) || choices.length === 0) {
    throw new UpstreamError('malformed', 'The provider did not answer with a completion.');
  }
  checkChoices(choices);
  if (!choices.every(isFinishedChoice)) {
    throw new UpstreamError('malformed', 'The provider did not answer with a completion.');
  }
  return answer;
}

function isFinishedChoice(choice: JsonObject): boolean {
  return (
    isJsonObject(choice['message']) && typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== ''
  );
}
