import type { Pool } from '#db/pool/pool.ts';
import { isoOf } from '#kernel/time/clock.ts';
import type { AppId, CallId, EndUserId } from '#kernel/values/ids.ts';
import { createWalletMovements, type WalletMovement } from '#ledger/history/movements.ts';
import { OPENED_HERE, type Place } from '#ledger/history/place.ts';
import { type CallTrace, createTraceReader } from '#calls/traces/traces.ts';
import {
  type OwnReceiptRow,
  selectChargedReceipts,
  selectMonthAfter,
  selectOtherReceipts,
} from '#calls/usage/queries.ts';
import { createSessions } from '#calls/usage/usage.ts';

/** Which part of a wallet's history is a person's. */
export interface WalletHistory {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly walletId: bigint;
  /** Entries with lower numbers. */
  readonly before: bigint;
  /** Only what is younger is read: until then the wallet was another person's. It is undefined if it never was. */
  readonly since: Date | undefined;
  /** Only what is older is read, of lists without numbers. */
  readonly untilMs: number;
}

/** Rows read at a time. Only one batch is in memory. */
const BATCH = 1_000;
/** Traces are few days old, and found by their app. Of an app with very many calls, so many pages of 5,000 are looked through. */
const TRACE_PAGES_MAX = 200;
const BEFORE_ALL_MONTHS = '1970-01-01';

type Batches = AsyncGenerator<readonly object[]>;

/** The long lists of a wallet, by their names in the file. Each is read in batches as it is sent. */
export function historyOf(pool: Pool, history: WalletHistory): Readonly<Record<string, Batches>> {
  return {
    movements: movementsOf(pool, history),
    receipts: receiptsOf(pool, history),
    callTraces: tracesOf(pool, history),
    codingSessions: sessionsOf(pool, history),
  };
}

async function* movementsOf(pool: Pool, { before: first, since, ...wallet }: WalletHistory): Batches {
  const movements = createWalletMovements(pool);
  let before: Place | undefined = { move: OPENED_HERE, seq: first };
  while (before !== undefined) {
    const page: readonly WalletMovement[] = await movements.page(wallet, { before, most: BATCH });
    const own = page.filter(({ atMs }) => isOwn(atMs, since));
    yield own.map(movementOf);
    before = own.length === BATCH ? page.at(-1) : undefined;
  }
}

function movementOf({ seq, kind, callId, amount, direction, balanceAfter, atMs }: WalletMovement): object {
  return {
    seq,
    at: isoOf(atMs),
    kind,
    direction,
    amountMicros: amount,
    balanceAfterMicros: balanceAfter,
    callId: callId ?? null,
  };
}

/** Yields first the receipts of calls that were charged, the newest first, and then the others, the oldest first. */
async function* receiptsOf(pool: Pool, { walletId, before: first, since, untilMs }: WalletHistory): Batches {
  let before: bigint | undefined = first;
  while (before !== undefined) {
    const page: readonly OwnReceiptRow[] = await selectChargedReceipts(pool, walletId, before, BATCH);
    const own = page.filter((row) => isOwn(row.settled_at.getTime(), since));
    yield own.map(receiptOf);
    before = own.length === BATCH ? (page.at(-1)?.seq ?? undefined) : undefined;
  }
  let month = await selectMonthAfter(pool, walletId, BEFORE_ALL_MONTHS);
  while (month !== undefined) {
    let after: CallId | undefined;
    do {
      const page: readonly OwnReceiptRow[] = await selectOtherReceipts(pool, { walletId, month, after, most: BATCH });
      const own = page.filter(({ settled_at: at }) => isOwn(at.getTime(), since) && at.getTime() <= untilMs);
      yield own.map(receiptOf);
      after = page.length === BATCH ? page.at(-1)?.call_id : undefined;
    } while (after !== undefined);
    month = await selectMonthAfter(pool, walletId, month);
  }
}

function receiptOf(row: OwnReceiptRow): object {
  return {
    callId: row.call_id,
    correlationId: row.correlation_id,
    at: row.settled_at,
    model: row.model,
    outcome: row.outcome,
    estimated: row.is_estimated,
    promptTokens: row.prompt_tokens,
    cachedTokens: row.cached_tokens,
    completionTokens: row.completion_tokens,
    reasoningTokens: row.reasoning_tokens,
    heldMicros: row.held_micros,
    chargedMicros: row.charged_micros,
    ...(row.late_for !== null && { lateFor: row.late_for }),
  };
}

/** A release removes sessions, so all that there are belong to the owner of today. */
async function* sessionsOf(pool: Pool, user: WalletHistory): Batches {
  const read = createSessions(pool);
  let before: string | undefined;
  do {
    const { sessions, next } = await read(user, { before, most: BATCH });
    yield sessions.map(({ name, client, begunAtMs, lastAtMs, calls, charged }) => ({
      name,
      client: client ?? null,
      begunAt: isoOf(begunAtMs),
      lastCallAt: isoOf(lastAtMs),
      calls,
      chargedMicros: charged,
    }));
    before = next;
  } while (before !== undefined);
}

async function* tracesOf(pool: Pool, { appId, userId, since, untilMs }: WalletHistory): Batches {
  const reader = createTraceReader(pool);
  const query = {
    appId,
    mode: 'live' as const,
    userId,
    session: undefined,
    model: undefined,
    outcome: undefined,
    code: undefined,
    fromMs: since?.getTime(),
    toMs: untilMs,
  };
  let after: string | undefined;
  for (let pages = 0; pages < TRACE_PAGES_MAX; pages += 1) {
    const { traces, next } = await reader.recent(query, after, BATCH);
    yield traces.map(traceOf);
    if (next === undefined) return;
    after = next;
  }
}

function traceOf({
  endedAtMs,
  correlationId,
  callId,
  model,
  isStream,
  wire,
  session,
  outcome,
  status,
  ...refused
}: CallTrace): object {
  return {
    at: isoOf(endedAtMs),
    correlationId,
    callId: callId ?? null,
    model: model ?? null,
    stream: isStream,
    wire: wire ?? null,
    session: session ?? null,
    outcome,
    status: status ?? null,
    code: refused.code ?? null,
    param: refused.param ?? null,
    message: refused.message ?? null,
  };
}

function isOwn(atMs: number, since: Date | undefined): boolean {
  return since === undefined || atMs > since.getTime();
}
