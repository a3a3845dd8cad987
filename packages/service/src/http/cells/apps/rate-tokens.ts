import { z } from 'zod';
import type { CellPeers, CellQuestion } from '#http/cells/questions/question.ts';
import { type AppId, type KeyId, parseId } from '#kernel/values/ids.ts';
import type { OtherCell } from '#kernel/values/slot.ts';
import type { CellTokenRequest, LeaseRow } from '#limits/queries.ts';

/** A batch has at most 1,024 buckets, of some 60 bytes each. */
const BODY_BYTES_MAX = 262_144;
const BUCKETS_MAX = 1_024;
/** A caller waits for it. Leased tokens are good for a second after the request. */
const WAIT_MS_MAX = 500;

const bucketSchema = z.custom<AppId | KeyId>(
  (id) => typeof id === 'string' && (parseId('app', id) ?? parseId('key', id)) !== undefined,
);
const countSchema = z.int().min(0).max(2_147_483_647);
const limitSchema = countSchema.min(1);

/**
 * `POST /cells/tokens` leases tokens of the buckets here to a process of another cell. A request gets no answer if it
 * came before, or before a later one of its process.
 */
export const TOKENS: CellQuestion<CellTokenRequest, readonly LeaseRow[]> = {
  path: '/cells/tokens',
  bytesMax: BODY_BYTES_MAX,
  waitMs: WAIT_MS_MAX,
  asked: z.object({
    holder: z.uuid(),
    number: z.int().min(1),
    asked: z
      .array(
        z.object({
          bucket: bucketSchema,
          perMinute: limitSchema,
          burst: limitSchema,
          wanted: countSchema,
          kept: countSchema,
          returned: countSchema,
          target: countSchema,
        }),
      )
      .max(BUCKETS_MAX),
  }),
  answer: z.array(
    z.object({
      app_id: bucketSchema,
      granted: countSchema,
      is_held: z.boolean(),
      leased: countSchema,
      tokens_left: z.number().min(0),
      tokens_full: z.number().min(0),
      wait_ms: countSchema,
    }),
  ),
};

/** Asks a gateway of another cell for tokens. Rejects if it does not answer in half a second, or not with a row for each bucket. */
export async function askForTokens(
  ask: CellPeers['ask'],
  cell: OtherCell,
  request: CellTokenRequest,
): Promise<readonly LeaseRow[]> {
  const rows = await ask(cell, TOKENS, request);
  const answered = new Set(rows.map((row) => row.app_id));
  if (request.asked.every(({ bucket }) => answered.has(bucket)) && rows.length === request.asked.length) return rows;
  throw new Error('The other cell answers for other buckets than it was asked about.');
}
