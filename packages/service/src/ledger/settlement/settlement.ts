import { recordArrayOf } from '#db/array-literal.ts';
import type { CallId, CorrelationId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';

/** How a call ended, for its receipt. */
export interface Settlement {
  readonly callId: CallId;
  /** What it costs; what exceeds the hold is not taken. 0 gives the whole hold back. */
  readonly charge: Micros;
  readonly outcome: 'answered' | 'abandoned' | 'failed';
  /** The resolved identifier. */
  readonly model: string | undefined;
  readonly priceId: bigint | undefined;
  /** Charged by our own count, because the provider reported none. */
  readonly isEstimated: boolean;
  /** The provider's count contradicted itself and was taken as the nearest that does not. */
  readonly isUsageClamped: boolean;
  readonly usage: {
    readonly promptTokens: number;
    readonly cachedTokens: number;
    readonly completionTokens: number;
    readonly reasoningTokens: number;
  };
  readonly correlationId: CorrelationId | undefined;
  /** Its answer is not kept: while a retry waits for that, the call is not ended (CC-14). Never so from disk. */
  readonly isUnkept?: boolean;
}

/** Settlements as the database takes them: the type `ledger.settlement`. */
export const settlementRecords = recordArrayOf<Settlement>({
  call_id: ({ callId }) => callId,
  charge_micros: ({ charge }) => charge,
  outcome: ({ outcome }) => outcome,
  model: ({ model }) => model,
  price_id: ({ priceId }) => priceId,
  is_estimated: ({ isEstimated }) => isEstimated,
  is_usage_clamped: ({ isUsageClamped }) => isUsageClamped,
  prompt_tokens: ({ usage }) => usage.promptTokens,
  cached_tokens: ({ usage }) => usage.cachedTokens,
  completion_tokens: ({ usage }) => usage.completionTokens,
  reasoning_tokens: ({ usage }) => usage.reasoningTokens,
  correlation_id: ({ correlationId }) => correlationId,
  is_unkept: ({ isUnkept }) => isUnkept === true,
});
