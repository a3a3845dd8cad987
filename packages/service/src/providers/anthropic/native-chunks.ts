import type { TextRun } from '@purser/text-runs/text-run.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { DELTAS, fieldsIn } from '#providers/anthropic/fit.ts';
import { finishReasonOf } from '#providers/anthropic/native-answer.ts';
import { createMessageDeltas } from '#providers/anthropic/native-deltas.ts';
import { createUsage, reportOf } from '#providers/anthropic/usage.ts';
import { visibleEvent } from '#providers/anthropic/visible.ts';
import type { Chunk, ChunkChoice, UsageReport } from '#providers/port/completion.ts';
import { isFinished } from '#providers/answers/choice-shape.ts';
import type { StreamChunk } from '#providers/port/provider.ts';

/** The events of one stream of Messages as chunks, on which the events ride. The chunks alone are counted. */
export interface MessageChunks {
  readonly take: (type: string, event: JsonObject) => void;
  /** The same for deltas in a row. */
  readonly takeRun: (run: TextRun<Chunk>) => void;
  /** Whether a delta is behind the first of its stream, and its text is counted. */
  readonly isCounted: (event: JsonObject) => boolean;
  /** The chunk of such a delta. */
  readonly ofDelta: (event: JsonObject) => Chunk;
  /** The provider has sent its last event. Everything behind it is ignored. */
  readonly isDone: () => boolean;
  /** The answer has its reason, so that nothing but its end is missing. */
  readonly hasReason: () => boolean;
  /** It has the reason and the count of all that was said, so that an error takes nothing back (CC-11). */
  readonly isBilled: () => boolean;
  /** The chunks since the last call. */
  readonly taken: () => readonly StreamChunk[];
}

export function createMessageChunks(): MessageChunks {
  const deltas = createMessageDeltas();
  const usage = createUsage();
  const queue = createQueue();
  let [hasReason, isDone] = [false, false];

  /** Says what an event says. Before anything is said, events wait: what fails until then has begun nothing. */
  function say(event: JsonObject, delta: JsonObject | undefined, isBeginning: boolean): void {
    if (delta === undefined && !isBeginning && queue.mayWait()) queue.wait(event);
    else queue.push(event, { choices: delta === undefined && queue.hasBegun() ? [] : choiceOf(delta ?? {}) });
  }

  function ofBlock(type: string, event: JsonObject): void {
    if (type === 'content_block_stop') return say(event, undefined, false);
    const delta = deltas.take(event);
    const isStart = type === 'content_block_start';
    const said = fieldsIn(event, isStart ? 'content_block' : 'delta');
    if (deltas.isKnown(event) && (isStart || DELTAS.has(said['type']))) usage.followText(said);
    say(event, delta, !isStart && !isText(said));
  }

  /** The reason, and the usage. Some servers send either of them alone. */
  function end(event: JsonObject): void {
    const { stop_reason: word } = fieldsIn(event, 'delta');
    const told = usage.later(event['usage'], word);
    if (hasReason) return queue.push(event, { choices: [], usage: reportOf(told) });
    if (!isFinished({ finish_reason: word })) return say(event, undefined, false);
    const reason = finishReasonOf(word, deltas.hasCalls());
    hasReason = true;
    queue.forgetEarly();
    queue.push(event, { choices: choiceOf({}, reason), usage: reportOf(told) });
  }

  return {
    take: (type, event) => {
      switch (type) {
        case 'message_start':
          return queue.begin(fieldsIn(event, 'message'), (told) => reportOf(usage.first(told)));
        case 'content_block_start':
        case 'content_block_delta':
        case 'content_block_stop':
          return ofBlock(type, event);
        case 'message_delta':
          return end(event);
        default:
          isDone = true;
      }
    },
    takeRun: (run) => {
      usage.followText({ text: ' ' });
      queue.pushRun(run);
    },
    isCounted: (event) => queue.hasBegun() && deltas.take(event) !== undefined,
    ofDelta: (event) => queue.chunkOf(event, { choices: choiceOf(deltas.take(event) ?? {}) }),
    isDone: () => isDone,
    hasReason: () => hasReason,
    isBilled: () => hasReason && usage.isCounted(),
    taken: queue.taken,
  };
}

/** It is counted, and nobody is shown it, so it needs no more than this. */
function choiceOf(delta: JsonObject, reason: ChunkChoice['finish_reason'] = null): readonly ChunkChoice[] {
  return [{ index: 0, delta, finish_reason: reason }];
}

/** Whether a delta is of text, which may be empty. */
function isText({ type }: JsonObject): boolean {
  return type === 'text_delta' || type === 'thinking_delta' || type === 'input_json_delta';
}

/** An honest answer says something behind fewer events. */
const WAITING_MAX = 64;

type Told = Pick<Chunk, 'choices'> & { readonly usage?: UsageReport | undefined };

/** What has been read and not yet taken. */
function createQueue() {
  let chunks: StreamChunk[] = [];
  let waiting: JsonObject[] = [];
  let hasBegun = false;
  let extra: JsonObject = {};
  let early: UsageReport | undefined;

  function chunkOf(event: JsonObject, { choices, usage }: Told): Chunk {
    return { choices, usage, extra, native: [visibleEvent(event)] };
  }

  return {
    chunkOf,
    hasBegun: () => hasBegun,
    mayWait: () => !hasBegun && waiting.length < WAITING_MAX,
    begin: ({ id, usage }: JsonObject, reportIn: (usage: unknown) => UsageReport | undefined): void => {
      if (hasBegun) return;
      extra = { id };
      early = reportIn(usage);
    },
    wait: (event: JsonObject): void => {
      waiting.push(visibleEvent(event));
    },
    /** The last report tells all, and of an answer that is not billed it tells nothing. */
    forgetEarly: (): void => {
      early = undefined;
    },
    push: (event: JsonObject, told: Told): void => {
      const chunk = chunkOf(event, { ...told, usage: told.usage ?? early });
      chunks.push(waiting.length === 0 ? chunk : { ...chunk, native: [...waiting, ...(chunk.native ?? [])] });
      [waiting, early, hasBegun] = [[], undefined, true];
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
