import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newListenerId } from '../../../packages/service/src/kernel/values/ids.ts';
import { deleteListener, insertListener } from '../../../packages/service/src/webhooks/listeners/queries.ts';
import {
  deleteSubscription,
  renewDisabled,
  upsertSubscription,
} from '../../../packages/service/src/webhooks/subscriptions/queries.ts';
import { APP, createLedgerDatabase, holdOf } from '../../support/ledger-database.ts';
import { ROUNDS } from '../../support/rounds.ts';
import { sql } from '../../support/sql.ts';

const RACES = 30 * ROUNDS; // 1,000 and more with `--rounds 34`.
const THRESHOLD = 100n;

const ledger = await createLedgerDatabase();
after(() => ledger.close());

test(`WH-05 in ${RACES} races with a removal no hold fails`, async () => {
  const wanted = { appId: APP, endpointUrl: 'https://example.com', threshold: THRESHOLD } as const;
  const secret = { sealed: Buffer.from('sealed'), fingerprint: 'f' };
  let told = 0;
  for (let race = 0; race < RACES; race += 1) {
    const user = `user-${race}`;
    await ledger.open(user, 150);
    await upsertSubscription(ledger.live, { ...wanted, events: ['balance.low'] }, secret);
    const [outcome] = await Promise.all([
      ledger.reserve([holdOf(user, 100)]),
      deleteSubscription(ledger.live, wanted.appId),
    ]);
    assert.deepEqual(outcome, [100]);
    const { rows } = await ledger.database.owner.query('delete from webhooks.events returning event_id');
    assert.ok(rows.length <= 1);
    told += rows.length;
  }
  console.log(`${RACES} races, ${told} of them told of`);
  assert.deepEqual(await ledger.differences(), []);
});

test(`WH-05 in ${RACES} races with a listener no hold fails`, async () => {
  const countCopies = async () => (await ledger.database.owner.query('select from webhooks.copies')).rowCount ?? 0;
  let told = 0;
  for (let race = 0; race < RACES; race += 1) {
    const user = `listened-${race}`;
    const listenerId = newListenerId();
    await ledger.open(user, 150);
    const wanted = { appId: APP, listenerId, events: ['balance.low'], threshold: THRESHOLD, leaseMs: 60_000 } as const;
    await insertListener(ledger.live, wanted);
    const reserving = ledger.reserve([holdOf(user, 100)]);
    if (race % 2 === 0) await reserving; // The event is stored and then removed with the listener.
    told += await countCopies();
    const [outcome] = await Promise.all([reserving, deleteListener(ledger.live, APP, listenerId)]);
    assert.deepEqual(outcome, [100]);
    assert.equal(await countCopies(), 0);
  }
  assert.ok(told >= RACES / 2);
  assert.deepEqual(await ledger.differences(), []);
});

test('WH-13 an event during its subscription’s replacement is stored', async () => {
  const wanted = { appId: APP, endpointUrl: 'https://example.com', threshold: THRESHOLD } as const;
  const secret = { sealed: Buffer.from('sealed'), fingerprint: 'f' };
  await upsertSubscription(ledger.live, { ...wanted, events: ['balance.low'] }, secret);
  await ledger.open('replaced', 150);
  const replacing = await ledger.live.connect();
  await sql(replacing)`begin`;
  await renewDisabled(replacing, APP);
  await upsertSubscription(replacing, { ...wanted, events: ['balance.low'] }, secret);
  assert.deepEqual(await ledger.reserve([holdOf('replaced', 100)]), [100]);
  await sql(replacing)`commit`;
  replacing.release();
  const { rows } = await ledger.database.owner.query('delete from webhooks.events returning event_id');
  assert.equal(rows.length, 1);
  await deleteSubscription(ledger.live, APP);
});
