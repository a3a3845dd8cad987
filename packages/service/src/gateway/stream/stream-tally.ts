import { TextRun } from '@purser/text-runs/text-run.ts';
import { createChunkShape } from '#gateway/answer/answer-shape.ts';
import { dataFrame, END_FRAME } from '#gateway/answer/frames.ts';
import type { Ending, Hold } from '#gateway/call/lane.ts';
import { outputLimitOf } from '#gateway/usage/output-limit.ts';
import { createStreamFrames } from '#gateway/stream/stream-frames.ts';
import { endingOf, generatedBytesIn } from '#gateway/usage/ending.ts';
import { laterReport, type UsageReport, usageToWire } from '#gateway/usage/usage-report.ts';
import type { Mode } from '#kernel/ids.ts';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import type { StreamChunk } from '#providers/provider.ts';

/** Reads what passes through a stream: what each chunk becomes for the caller, and what the call has used so far. */
export interface StreamTally {
  /** Counts a provider's chunk and gives the frame to relay: '' for one that the caller did not ask or pay for. */
  readonly take: (chunk: StreamChunk) => string;
  /** Every choice that began has a reason to finish. */
  readonly isFinished: () => boolean;
  /** The provider went on past the limit that it was sent: whatever else it says is not relayed (WA-07). */
  readonly isPastLimit: () => boolean;
  /** What the call is charged if it ends here. */
  readonly endingAs: (outcome: 'answered' | 'abandoned') => Ending;
  /** The end of the stream: of the choices that were cut, the usage for a caller who asked for it, and of all. */
  readonly closingFrames: () => string;
}

export function createStreamTally(hold: Pick<Hold<Mode>, 'call' | 'granted'>): StreamTally {
  const { call } = hold;
  const limit = outputLimitOf(hold);
  const shape = createChunkShape(call.callId);
  const frames = createStreamFrames(call, shape);
  const progress = createProgress();
  let bytes = 0;
  let isPastLimit = false;
  let report: UsageReport | undefined;
  /** The members beside the choices of the newest chunk, unless it came in a run (`newest`). */
  let beside: JsonObject = {};
  let newest: TextRun | undefined;

  /** Only the bytes of a run need counting: its chunks have no usage, and neither begin nor finish a choice. */
  function takeRun(run: TextRun): string {
    // One by one if the limit may fall between two chunks of the run.
    const written = bytes + run.bytes <= limit.bytesMax ? frames.writeRun(run) : undefined;
    if (written === undefined) return run.chunks.map(takeParsed).join('');
    newest = run;
    bytes += run.bytes;
    return written;
  }

  function takeParsed(chunk: JsonObject): string {
    if (isPastLimit) return '';
    const { usage, choices, ...others } = shape(chunk);
    beside = others;
    newest = undefined;
    // On any chunk: some providers send it with the last choice, the format sends it alone.
    report = laterReport(report, usage);
    bytes += generatedBytesIn(choices, 'delta');
    isPastLimit = bytes > limit.bytesMax;
    if (isPastLimit) return '';
    if (Array.isArray(choices)) progress.follow(choices);
    // Once all is said, a count above the limit is a bill to be argued about, and no reason to cut.
    isPastLimit = (report?.counts.completion ?? 0) > limit.tokens && !progress.isFinished();
    const isUsageAlone = isJsonObject(usage) && !(Array.isArray(choices) && choices.length > 0);
    return isUsageAlone ? '' : frames.write(beside, choices);
  }

  function take(chunk: StreamChunk): string {
    if (isPastLimit) return '';
    return chunk instanceof TextRun ? takeRun(chunk) : takeParsed(chunk);
  }

  function endingAs(outcome: 'answered' | 'abandoned'): Ending {
    return endingOf(hold, outcome, { report, bytes, isPastLimit });
  }

  const besideNewest = (): JsonObject => (newest === undefined ? beside : frames.besideOf(newest.lastChunk));

  /**
   * A cut looks like what it is to the caller, an answer that reached its limit: it is paid for, and an error here would
   * be taken for a failure that costs nothing.
   */
  function cutFrames(): string {
    const choices = progress.cut(call.choices);
    return choices.length === 0 ? '' : frames.write(besideNewest(), choices);
  }

  function closingFrames(): string {
    const cut = isPastLimit ? cutFrames() : '';
    if (!call.wantsUsage) return cut + END_FRAME;
    const usage = usageToWire(endingAs('answered').usage, report);
    return cut + dataFrame({ ...besideNewest(), model: call.model.id, choices: [], usage }) + END_FRAME;
  }

  return { take, isFinished: progress.isFinished, isPastLimit: () => isPastLimit, endingAs, closingFrames };
}

/** How far the choices of one stream have got. */
function createProgress() {
  const begun = new Set<unknown>();
  const finished = new Set<unknown>();
  return {
    follow: (choices: readonly unknown[]): void => {
      for (const choice of choices) {
        if (!isJsonObject(choice)) continue;
        begun.add(choice['index']);
        if (typeof choice['finish_reason'] === 'string') finished.add(choice['index']);
      }
    },
    isFinished: (): boolean => begun.size > 0 && begun.size === finished.size,
    /** The end of those of `count` choices that have none. */
    cut: (count: number): readonly JsonObject[] => {
      const open = Array.from({ length: count }, (_, index) => index).filter((index) => !finished.has(index));
      return open.map((index) => {
        const delta = begun.has(index) ? {} : { role: 'assistant', content: '' };
        return { index, delta, finish_reason: 'length' };
      });
    },
  };
}
