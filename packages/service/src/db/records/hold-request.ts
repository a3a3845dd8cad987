import { recordArrayOf } from '#db/records/array-literal.ts';
import type { HoldRequest } from '#kernel/calls/hold.ts';

/** Writes hold requests as records of the type `db.hold_request`, in the order of its attributes. For real and play money. */
export const holdRequests = recordArrayOf<HoldRequest>({
  call_id: 'callId',
  app_id: 'appId',
  user_id: 'userId',
  least_micros: 'least',
  most_micros: 'most',
  streams_max: 'streamsMax',
  key_digest: ({ idempotencyKey }) => idempotencyKey?.digest,
  body_digest: ({ idempotencyKey }) => idempotencyKey?.body,
  joins: ({ idempotencyKey }) => idempotencyKey?.joins,
  joined_call: ({ idempotencyKey }) => idempotencyKey?.joined,
  calls_max: ({ callsMax }) => callsMax ?? 0,
  budget_key: ({ budget }) => budget?.key,
  budget_micros: ({ budget }) => budget?.micros,
});
