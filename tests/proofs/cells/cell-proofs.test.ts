import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { AppId, EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import {
  type MoveDatabases,
  type MoveStep,
  moveSlot,
  takeBack,
} from '../../../packages/service/src/cells/moving/move-slot.ts';
import { selectSlot } from '../../../packages/service/src/cells/moving/queries.ts';
import { slotOf } from '../../../packages/service/src/kernel/values/slot.ts';
import { catalogueAt } from '../../support/catalogue.ts';
import { chat, type Reply, send } from '../../support/client.ts';
import { type Name, openLedgerCells } from './ledger-cells.ts';
import { APP, endOf, holdOf, openLedgerDatabase } from '../../support/ledger-database.ts';
import { openPaymentsGround } from '../../support/payments.ts';
import { createFakeProcessor } from '../../support/processor.ts';
import { History } from '../histories/ledger-history.ts';
import { stepInCells } from '../histories/ledger-steps.ts';
import { assertBooksOfBoth, startMovingStage, startServices } from './moving-stage.ts';
import { ROUNDS } from '../../support/rounds.ts';
import { completionBody, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** The proofs of the ledger over two cells, between which wallets move. `npm run proofs -- cells` plays many more rounds. */

const STEPS_MAX = 50;
const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

let stage: Awaited<ReturnType<typeof startMovingStage>>;

before(async () => {
  stage = await startMovingStage();
});
after(() => stage.stop());

test('CE-04 a moving wallet answers like one that stays', async (t) => {
  t.diagnostic(`seed ${seed}: again with PURSER_TEST_SEED=${seed}`);
  const bySlot = new Map<number, Name>();
  const changes = { bySlot, moved: 0, stayed: 0, killed: 0, givenUp: 0 };
  const ledgers = await Promise.all(
    (['judged', 'inTurns'] as const).map((way) => openLedgerCells(stage, way, changes)),
  );
  let histories = 0;
  const steps = fc.array(stepInCells, { minLength: STEPS_MAX / 2, maxLength: STEPS_MAX, size: 'max' });
  const keepsUp = fc.asyncProperty(steps, fc.nat(1), async (taken, way) => {
    const ledger = ledgers[way];
    assert.ok(ledger);
    const history = new History(ledger, `in-cells-${(histories += 1)}`, 0);
    await history.begin();
    for (const one of taken) await history.take(one);
    await history.compareSpent();
    await assertBooksOfBoth(stage);
  });
  try {
    await fc.assert(keepsUp, { seed, numRuns: ROUNDS, endOnFailure: true });
  } finally {
    for (const { close } of ledgers) await close();
  }
  t.diagnostic(JSON.stringify({ histories, ...changes, bySlot: bySlot.size }));
  // Of the few moves of two histories, all may have been stopped or given up.
  assert.ok(ROUNDS <= 5 ? changes.moved + changes.stayed > 0 : changes.moved > 0);
});

test('CE-04 payment news lost during a move is found', async () => {
  const processor = createFakeProcessor();
  const [one, two] = await Promise.all(
    [stage.one, stage.two].map(async (database) =>
      openPaymentsGround(
        await openLedgerDatabase({ ...database, close: () => Promise.resolve() }, 'judged'),
        processor,
      ),
    ),
  );
  assert.ok(one !== undefined && two !== undefined);
  const { there } = await one.paid('payer', 5_000_000);
  const told = ({ webhooks }: typeof one) => {
    const { body, headers } = processor.webhook(there);
    return webhooks.receive(body, headers);
  };
  await moveSlot(stage.there, {
    slot: slotOf(APP, 'payer' as EndUserId),
    to: 'c2',
    noticeMs: 0,
    drainMs: DRAIN_MS,
    before: async (step) => {
      if (step !== 'copy') return;
      processor.dispute(there, 2_000_000);
      await told(two); // It does not know the payment yet.
      await assert.rejects(told(one), { code: 'PC002' }); // So the processor sends it again, later.
    },
  });
  await told(one); // It does not know the payment any more.
  assert.deepEqual(await two.moved('payer'), ['moved_in 5000000']);
  const db = two.ledger.database.owner;
  await sql(db)`update payments.checkouts set created_at = created_at - interval '100 days'`;
  processor.isAway = true;
  await two.sweep();
  const rows = await sql(db)`select next_look_at < clock_timestamp() + interval '2 hours' as is_soon
    from payments.checkouts`;
  assert.deepEqual(rows, [{ is_soon: true }]); // Not after a quarter of its age, as one that nobody has paid for long.
  processor.isAway = false;
  // Payments that came with a move are more than a pass takes. A payment that nobody has heard of does not wait behind them.
  await sql(db)`insert into payments.checkouts
    select (jsonb_populate_record(null::payments.checkouts, to_jsonb(c) || jsonb_build_object(
      'checkout_id', c.checkout_id || n, 'processor_checkout', c.processor_checkout || n))).*
    from payments.checkouts c, generate_series(1, 60) n`;
  const unheard = await two.begin('payer', 3_000_000);
  processor.pay(unheard);
  await two.sweep();
  assert.deepEqual((await two.moved('payer')).toSorted(), ['claw_back 2000000', 'moved_in 5000000', 'top_up 3000000']);
  await two.sweep();
  processor.dispute(there, 1_000_000);
  await two.sweep();
  assert.equal((await two.moved('payer')).length, 3); // One look is enough: from now on, the processor tells this cell.
  assert.deepEqual([await one.check(), await two.check()], [[], []]);
  await one.close();
  await two.close();
});

test('CE-04 a late command leaves a newer move alone', async () => {
  const ledger = await openLedgerDatabase({ ...stage.one, close: () => Promise.resolve() }, 'judged');
  await ledger.open('sleepy', 100);
  const slot = slotOf(APP, 'sleepy' as EndUserId);
  const running = holdOf('sleepy', 10);
  await ledger.reserve([running]);
  const [asleep, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const begin = (before: (step: MoveStep) => Promise<void> | void) =>
    moveSlot(stage.there, { slot, to: 'c2', noticeMs: 0, drainMs: 0, before });
  const sleeper = begin(async (step) => {
    if (step !== 'drain') return;
    asleep.resolve();
    await awake.promise;
  });
  await asleep.promise;
  await takeBack(stage.there, slot);
  await assert.rejects(
    begin((step) => assert.notEqual(step, 'drain', 'killed')),
    /killed/,
  );
  const newer = await selectSlot(stage.one.owner, slot);
  awake.resolve();
  await assert.rejects(sleeper, /still ran/);
  assert.deepEqual(await selectSlot(stage.one.owner, slot), newer);
  await ledger.settle([endOf(running, 4)]);
  await takeBack(stage.there, slot);
  assert.equal((await ledger.wallet('sleepy')).balance, 96);
  await ledger.close();
});

/** Each in a slot of their own, without any wallet: those of the histories have running calls, with which no slot can move. */
async function newUsers(appId: AppId, count: number): Promise<readonly EndUserId[]> {
  const owners = 'select app_id as app, user_id as "user" from ledger.wallets';
  const found = [stage.one, stage.two].map(({ owner }) => owner.query<{ app: AppId; user: EndUserId }>(owners));
  const taken = new Set(
    (await Promise.all(found)).flatMap(({ rows }) => rows).map(({ app, user }) => slotOf(app, user)),
  );
  const users: EndUserId[] = [];
  for (let name = 0; users.length < count; name += 1) {
    const user = `worth-${name}` as EndUserId;
    const slot = slotOf(appId, user);
    if (!taken.has(slot)) users.push(user);
    taken.add(slot);
  }
  return users;
}

const CALLS = 40;
const RICH = 1_000_000_000;
const DRAIN_MS = 20_000;
/**
 * The usage is more than any hold, so that a call is charged what it held. The smallest output that a model may be
 * asked for cannot be lowered (WA-13).
 */
const USAGE = { prompt_tokens: 900_000, completion_tokens: 16, total_tokens: 900_016 };
const SMALLEST = { max_completion_tokens: 16 };

test(`CE-04 of ${CALLS} calls, a moving wallet worth k admits k`, async (t) => {
  const upstream = await startScriptedUpstream();
  t.after(upstream.close);
  upstream.script({ body: completionBody({ model: 'large-upstream', content: 'Hi', usage: USAGE }) });
  const { c1, c2, app } = await startServices(t, stage, catalogueAt(upstream.baseUrl));
  const urls = [c1.url, c2.url];
  const call = (user: string, index: number): Promise<Reply> =>
    chat({ url: urls[index % 2] ?? '', key: app.liveKey, user }, SMALLEST);
  await c1.fund(app, 'first', RICH);
  const price = Number((await call('first', 0)).headers.get('x-service-charge-micros'));
  assert.ok(price > 0);

  /** Begins once both gateways know of the move, so that they refuse its user with a 429. */
  const move = (databases: MoveDatabases, to: string, user: string): Promise<unknown> => {
    const before = async (step: string): Promise<void> => {
      if (step !== 'bar') return;
      for (const url of urls) {
        const ask = () => send('/balance', { url, key: app.liveKey, user });
        await waitUntil('it knows', async () => (await ask()).status === 429);
      }
    };
    return moveSlot(databases, {
      slot: slotOf(app.appId, user as EndUserId),
      to,
      noticeMs: 0,
      drainMs: DRAIN_MS,
      before,
    });
  };

  /** All at once. A caller that is not answered stays one. */
  const rush = async (user: string, callers: number): Promise<readonly Reply[]> =>
    Promise.all(Array.from({ length: callers }, (_, index) => call(user, index)));

  const play = async (by: 'wallet' | 'cap', user: string, worth: number): Promise<void> => {
    await c1.fund(app, user, by === 'wallet' ? worth * price : RICH, by === 'cap' ? worth * price : undefined);
    const reached = upstream.requests.length;
    let answered = 0;
    const note = (replies: readonly Reply[]): void =>
      void (answered += replies.filter(({ status }) => status === 200).length);
    for (const [databases, to] of [
      [stage.there, 'c2'],
      [stage.back, 'c1'],
      [stage.there, 'c2'],
    ] as const) {
      const [replies] = await Promise.all([rush(user, CALLS - answered), move(databases, to, user)]);
      note(replies);
    }
    await waitUntil('nobody is told to come back', async () => {
      const replies = await rush(user, CALLS - answered);
      note(replies);
      return replies.every(({ status }) => status === 402);
    });
    assert.equal(answered, worth, by);
    assert.equal(upstream.requests.length - reached, worth, by);
    const left = by === 'wallet' ? 0 : RICH - worth * price;
    assert.deepEqual(await c2.wallet(app, user), { balance: left, held: 0, openStreams: 0 });
  };

  for (const [round, user] of (await newUsers(app.appId, ROUNDS)).entries()) {
    await play(round % 2 === 0 ? 'cap' : 'wallet', user, 1 + ((seed + round) % 30));
  }
  await assertBooksOfBoth(stage);
});
