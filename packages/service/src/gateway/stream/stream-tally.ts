import { TextRun, unescaped } from '@purser/text-runs/text-run.ts';
import type { StreamEnd } from '#gateway/answer/frames.ts';
import type { Ending, Hold } from '#gateway/call/lane.ts';
import type { Serving } from '#gateway/call/serving.ts';
import { outputLimitOf } from '#gateway/usage/hold-request.ts';
import { createStreamFrames } from '#gateway/stream/stream-frames.ts';
import { createTokenCounter } from '#gateway/usage/token-counter.ts';
import { endingOf, visitGenerated } from '#gateway/usage/ending.ts';
import { laterReport, usageToWire } from '#gateway/usage/usage-report.ts';
import type { Mode } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { Chunk, ChunkChoice, UsageReport } from '#providers/completion.ts';
import type { StreamChunk } from '#providers/provider.ts';

/** Follows the chunks of a stream: what each one becomes for the caller, and what the call has used so far. */
export interface StreamTally {
  /** Counts a chunk and returns the frame to relay. Returns '' if the caller did not ask for the chunk, or does not pay for it. */
  readonly take: (chunk: StreamChunk) => string;
  /** Returns true if every choice that began has a reason to finish, or gets one. */
  readonly isFinished: () => boolean;
  /** Returns true if the provider went on past the limit that it was sent. Nothing more is relayed then (WA-07). */
  readonly isPastLimit: () => boolean;
  /** Ends the stream here, if it has begun: its next chunk is too large to be taken. Returns whether it has. */
  readonly cutShort: () => boolean;
  /** What the call is charged if it ends here. */
  readonly endingAs: (outcome: 'answered' | 'abandoned') => Ending;
  /** The frames that end the choices of a cut stream, and '' for any other. `end` comes behind them. */
  readonly cutFrames: () => string;
  readonly end: () => StreamEnd;
}

/** `serving` says who serves the stream, which is not certain before its first chunk. */
export function createStreamTally(hold: Pick<Hold<Mode>, 'call' | 'granted'>, serving: Serving): StreamTally {
  const { call } = hold;
  const limit = outputLimitOf(hold);
  const frames = createStreamFrames(call);
  const progress = createProgress();
  const generated = createTokenCounter(call.model.tokenizer);
  let bytes = 0;
  let isPastLimit = false;
  let isCutShort = false;
  let report: UsageReport | undefined;
  /** The members beside the choices of the newest chunk, unless it came in a run (`newest`). */
  let beside: JsonObject = {};
  let newest: TextRun<Chunk> | undefined;

  /** Takes a run. Its chunks have no usage and neither begin nor finish a choice, so only its text is counted. */
  function takeRun(run: TextRun<Chunk>): string {
    if (isPastLimit) return '';
    // One by one if the limit may fall between two chunks of the run.
    const written = bytes + run.bytes <= limit.bytesMax ? frames.writeRun(run) : undefined;
    if (written === undefined) return run.chunks.map(takeParsed).join('');
    newest = run;
    bytes += run.bytes;
    for (const text of run.texts[0] ?? []) generated.add(unescaped(text));
    return written;
  }

  function takeParsed(chunk: Chunk): string {
    if (isPastLimit) return '';
    const { choices, usage } = chunk;
    beside = frames.besideOf(chunk);
    newest = undefined;
    // Every chunk is looked at: the format sends usage alone, but some providers send it with the last choice.
    report = laterReport(report, usage);
    for (const { delta } of choices) bytes += visitGenerated(delta, generated.add);
    isPastLimit = bytes > limit.bytesMax;
    if (isPastLimit) return '';
    progress.follow(choices);
    // Once every choice has finished there is nothing to cut. A count above the limit is then a bill to be argued about.
    isPastLimit = (report?.counts.completion ?? 0) > limit.tokens && !progress.isFinished();
    const isUsageAlone = usage !== undefined && choices.length === 0;
    return isUsageAlone ? '' : frames.write(beside, choices);
  }

  const endingAs: StreamTally['endingAs'] = (outcome) =>
    endingOf(hold, outcome, { upstream: serving.upstream, report, tokens: generated.tokens, isPastLimit });
  const besideNewest = (): JsonObject => (newest === undefined ? beside : frames.besideOf(newest.lastChunk));

  /**
   * Ends the open choices of a cut stream with the reason "length", like any answer that reached its limit. The answer is paid
   * for, and clients would take an error for a call that cost nothing, and try again.
   */
  function cutFrames(): string {
    const open = isPastLimit || isCutShort ? progress.cut(call.choices) : [];
    return open.length === 0 ? '' : frames.write(besideNewest(), open);
  }

  return {
    take: (chunk) => (chunk instanceof TextRun ? takeRun(chunk) : takeParsed(chunk)),
    isFinished: () => isCutShort || progress.isFinished(),
    isPastLimit: () => isPastLimit,
    cutShort: () => (isCutShort = bytes > 0),
    endingAs,
    cutFrames,
    end: () => {
      if (!call.wantsUsage) return { callId: call.callId };
      const usage = usageToWire(endingAs('answered').usage, report);
      return { callId: call.callId, usageChunk: { ...besideNewest(), model: call.model.id, choices: [], usage } };
    },
  };
}

/** How far the choices of one stream have got. */
function createProgress() {
  const begun = new Set<number>();
  const finished = new Set<number>();
  return {
    follow: (choices: readonly ChunkChoice[]): void => {
      for (const { index, finish_reason: reason } of choices) {
        begun.add(index);
        if (reason !== null) finished.add(index);
      }
    },
    isFinished: (): boolean => begun.size > 0 && begun.size === finished.size,
    /** Ends those of `count` choices that have not ended. */
    cut: (count: number): readonly ChunkChoice[] => {
      const open = Array.from({ length: count }, (_, index) => index).filter((index) => !finished.has(index));
      return open.map((index) => {
        const delta = begun.has(index) ? {} : { role: 'assistant', content: '' };
        return { index, delta, finish_reason: 'length' };
      });
    },
  };
}
