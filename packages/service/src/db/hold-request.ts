import { recordArrayOf } from '#db/array-literal.ts';
import type { HoldRequest } from '#kernel/hold.ts';

/** Requests as the database takes them, for real and play money: the type `db.hold_request`. */
export const holdRequests = recordArrayOf<HoldRequest>({
  call_id: ({ callId }) => callId,
  app_id: ({ appId }) => appId,
  user_id: ({ userId }) => userId,
  least_micros: ({ least }) => least,
  most_micros: ({ most }) => most,
  streams_max: ({ streamsMax }) => streamsMax,
  key_digest: ({ idempotencyKey }) => idempotencyKey?.digest,
  body_digest: ({ idempotencyKey }) => idempotencyKey?.body,
  joins: ({ idempotencyKey }) => idempotencyKey?.joins,
  joined_call: ({ idempotencyKey }) => idempotencyKey?.joined,
});
