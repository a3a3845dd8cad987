import type { Difference } from './stock-client.ts';

const WHY = 'they ignore `x-should-retry: false`';
const UNMARKED =
  'they do not mark their retries, so the service takes a retry for a new call. To avoid this, use `maxRetries: 0`, an `idempotency-key` for each call, or the `fetch` of [the SDK](../packages/sdk/README.md)';

/** The differences of clients that ignore `x-should-retry: false` and do not mark their retries. */
export const RETRIED: Readonly<Record<string, Difference>> = {
  '502, rejected by the provider': { seen: '3 requests, fewer at the provider', why: WHY },
  '502, provider down': { seen: '3 requests, all at the provider', why: WHY },
  'connection lost': { seen: 'charged 2 times', why: UNMARKED },
};

/** The difference of clients whose streams always have their usage. */
export const ALWAYS_USAGE: Readonly<Record<string, Difference>> = {
  'usage not requested': { seen: 'usage', why: 'a stream of Responses or Messages always has its usage' },
};
