import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openCell } from '../../packages/service/src/app/cells/own-cell.ts';
import { addCell } from '../../packages/service/src/cells/topology/cells.ts';
import { selectSlot } from '../../packages/service/src/cells/moving/queries.ts';
import { slotOf } from '../../packages/service/src/kernel/values/slot.ts';
import { insertInstance } from '../../packages/service/src/db/processes/queries.ts';
import type { Email } from '../../packages/service/src/people/email.ts';
import { createHandOvers } from '../../packages/service/src/people/hand-over.ts';
import { createPersonSessions } from '../../packages/service/src/people/session.ts';
import { systemClock } from '../../packages/service/src/kernel/time/clock.ts';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { createFunding } from '../../packages/service/src/ledger/funding/funding.ts';
import { reserveHolds } from '../../packages/service/src/ledger/hold/queries.ts';
import { createWallets } from '../../packages/service/src/ledger/wallet/wallet.ts';
import { moveSlot } from '../../packages/service/src/cells/moving/move-slot.ts';
import { proofsBy } from '../proofs/cells/cell-people.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { APP, holdOf } from '../support/ledger-database.ts';
import { assertBooksOfBoth } from '../proofs/cells/moving-stage.ts';

/** What two cells do with one another, in its short form. tests/proofs/cells has the long one, with gateways and kills. */

const LEASE_MS = 3_600_000;
const COPY_MS = 10;
const NOWHERE = 'http://127.0.0.1:9';
const USER = 'u' as EndUserId;
const slot = slotOf(APP, USER);

const [one, two] = [await cell('c1'), await cell('c2')];
after(() => Promise.all([one.close(), two.close()]));

/** A database whose map of slots gives all of them to `c1`. */
async function cell(own: string): Promise<TestDatabase> {
  const database = await createTestDatabase();
  for (const name of ['c1', 'c2']) await addCell(database.owner, name, NOWHERE);
  await openCell(database.owner, own);
  return database;
}

/** Copies what the directory says of the slot, as PostgreSQL does between real cells. */
async function copySlot(): Promise<void> {
  const { cell: name, moving_to: to, moves } = (await selectSlot(one.owner, slot)) ?? assert.fail('no slot');
  const text = 'update cells.slots set cell = $2, moving_to = $3, moves = $4 where slot = $1';
  await two.owner.query(text, [slot, name, to, moves]);
}

test('CE-04 a wallet moves with all its money despite a kill', async () => {
  await createWallets(one.owner).open({ appId: APP, userId: USER, currency: 'EUR', cap: undefined });
  const credit = { kind: 'contract_credit', amount: micros(5_000n), key: 'k' } as const;
  await createFunding(one.owner).credit({ appId: APP, userId: USER, ...credit });
  const instances = { one: await insertInstance(one.owner, LEASE_MS), two: await insertInstance(two.owner, LEASE_MS) };
  const move = (before: (step: string) => void) =>
    moveSlot(
      { directory: one.owner, from: one.owner, to: two.owner },
      { slot, to: 'c2', noticeMs: 0, drainMs: 1_000, before },
    );
  let copying = Promise.resolve();
  const copier = setInterval(() => void (copying = copying.then(copySlot)), COPY_MS);
  try {
    await assert.rejects(
      move((step) => assert.notEqual(step, 'depart')),
      { name: 'AssertionError' },
    );
    const moved = await move(() => {});
    assert.deepEqual([moved?.wallets, moved?.balance], [1n, 5_000n]);
  } finally {
    clearInterval(copier);
    await copying;
  }
  await copySlot();
  const [left] = await reserveHolds(one.owner, instances.one, [holdOf(USER, 1_000)]);
  const [here] = await reserveHolds(two.owner, instances.two, [holdOf(USER, 1_000)]);
  assert.deepEqual([left?.outcome, here?.outcome], ['user_elsewhere', 'granted']);
  await assertBooksOfBoth({ one, two });
});

test('CE-07 a sign-in is handed over once', async () => {
  const keys = { proof: proofsBy(), kept: () => Buffer.alloc(32) };
  const at = ({ owner }: TestDatabase, own: string) =>
    createHandOvers({ pool: owner, keys, clock: systemClock, own, isInForce: () => Promise.resolve(true) });
  const [giving, taking] = [at(one, 'c1'), at(two, 'c2')];
  const { token } = await createPersonSessions(one.owner).open('person@example.test' as Email);
  const person = (await createPersonSessions(one.owner).find(token)) ?? assert.fail('nobody is signed in');
  const { secret, state } = taking.begin(undefined);
  const offered = () => giving.offer(person, 'c2', { state, next: '/wallet' }) ?? assert.fail('no token');
  const arrive = async (text: string, by: string | undefined) => {
    const spent = await taking.spend(text);
    return spent && taking.take(spent, { secret: by, address: '192.0.2.1' });
  };
  const first = offered();
  const arrived = await arrive(first, secret);
  const there = await createPersonSessions(two.owner).find(arrived?.token ?? '');
  assert.deepEqual([there?.identity.email, there?.sessionId], [person.identity.email, person.sessionId]);
  assert.equal(await arrive(first, secret), undefined);
  assert.equal(await arrive(offered(), taking.begin(undefined).secret), undefined);
  assert.equal(await giving.spend(offered()), undefined);
});
