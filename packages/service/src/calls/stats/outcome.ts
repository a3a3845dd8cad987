import type { ErrorCode } from '@purser/contract/errors.ts';

/**
 * What became of a call, as the sums tell it. `charged`: it was paid for. `free`: it was answered and cost nothing.
 * `abandoned`: its caller left, and it cost nothing. `replayed`: it got the kept answer of an earlier call. Otherwise the
 * code of the refusal or fault.
 */
export type StatsOutcome = 'charged' | 'free' | 'abandoned' | 'replayed' | ErrorCode;

/** Outcomes that are no trouble. */
export const SERVED: readonly StatsOutcome[] = ['charged', 'free', 'abandoned', 'replayed'];
/** The provider failed the call, or had no room for it. */
export const PROVIDER_ERRORS: readonly StatsOutcome[] = ['UPSTREAM_PROVIDER_ERROR', 'UPSTREAM_THROTTLED'];
/** The outcomes of calls that we failed. */
export const FAULTS: readonly StatsOutcome[] = ['INTERNAL_SERVER_ERROR'];

/**
 * The kind says whose doing an outcome is. Refusals are decisions: about the request, the user's money, the app's
 * limits.
 */
export type OutcomeKind = 'served' | 'refused' | 'provider-error' | 'fault';

export function kindOf(outcome: StatsOutcome): OutcomeKind {
  if (SERVED.includes(outcome)) return 'served';
  if (PROVIDER_ERRORS.includes(outcome)) return 'provider-error';
  return FAULTS.includes(outcome) ? 'fault' : 'refused';
}
