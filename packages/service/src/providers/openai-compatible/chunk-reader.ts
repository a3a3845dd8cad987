import { type TextTemplate, textTemplateOf } from '@purser/text-runs/text-template.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import type { Chunk } from '#providers/completion.ts';
import { createChoiceShape } from '#providers/openai-compatible/answer-shape.ts';
import { checkChoices, checkForError } from '#providers/openai-compatible/error.ts';
import { textsOf } from '#providers/openai-compatible/chunk-texts.ts';
import { createEndWatch } from '#providers/openai-compatible/missing-reasons.ts';
import { reportIn } from '#providers/openai-compatible/usage.ts';
import { type StreamChunk, UpstreamError } from '#providers/provider.ts';
import { createEventReader } from '#providers/sse.ts';

const END_OF_STREAM = '[DONE]';
/** The `object` of a chunk. Some providers send chunks without choices beside those with the usage. */
const CHUNK = 'chat.completion.chunk';
/** The most of a body that is JSON instead of events. Errors are short. */
const BODY_CHARACTERS_MAX = 64 * 1024;
/** Templates tried for one stream. If none of them helps, its chunks differ in more than their text. */
const TEMPLATES_MAX = 8;

/** Reads the chunks of one stream from its text. Throws `UpstreamError` if the provider sends something else. */
export interface ChunkReader {
  readonly feed: (text: string) => void;
  /** The body has ended. Choices that lack nothing but a reason to finish get one. */
  readonly end: () => void;
  /** The chunks that have come since the last call. */
  readonly take: () => readonly StreamChunk[];
  /** The provider has sent `[DONE]`. Everything behind it is ignored. */
  readonly isDone: () => boolean;
  /** Whether nothing but the end of the body is missing, so that it does not matter how the connection ends. */
  readonly isComplete: () => boolean;
}

/** The parameter `outputTokensMax` is the limit that was sent, over all choices. */
export function createChunkReader(outputTokensMax = Infinity): ChunkReader {
  let chunks: StreamChunk[] = [];
  let isDone = false;
  let template: TextTemplate<Chunk> | undefined;
  let templates = 0;
  let hasBegun = false;
  const shape = createChoiceShape(); // Has a state: tool calls are numbered through the whole stream.
  const chunkOf = createChunkParser(shape);
  const watch = createEndWatch(outputTokensMax);

  /** Finishes what the provider left open, because it says that it is done. */
  function close(): void {
    const closing = watch.closing();
    if (closing !== undefined) chunks.push({ ...closing, choices: shape(closing.choices) });
  }

  // Templates are tried before the parser sees an event: most events never reach it.
  const events = createEventReader({
    onEvent: (data, raw) => {
      if (isDone) return;
      isDone = data === END_OF_STREAM;
      if (isDone) {
        close();
        return;
      }
      const event = parseJson(data);
      const chunk = chunkOf(event);
      chunks.push(chunk);
      watch.follow(chunk);
      const isFirst = !hasBegun;
      hasBegun = true;
      // No template of the first chunk: it usually names the role, and no later chunk is like it.
      if (isFirst || templates >= TEMPLATES_MAX || !isJsonObject(event)) return;
      const texts = textsOf(event);
      const next = texts === undefined ? undefined : textTemplateOf({ raw, data, ...texts, chunkOf });
      if (next === undefined) return;
      template = next;
      templates += 1;
    },
    skim: (text, at) => {
      const found = isDone ? undefined : template?.find(text, at);
      if (found === undefined) return at;
      chunks.push(found.run);
      watch.followText(found.run.bytes);
      return found.end;
    },
  });

  const body = createBodyReader(events.feed);

  return {
    feed: (text) => {
      if (body.isEvents) events.feed(text);
      else body.feed(text);
    },
    end: () => {
      body.end();
      events.end();
      if (!isDone && watch.isComplete()) close();
    },
    take: () => {
      const taken = chunks;
      chunks = [];
      return taken;
    },
    isDone: () => isDone,
    isComplete: watch.isComplete,
  };
}

/** Tells events from a body that is JSON: some providers answer a streamed request with a plain error, and status 200. */
function createBodyReader(feedEvents: (text: string) => void) {
  let isEvents = false;
  let text = '';
  return {
    get isEvents(): boolean {
      return isEvents;
    },
    feed: (more: string): void => {
      text += more;
      const [first] = text.trimStart();
      if (first === '{' || first === '[') {
        if (text.length > BODY_CHARACTERS_MAX) throw noStream();
      } else if (first !== undefined) {
        isEvents = true;
        feedEvents(text);
        text = '';
      }
    },
    end: (): void => {
      if (text.trim() === '') return;
      checkForError(parseJson(text));
      throw noStream();
    },
  };
}

function noStream(): UpstreamError {
  return new UpstreamError('malformed', 'The provider answered a streamed request with something else.');
}

/** Turns the events of one stream into chunks. Throws `UpstreamError` if an event is none. */
export function createChunkParser(shape = createChoiceShape()): (event: unknown) => Chunk {
  return (event) => {
    const chunk = checked(event);
    const { choices, usage: _usage, ...extra } = chunk;
    return { choices: Array.isArray(choices) ? shape(choices) : [], usage: reportIn(chunk), extra };
  };
}

/** Throws the failure that an event tells of in the place of a chunk. */
function checked(event: unknown): JsonObject {
  checkForError(event);
  if (!isJsonObject(event)) throw new UpstreamError('malformed', 'The provider sent a frame that is not JSON.');
  const choices = event['choices'] ?? undefined;
  const isNamed = event['object'] === CHUNK || isJsonObject(event['usage']);
  const isChunk = Array.isArray(choices) || (choices === undefined && isNamed);
  const hasError = event['error'] !== undefined && event['error'] !== null;
  if (!isChunk || hasError) throw new UpstreamError('refused', 'The provider sent a frame that is not a chunk.');
  if (choices !== undefined) checkChoices(choices);
  return event;
}
