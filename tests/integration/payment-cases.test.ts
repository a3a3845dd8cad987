import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CaseId, EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { createFunding } from '../../packages/service/src/ledger/funding/funding.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { Refusal } from '../../packages/service/src/kernel/faults/refusal.ts';
import { createPaymentDesk, type PaymentDesk } from '../../packages/service/src/operator/money/payment-desk.ts';
import { createPaymentReader } from '../../packages/service/src/payments/overview/overview.ts';
import { createLookAgain } from '../../packages/service/src/payments/booking/look-again.ts';
import type { PaymentNews } from '../../packages/service/src/payments/booking/news.ts';
import { BY, type Cases, casesOn } from '../support/cases.ts';
import { APP } from '../support/ledger-database.ts';
import { createPaymentsGround, type PaymentsGround } from '../support/payments.ts';

let ground: PaymentsGround;
let desk: PaymentDesk;
let casesOf: Cases['casesOf'];
let caseOf: Cases['caseOf'];
let standingOf: Cases['standingOf'];
let solve: Cases['solve'];
let withoutWallet: Cases['withoutWallet'];
const told: PaymentNews[] = [];

before(async () => {
  ground = await createPaymentsGround();
  const { processor, refunds } = ground;
  const options = { pool: ground.ledger.live, processor, log: createLog('silent') };
  const cases = { processor, tellOfPayment };
  const money = { pool: ground.ledger.live, currency: 'EUR', refunds, cases };
  desk = createPaymentDesk(money, createPaymentReader(money.pool), createLookAgain(options));
  ({ casesOf, caseOf, standingOf, solve, withoutWallet } = casesOn(ground, desk));
});

after(async () => {
  assert.deepEqual(await ground.check(), []);
  await ground.close();
});

async function tellOfPayment(_tx: unknown, news: PaymentNews): Promise<void> {
  told.push(news);
}

async function kept(user: string, paid: { readonly currency?: string } = {}): Promise<string> {
  const { ledger, begin, processor, tell } = ground;
  if ((await standingOf(user)) === undefined) await ledger.open(user, 0);
  const checkout = await begin(user, 5_000_000);
  if (paid.currency === undefined) await tell(processor.pay(checkout));
  await tell(processor.pay(checkout, paid));
  return checkout;
}

test('CP-18 ON-02 an operator credits a second payment as it came', async () => {
  const id = await kept('second');
  const { row } = await caseOf(id, 'kept');
  assert.equal(row.anomaly, 'second');
  told.length = 0;
  await solve('second', await caseOf(id, 'kept'), 'credit');
  assert.deepEqual(
    told.map(({ kind, amount, reference }) => [kind, amount, reference]),
    [['paid', 5_000_000n, row.payment_id]],
  );
  assert.deepEqual(await ground.moved('second'), ['top_up 5000000', 'top_up 5000000']);
  assert.deepEqual(await casesOf(id), []);
  // The webhook comes once more, and the credited payment can be refunded like any other.
  const there = (await desk.find(id))?.payments[1]?.processor_payment ?? '';
  await ground.tell(there);
  ground.processor.refundThere(there, 1_000_000);
  await ground.tell(there);
  assert.deepEqual((await ground.moved('second')).slice(2), ['refund 1000000']);
});

test('CP-18 ON-02 a payment in another currency is paid back', async () => {
  const id = await kept('dollars', { currency: 'USD' });
  const first = await caseOf(id, 'kept');
  assert.equal(first.effects.find(({ act }) => act === 'credit')?.obstacle, 'currency');
  const caseId = first.row.case_id;
  const refused = await desk.solve(BY, { caseId, act: 'credit' });
  assert.ok(refused instanceof Refusal && refused.code === 'CONFLICT');
  ground.processor.refunds = 'declined';
  assert.equal(await desk.solve(BY, { caseId, act: 'pay_back' }), 'declined');
  const again = await caseOf(id, 'kept');
  assert.notEqual(again.row.case_id, caseId);
  // The first form, sent once more, does not ask the processor again.
  const asked = ground.processor.refundOrders.length;
  assert.equal(await desk.solve(BY, { caseId, act: 'pay_back' }), 'solved');
  assert.equal(ground.processor.refundOrders.length, asked);
  ground.processor.refunds = 'under_way';
  await solve('dollars', again, 'pay_back');
  assert.equal(ground.processor.refundOrders.length, asked + 1);
  assert.deepEqual(await ground.moved('dollars'), []);
  const { refundId, processorPayment } = ground.processor.refundOrders.at(-1) ?? {};
  ground.processor.setRefund(refundId ?? '', 'declined');
  await ground.tell(processorPayment ?? '');
  await solve('dollars', await caseOf(id, 'kept'), 'close');
  await ground.tell(processorPayment ?? '');
  assert.deepEqual(await casesOf(id), []);
});

test('CP-18 a payment is credited once it fits', async () => {
  const { ledger, begin, processor, tell } = ground;
  await ledger.open('full', Number.MAX_SAFE_INTEGER);
  const [one, two] = [await begin('full', 5_000_000), await begin('full', 6_000_000)];
  await tell(processor.pay(one));
  const there = processor.pay(two);
  await tell(there);
  assert.equal((await caseOf(one, 'kept')).effects.find(({ act }) => act === 'credit')?.obstacle, 'too_much');
  const wallet = { appId: APP, userId: 'full' as EndUserId };
  const spent = { ...wallet, kind: 'refund', amount: micros(9_000_000_000n), key: 'spent' } as const;
  await createFunding(ledger.live).takeBack(spent);
  await solve('full', await caseOf(one, 'kept'), 'credit');
  processor.refundThere(there, 1_000_000);
  await tell(there);
  const part = await caseOf(two, 'kept');
  assert.equal(part.effects.find(({ act }) => act === 'credit')?.obstacle, 'part_went_back');
  assert.equal(part.effects.find(({ act }) => act === 'pay_back')?.paidBack, 5_000_000n);
  processor.refundThere(there, 5_000_000);
  await tell(there);
  assert.deepEqual(await casesOf(two), []);
  assert.equal((await desk.find(two))?.cases[0]?.row.closed_as, 'settled');
});

test('CP-18 WA-05 a refund of an unknown payment is released or booked', async () => {
  const { processor, refunds, paid, sweep } = ground;
  for (const [user, act, entry] of [
    ['released', 'release', 'refund_released 2000000'],
    ['was paid', 'mark_paid', 'refund_paid 2000000'],
  ] as const) {
    const name = user.replace(' ', '-');
    const { here } = await paid(name, 5_000_000);
    const lookUp = processor.lookUp;
    processor.isAway = true;
    await refunds.refundUnused({ appId: APP, userId: name as EndUserId, amount: micros(2_000_000n), key: 'k' });
    processor.isAway = false;
    const forgetful = processor as { lookUp: typeof lookUp };
    forgetful.lookUp = async () => undefined;
    await sweep();
    await sweep();
    forgetful.lookUp = lookUp;
    await solve(name, await caseOf(here, 'refund_unknown'), act);
    assert.equal((await ground.moved(name)).at(-1), entry);
    await sweep();
    assert.deepEqual(await casesOf(here), []);
  }
});

test('CP-18 WA-05 WA-06 a lost dispute is recovered or booked as a loss', async () => {
  const { ledger, paid, processor, tell } = ground;
  for (const [user, act] of [
    ['pays', 'recover'],
    ['loss', 'write_off'],
  ] as const) {
    const { there, here } = await paid(user, 5_000_000);
    const wallet = { appId: APP, userId: user as EndUserId };
    await createFunding(ledger.live).takeBack({ ...wallet, kind: 'refund', amount: micros(4_000_000n), key: 'spent' });
    processor.dispute(there, 5_000_000);
    await tell(there);
    const taken = await caseOf(here, 'wallet_suspended');
    assert.equal(taken.amount, 4_000_000n);
    assert.equal(taken.effects.find((one) => one.act === 'recover')?.obstacle, 'too_little');
    if (act === 'recover') {
      processor.dispute(there, 5_000_000, true);
      await tell(there);
    }
    await solve(user, await caseOf(here, 'wallet_suspended'), act);
    assert.deepEqual(await casesOf(here), []);
  }
  assert.deepEqual(await standingOf('pays'), { balance: 1_000_000n, shortfall: 0n, isSuspended: false });
  assert.deepEqual(await standingOf('loss'), { balance: 0n, shortfall: 0n, isSuspended: false });
});

test('CP-18 WA-05 returned money is booked once it fits', async () => {
  const { ledger, paid, processor, refunds, tell } = ground;
  const { there, here } = await paid('brim', 5_000_000);
  const wallet = { appId: APP, userId: 'brim' as EndUserId };
  processor.dispute(there, 1_000_000);
  await tell(there);
  await refunds.refundUnused({ ...wallet, amount: micros(2_000_000n), key: 'k' });
  const refundId = processor.refundOrders.at(-1)?.refundId ?? '';
  processor.setRefund(refundId, 'paid');
  await tell(there);
  const room = micros(BigInt(Number.MAX_SAFE_INTEGER) - 2_000_000n);
  await createFunding(ledger.live).credit({ ...wallet, kind: 'contract_credit', amount: room, key: 'fill' });
  processor.dispute(there, 1_000_000, true);
  processor.setRefund(refundId, 'declined');
  await tell(there);
  const both = await casesOf(here);
  assert.deepEqual(both.map(({ row }) => row.kind).toSorted(), ['dispute_not_booked', 'refund_not_returned']);
  await createFunding(ledger.live).takeBack({ ...wallet, kind: 'refund', amount: micros(9_000_000n), key: 'room' });
  for (const { row } of both) {
    const now = (await casesOf(here)).find((one) => one.row.case_id === row.case_id);
    assert.ok(now);
    await solve('brim', now, 'book');
  }
});

test('CP-18 WA-05 an unpaid refund is booked out of the wallet', async () => {
  const { paid, processor, tell } = ground;
  for (const [user, kind, happens, entries] of [
    ['not-taken', 'refund_not_taken', processor.refundThere, ['refund 2000000']],
    ['not-clawed', 'dispute_not_booked', processor.dispute, ['claw_back 2000000']],
    ['too-little', 'refund_not_taken', processor.refundThere, ['refund 500000', 'refund_receivable 1500000']],
    ['nothing-left', 'dispute_not_booked', processor.dispute, ['claw_back_receivable 2000000']],
  ] as const) {
    const { there, here } = await paid(user, 5_000_000);
    const left = { 'too-little': 500_000n, 'nothing-left': 0n }[user as string];
    if (left !== undefined) {
      const spent = { appId: APP, userId: user as EndUserId, amount: micros(5_000_000n - left), key: 'spent' } as const;
      await createFunding(ground.ledger.live).takeBack({ ...spent, kind: 'refund' });
    }
    const before = await ground.moved(user);
    await withoutWallet(user, async () => {
      happens(there, 2_000_000);
      await tell(there);
      const waiting = await caseOf(here, kind);
      assert.equal(waiting.effects.find(({ act }) => act === 'book')?.obstacle, 'no_wallet');
      const refused = await desk.solve(BY, { caseId: waiting.row.case_id, act: 'book' });
      assert.ok(refused instanceof Refusal && refused.code === 'CONFLICT');
    });
    await solve(user, await caseOf(here, kind), 'book');
    assert.deepEqual((await ground.moved(user)).slice(before.length), entries);
    await tell(there);
    assert.deepEqual((await ground.moved(user)).slice(before.length), entries, 'a webhook books nothing twice');
    const open = (await casesOf(here)).map(({ row }) => row.kind);
    assert.deepEqual(open, left === undefined ? [] : ['wallet_suspended'], user);
  }
});

test('CP-18 a closed refund case stays closed', async () => {
  const { paid, processor, tell } = ground;
  const { there, here } = await paid('other-currency', 5_000_000);
  processor.oddity(there, 'a refund is in another currency: re_1');
  await tell(there);
  await tell(there);
  const waiting = await caseOf(here, 'other_currency');
  assert.deepEqual(
    [waiting.row.subject, waiting.effects.map(({ act }) => act)],
    [`${here} a refund is in another currency: re_1`, ['close']],
  );
  const refused = await desk.solve(BY, { caseId: waiting.row.case_id, act: 'book' });
  assert.ok(refused instanceof Refusal && refused.code === 'BAD_REQUEST');
  await solve('other-currency', waiting, 'close');
  await tell(there);
  assert.deepEqual([await casesOf(here), await ground.moved('other-currency')], [[], ['top_up 5000000']]);
});

test('CP-18 the list is ordered, paged and filtered', async () => {
  const { begin, ledger, processor } = ground;
  await ledger.open('lookup', 0);
  const id = await begin('lookup', 5_000_000);
  assert.equal(await desk.lookUp(BY, id), 'unpaid');
  processor.pay(id);
  assert.equal(await desk.lookUp(BY, id), 'looked');
  assert.deepEqual(await ground.moved('lookup'), ['top_up 5000000']);
  assert.deepEqual(
    (await desk.find(id))?.history.map(({ action }) => action),
    ['payment.look-up', 'payment.look-up'],
  );
  const none = { kind: undefined, state: undefined, appId: undefined, userId: undefined };
  const all = { ...none, fromMs: undefined, untilMs: undefined, waits: false };
  const whole = (await desk.page(all, { after: undefined, most: 1_000 })).lines;
  assert.deepEqual(new Set(whole.map(({ kind }) => kind)), new Set(['checkout', 'payment', 'refund', 'dispute']));
  assert.deepEqual(
    whole.map(({ at_us: us }) => us),
    whole.map(({ at_us: us }) => us).toSorted((a, b) => Number(b - a)),
  );
  const paged: string[] = [];
  for (let next: string | undefined = '', first = true; first || next !== undefined; first = false) {
    const page = await desk.page(all, { after: next === '' ? undefined : next, most: 7 });
    paged.push(...page.lines.map((line) => line.id));
    next = page.next;
  }
  assert.deepEqual(
    paged,
    whole.map((line) => line.id),
  );
  const of = async (filter: Partial<typeof all> | object) =>
    (await desk.page({ ...all, ...filter }, { after: undefined, most: 1_000 })).lines;
  const same = (lines: typeof whole, is: (line: (typeof whole)[number]) => boolean) =>
    assert.deepEqual(
      lines.map((line) => line.id),
      whole.filter(is).map((line) => line.id),
    );
  same(await of({ kind: 'refund' }), ({ kind }) => kind === 'refund');
  same(await of({ state: 'kept' }), ({ state }) => state === 'kept');
  same(await of({ userId: 'full' as EndUserId, appId: APP }), ({ user_id: user }) => user === 'full');
  same(await of({ waits: true }), ({ waits }) => waits);
  same(await of({ untilMs: whole[3]?.at.getTime() }), ({ at }) => at.getTime() < (whole[3]?.at.getTime() ?? 0));
  for (const line of whole.filter(({ id: one }) => /^(ref|dsp|pay)_/.test(one)).slice(0, 9)) {
    assert.equal((await desk.find(line.id))?.checkout.checkout_id, line.checkout_id);
  }
  assert.equal(await desk.find('pay_none'), undefined);
  const nobody = await desk.solve(BY, { caseId: 'cas_none' as CaseId, act: 'close' });
  assert.ok(nobody instanceof Refusal && nobody.code === 'NOT_FOUND');
  assert.equal((await desk.find('chk_none')) === undefined, true);
});
