import { z } from 'zod';
import type { CellClient } from '#cells/cell-client.ts';
import type { CellRequests } from '#cells/cell-request.ts';
import type { OtherCell } from '#cells/map.ts';
import { readBody } from '#http/read-body.ts';
import { knownCallers } from '#http/reading.ts';
import { type Exchange, sendJson, sendNowhere, sendRefusal } from '#http/respond.ts';
import { type AppId, type KeyId, parseId } from '#kernel/ids.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import type { CellTokenRequest, LeaseRow } from '#limits/queries.ts';

/** Where gateways of other cells take tokens of the buckets here. It is for them alone, so the document of the API does not have it. */
export const CELL_TOKENS_PATH = '/cells/tokens';

export interface CellTokens {
  readonly requests: CellRequests;
  /** Undefined: the request came before. */
  readonly lease: (request: CellTokenRequest) => Promise<readonly LeaseRow[] | undefined>;
}

/** A process has one request under way for each of its other cells, so these are as many processes. */
const UNDER_WAY_MAX = 256;
/** A batch has at most 1,024 buckets, of some 60 bytes each. */
const BODY_BYTES_MAX = 262_144;
const BUCKETS_MAX = 1_024;

const bucketSchema = z.custom<AppId | KeyId>(
  (id) => typeof id === 'string' && (parseId('app', id) ?? parseId('key', id)) !== undefined,
);
const countSchema = z.int().min(0).max(2_147_483_647);
const limitSchema = countSchema.min(1);

const requestSchema = z.object({
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
});

const rowsSchema = z.array(
  z.object({
    app_id: bucketSchema,
    granted: countSchema,
    is_held: z.boolean(),
    leased: countSchema,
    tokens_left: z.number().min(0),
    tokens_full: z.number().min(0),
    wait_ms: countSchema,
  }),
);

/**
 * `POST /cells/tokens`: leases tokens to a process of another cell. Everybody else gets the 404 of an address that leads nowhere, and so does a
 * request that came before.
 */
export function createTokensHandler({ requests, lease }: CellTokens): (exchange: Exchange) => Promise<void> {
  let underWay = 0;

  async function answer(exchange: Exchange): Promise<void> {
    const signed = requests.read(exchange.request.headers, exchange.path);
    if (signed === undefined) return sendNowhere(exchange);
    const body = await readBody(exchange, { reading: knownCallers, caller: signed.from, most: BODY_BYTES_MAX });
    if (body === undefined) return;
    if (body instanceof Refusal) return sendRefusal(exchange, body);
    const request = signed.covers(body) ? requestOf(body) : undefined;
    const rows = request === undefined ? undefined : await lease(request);
    return rows === undefined ? sendNowhere(exchange) : sendJson(exchange.response, 200, rows);
  }

  return async (exchange) => {
    if (underWay >= UNDER_WAY_MAX) return sendRefusal(exchange, tooMany());
    underWay += 1;
    await answer(exchange).finally(() => (underWay -= 1));
  };
}

function requestOf(body: Buffer): CellTokenRequest | undefined {
  const parsed = requestSchema.safeParse(JSON.parse(body.toString('utf8')));
  return parsed.data;
}

function tooMany(): Refusal<'TOO_MANY_REQUESTS'> {
  return refuse('TOO_MANY_REQUESTS', 'Too many cells ask for tokens at the same time.', { retryAfterSeconds: 1 });
}

/** Asks a gateway of another cell for tokens. Rejects if it does not answer in half a second, or not with a row for each bucket. */
export async function askForTokens(
  client: CellClient,
  cell: OtherCell,
  request: CellTokenRequest,
): Promise<readonly LeaseRow[]> {
  const text = await client.post(cell, CELL_TOKENS_PATH, JSON.stringify(request));
  const rows = rowsSchema.parse(JSON.parse(text));
  const answered = new Set(rows.map((row) => row.app_id));
  if (request.asked.every(({ bucket }) => answered.has(bucket)) && rows.length === request.asked.length) return rows;
  throw new Error('The other cell answers for other buckets than it was asked about.');
}
