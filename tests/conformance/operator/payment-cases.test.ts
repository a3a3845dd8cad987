import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOperator } from '../../support/control.ts';
import { assertPage, IN_CONSOLE, mainOf, openBrowser } from '../../support/page.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { setStripeStage } from '../../support/stripe-stage.ts';
import { trailOf } from '../../support/trail.ts';

/** Payments that wait for a person, and what an operator may do about each (CP-05, ON-02). */

const { service, app, stripe, newUser, begin, tell, moved } = await setStripeStage({
  environment: { PURSER_SECOND_PERSON_MICROS: '8000000' },
});
const operator = await newOperator(service);

type Details = Readonly<
  Record<'payments' | 'cases' | 'entries' | 'history' | 'movedBack', readonly Readonly<Record<string, unknown>>[]>
>;

type Things = readonly { readonly kind: string; readonly related: Things }[];

async function detailsOf(id: string): Promise<Details> {
  return (await operator.get(200, 'GET', `/operator/payments/${id}`)) as unknown as Details;
}

test('CP-18 ON-02 an operator finds, previews and solves a payment case once', async () => {
  const user = await newUser(0);
  const { checkoutId, session } = await begin(user, 5_000_000);
  await tell('checkout.session.completed', stripe.pay(session));
  const second = stripe.pay(session);
  await tell('payment_intent.succeeded', second);
  const waits = await operator.get(200, 'GET', `/operator/payments?waits=true&userId=${user}&appId=${app.appId}`);
  const [line] = waits['payments'] as readonly Readonly<Record<string, unknown>>[];
  assert.deepEqual(
    [line?.['kind'], line?.['state'], line?.['anomaly'], line?.['checkoutId'], line?.['amountMicros'], waits['next']],
    ['payment', 'kept', 'second', checkoutId, 5_000_000, null],
  );
  assert.ok(!JSON.stringify(waits).includes(second), 'A list has no id of the processor.');
  const id = String(line?.['id']);
  const { cases, payments } = await detailsOf(id);
  assert.equal(payments[1]?.['processorId'], second);
  const [waiting] = cases;
  const acts = waiting?.['acts'] as readonly Readonly<Record<string, unknown>>[];
  const entry = { kind: 'top_up', debit: 'processor', credit: 'wallet', amountMicros: 5_000_000 };
  assert.deepEqual(acts[1], {
    act: 'credit',
    obstacle: null,
    amountMicros: 5_000_000,
    paidBackMicros: null,
    entries: [entry],
    before: { balanceMicros: 5_000_000, shortfallMicros: 0, suspended: false },
    after: { balanceMicros: 10_000_000, shortfallMicros: 0, suspended: false },
  });
  const path = `/operator/payment-cases/${String(waiting?.['caseId'])}/solve`;
  assertRefusal(await operator.ask('POST', path, { act: 'book', reason: 'no' }), { code: 'BAD_REQUEST', param: 'act' });
  assertRefusal(await operator.ask('POST', path, { act: 'credit' }), { code: 'BAD_REQUEST', param: 'reason' });
  const both = await Promise.all([1, 2].map(() => operator.ask('POST', path, { act: 'credit', reason: 'they asked' })));
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  assertRefusal(await operator.ask('POST', path, { act: 'pay_back', reason: 'no' }), { code: 'CONFLICT', param: null });
  assert.deepEqual(await moved(user), ['top_up 5000000', 'top_up 5000000']);
  const after = await detailsOf(checkoutId);
  assert.deepEqual(
    [
      after.cases[0]?.['closedAs'],
      after.entries.length,
      after.history.map(({ action, reason }) => [action, reason]).at(-1),
    ],
    ['credit', 2, ['payment.solve', 'they asked']],
  );
  assert.equal(
    (await trailOf(operator, `${app.appId} ${user} ${id}`)).filter(({ action }) => action === 'payment.solve').length,
    1,
  );
  await operator.get(404, 'GET', '/operator/payments/pay_none');
  await operator.get(404, 'POST', '/operator/payment-cases/cas_none/solve', { act: 'close', reason: 'x' });
  await operator.get(400, 'GET', '/operator/payments?before=x');
});

test('CP-18 CP-07 two persons pay back a payment without a wallet', async () => {
  const user = await newUser(0);
  const { session } = await begin(user, 9_000_000);
  const { owner } = service.database;
  const rename = 'update ledger.wallets set user_id = $2 where user_id = $1';
  await owner.query(rename, [user, `${user}-away`]);
  await tell('checkout.session.completed', stripe.pay(session));
  const waits = await operator.get(200, 'GET', `/operator/payments?waits=true&userId=${user}`);
  const [line] = waits['payments'] as readonly Readonly<Record<string, unknown>>[];
  assert.equal(line?.['anomaly'], 'no_wallet');
  const id = String(line?.['id']);
  const caseId = String((await detailsOf(id)).cases[0]?.['caseId']);
  const asked = { act: 'pay_back', reason: 'no wallet' };
  const second = await newOperator(service, 'finance');
  const { pendingId } = await operator.get(202, 'POST', `/operator/payment-cases/${caseId}/solve`, asked);
  for (const [wanted, kind, ...related] of [
    [caseId, 'case', 'checkout', 'payment', 'wallet', 'app'],
    [pendingId, 'pending', 'wallet', 'payment', 'account'],
  ]) {
    const { found } = (await operator.get(200, 'GET', `/operator/find?q=${String(wanted)}`)) as { found: Things };
    const [thing] = found;
    assert.deepEqual([thing?.kind, ...(thing?.related ?? []).map((one) => one.kind)], [kind, ...related]);
  }
  assert.equal((await detailsOf(caseId)).cases.length, 1);
  const refunds = () =>
    stripe.requests.filter(({ method, path }) => method === 'POST' && path === '/v1/refunds').length;
  assert.deepEqual([refunds(), (await detailsOf(id)).cases[0]?.['closedAt']], [0, null]);
  const confirm = `/operator/pending/${String(pendingId)}/confirm`;
  const done = await second.get(200, 'POST', confirm, { reason: 'checked' });
  assert.deepEqual([(done['act'] as { state: string }).state, done['wallet']], ['done', null]);
  const after = await detailsOf(id);
  assert.deepEqual([refunds(), after.cases[0]?.['closedAs'], after.movedBack.length], [1, 'pay_back', 1]);
  assertRefusal(await second.ask('POST', confirm, { reason: 'twice' }), { code: 'CONFLICT', param: null });
  await owner.query(rename, [`${user}-away`, user]);
});

test('CP-18 a look-up books new facts and reports a silent Stripe', async () => {
  const user = await newUser(0);
  const { checkoutId, session } = await begin(user, 5_000_000);
  stripe.pay(session);
  const path = `/operator/payments/${checkoutId}/look-up`;
  stripe.failing = 500;
  const away = await operator.ask('POST', path, { reason: 'no mail came' });
  stripe.failing = undefined;
  assertRefusal(away, { code: 'CONFLICT', param: null });
  assert.doesNotMatch(away.text, /canary/);
  const found = (await operator.get(200, 'POST', path, { reason: 'no mail came' })) as unknown as Details;
  assert.equal(found.payments[0]?.['state'], 'credited');
  assert.deepEqual(await moved(user), ['top_up 5000000']);
});

test('CP-18 the payment pages confirm with the exact books and act once', async () => {
  const user = await newUser(0);
  const { session } = await begin(user, 5_000_000);
  await tell('checkout.session.completed', stripe.pay(session, { currency: 'usd' }));
  const browser = openBrowser(service.url);
  browser.cookies.set('__Host-purser-session', operator.token ?? '');
  const list = await browser.open(`/ops/payments?waits=true&user=${user}`);
  assertPage(list, 200, 'Payments', IN_CONSOLE);
  assert.match(list.text, /Needs a decision/);
  const href = /href="(\/ops\/payment\?id=pay_\w+)"/.exec(list.text)?.[1] ?? '';
  const one = await browser.open(href);
  assertPage(one, 200, 'One payment', IN_CONSOLE);
  assert.match(one.text, /Not possible: the wallet has another currency/);
  const way = /href="(\/ops\/payment-case\?[^"]*act=pay_back)"/.exec(one.text)?.[1]?.replaceAll('&#38;', '&') ?? '';
  const asks = await browser.open(way);
  assertPage(asks, 200, 'Pay it back', IN_CONSOLE);
  assert.match(asks.text, /Nothing will be booked/);
  assert.match(asks.text, /Paid back to the payer/);
  const refused = await browser.submit(way, { reason: ' ' });
  assertPage(refused, 400, 'Pay it back', IN_CONSOLE);
  const form = { ...browser.fieldsOf(way), reason: 'wrong currency' };
  const done = await browser.ask(way, { form });
  assert.match(done.headers.get('location') ?? '', /^\/ops\/payment\?id=pay_\w+&done=pay_back$/);
  const again = await browser.ask(way, { form });
  assert.equal(again.headers.get('location'), done.headers.get('location'));
  const shown = await browser.open(done.headers.get('location') ?? '');
  assert.match(shown.text, /was asked to pay it back/);
  assert.match(shown.text, /wrong currency/);
  assert.deepEqual(await moved(user), []);
  for (const action of ['payment.kept', 'payment.solve']) {
    const trail = mainOf(await browser.open(`/ops/audit?action=${action}`));
    assert.match(trail, /(US)?\$5\.00/, `${action}: in the currency of the payment`);
  }
  assertPage(await browser.open('/ops/payment?id=pay_none'), 404, 'No such payment', IN_CONSOLE);
  assertPage(await browser.open('/ops/payment-case?id=pay_none&case=x&act=credit'), 404, 'No such case', IN_CONSOLE);
});
