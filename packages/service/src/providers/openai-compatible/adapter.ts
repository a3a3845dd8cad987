import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import { errorOfFrame, errorOfStatus, isFailure } from '#providers/openai-compatible/error.ts';
import { toRequest } from '#providers/openai-compatible/to-request.ts';
import { type Provider, UpstreamError } from '#providers/provider.ts';
import type { OpenAnswer } from '#providers/http/open-exchange.ts';
import { createEventReader } from '#providers/sse.ts';
import type { UpstreamHttp } from '#providers/upstream-http.ts';

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

  const plain = http.endpoint(url, { ...headers, accept: 'application/json' });
  const streamed = http.endpoint(url, { ...headers, accept: 'text/event-stream' });

  return {
    complete: async (call) => {
      const body = JSON.stringify(toRequest(call, false));
      const { status, text } = await plain.whole(body, { msMax: call.timeoutMs, bytesMax: ANSWER_BYTES_MAX });
      if (text === undefined) throw errorOfStatus(status);
      return completionOf(parseJson(text));
    },
    stream: async (call, signal) => {
      const body = JSON.stringify(toRequest(call, true));
      const answer = await streamed.open(body, { silenceMsMax: call.timeoutMs, signal });
      if (answer.status === 200) return readChunks(answer, call.timeoutMs);
      answer.discard(); // Its text stays unread: it may hold anything.
      throw errorOfStatus(answer.status);
    },
  };
}

async function* readChunks(
  answer: OpenAnswer,
  silenceMsMax: number,
): AsyncGenerator<readonly JsonObject[], void, undefined> {
  const events = readEvents(answer, silenceMsMax);
  let isDone = false;
  try {
    for (let read = await events.next(); read !== undefined && !isDone; read = isDone ? read : await events.next()) {
      const end = read.indexOf(END_OF_STREAM);
      isDone = end !== -1;
      const chunks = (isDone ? read.slice(0, end) : read).map((event) => chunkOf(parseJson(event)));
      if (chunks.length > 0) yield chunks;
    }
  } finally {
    events.stop();
    if (isDone) void finish(answer);
    else answer.discard();
  }
}

interface Events {
  /** Those that came at once, at least one; undefined when no more come. */
  readonly next: () => Promise<readonly string[] | undefined>;
  readonly stop: () => void;
}

/** Bytes alone are no sign of life: a provider could send comments for ever. */
function readEvents({ read, discard }: OpenAnswer, silenceMsMax: number): Events {
  const reader = createEventReader();
  let isAwaited = false;
  let isSilent = false;
  let isEnded = false;
  // One timer for all waits: there is one for each chunk of a slow stream.
  const timer = setTimeout(() => {
    if (!isAwaited) return;
    isSilent = true;
    discard();
  }, silenceMsMax);

  async function nextEvents(): Promise<readonly string[] | undefined> {
    while (!isEnded) {
      const text = await read();
      isEnded = text === undefined;
      const events = text === undefined ? reader.end() : reader.feed(text);
      if (events.length > 0) return events;
    }
    return undefined;
  }

  return {
    next: async () => {
      timer.refresh();
      isAwaited = true;
      try {
        return await nextEvents();
      } catch (fault) {
        if (!isSilent) throw fault;
        throw new UpstreamError('timeout', 'The provider sent no event for too long.', { cause: fault });
      } finally {
        isAwaited = false;
      }
    },
    stop: () => clearTimeout(timer),
  };
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
