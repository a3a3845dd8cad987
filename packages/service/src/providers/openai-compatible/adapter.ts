import { isUtf8 } from 'node:buffer';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import { errorOfFrame, errorOfStatus, isFailure } from '#providers/openai-compatible/error.ts';
import { toRequest } from '#providers/openai-compatible/to-request.ts';
import { type Provider, type ProviderCall, UpstreamError } from '#providers/provider.ts';
import { readEvents } from '#providers/sse.ts';
import type { UpstreamHttp, UpstreamResponse } from '#providers/upstream-http.ts';

/** A completion of all choices fits many times over; what is larger is no answer. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const END_OF_STREAM = '[DONE]';
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

  async function send(call: ProviderCall, isStream: boolean, signal: AbortSignal): Promise<UpstreamResponse> {
    const response = await http.post({
      origin: url.origin,
      path: url.pathname + url.search,
      headers: { ...headers, accept: isStream ? 'text/event-stream' : 'application/json' },
      body: JSON.stringify(toRequest(call, isStream)),
      silenceMsMax: call.timeoutMs,
      signal,
    });
    if (response.status === 200) return response;
    response.discard(); // Its text stays unread: it may hold anything.
    throw errorOfStatus(response.status);
  }

  return {
    complete: async (call) => {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), call.timeoutMs);
      try {
        const response = await send(call, false, deadline.signal);
        return completionOf(parseJson(await readAll(response.body)));
      } catch (fault) {
        if (deadline.signal.aborted)
          throw new UpstreamError('timeout', 'The provider took too long.', { cause: fault });
        throw fault;
      } finally {
        clearTimeout(timer);
      }
    },
    stream: async (call, signal) => readChunks(await send(call, true, signal), call.timeoutMs),
  };
}

async function readAll(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    parts.push(part);
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) throw new UpstreamError('malformed', 'The provider sent too large an answer.');
  }
  const whole = Buffer.concat(parts);
  // Else bad bytes would be replaced, and a garbled answer charged: a stream of them is refused as well.
  if (!isUtf8(whole)) throw new UpstreamError('malformed', 'The provider sent bytes that are not UTF-8.');
  return whole.toString('utf8');
}

async function* readChunks(
  { body, discard }: UpstreamResponse,
  silenceMsMax: number,
): AsyncGenerator<readonly JsonObject[], void, undefined> {
  const reads = readEvents(body);
  const next = () => nextWithin(silenceMsMax, reads, discard);
  let isDone = false;
  try {
    for (let read = await next(); read.done !== true && !isDone; read = isDone ? read : await next()) {
      const end = read.value.indexOf(END_OF_STREAM);
      isDone = end !== -1;
      const chunks = (isDone ? read.value.slice(0, end) : read.value).map((event) => chunkOf(parseJson(event)));
      if (chunks.length > 0) yield chunks;
    }
  } finally {
    if (isDone) void finish(reads, discard);
    else await reads.return();
  }
}

/** The next events. Bytes alone are no sign of life: a provider could send comments for ever. */
async function nextWithin<Read>(ms: number, reads: AsyncIterator<Read>, discard: () => void) {
  let isSilent = false;
  const timer = setTimeout(() => {
    isSilent = true;
    discard();
  }, ms);
  try {
    return await reads.next();
  } catch (fault) {
    if (!isSilent) throw fault;
    throw new UpstreamError('timeout', 'The provider sent no event for too long.', { cause: fault });
  } finally {
    clearTimeout(timer);
  }
}

/** Waits a moment for the end of a body whose stream is done, so that its connection can be used again. */
async function finish(reads: AsyncIterator<unknown>, discard: () => void): Promise<void> {
  const timer = setTimeout(discard, END_OF_BODY_MS_MAX);
  const rest = await reads.next().catch(() => undefined);
  clearTimeout(timer);
  if (rest?.done !== true) discard();
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

function chunkOf(event: unknown): JsonObject {
  if (!isJsonObject(event)) throw new UpstreamError('malformed', 'The provider sent a frame that is not JSON.');
  if (isJsonObject(event['error'])) throw errorOfFrame(event['error']);
  const choices = event['choices'] ?? undefined;
  // Errors come in other shapes too, and whatever they say stays unread.
  const isChunk = Array.isArray(choices) || (choices === undefined && isJsonObject(event['usage']));
  const hasError = event['error'] !== undefined && event['error'] !== null;
  if (!isChunk || hasError) throw new UpstreamError('refused', 'The provider sent a frame that is no chunk.');
  if (choices !== undefined) checkChoices(choices);
  return event;
}

/** Errors come inside of choices as well. Throws the one that is there. */
function checkChoices(choices: readonly unknown[]): asserts choices is readonly JsonObject[] {
  for (const choice of choices) {
    if (!isJsonObject(choice)) throw new UpstreamError('malformed', 'The provider sent a choice that is none.');
    if (isJsonObject(choice['error'])) throw errorOfFrame(choice['error']);
    if (isFailure(choice['finish_reason'])) throw new UpstreamError('cut', 'The provider gave up an answer.');
  }
}
