import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { insertAnswer, selectAnswer } from '../../../packages/service/src/idempotency/queries.ts';
import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { analyzeSmallTable } from '../../../packages/service/src/db/health/queries.ts';
import { type EndUserId, newCallId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { beginDrains } from '../../../packages/service/src/ledger/hold/drain-queries.ts';
import { insertCredit, insertTakeBack, reinstateWallet } from '../../../packages/service/src/ledger/funding/queries.ts';
import { selectWallet, updateCap } from '../../../packages/service/src/ledger/wallet/queries.ts';
import { leaseTokens, takeTokens } from '../../../packages/service/src/limits/queries.ts';
import { reserveSandboxHolds, settleSandboxHolds } from '../../../packages/service/src/sandbox/holds/queries.ts';
import { expireSandboxWallets } from '../../../packages/service/src/sandbox/wallets/queries.ts';
import {
  claimEvents,
  dropStale,
  isSending,
  recordAttempt,
  selectOutdated,
  sweepEvents,
} from '../../../packages/service/src/webhooks/queue/queries.ts';
import { setFreshLane } from './fresh-lane.ts';
import { GROWTH, type GrownTable } from '../../support/grown-tables.ts';
import { APP, endOf, holdOf, type LedgerDatabase, WAYS } from '../../support/ledger-database.ts';
import { sql } from '../../support/sql.ts';
import type { Settlement } from '../../../packages/service/src/ledger/settlement/settlement.ts';
import { partsOf } from './table-parts.ts';

// A connection keeps its query plans. Plans made while the tables were nearly empty must be thrown away once the
// tables have grown, and later statements must look their rows up by index.

const ROWS_READ_MAX = 40;
/** After this many runs a connection uses a generic plan, without regard to the values. */
const TIMES_PLANNED = 8;
const USER = 'ann' as EndUserId;
/** All tables except the subscriptions, which are each looked up to find due events. */
const GROWING = (Object.keys(GROWTH) as GrownTable[]).filter((table) => table !== 'webhooks.subscriptions');
const AUTOVACUUM_OFF = `do $$
declare part regclass;
begin
  for part in select c.oid from pg_class c where c.relkind = 'r' and c.oid in ${partsOf(`'{${GROWING.join()}}'`)} loop
    execute format('alter table %s set (autovacuum_enabled = off)', part);
  end loop;
end $$`;
const SUBSCRIBED = `insert into webhooks.subscriptions (app_id, endpoint_url, events, sealed_secret, secret_fingerprint)
  values ('${APP}', 'https://receiver.test', '{topup.completed}', '', '')`;

interface Lane {
  readonly early: Pool;
  readonly fresh: LedgerDatabase;
}

type Use = (lane: Lane) => Promise<unknown>;

const bucket = { bucket: APP, wanted: 1, perMinute: 60, burst: 60 };
const anAttempt = () => ({ digest: randomBytes(16), body: randomBytes(16) });
const aMovement = () => ({ appId: APP, userId: USER, amount: micros(2n), key: newCallId() });

async function call(
  { early, fresh }: Lane,
  { reserve, settle }: (typeof WAYS)['judged' | 'inTurns'],
  session?: Settlement['session'],
): Promise<void> {
  const holds = [holdOf(USER, 10, { streamsMax: 5 }), holdOf(USER, 10)];
  for (const { outcome } of await reserve(early, fresh.instance, holds)) assert.equal(outcome, 'granted');
  await beginDrains(
    early,
    holds.map(({ callId }) => callId),
  );
  const ended = holds.map((hold) => ({ ...endOf(hold, 1), session }));
  for (const { charged } of await settle(early, ended)) assert.equal(charged, 1n);
}

async function retry({ early, fresh }: Lane): Promise<void> {
  const attempt = anAttempt();
  const first = holdOf(USER, 10, { idempotencyKey: { ...attempt, joins: false } });
  await WAYS.inTurns.reserve(early, fresh.instance, [first]);
  const kept = { callId: first.callId, digest: attempt.digest, body: attempt.body, sealed: randomBytes(8) };
  await insertAnswer(early, { ...kept, charged: undefined, lifetimeMs: 60_000 });
  await WAYS.inTurns.settle(early, [endOf(first, 1)]);
  const second = holdOf(USER, 10, { idempotencyKey: { ...attempt, joins: true } });
  const [row] = await WAYS.judged.reserve(early, fresh.instance, [second]);
  assert.equal(row?.outcome, 'attempt_kept');
  assert.ok(await selectAnswer(early, first.callId));
}

async function callWithPlayMoney({ early, fresh }: Lane): Promise<void> {
  const hold = holdOf(USER, 10, { idempotencyKey: { ...anAttempt(), joins: true } });
  const [row] = await reserveSandboxHolds(early, fresh.instance, micros(1_000n), [hold]);
  assert.equal(row?.outcome, 'granted');
  await settleSandboxHolds(early, [{ callId: hold.callId, charge: micros(1n), tokens: 1 }]);
}

async function deliver({ early, fresh }: Lane): Promise<void> {
  const claim = { id: randomUUID(), most: 8, reserved: 2, leaseMs: 60_000 };
  const eventId = `evt_${claim.id}`;
  await sql(fresh)`insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at)
    select ${eventId}, app_id, subscription_id, 'topup.completed', '{}', now() from webhooks.subscriptions where app_id = ${APP}`;
  assert.equal((await claimEvents(early, claim)).length, 1);
  assert.deepEqual(await selectOutdated(early, [eventId]), []);
  assert.ok(await isSending(early, APP, undefined));
  const outcome = { startedAtMs: Date.now(), durationMs: 1, status: 200, error: undefined };
  assert.equal(await recordAttempt(early, { eventId, claim: claim.id, outcome }), 'delivered');
  assert.equal((await claimEvents(early, claim)).length, 0);
}

const USES: Readonly<Record<string, Use>> = {
  'LI-01 taking a token': ({ early }) => takeTokens(early, [bucket]),
  'LI-01 taking a token lease': ({ early }) =>
    leaseTokens(early, randomUUID(), [{ ...bucket, kept: 0, returned: 0, target: 2 }]),
  'WA-07 a call judged on its own': (lane) => call(lane, WAYS.judged),
  'WA-07 a call that fits': (lane) => call(lane, WAYS.inTurns),
  'CP-19 a call of a session': (lane) => call(lane, WAYS.inTurns, { name: 's', client: undefined, wire: 'chat' }),
  'CC-14 a retry': retry,
  'WA-01 reading a wallet': ({ early }) => selectWallet(early, APP, USER),
  'WA-05 a credit': ({ early }) => insertCredit(early, { ...aMovement(), kind: 'top_up' }),
  'WA-05 a take-back': ({ early }) => insertTakeBack(early, { ...aMovement(), kind: 'refund' }),
  'WA-05 ending a suspension': ({ early }) => reinstateWallet(early, { appId: APP, userId: USER, writesOff: false }),
  'WA-08 setting a cap': ({ early }) => updateCap(early, { appId: APP, userId: USER, cap: undefined }),
  'WH-11 a delivery': deliver,
  'WH-14 dropping stale events': ({ early }) => dropStale(early, undefined, 8),
  'WH-14 dropping stale events of an app': ({ early }) => dropStale(early, APP, 8),
  'WH-14 removing ended events': ({ early }) => sweepEvents(early, 30, 8),
};

const USES_OF_PLAY_MONEY: Readonly<Record<string, Use>> = {
  'SB-01 a call with play money': callWithPlayMoney,
  'SB-08 removing unused sandbox wallets': ({ early }) => expireSandboxWallets(early, 0n, 8),
};

for (const [role, uses] of Object.entries({ live: USES, sandbox: USES_OF_PLAY_MONEY } as const)) {
  for (const [name, use] of Object.entries(uses)) {
    test(`${name} reads no more rows from grown tables`, async (t) => {
      const { fresh, owner, early, rowsReadOf } = await setFreshLane(t, role as 'live' | 'sandbox');
      await owner.query(AUTOVACUUM_OFF);
      await fresh.open(USER, 1_000);
      await owner.query(SUBSCRIBED);
      for (let time = 0; time < TIMES_PLANNED; time += 1) await use({ early, fresh });
      for (const table of GROWING) await owner.query(GROWTH[table]);
      while (await analyzeSmallTable(fresh.live));
      const readTooMuch: string[] = [];
      for (const table of GROWING) {
        const before = await rowsReadOf(table);
        await use({ early, fresh });
        const read = (await rowsReadOf(table)) - before;
        if (read > ROWS_READ_MAX) readTooMuch.push(`${read} rows of ${table}`);
      }
      assert.deepEqual(readTooMuch, []);
    });
  }
}
