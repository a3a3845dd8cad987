import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import type { KeyId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { reapHolds } from '../../packages/service/src/ledger/recovery/queries.ts';
import { settleLate } from '../../packages/service/src/ledger/settlement/queries.ts';
import type { Settlement } from '../../packages/service/src/ledger/settlement/settlement.ts';
import { takeTurn } from '../../packages/service/src/ledger/turn/queries.ts';
import { expireSessions } from '../../packages/service/src/calls/sessions/queries.ts';
import { endOf, holdOf, type LedgerDatabase, openLedgerDatabase } from '../support/ledger-database.ts';
import { createTestDatabase } from '../support/database.ts';
import { receiptOf } from '../support/receipts.ts';
import { sql } from '../support/sql.ts';

/** What the calls of a session have cost (CP-19), by every way in which a call ends. */

let ledger: LedgerDatabase;
before(async () => {
  ledger = await openLedgerDatabase(await createTestDatabase(), 'inTurns');
  for (const user of ['ada', 'bob']) await ledger.open(user, 1_000_000);
});
after(async () => {
  assert.deepEqual(await ledger.differences(), []);
  await ledger.close();
});

const DAY_MS = 86_400_000;
const BUDGET = { key: 'key_1' as KeyId, micros: micros(500_000n) };

async function held(user: string, amount: number, more: Parameters<typeof holdOf>[2] = {}): Promise<HoldRequest> {
  const request = holdOf(user, amount, more);
  assert.deepEqual(await ledger.reserve([request]), [amount]);
  return request;
}

const named = (request: HoldRequest, charge: number, name?: string): Settlement => ({
  ...endOf(request, charge),
  session: name === undefined ? undefined : { name, client: 'codex', wire: 'responses' },
});

/** The sessions as they are counted, and as the receipts say. */
async function sessions() {
  const counted = await sql(ledger)`
    select w.user_id as user, s.name, s.calls::int as calls, s.charged_micros::int as charged
    from usage.sessions s join ledger.wallets w using (wallet_id) order by 1, 2`;
  const derived = await sql(ledger)`
    select w.user_id as user, s.name, count(*)::int as calls, sum(c.charged_micros)::int as charged
    from usage.session_calls n join usage.sessions s using (session_id) join usage.calls c using (call_id)
    join ledger.wallets w on w.wallet_id = c.wallet_id and w.wallet_id = s.wallet_id
    group by 1, 2 order by 1, 2`;
  assert.deepEqual(counted, derived);
  return counted.map((row) => Object.values(row));
}

test('CP-19 the sums of a session are those of its receipts', async () => {
  const alone = await held('ada', 900);
  await ledger.settle([named(alone, 100, 's')]);
  const again = named(alone, 100, 's'); // Its answer was lost, so it comes again, from disk too.
  await assert.doesNotReject(ledger.settle([again, again]));

  // Many in one turn: of both wallets, some without a session, one that failed, and one that goes on to the slower statement.
  const names = ['s', 's', 't', undefined, 's'];
  const together = await Promise.all(names.map((_, at) => held(at === 4 ? 'bob' : 'ada', 1_000)));
  const failed = await held('ada', 1_000);
  const budgeted = await held('ada', 1_000, { budget: BUDGET });
  const turn = [
    ...together.map((request, at) => named(request, 10 ** at, names[at])),
    named(failed, 0, 'u'),
    named(budgeted, 20_000, 's'), // Above its hold: the receipt says what it cost.
  ];
  await ledger.turn(turn, []);
  await ledger.turn(turn, [], await ledger.addInstance());
  assert.deepEqual(await sessions(), [
    ['ada', 's', 4, 100 + 1 + 10 + 1_000],
    ['ada', 't', 1, 100],
    ['bob', 's', 1, 1_000],
  ]);
});

test('CP-19 a call that a retry has joined counts once', async () => {
  const key = { digest: Buffer.alloc(32, 1), body: Buffer.alloc(32, 2), joins: false };
  const first = await held('bob', 500, { idempotencyKey: key });
  await ledger.reserve([holdOf('bob', 500, { idempotencyKey: { ...key, joins: true } })]);
  const end = named(first, 7, 'joined');
  await takeTurn(ledger.live, ledger.instance, { settlements: [{ ...end, isUnkept: true }], requests: [] });
  assert.equal(await receiptOf(ledger.database, first.callId), undefined);
  await ledger.settle([end]);
  assert.deepEqual(
    (await sessions()).filter(([, name]) => name === 'joined'),
    [['bob', 'joined', 1, 7]],
  );
});

test('CP-19 a late charge counts, and a released hold does not', async () => {
  const instance = await ledger.addInstance();
  const request = holdOf('bob', 400);
  await ledger.reserve([request], instance);
  await sql(ledger)`update db.instances set state = 'dead' where instance_id = ${instance}`;
  assert.equal(await reapHolds(ledger.live, 100), 1);
  await ledger.settle([named(request, 300, 'late')]);
  assert.deepEqual(
    (await sessions()).filter(([, name]) => name === 'late'),
    [],
  );
  for (let time = 0; time < 2; time += 1) await settleLate(ledger.live, [named(request, 300, 'late')]);
  assert.deepEqual(
    (await sessions()).filter(([, name]) => name === 'late'),
    [['bob', 'late', 1, 300]],
  );
});

/** A settlement as a process of the version before writes it. */
const rowOf = ({ callId }: HoldRequest) => `("${callId}",5,answered,m,1,f,f,1,0,1,0,,f,0,)`;

test('CP-19 an old process settles as before', async () => {
  const [one, other, judged] = [await held('bob', 50), await held('bob', 50), await held('bob', 50)];
  const { owner } = ledger.database;
  await owner.query('select ledger.settle_one(s) from unnest($1::ledger.settlement[]) s', [[rowOf(one)]]);
  await owner.query(`select ledger.lane_turn('{}', $1, '{}')`, [[rowOf(other)]]);
  await owner.query('select * from ledger.settle($1)', [[rowOf(judged)]]);
  const charged = await Promise.all([one, other, judged].map(({ callId }) => receiptOf(ledger.database, callId)));
  assert.deepEqual(
    charged.map((receipt) => receipt?.charged),
    [5, 5, 5],
  );
});

test('CP-19 sessions end with the days of a look-up, and with their owner', async () => {
  await ledger.settle([named(await held('ada', 10), 1, 'old')]);
  await sql(ledger)`update usage.sessions set last_at = last_at - interval '8 days' where name = 'old'`;
  const pass = (after: bigint) => expireSessions(ledger.live, { after, most: 2, keptMs: 7 * DAY_MS });
  let at = await pass(0n);
  while (at !== undefined) at = await pass(at);
  const left = await sessions();
  assert.deepEqual(
    left.filter(([user]) => user === 'ada').map(([, name]) => name),
    ['s', 't'],
  );
  await ledger.wallets.forgetSessions(holdOf('ada', 1).appId, holdOf('ada', 1).userId);
  assert.deepEqual(
    await sessions(),
    left.filter(([user]) => user === 'bob'),
  );
  const [counts] = await sql(ledger)`
    select (select count(*)::int from usage.session_calls) as linked, sum(calls)::int as calls from usage.sessions`;
  assert.deepEqual(counts, { linked: 3, calls: 3 });
});
