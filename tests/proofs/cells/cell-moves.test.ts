import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { selectSlot } from '../../../packages/service/src/cells/moving/queries.ts';
import { slotOf } from '../../../packages/service/src/kernel/values/slot.ts';
import { insertInstance } from '../../../packages/service/src/db/processes/queries.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { checkChanges } from '../../../packages/service/src/ledger/check/check.ts';
import { createFunding } from '../../../packages/service/src/ledger/funding/funding.ts';
import { reserveHolds } from '../../../packages/service/src/ledger/hold/queries.ts';
import { settleHolds } from '../../../packages/service/src/ledger/settlement/queries.ts';
import { createWallets } from '../../../packages/service/src/ledger/wallet/wallet.ts';
import {
  MOVE_STEPS,
  type MoveDatabases,
  type MoveStep,
  moveSlot,
  takeBack,
} from '../../../packages/service/src/cells/moving/move-slot.ts';
import { catalogueAt } from '../../support/catalogue.ts';
import { chat, send } from '../../support/client.ts';
import type { TestDatabase } from '../../support/database.ts';
import { APP, endOf, holdOf } from '../../support/ledger-database.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { saying, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import type { TestService } from '../../support/service.ts';
import { addCheckout, addPayment, CHANGES_OF_ROWS, knownOf, ofCell, ownersIn, sumOf } from './moving-rows.ts';
import { assertBooksOfBoth, startMovingStage, startServices, usersOfOneSlot } from './moving-stage.ts';

/** A slot moves between two cells, with commands that are killed at every step. */

type Stage = Awaited<ReturnType<typeof startMovingStage>>;
const { slot, users } = usersOfOneSlot(APP, 4);
const [rich = '' as EndUserId, owing = '' as EndUserId, gone = '' as EndUserId, late = '' as EndUserId] = users;
const KILLED = 'killed';
const DRAIN_MS = 10_000;
const LEASE_MS = 3_600_000;

let stage: Stage;
let instance: bigint;
let instanceOfTwo: bigint;

before(async () => {
  stage = await startMovingStage();
  const { one, two } = stage;
  instance = await insertInstance(one.owner, LEASE_MS);
  instanceOfTwo = await insertInstance(two.owner, LEASE_MS);
  const wallets = createWallets(one.owner);
  for (const userId of [owing, gone, rich])
    await wallets.open({ appId: APP, userId, currency: 'EUR', cap: micros(4_000_000n) });
  await addPayment(one, rich);
  const funding = createFunding(one.owner);
  const act = { appId: APP, userId: rich };
  await funding.credit({ ...act, kind: 'top_up', amount: micros(5_000_000n), key: 'pay_1' });
  await funding.setAside({ ...act, amount: micros(1_000_000n), key: 'ref_1' });
  await funding.takeBack({ appId: APP, userId: owing, kind: 'claw_back', amount: micros(70n), key: 'dsp_1' });
  await funding.credit({ appId: APP, userId: gone, kind: 'contract_credit', amount: micros(9n), key: 'k' });
  await wallets.setConnected({ appId: APP, userId: gone, isConnected: false });
  await charge(one, 300);
  await checkChanges(one.owner);
  await charge(one, 30);
});

after(() => stage.stop());

async function charge({ owner }: TestDatabase, amount: number): Promise<string | number> {
  const request = holdOf(rich, 1_000);
  const by = owner === stage.one.owner ? instance : instanceOfTwo;
  const [answer] = await reserveHolds(owner, by, [request]);
  if (answer?.outcome !== 'granted') return answer?.outcome ?? 'nothing';
  await settleHolds(owner, [endOf(request, amount)]);
  return amount;
}

const move = (databases: MoveDatabases, at?: MoveStep) =>
  moveSlot(databases, {
    slot,
    to: databases === stage.there ? 'c2' : 'c1',
    noticeMs: 0,
    drainMs: DRAIN_MS,
    before: (step) => {
      if (step === at) throw new Error(KILLED);
    },
  });

async function killed(databases: MoveDatabases, at: MoveStep): Promise<void> {
  await assert.rejects(move(databases, at), { message: KILLED });
}

async function assertChecked(): Promise<void> {
  await assertBooksOfBoth(stage);
  for (const { owner } of [stage.one, stage.two]) assert.deepEqual((await checkChanges(owner)).differences, []);
}

test('CE-04 a move killed at any step goes on', async () => {
  const { one, two, there, back } = stage;
  let [from, to, way] = [one, two, there];
  const deaths: readonly (MoveStep | undefined)[] = [...MOVE_STEPS, undefined];
  for (const at of deaths) {
    const all = await knownOf(from, slot);
    if (at !== undefined) await killed(way, at);
    const moved = await move(way);
    assert.deepEqual([moved?.wallets, moved?.balance, moved?.owed], [3n, sumOf(all), 70n], String(at));
    assert.deepEqual(await knownOf(to, slot), all);
    assert.deepEqual(await knownOf(from, slot), [[], [[], [], [], [], []]]);
    await assertChecked();
    assert.equal(await move(way), undefined);
    assert.equal(await charge(from, 5), 'user_elsewhere');
    assert.equal(await charge(to, 5), 5);
    await assertChecked();
    [from, to, way] = [to, from, way === there ? back : there];
  }
  assert.equal(from, one);
});

test('CE-04 keys and refunds of one cell count in the other', async () => {
  const { one, two, there, back } = stage;
  const act = { appId: APP, userId: rich };
  const [here, elsewhere] = [createFunding(one.owner), createFunding(two.owner)];
  await move(there);
  assert.equal(
    await elsewhere.credit({ ...act, kind: 'top_up', amount: micros(5_000_000n), key: 'pay_1' }),
    'repeated',
  );
  assert.equal(await elsewhere.credit({ ...act, kind: 'contract_credit', amount: micros(7n), key: 'there' }), 'booked');
  assert.equal(await elsewhere.endSetAside({ ...act, kind: 'refund_paid', key: 'ref_1' }), 'booked');
  await sql(two)`update payments.refunds set state = 'paid'`;
  await assertChecked();
  await move(back);
  assert.equal(await here.credit({ ...act, kind: 'contract_credit', amount: micros(7n), key: 'there' }), 'repeated');
  assert.equal(await here.endSetAside({ ...act, kind: 'refund_paid', key: 'ref_1' }), 'repeated');
  await assertChecked();
});

test('CE-04 a move that has not arrived can be given up', async () => {
  const { one, there } = stage;
  const all = await knownOf(one, slot);
  for (const at of MOVE_STEPS) {
    const hasArrived = at === 'depart' || at === 'flip';
    await killed(there, at);
    if (at !== 'stop') await assert.rejects(takeBack({ ...there, from: ofCell('c3') }, slot), /DATABASE_URL is c3/);
    if (hasArrived) {
      await assert.rejects(takeBack(there, slot), /is in c2 already/);
      await move(there);
      await move(stage.back);
    } else {
      await takeBack(there, slot);
      await takeBack(there, slot);
    }
    assert.deepEqual(await knownOf(one, slot), all, at);
    assert.equal((await selectSlot(one.owner, slot))?.cell, 'c1');
    await assertChecked();
  }
  assert.equal(await charge(one, 5), 5);
});

test('CE-04 a process that wakes after its move ended touches nothing', async () => {
  const { one, there, back } = stage;
  for (const [at, movesAgain] of [
    ['depart', false],
    ['depart', true],
    ['flip', true],
  ] as const) {
    const [asleep, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const sleeper = moveSlot(there, {
      slot,
      to: 'c2',
      noticeMs: 0,
      drainMs: DRAIN_MS,
      before: async (step) => {
        if (step !== at) return;
        asleep.resolve();
        await awake.promise;
      },
    });
    await asleep.promise;
    await move(there);
    await move(back);
    if (movesAgain) await killed(there, 'copy');
    const all = await knownOf(one, slot);
    awake.resolve();
    await sleeper;
    assert.deepEqual(await knownOf(one, slot), all, `${at} ${movesAgain}`);
    assert.equal((await selectSlot(one.owner, slot))?.cell, 'c1');
    await takeBack(there, slot);
    await assertChecked();
  }
});

test('CE-04 a check during a return forgets no spending', async () => {
  const { one, two, there, back } = stage;
  await move(there);
  assert.equal(await charge(two, 7), 7);
  // The check writes its results in the order of wallets, and stops at one before that which comes back with more spent.
  const locker = await one.owner.connect();
  await sql(locker)`begin; select from ledger.checkpoints order by wallet_id limit 1 for update`;
  const checking = checkChanges(one.owner);
  await waitUntil('it waits', async () => {
    const { rowCount } = await two.owner.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%check_changes%'`,
    );
    return rowCount !== 0;
  });
  await move(back);
  await sql(locker)`rollback`;
  locker.release();
  await checking;
  await assertChecked();
});

test('CE-04 CC-25 a wallet goes to the person with its address', async () => {
  const { one, two, there, back } = stage;
  await sql(one)`update identities.identities set email = 'e1.new' where identity_id = 'idn_1'`;
  await move(there);
  assert.deepEqual(await ownersIn(two), [{ email: 'e1.new', app_id: APP }]);
  await sql(two)`
    insert into idempotency.kept_answers (call_id, key_digest, body_digest, sealed, charged_micros, expires_at)
    values (gen_random_uuid(), '\\x01', '\\x01', '\\x01', 3, now() + interval '1 hour')`;
  await move(back);
  const rows = await sql(one)`select charged_micros from idempotency.kept_answers where charged_micros = 3`;
  assert.deepEqual(rows, [{ charged_micros: 3n }]);
});

test('CE-04 a move settles open holds first', async () => {
  const { one, there } = stage;
  const { owner } = one;
  const running = holdOf(rich, 1_000);
  await reserveHolds(owner, instance, [running]);
  const before = (await createWallets(owner).find(APP, rich))?.balance ?? 0n;
  await assert.rejects(moveSlot(there, { slot, to: 'c2', noticeMs: 0, drainMs: 0 }), /still ran after 0 s/);
  assert.equal(await charge(one, 5), 5);
  const moving = move(there);
  await waitUntil('they are barred', async () => (await owner.query('select from ledger.leaving')).rowCount === 3);
  assert.equal(await charge(one, 5), 'user_elsewhere');
  const act = { appId: APP, userId: rich };
  const barred = { code: 'PC002' };
  const funding = createFunding(owner);
  await assert.rejects(funding.credit({ ...act, kind: 'top_up', amount: micros(5n), key: 'late' }), barred);
  await assert.rejects(createWallets(owner).setCap({ ...act, cap: undefined }), barred);
  await assert.rejects(createWallets(owner).setConnected({ ...act, isConnected: true }), barred);
  await assert.rejects(createWallets(owner).open({ ...act, userId: late, currency: 'EUR', cap: undefined }), barred);
  await assert.rejects(addCheckout(owner, rich, 'chk_2'), barred);
  for (const change of CHANGES_OF_ROWS) await assert.rejects(owner.query(change), barred, change);
  await sql(owner)`update payments.checkouts set next_look_at = null`; // A sweep claims rows of many users.
  await settleHolds(owner, [endOf(running, 400)]);
  const moved = await moving;
  assert.equal(moved?.wallets, 3n);
  const there2 = await createWallets(stage.two.owner).find(APP, rich);
  assert.equal(there2?.balance, before - 405n);
  await assertChecked();
  await move(stage.back);
});

test('CE-04 CC-14 a retry after a move is not charged again', async (t) => {
  const { there } = stage;
  const upstream = await startScriptedUpstream();
  upstream.script(saying('Hi'));
  t.after(upstream.close);
  const { c1, c2, app } = await startServices(t, stage, catalogueAt(upstream.baseUrl));
  const user = 'somebody' as EndUserId;
  const its = slotOf(app.appId, user);
  await c1.fund(app, user, 1_000_000);
  const call = (at: TestService) =>
    chat({ url: at.url, key: app.liveKey, user, headers: { 'idempotency-key': 'once' } });
  const first = await call(c1);
  assert.equal(first.status, 200);
  const { balance } = await c1.wallet(app, user);
  const stopped = { slot: its, to: 'c2', noticeMs: 0, drainMs: DRAIN_MS };
  await moveSlot(there, {
    ...stopped,
    before: async (step) => {
      if (step !== 'depart') return;
      for (const at of [c1, c2]) {
        await waitUntil(
          'it knows',
          async () => (await send('/balance', { url: at.url, key: app.liveKey, user })).status === 429,
        );
        assertRefusal(await call(at), { code: 'TOO_MANY_REQUESTS' });
      }
    },
  });
  for (const at of [c1, c2]) {
    const answered = await waitUntil('it answers', async () => {
      const reply = await call(at);
      return reply.status === 429 ? undefined : reply;
    });
    assert.deepEqual([answered.status, answered.text], [200, first.text]);
  }
  assert.equal(upstream.requests.length, 1);
  assert.equal((await c2.wallet(app, user)).balance, balance);
  assert.deepEqual(
    [await c1.wallet(app, user).then((wallet) => wallet.balance), await c1.check(), await c2.check()],
    [0, [], []],
  );
});
