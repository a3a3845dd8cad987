import type { JsonObject } from '#kernel/text/json.ts';
import type { Chunk, FinishReason } from '#providers/port/completion.ts';
import { UNCOUNTED_FIELDS } from '#providers/answers/uncounted-fields.ts';

/**
 * Follows one stream, so that its end can be told from a break. A provider that reports usage or sends `[DONE]` after content has
 * generated the whole answer and bills it, even if it left out a reason to finish: with `n` of 2, some servers send one reason.
 */
interface EndWatch {
  /** `words`: those of its choices that may be reasons, and that nobody knows. */
  readonly follow: (chunk: Chunk, words?: ReadonlyMap<number, string>) => void;
  /** The same for a run of chunks that were not parsed: they hold nothing but this much text, in bytes. */
  readonly followText: (bytes: number) => void;
  /** Returns true if nothing but the end of the stream is missing, so that it does not matter how the connection ends. */
  readonly isComplete: () => boolean;
  /** The same for a stream that ended as it should: then an unknown word beside its last text was a reason. */
  readonly isEnded: () => boolean;
  /** Returns true if each choice has its reason, and the usage has come behind the last text: the provider bills this answer. */
  readonly lacksNothing: () => boolean;
  /** A chunk that finishes the open choices. Undefined if there is none, or if nothing was said. */
  readonly closing: () => Chunk | undefined;
}

/** The parameter `outputTokensMax` is the limit that was sent, over all of so many choices. */
export function createEndWatch(outputTokensMax: number, choicesAsked: number): EndWatch {
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
  /** This is true if usage came with the last text or behind it. */
  let isBilled = false;
  let completionTokens = 0;
  const guesses = createGuesses();
  const isEnded = (isLost: boolean): boolean =>
    hasBegun && (isReported || Array.from(open.keys()).every((index) => guesses.isEnd(index, isLost)));

  return {
    follow: ({ choices, usage }, words) => {
      completionTokens = Math.max(completionTokens, usage?.counts.completion ?? 0);
      isBilled ||= usage !== undefined;
      if (choices.length === 0) {
        isReported ||= usage !== undefined && hasSaid;
        return;
      }
      hasBegun = true;
      for (const { index, delta, finish_reason: reason } of choices) {
        const isSaying = saysAnything(delta);
        if (isSaying) {
          hasSaid = true;
          isReported = false;
          isBilled = usage !== undefined;
          guesses.goOn(index);
        }
        guesses.note(index, words?.get(index), !isSaying && hasSaid);
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
      isBilled = false;
      for (const index of open.keys()) guesses.goOn(index);
    },
    isComplete: () => isEnded(true),
    isEnded: () => isEnded(false),
    lacksNothing: () => finished.size >= choicesAsked && open.size === 0 && isBilled,
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

/** Such words are short and few. What is longer is none, and a server that sends ever new ones is believed none. */
const WORD_CHARACTERS_MAX = 64;
const DISPROVED_MAX = 64;

/** The words of open choices that nobody knows. Such a word ends its choice, unless more is said: then it has been no reason. */
function createGuesses() {
  const guesses = new Map<number, { readonly word: string; readonly isAlone: boolean }>();
  const disproved = new Set<string>();
  return {
    /** `isAlone`: it came behind the text, with none beside it. */
    note: (index: number, word: string | undefined, isAlone: boolean): void => {
      if (word === undefined || word.length > WORD_CHARACTERS_MAX || disproved.size >= DISPROVED_MAX) return;
      if (!disproved.has(word)) guesses.set(index, { word, isAlone });
    },
    goOn: (index: number): void => {
      const guess = guesses.get(index);
      if (guess === undefined) return;
      disproved.add(guess.word);
      guesses.delete(index);
    },
    /** `isLost`: the connection broke off, so that a word beside text may not have been the last. */
    isEnd: (index: number, isLost: boolean): boolean => {
      const guess = guesses.get(index);
      return guess !== undefined && (guess.isAlone || !isLost);
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
  for (const name of Object.keys(said)) if (!UNCOUNTED_FIELDS.has(name) && isFilled(said[name])) return true;
  return false;
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}
