import { type TextTemplate, textTemplateOf } from '@purser/text-runs/text-template.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import type { Chunk } from '#providers/port/completion.ts';
import { createChoiceShape, unknownWordsIn } from '#providers/answers/choice-shape.ts';
import { checkChoices, checkForError } from '#providers/errors/errors.ts';
import { createBodyReader } from '#providers/openai-compatible/event-body.ts';
import { hasError } from '#providers/errors/facts.ts';
import { textsOf } from '#providers/openai-compatible/chunk-texts.ts';
import { namesCallOnly, withLateArguments } from '#providers/openai-compatible/late-arguments.ts';
import { createEndWatch } from '#providers/answers/missing-reasons.ts';
import { createChoiceUsages } from '#providers/answers/usages-of-choices.ts';
import { reportIn } from '#providers/answers/usage.ts';
import { type StreamChunk, UpstreamError } from '#providers/port/provider.ts';
import { createEventReader } from '#providers/transport/sse.ts';

const END_OF_STREAM = '[DONE]';
/** The names of events that clients of the format read. Those of other names are passed over. */
const READ_NAMES: ReadonlySet<string | undefined> = new Set([undefined, 'message', 'error', 'exception']);
/** The `object` of a chunk. Some providers send chunks without choices beside those with the usage. */
const CHUNK = 'chat.completion.chunk';
/** Templates tried for one stream. If none of them helps, its chunks differ in more than their text. */
const TEMPLATES_MAX = 8;
const BLANKS_MAX = 16;

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

/** The parameter `outputTokensMax` is the limit that was sent, over all of so many choices. */
export function createChunkReader(outputTokensMax = Infinity, choices = 1): ChunkReader {
  const queue = createChunkQueue();
  let isDone = false;
  const shape = createChoiceShape(); // Has a state: tool calls are numbered through the whole stream.
  const chunkOf = createChunkParser(shape);
  const watch = createEndWatch(outputTokensMax, choices);
  const templates = createTemplates(chunkOf);
  const usageIn = createChoiceUsages(choices, outputTokensMax);

  /** Finishes what the provider left open, because it says that it is done. */
  function close(): void {
    const closing = watch.closing();
    if (closing !== undefined) queue.push({ ...closing, choices: shape(closing.choices) }, false);
    queue.settle();
  }

  /** Undefined for an event that is passed over. */
  function chunkIn(event: unknown, name: string | undefined): Chunk | undefined {
    try {
      return chunkOf(event);
    } catch (fault) {
      const isOther = isOtherEvent(event, name);
      // Behind the end of an answer, nothing takes it back: its caller has all of it, and the provider bills it (CC-11).
      if (isOther || watch.lacksNothing() || (fault instanceof NoChunk && watch.isComplete())) return undefined;
      throw fault;
    }
  }

  // Templates are tried before the parser sees an event: most events never reach it.
  const events = createEventReader({
    onEvent: (data, raw, name) => {
      if (isDone || isWord(data, '')) return;
      isDone = isWord(data, END_OF_STREAM);
      if (isDone) {
        close();
        return;
      }
      const event = parseJson(data);
      const chunk = chunkIn(event, name);
      if (chunk === undefined) return;
      const usage = usageIn(chunk);
      queue.push(usage === chunk.usage ? chunk : { ...chunk, usage }, namesCallOnly(event));
      watch.follow(chunk, wordsIn(event));
      templates.learn(event, raw, data);
    },
    skim: (text, at) => {
      const found = isDone ? undefined : templates.find(text, at);
      if (found === undefined) return at;
      queue.pushRun(found.run);
      watch.followText(found.run.bytes);
      return found.end;
    },
  });

  const body = createBodyReader(events.feed);

  return {
    feed: body.feed,
    end: () => {
      body.end();
      events.end();
      if (!isDone && watch.isEnded()) close();
      queue.settle();
    },
    take: queue.take,
    isDone: () => isDone,
    isComplete: watch.isComplete,
  };
}

/** What has been read and not yet taken. The newest chunk may wait for the arguments of its calls. */
function createChunkQueue() {
  const chunks: StreamChunk[] = [];
  let waiting: Chunk | undefined;
  return {
    push: (chunk: Chunk, waits: boolean): void => {
      if (waiting === undefined) chunks.push(chunk);
      else chunks.splice(-1, 1, ...withLateArguments(waiting, chunk));
      waiting = waits ? chunk : undefined;
    },
    pushRun: (run: StreamChunk): void => {
      waiting = undefined;
      chunks.push(run);
    },
    /** Nothing more comes that it could wait for. */
    settle: (): void => {
      waiting = undefined;
    },
    take: (): readonly StreamChunk[] => chunks.splice(0, waiting === undefined ? chunks.length : chunks.length - 1),
  };
}

/** The newest template of a stream. */
function createTemplates(chunkOf: (event: unknown) => Chunk) {
  let template: TextTemplate<Chunk> | undefined;
  let tried = 0;
  let hasBegun = false;
  return {
    find: (text: string, at: number) => template?.find(text, at),
    learn: (event: unknown, raw: string, data: string): void => {
      const isFirst = !hasBegun;
      hasBegun = true;
      // No template of the first chunk: it usually names the role, and no later chunk is like it.
      if (isFirst || tried >= TEMPLATES_MAX || !isJsonObject(event)) return;
      const texts = textsOf(event);
      const next = texts === undefined ? undefined : textTemplateOf({ raw, data, ...texts, chunkOf });
      if (next === undefined) return;
      template = next;
      tried += 1;
    },
  };
}

/** Turns the events of one stream into chunks. Throws `UpstreamError` if an event is none. */
export function createChunkParser(shape = createChoiceShape()): (event: unknown) => Chunk {
  return (event) => {
    const chunk = checked(event);
    const { choices, usage: _usage, ...extra } = chunk;
    return { choices: Array.isArray(choices) ? shape(choices) : [], usage: reportIn(chunk), extra };
  };
}

/** A frame that is neither a chunk nor an error. */
class NoChunk extends UpstreamError {}

/** Signs of life, and what servers tell of their tools. */
function isOtherEvent(event: unknown, name: string | undefined): boolean {
  if (!isJsonObject(event)) return !READ_NAMES.has(name);
  return !Array.isArray(event['choices']) && (event['type'] === 'ping' || !READ_NAMES.has(name));
}

/** Whether the data is this word, with blanks around it at most. It may be a picture of megabytes, so its length is looked at first. */
function isWord(data: string, word: string): boolean {
  return data.length <= word.length + BLANKS_MAX && data.trim() === word;
}

function wordsIn(event: unknown): ReadonlyMap<number, string> | undefined {
  const choices = isJsonObject(event) ? event['choices'] : undefined;
  return Array.isArray(choices) ? unknownWordsIn(choices) : undefined;
}

/** Throws the failure that an event tells of in the place of a chunk. */
function checked(event: unknown): JsonObject {
  checkForError(event);
  if (!isJsonObject(event)) throw new NoChunk('malformed', 'The provider sent a frame that is not JSON.');
  const choices = event['choices'] ?? undefined;
  const isNamed = event['object'] === CHUNK || isJsonObject(event['usage']);
  const isChunk = Array.isArray(choices) || (choices === undefined && isNamed);
  if (!isChunk || hasError(event)) throw new NoChunk('refused', 'The provider sent a frame that is not a chunk.');
  if (choices !== undefined) checkChoices(choices);
  return event;
}
