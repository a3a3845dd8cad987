import type { Difference } from './stock-client.ts';

const WHY = 'heeds no `x-should-retry: false`';
const UNMARKED =
  'does not say of a retry that it is one, so that the service takes it for another call; `maxRetries: 0`, an `idempotency-key` for each call, or the `fetch` of [the SDK](../packages/sdk/README.md) mends it';

/** What clients do that send a call again whatever the answer says of it, and without a word that they do. */
export const RETRIED: Readonly<Record<string, Difference>> = {
  '502, rejected by the provider': { seen: '3 requests, fewer at the provider', why: WHY },
  '502, provider down': { seen: '3 requests, all at the provider', why: WHY },
  'line lost': { seen: 'charged 2 times', why: UNMARKED },
};
