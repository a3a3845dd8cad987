import type { JsonObject } from '#kernel/json.ts';
import type { Chunk, FinishReason } from '#providers/completion.ts';
import { LABELS } from '#providers/labels.ts';

/**
 * Follows one stream, so that its end can be told from a break. A provider that reports usage or sends `[DONE]` after content has
 * generated the whole answer and bills it, even if it left out a reason to finish: with `n` of 2, some servers send one reason.
 */
interface EndWatch {
  readonly follow: (chunk: Chunk) => void;
  /** The same for a run of chunks that were not parsed: they hold nothing but this much text, in bytes. */
  readonly followText: (bytes: number) => void;
  /** Returns true if nothing but the end of the stream is missing. */
  readonly isComplete: () => boolean;
  /** A chunk that finishes the open choices. Undefined if there is none, or if nothing was said. */
  readonly closing: () => Chunk | undefined;
}

/** The parameter `outputTokensMax` is the limit that was sent, over all choices. */
export function createEndWatch(outputTokensMax: number): EndWatch {
  /** The choices without a reason, each with the one that fits what it said. */
  const open = new Map<number, FinishReason>();
  /** They stay so if more text comes: otherwise the end would depend on which chunks are parsed, and give a second reason. */
  const finished = new Set<number>();
  let hasBegun = false;
  let hasSaid = false;
  /**
   * This is true if usage came alone, and no text after it. Usage beside text is a running count, which says nothing of
   * the end.
   */
  let isReported = false;
  let completionTokens = 0;

  return {
    follow: ({ choices, usage }) => {
      completionTokens = Math.max(completionTokens, usage?.counts.completion ?? 0);
      if (choices.length === 0) {
        isReported ||= usage !== undefined && hasSaid;
        return;
      }
      hasBegun = true;
      for (const { index, delta, finish_reason: reason } of choices) {
        if (saysAnything(delta)) {
          hasSaid = true;
          isReported = false;
        }
        if (reason !== null) {
          open.delete(index);
          finished.add(index);
        } else if (!finished.has(index) && (!open.has(index) || hasCalls(delta))) open.set(index, reasonFor(delta));
      }
    },
    followText: (bytes) => {
      if (bytes === 0) return;
      hasSaid = true;
      isReported = false;
    },
    isComplete: () => hasBegun && (open.size === 0 || isReported),
    closing: () => {
      if (!hasSaid || open.size === 0) return undefined;
      const isAtLimit = completionTokens >= outputTokensMax;
      const choices = Array.from(open, ([index, reason]) => {
        return { index, delta: {}, finish_reason: isAtLimit ? 'length' : reason };
      });
      return { choices, usage: undefined, extra: {} };
    },
  };
}

/** The reason of a choice that has none: what was said tells of calls, and the count of tokens of the limit. */
export function missingReason(message: JsonObject, isAtLimit: boolean): FinishReason {
  return isAtLimit ? 'length' : reasonFor(message);
}

function reasonFor(said: JsonObject): FinishReason {
  if (isFilled(said['tool_calls'])) return 'tool_calls';
  return isFilled(said['function_call']) ? 'function_call' : 'stop';
}

function hasCalls(said: JsonObject): boolean {
  return reasonFor(said) !== 'stop';
}

/** Returns true if a message or delta holds anything that a model generates. */
export function saysAnything(said: JsonObject): boolean {
  for (const name of Object.keys(said)) if (!LABELS.has(name) && isFilled(said[name])) return true;
  return false;
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}
