import type { TokenUsage } from '#catalogue/price.ts';
import type { ChatCall } from '#gateway/call.ts';
import { dataFrame, END_FRAME } from '#gateway/frames.ts';
import { generatedBytesOf, usageEstimated, usageReported, usageToWire } from '#gateway/usage.ts';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';

/** Reads what passes through a stream: what each chunk becomes for the caller, and what the call has used so far. */
export interface StreamTally {
  readonly call: ChatCall;
  /** Counts a provider's chunk and gives the frame to relay: '' for one that the caller did not ask for. */
  readonly take: (chunk: JsonObject) => string;
  /** Every choice that began has a reason to finish. */
  readonly isFinished: () => boolean;
  /** What the provider reported, if it did. */
  readonly usage: () => TokenUsage | undefined;
  readonly generatedBytes: () => number;
  /** The usage chunk, for a caller who asked for it, and the end of the stream. */
  readonly closingFrames: () => string;
}

export function createStreamTally(call: ChatCall): StreamTally {
  const begun = new Set<unknown>();
  const finished = new Set<unknown>();
  let generatedBytes = 0;
  let report: JsonObject | undefined;
  let head: JsonObject = {};

  function count(choices: readonly unknown[]): void {
    for (const choice of choices) {
      if (!isJsonObject(choice)) continue;
      begun.add(choice['index']);
      if (typeof choice['finish_reason'] === 'string') finished.add(choice['index']);
      generatedBytes += generatedBytesOf(choice['delta']);
    }
  }

  function take(chunk: JsonObject): string {
    const { usage, ...rest } = chunk;
    const choices = Array.isArray(rest['choices']) ? rest['choices'] : [];
    count(choices);
    // On any chunk: some providers send it with the last choice, the format sends it alone.
    if (isJsonObject(usage)) {
      report = usage;
      if (choices.length === 0) return '';
    }
    const { choices: _, ...withoutChoices } = rest;
    head = { ...withoutChoices, model: call.model.id };
    return dataFrame({ ...rest, model: call.model.id, ...(call.wantsUsage ? { usage: null } : {}) });
  }

  function closingFrames(): string {
    if (!call.wantsUsage) return END_FRAME;
    const usage = report ?? usageToWire(usageEstimated(call, generatedBytes));
    return dataFrame({ ...head, choices: [], usage }) + END_FRAME;
  }

  return {
    call,
    take,
    isFinished: () => begun.size > 0 && begun.size === finished.size,
    usage: () => usageReported(report),
    generatedBytes: () => generatedBytes,
    closingFrames,
  };
}
