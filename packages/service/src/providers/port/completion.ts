import type { JsonObject } from '#kernel/text/json.ts';

/**
 * An answer as every provider adapter gives it. The shape is that of the compatible format, which is also what callers get:
 * an adapter of another format translates into it. Other fields are in `extra`, in a choice or in its message. Callers get
 * those of `visible-fields.ts`.
 */
export interface Completion {
  readonly choices: readonly CompletionChoice[];
  /** The usage. It is undefined if the provider reported none. */
  readonly usage: UsageReport | undefined;
  /**
   * The other fields of the answer, `id` and `created` if it has any. They keep their order. `choices`, `usage` and `model`
   * may be among them, and are overwritten.
   */
  readonly extra: JsonObject;
  /** The vendor's own answer, if it came by the interface that the caller speaks, with the fields that callers may see. */
  readonly native?: JsonObject | undefined;
  /** The large answer, which is set if the answer is large. It must be left, or later large answers wait for ever. */
  readonly large?: LargeAnswer;
}

/** The place of a large answer, of which a process handles one at a time (`upstream-http`). */
export interface LargeAnswer {
  /** Resolves when the next step of the handling may begin: other requests have had their turn in between. */
  readonly nextStep: () => Promise<void>;
  /** Says that nothing of the answer but its text is needed any more. */
  readonly leave: () => void;
}

/** Some of an answer that is streamed. */
export interface Chunk {
  /** The choices, which are empty in a chunk that has only the usage. */
  readonly choices: readonly ChunkChoice[];
  readonly usage: UsageReport | undefined;
  /** The other fields of the chunk, without `choices` and `usage`. */
  readonly extra: JsonObject;
  /** The vendor's own events that this chunk stands for, if they came by the interface that the caller speaks. */
  readonly native?: readonly JsonObject[] | undefined;
  /** The text of its one native event as it came, if callers may see all of it. */
  readonly source?: string | undefined;
}

export interface CompletionChoice extends JsonObject {
  readonly index: number;
  readonly message: JsonObject;
  readonly finish_reason: FinishReason;
}

export interface ChunkChoice extends JsonObject {
  readonly index: number;
  /** What is said since the last chunk. Tool calls are numbered from 0; the first of each has an id, a type and the name. */
  readonly delta: JsonObject;
  /** The reason why the choice ended. It is null while the choice goes on. */
  readonly finish_reason: FinishReason | null;
}

/** The reasons to finish that the format knows. */
export const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

/**
 * What a provider counts. `prompt` and `completion` are all input and all output tokens. The kinds that follow each are parts
 * of it, unless `total` shows that they lie beside it. No token is in two parts: an adapter takes cached audio out of the audio.
 * `cacheWriteLong` lives longer than usual, for an hour for example. `searches` are those of the web, and no tokens.
 */
export const TOKEN_COUNTS = [
  'prompt',
  'cached',
  'cacheWrite',
  'cacheWriteLong',
  'audioInput',
  'imageInput',
  'completion',
  'reasoning',
  'audioOutput',
  'imageOutput',
  'total',
  'searches',
] as const;
export type TokenCounts = { readonly [Count in (typeof TOKEN_COUNTS)[number]]?: number | undefined };

/**
 * The limit is three times the largest output of 128 choices, and small enough that a billion receipts still add up in
 * 64 bits.
 */
export const TOKENS_MAX = 4_000_000_000;

/** What a provider has reported of a call so far, as it came: a count may contradict another one. */
export interface UsageReport {
  /** The counts are whole numbers from 0 to `TOKENS_MAX`. A count that was not reported is undefined or missing. */
  readonly counts: TokenCounts;
  /** The provider's usage in the compatible format. Callers get the fields of `visible-fields.ts`. */
  readonly extra: JsonObject;
  /** A count was no number of tokens, or a later report of the same call fell. */
  readonly isContradictory: boolean;
  /** The provider does not bill the answer, so not even the fees of the model are due. */
  readonly isUnbilled?: boolean;
}
