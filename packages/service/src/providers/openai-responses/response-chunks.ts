import type { TextRun } from '@purser/text-runs/text-run.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Chunk, UsageReport } from '#providers/port/completion.ts';
import { createChoiceShape } from '#providers/answers/choice-shape.ts';
import { errorOfFrame } from '#providers/errors/errors.ts';
import { createEndWatch } from '#providers/answers/missing-reasons.ts';
import { reasonOf } from '#providers/openai-responses/answer.ts';
import { createEventDeltas } from '#providers/openai-responses/event-deltas.ts';
import { outputOf, searchesIn } from '#providers/openai-responses/output-items.ts';
import { usageOfResponse } from '#providers/openai-responses/usage.ts';
import { visibleEvent } from '#providers/openai-responses/visible-items.ts';
import type { StreamChunk } from '#providers/port/provider.ts';

/** Events that tell of a response before it says anything. No caller gets them: a stream begins in words of ours. */
const HEADS: ReadonlySet<string> = new Set(['response.created', 'response.queued', 'response.in_progress']);
const ENDS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
  'response.done',
]);
export const ERRORS: ReadonlySet<string> = new Set(['error', 'response.error', 'exception']);

export interface ResponseChunkOptions {
  /** Its caller gets the events themselves as well. */
  readonly isNative: boolean;
  readonly outputTokensMax: number;
}

/** The events of one stream as chunks. */
export interface ResponseChunks {
  /** `source`: the text of the event, if it is known. Returns whether it goes with the event, because callers may see all of it. */
  readonly take: (type: string, event: JsonObject, source: string | undefined) => boolean;
  /** The same for events of text in a row. `event`: one that says all that they say. */
  readonly takeRun: (run: TextRun<Chunk>, event: JsonObject) => void;
  /** The chunk of an event of text, behind the first of its stream. */
  readonly ofText: (event: JsonObject) => Chunk;
  /** Finishes what the provider left open, because it says that it is done. */
  readonly close: () => void;
  /** The response has ended. Everything behind it is ignored. */
  readonly isDone: () => boolean;
  /** Nothing but the end is missing. `isLost`: the connection broke off. */
  readonly isWhole: (isLost: boolean) => boolean;
  /** The chunks since the last call. */
  readonly taken: () => readonly StreamChunk[];
}

export function createResponseChunks({ isNative, outputTokensMax }: ResponseChunkOptions): ResponseChunks {
  const queue = createQueue(isNative);
  const deltas = createEventDeltas();
  const shape = createChoiceShape();
  const watch = createEndWatch(outputTokensMax, 1);
  const searches = createSearchCount();
  let isDone = false;

  function push(chunk: Pick<Chunk, 'choices' | 'usage'>, own: OwnEvents): void {
    watch.follow({ ...chunk, extra: {} });
    queue.push(chunk, own);
  }

  function say(said: readonly JsonObject[], own: OwnEvents): void {
    for (const [place, delta] of said.entries()) {
      const choices = shape([{ index: 0, delta, finish_reason: null }]);
      push({ choices, usage: undefined }, place === said.length - 1 ? own : NO_EVENTS);
    }
    // Only callers who get the vendor's own events see one that says nothing.
    if (said.length === 0 && own.native.length > 0) push({ choices: [], usage: undefined }, own);
  }

  function finish(response: JsonObject, own: OwnEvents): void {
    const reason = reasonOf(response);
    say(deltas.missing(response), NO_EVENTS);
    const choices = shape([{ index: 0, delta: {}, finish_reason: wordFor(reason) }]);
    push({ choices, usage: usageOfResponse(response, searches.with(outputOf(response))) }, own);
    isDone = true;
  }

  return {
    take: (type, event, source) => {
      if (ERRORS.has(type)) throw errorOfFrame(event);
      if (!type.startsWith('response.')) return false;
      const response = isJsonObject(event['response']) ? event['response'] : {};
      if (HEADS.has(type)) {
        const usage = usageOfResponse(response);
        if (!queue.begin(response, usage) && usage !== undefined) push({ choices: [], usage }, NO_EVENTS);
        return false;
      }
      const own = isNative ? ownEvent(event, source) : NO_EVENTS;
      if (ENDS.has(type)) {
        finish(type === 'response.failed' ? { ...response, status: 'failed' } : ended(type, response), own);
        return false;
      }
      if (type === 'response.output_item.done') searches.follow(event);
      const said = deltas.take(type, event);
      const isFirst = !queue.hasBegun() && type === 'response.output_item.added';
      say(isFirst && said.length === 0 ? [{ content: '' }] : said, own);
      return own.source !== undefined;
    },
    takeRun: (run, event) => {
      deltas.take(String(event['type']), event);
      watch.followText(run.bytes);
      queue.pushRun(run);
    },
    ofText: (event) => {
      const choices = [{ index: 0, delta: { content: event['delta'] }, finish_reason: null }];
      return queue.chunkOf({ choices, usage: undefined }, isNative ? ownEvent(event, undefined) : NO_EVENTS);
    },
    close: () => {
      isDone = true;
      const closing = watch.closing();
      if (closing !== undefined) push({ ...closing, choices: shape(closing.choices) }, NO_EVENTS);
    },
    isDone: () => isDone,
    isWhole: (isLost) => deltas.isWhole() || (isLost ? watch.isComplete() : watch.isEnded()),
    taken: queue.taken,
  };
}

type OwnEvents = Required<Pick<Chunk, 'native' | 'source'>> & { readonly native: readonly JsonObject[] };

const NO_EVENTS: OwnEvents = { native: [], source: undefined };

/** An event as callers get it. Its text goes with it if they may see all of it. */
function ownEvent(event: JsonObject, source: string | undefined): OwnEvents {
  const visible = visibleEvent(event);
  return { native: [visible], source: visible === event ? source : undefined };
}

/** The output of the last event may be empty. Without calls, the shape makes of this word the other one. */
function wordFor(reason: string | undefined): string {
  return reason === undefined || reason === 'stop' ? 'tool_calls' : reason;
}

/** Counts the searches of one stream as their items end, because the output of the last event may be empty. */
function createSearchCount() {
  let ended = 0;
  return {
    follow: ({ item }: JsonObject): void => {
      if (isJsonObject(item)) ended += searchesIn([item]);
    },
    /** All of them, also those that only the whole output has. */
    with: (output: readonly JsonObject[]): number => Math.max(ended, searchesIn(output)),
  };
}

/** A response that may not say how it ended, as its last event does. */
function ended(type: string, response: JsonObject): JsonObject {
  const status = type === 'response.done' ? undefined : type.slice('response.'.length);
  return { ...response, status: response['status'] ?? status };
}

/** What has been read and not yet taken. */
function createQueue(isNative: boolean) {
  let chunks: StreamChunk[] = [];
  let hasBegun = false;
  let extra: JsonObject = {};
  let early: UsageReport | undefined;

  function chunkOf({ choices, usage }: Pick<Chunk, 'choices' | 'usage'>, { native, source }: OwnEvents): Chunk {
    return isNative ? { choices, usage, extra, native, source } : { choices, usage, extra };
  }

  return {
    chunkOf,
    hasBegun: () => hasBegun,
    /** Notes a head. Returns true if the answer has not begun: then its usage waits. */
    begin: (response: JsonObject, usage: UsageReport | undefined): boolean => {
      const { id = extra['id'], created_at: created = extra['created'] } = response;
      extra = { ...extra, id, created };
      if (hasBegun) return false;
      early = usage ?? early;
      return true;
    },
    push: (chunk: Pick<Chunk, 'choices' | 'usage'>, own: OwnEvents): void => {
      chunks.push(chunkOf({ choices: chunk.choices, usage: chunk.usage ?? early }, own));
      hasBegun = true;
      early = undefined;
    },
    pushRun: (run: TextRun<Chunk>): void => {
      chunks.push(run);
    },
    taken: (): readonly StreamChunk[] => {
      const taken = chunks;
      chunks = [];
      return taken;
    },
  };
}
