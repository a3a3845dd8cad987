import { recordArrayOf } from '#db/records/array-literal.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { CallSession } from '#kernel/calls/call-session.ts';
import type { CallId, CorrelationId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';

/** Counts that few calls have, with their names in a receipt. */
const RARE_COUNTS = {
  cacheWriteLongTokens: 'cacheWriteLong',
  audioInputTokens: 'audioInput',
  imageInputTokens: 'imageInput',
  audioOutputTokens: 'audioOutput',
  imageOutputTokens: 'imageOutput',
  searches: 'searches',
} as const;
type RareCount = keyof typeof RARE_COUNTS;
export const RARE_COUNT_NAMES = Object.keys(RARE_COUNTS) as readonly RareCount[];

/** How a call ended, for its receipt. */
export interface Settlement {
  readonly callId: CallId;
  /** The cost of the call. Any part above the hold is not taken from the wallet. 0 gives the whole hold back. */
  readonly charge: Micros;
  readonly outcome: 'answered' | 'abandoned' | 'failed';
  /** The resolved model identifier. */
  readonly model: string | undefined;
  readonly priceId: bigint | undefined;
  /** The charge is by our own count, because the provider reported no usage. */
  readonly isEstimated: boolean;
  /** The provider's usage contradicted itself. The charge is by the nearest usage that does not. */
  readonly isUsageClamped: boolean;
  readonly usage: {
    readonly promptTokens: number;
    readonly cachedTokens: number;
    readonly cacheWriteTokens: number;
    readonly completionTokens: number;
    readonly reasoningTokens: number;
    /** The counts that are rare. It is undefined for nearly every call. */
    readonly rare?: Readonly<Record<RareCount, number>> | undefined;
  };
  readonly correlationId: CorrelationId | undefined;
  /** The session that its client names (CP-19). Nothing about money depends on it. */
  readonly session?: CallSession | undefined;
  /**
   * The answer of the call is not kept for retries. If a retry already waits for it, the settlement ends nothing, because
   * the answer must be kept first (CC-14). Never set in a settlement from disk.
   */
  readonly isUnkept?: boolean;
}

/** Throws if a settlement is none that can be true. The tables would refuse most of it too, but with the turn that it is in. */
export function assertBookable({ charge, outcome, model, priceId, usage }: Settlement): void {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens, rare } = usage;
  assert(charge === 0n || outcome !== 'failed', 'a call that failed is free');
  assert(charge === 0n || (model !== undefined && priceId !== undefined), 'a charge has a model and a price');
  const otherInput = rare === undefined ? 0 : rare.cacheWriteLongTokens + rare.audioInputTokens + rare.imageInputTokens;
  const otherOutput = rare === undefined ? 0 : rare.audioOutputTokens + rare.imageOutputTokens;
  assert(cachedTokens + cacheWriteTokens + otherInput <= promptTokens, 'the parts of a prompt are within it');
  assert(reasoningTokens + otherOutput <= completionTokens, 'the parts of an answer are within it');
}

/** Writes settlements as records of the type `ledger.settlement`, in the order of its attributes. */
export const settlementRecords = recordArrayOf<Settlement>({
  call_id: 'callId',
  charge_micros: 'charge',
  outcome: 'outcome',
  model: 'model',
  price_id: 'priceId',
  is_estimated: 'isEstimated',
  is_usage_clamped: 'isUsageClamped',
  prompt_tokens: ({ usage }) => usage.promptTokens,
  cached_tokens: ({ usage }) => usage.cachedTokens,
  completion_tokens: ({ usage }) => usage.completionTokens,
  reasoning_tokens: ({ usage }) => usage.reasoningTokens,
  correlation_id: 'correlationId',
  is_unkept: ({ isUnkept }) => isUnkept === true,
  cache_write_tokens: ({ usage }) => usage.cacheWriteTokens,
  rare_counts: ({ usage }) => (usage.rare === undefined ? undefined : rareCountsOf(usage.rare)),
});

/** The JSON that a receipt keeps: those counts that are not 0. */
function rareCountsOf(rare: Readonly<Record<RareCount, number>>): string {
  const told = RARE_COUNT_NAMES.filter((name) => rare[name] > 0);
  return JSON.stringify(Object.fromEntries(told.map((name) => [RARE_COUNTS[name], rare[name]])));
}
