import type { Difference } from './stock-client.ts';

const WHY = 'heeds no `x-should-retry: false`';

/** What clients do that send a call again whatever the answer says of it. */
export const RETRIED: Readonly<Record<string, Difference>> = {
  '502, rejected by the provider': { seen: '3 requests, fewer at the provider', why: WHY },
  '502, provider down': { seen: '3 requests, all at the provider', why: WHY },
};
