import { type ChunkPattern, TextRun } from '@purser/text-runs/text-run.ts';
import type { Ending, Hold } from '#gateway/call/lane.ts';
import type { Serving } from '#gateway/call/serving.ts';
import type { StreamEnd, StreamReply } from '#gateway/call/wire.ts';
import { outputLimitOf } from '#gateway/usage/hold-request.ts';
import { createReportWatch } from '#gateway/stream/report-watch.ts';
import { endingOf, FAILED } from '#gateway/usage/ending.ts';
import { createGeneratedCounter, type GeneratedCounter } from '#gateway/usage/generated.ts';
import { toldUsage } from '#gateway/usage/usage-report.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import type { Mode } from '#kernel/values/ids.ts';
import type { Chunk, ChunkChoice } from '#providers/port/completion.ts';
import type { StreamChunk } from '#providers/port/provider.ts';

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
  /** What a caller pays who has left. Never throws, because the hold must end: a call that cannot be counted is free. */
  readonly endingLeft: (log: Log) => Ending;
  /** The frames that end the choices of a cut stream, and '' for any other. `end` comes behind them. */
  readonly cutFrames: () => string;
  readonly end: () => StreamEnd;
  /** Writes the stream. */
  readonly reply: Pick<StreamReply, 'alive' | 'fail'>;
}

/** `serving` says who serves the stream, which is not certain before its first chunk. */
export function createStreamTally(hold: Pick<Hold<Mode>, 'call' | 'granted'>, serving: Serving): StreamTally {
  const { call } = hold;
  const limit = outputLimitOf(hold);
  const reply = call.reply.stream(call);
  const progress = createProgress();
  const reports = createReportWatch(call.choices);
  const said = createGeneratedCounter(call.model.tokenizer);
  const runs = createRunCount(said);
  let [isPastLimit, isCutShort] = [false, false];

  /** Takes a run. Its chunks have no usage and neither begin nor finish a choice, so only its text is counted. */
  function takeRun(run: TextRun<Chunk>): string {
    if (isPastLimit) return '';
    // One by one if the limit may fall between two chunks of the run.
    const isPlain = said.bytes() + runs.bytesOf(run) <= limit.bytesMax;
    const written = isPlain ? reply.writeRun(run) : undefined;
    if (written === undefined) return run.chunks.map(takeParsed).join('');
    if (runs.add(run)) reports.followText();
    return written;
  }

  function takeParsed(chunk: Chunk): string {
    if (isPastLimit) return '';
    const { choices } = chunk;
    const hasText = said.add(choices.map(({ index, delta }) => ({ index, said: delta })));
    // Every chunk is looked at: the format sends usage alone, but some providers send it with the last choice.
    reports.follow(chunk, hasText, said.count);
    isPastLimit = said.bytes() > limit.bytesMax;
    if (isPastLimit) return '';
    progress.follow(choices);
    // Once every choice has finished there is nothing to cut. A count above the limit is then a bill to be argued about.
    isPastLimit = (reports.report()?.counts.completion ?? 0) > limit.tokens && !progress.isFinished();
    return reply.write(chunk);
  }

  function endingAs(outcome: 'answered' | 'abandoned'): Ending {
    const facts = reports.facts(progress.isFinished(), said.count);
    return endingOf(hold, outcome, { ...facts, upstream: serving.upstream, isPastLimit, limit });
  }

  function endingLeft(log: Log): Ending {
    try {
      return endingAs('abandoned');
    } catch (fault) {
      log.error({ callId: call.callId, fault: describeFault(fault) }, 'what a stream costs is not known');
      return FAILED;
    }
  }

  /**
   * Ends the open choices of a cut stream with the reason "length", like any answer that reached its limit. The answer is paid
   * for, and clients would take an error for a call that cost nothing, and try again.
   */
  function cutFrames(): string {
    const open = isPastLimit || isCutShort ? progress.cut(call.choices) : [];
    return open.length === 0 ? '' : reply.cut(open);
  }

  return {
    take: (chunk) => (chunk instanceof TextRun ? takeRun(chunk) : takeParsed(chunk)),
    isFinished: () => isCutShort || progress.isFinished(),
    isPastLimit: () => isPastLimit,
    cutShort: () => (isCutShort = reports.hasSaid()),
    endingAs,
    endingLeft,
    cutFrames,
    end: () => reply.end(() => toldUsage(endingAs('answered').usage, reports.report())),
    reply,
  };
}

interface KnownPattern {
  readonly pattern: ChunkPattern<Chunk>;
  readonly isRepeat: boolean;
  /** The choice whose content the texts are; undefined if they are something else. */
  readonly content: number | undefined;
}

/** Counts the texts of runs. One that only repeats what was counted in another place counts nothing (CC-23). */
function createRunCount(said: GeneratedCounter) {
  /** The newest pattern: its runs are all alike. */
  let known: KnownPattern | undefined;
  function knownOf(pattern: ChunkPattern<Chunk>): KnownPattern {
    if (known?.pattern === pattern) return known;
    const [choice] = pattern.marked().choices;
    const content = choice?.delta['content'] === pattern.marks[0] ? choice?.index : undefined;
    known = { pattern, isRepeat: said.repeats(choice?.delta), content };
    return known;
  }
  function bytesOf({ pattern, bytes }: TextRun<Chunk>): number {
    return knownOf(pattern).isRepeat ? 0 : bytes;
  }
  return {
    bytesOf,
    /** Returns whether it says anything. */
    add: (run: TextRun<Chunk>): boolean => {
      const bytes = bytesOf(run);
      if (bytes > 0) said.addText(run, knownOf(run.pattern).content);
      return bytes > 0;
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
