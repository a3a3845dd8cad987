import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import { checkChoices } from '#providers/openai-compatible/choices.ts';
import { createChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import { errorOfFrame, errorOfStatus } from '#providers/openai-compatible/error.ts';
import { createSilence } from '#providers/openai-compatible/silence.ts';
import { toRequest } from '#providers/openai-compatible/to-request.ts';
import { type Provider, type StreamChunk, UpstreamError } from '#providers/provider.ts';
import type { OpenAnswer } from '#providers/http/open-exchange.ts';
import type { UpstreamHttp } from '#providers/upstream-http.ts';

/** A completion of all choices fits many times over; what is larger is no answer. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/** How long a body may go on after its stream is done before its connection is closed. */
const END_OF_BODY_MS_MAX = 1_000;

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
      if (answer.status === 200) return readChunks(answer, call.timeoutMs, signal);
      answer.discard(); // Its text stays unread: it may hold anything.
      throw errorOfStatus(answer.status);
    },
  };
}

/** The chunks of an answer as they come. An iterator by hand: the promises of a generator cost more than the reading. */
function readChunks(
  answer: OpenAnswer,
  silenceMsMax: number,
  signal: AbortSignal,
): AsyncIterable<readonly StreamChunk[]> {
  const chunks = createChunkReader();
  const silence = createSilence(silenceMsMax, answer.discard);
  // Who gives a stream up need not read to its end: a timer that waits on would keep the answer, and its request.
  signal.addEventListener('abort', silence.stop);
  let hasEnded = false;
  let isLeft = false;

  function leave(): void {
    if (isLeft) return;
    isLeft = true;
    hasEnded = true;
    silence.stop();
    if (chunks.isDone()) void finish(answer);
    else answer.discard();
  }

  async function next(): Promise<IteratorResult<readonly StreamChunk[], undefined>> {
    try {
      while (!hasEnded && !chunks.isDone()) {
        silence.begin();
        const text = await answer.read();
        hasEnded = text === undefined;
        if (text === undefined) chunks.end();
        else chunks.feed(text);
        const taken = chunks.take();
        if (taken.length === 0) continue; // Bytes alone are no sign of life: a provider could send comments for ever.
        silence.broken();
        return { done: false, value: taken };
      }
    } catch (fault) {
      leave();
      throw silence.faultOf(fault);
    }
    leave();
    return { done: true, value: undefined };
  }

  const end = (): Promise<IteratorResult<readonly StreamChunk[], undefined>> => {
    leave();
    return Promise.resolve({ done: true, value: undefined });
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

/** Waits a moment for the end of a body whose stream is done, so that its connection can be used again. */
async function finish(answer: OpenAnswer): Promise<void> {
  if (answer.isOver) return;
  const timer = setTimeout(answer.discard, END_OF_BODY_MS_MAX);
  const rest = await answer.read().catch(() => undefined);
  clearTimeout(timer);
  if (rest !== undefined) answer.discard();
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
