import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tablesWithAddresses } from '../../support/addresses.ts';
import { newOperator, newOwnApp, newOwner, PASSWORD, personWith } from '../../support/control.ts';
import { mailsTo } from '../../support/database.ts';
import { signedInPerson, walletOwnersOf } from '../../support/people.ts';
import { assertPage, mainOf, openBrowser } from '../../support/page.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { beginTopup, hurry, payBy, refusedPath } from '../../support/topup.ts';
import { waitUntil } from '../../support/wait-until.ts';

const { service, app, newUser, callAs } = await setStage();
const newWalletOwner = walletOwnersOf(service);
const { owner: database } = service.database;

/** A person whose wallet holds `ours` micros from the operator, plus these payments, each reported in turn. */
async function payer(ours: number, payments: readonly number[], ...cards: ('success' | 'no_refunds')[]) {
  const person = await newWalletOwner();
  const user = await newUser(ours);
  const path = `/wallet/${await person.connect(app, user)}`;
  const { browser } = person;
  const addresses: string[] = [];
  for (const [index, amount] of payments.entries()) {
    await browser.open(path);
    const reply = await browser.ask(`${path}/topup`, { form: browser.fieldsOf(`${path}/topup`) });
    const address = await beginTopup(browser, reply.headers.get('location') ?? '', {
      other: String(amount / 1_000_000),
    });
    await payBy(browser, address, cards[index] ?? 'success');
    await hurry(service, address);
    addresses.push(address);
  }
  const balance = async () => (await service.wallet(app, user)).balance;
  assert.equal(await balance(), ours + payments.reduce((sum, one) => sum + one, 0));
  return { ...person, user, path, addresses, balance };
}

type Payer = Awaited<ReturnType<typeof payer>>;

/** Opens the page and sends its form. */
async function refund({ browser, path }: Payer, amount: string, fields: Readonly<Record<string, string>> = {}) {
  await browser.open(`${path}/refund`);
  return browser.submit(`${path}/refund`, { amount, sure: 'yes', ...fields });
}

async function refundsOf(user: string): Promise<readonly string[]> {
  const rows = await sql<{ text: string }>(database)`
    select p.amount_micros || ': ' || r.amount_micros || ' ' || r.state as text
    from payments.refunds r join payments.payments p using (payment_id) where r.user_id = ${user}
    order by p.paid_at desc, r.created_at`;
  return rows.map(({ text }) => text);
}

test('ON-04 a refund shows the maximum and leaves the wallet at once', async () => {
  const person = await payer(2_000_000, [10_000_000, 5_000_000]);
  const { browser, path, user, addresses, balance } = person;
  const page = await browser.open(`${path}/refund`);
  assertPage(page, 200, 'Refund');
  assert.match(page.text, /<p class="amount">€15\.00<\/p>/, 'the operator’s credit cannot be refunded');
  assert.match(page.text, /newest payment first\. It takes a few days to arrive\./);
  assert.equal(browser.fieldsOf(`${path}/refund`)['amount'], '15');

  const after = await refund(person, '7');
  assertPage(after, 200, 'Your wallet for Test app');
  assert.match(after.text, /role="status">Your refund is on its way\./);
  assert.match(after.text, /Set aside for a refund/);
  assert.equal(await balance(), 10_000_000);
  assert.deepEqual(await refundsOf(user), ['5000000: 5000000 asked', '10000000: 2000000 asked']);
  const underWay = await browser.open(`${path}/refund`);
  assertPage(underWay, 200, 'Refund');
  assert.match(underWay.text, /On their way<\/h2>[^]*−€[25]\.00[^]*−€[25]\.00/);
  assert.match(underWay.text, /<p class="amount">€8\.00<\/p>/);

  for (const address of addresses) await hurry(service, address);
  assert.deepEqual(await refundsOf(user), ['5000000: 5000000 paid', '10000000: 2000000 paid']);
  assert.doesNotMatch((await browser.open(`${path}/refund`)).text, /On their way<\/h2>/);
  assert.match((await browser.open(path)).text, /Refund paid out/);
  assert.equal(await balance(), 10_000_000);
  assert.deepEqual(await service.check(), []);
  // Each step is mailed to the payer once, however often the processor reports it.
  const rows = await mailsTo(database, person.email);
  const subjects = ['Receipt: €10.00', 'Receipt: €5.00', 'Refund: €2.00', 'Refund: €5.00'].map(
    (one) => `${one} for Test app`,
  );
  assert.deepEqual(rows.map(({ subject }) => subject).toSorted(), subjects);
  for (const { body } of rows)
    assert.match(body ?? '', /Reference: (pay|ref)_\w+\n\nThis service uses the test processor: no real money moves\./);
  assert.match(rows[0]?.body ?? '', /You paid €10\.00 into a wallet for the app "Test app" on \w+ \d+, 2\d{3}\./);
});

async function mailsOf(email: string) {
  const mails = await mailsTo(database, email);
  // As the database sorts: the currency sign last.
  return mails
    .map(({ subject, body }) => ({ subject, body: body ?? '' }))
    .toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
}

test('ON-04 a refund of another’s payment is told to both', async () => {
  const { email: owned, user, path, browser } = await payer(0, []);
  const giver = await newWalletOwner();
  const to = await refusedPath(service, app, user);
  const address = await beginTopup(giver.browser, to, { other: '10' });
  await payBy(giver.browser, address, 'success');
  await hurry(service, address);
  await browser.open(`${path}/refund`);
  await browser.submit(`${path}/refund`, { amount: '4', sure: 'yes' });
  await hurry(service, address);
  const [toOwner, toGiver] = [await mailsOf(owned), await mailsOf(giver.email)];
  assert.deepEqual(
    [...toGiver, ...toOwner].map(({ subject }) => subject),
    [
      'Receipt: €10.00 for Test app',
      'Refund: €4.00 for Test app',
      'Somebody paid €10.00 into your wallet for Test app',
      '€4.00 from your wallet for Test app was refunded to the payer',
    ],
  );
  for (const { body } of toOwner) assert.ok(body.includes('your wallet') && !body.includes(giver.email), body);
  for (const { body } of toGiver) assert.ok(!body.includes('your wallet for') && !body.includes(owned), body);
});

test('ON-04 a form sent twice requests one refund', async () => {
  const person = await payer(0, [10_000_000]);
  const { browser, path, user, balance } = person;
  await browser.open(`${path}/refund`);
  const form = { ...browser.fieldsOf(`${path}/refund`), amount: '3', sure: 'yes' };
  const replies = await Promise.all(Array.from({ length: 4 }, () => browser.ask(`${path}/refund`, { form })));
  for (const reply of replies) assertPage(reply, 303);
  const again = await browser.ask(`${path}/refund`, { form });
  assert.equal(again.headers.get('location'), `${path}?done=refund-repeated`);
  assert.match((await browser.open(`${path}?done=refund-repeated`)).text, /You have already asked for this refund/);
  const other = await browser.ask(`${path}/refund`, { form: { ...form, amount: '4' } });
  assertPage(other, 400, 'Refund');
  assert.match(other.text, /already sent this form with another amount/);
  assert.deepEqual(await refundsOf(user), ['10000000: 3000000 asked']);
  assert.equal(await balance(), 7_000_000);
  await refund(person, '3'); // A form from a newly opened page is a new refund.
  assert.equal(await balance(), 4_000_000);
});

test('ON-04 odd amounts and incomplete forms request nothing', async () => {
  const person = await payer(2_000_000, [10_000_000]);
  const { balance, user } = person;
  for (const amount of ['', '0', '0.00', '-1', '+1', '1e1', 'NaN', '1.234', '10.01', '12', '0.005', '99999999999']) {
    const page = await refund(person, amount);
    assertPage(page, 400, 'Refund');
    assert.match(page.text, /role="alert">(Enter (the|an) amount|This is more than we can refund)/, amount);
    assert.equal(person.browser.fieldsOf(`${person.path}/refund`)['amount'], amount);
  }
  for (const fields of [{ sure: '' }, { sure: 'no' }, { key: '' }, { key: 'short' }, { key: `${'0'.repeat(21)} ` }]) {
    assertPage(await refund(person, '1', fields), 400, 'Refund');
  }
  assert.equal(await balance(), 12_000_000);
  assert.deepEqual(await refundsOf(user), []);
});

test('ON-04 an owner cannot request one tiny refund after another', async () => {
  const person = await payer(0, [10_000_000]);
  const { browser, path, balance } = person;
  await browser.open(`${path}/refund`);
  const form = { ...browser.fieldsOf(`${path}/refund`), amount: '0.01', sure: 'yes' };
  for (let left = 20; left > 0; left -= 1) {
    const key = String(left).padStart(22, '0');
    assertPage(await browser.ask(`${path}/refund`, { form: { ...form, key } }), 303);
  }
  const page = await browser.ask(`${path}/refund`, { form });
  assertPage(page, 429, 'Refund');
  assert.match(page.text, /role="alert">You have requested many refunds/);
  assert.equal(await balance(), 9_800_000);
});

test('ON-04 a declined refund comes back, and the page says so', async () => {
  const person = await payer(0, [10_000_000], 'no_refunds');
  const page = await refund(person, '10');
  assertPage(page, 400, 'Refund');
  assert.match(page.text, /The refund was declined\. The money is back in your wallet\./);
  assert.equal(await person.balance(), 10_000_000);
  assert.deepEqual(await refundsOf(person.user), ['10000000: 10000000 declined']);
  assert.match((await person.browser.open(person.path)).text, /Refund failed: back in the wallet/);
  assert.deepEqual(await service.check(), []);
});

test('ON-04 of a split refund, only the declined part comes back', async () => {
  const person = await payer(0, [10_000_000, 5_000_000], 'success', 'no_refunds');
  const page = await refund(person, '15');
  assertPage(page, 200, 'Your wallet for Test app');
  assert.match(page.text, /Any part that cannot be paid out is returned to this wallet/);
  assert.match(page.text, /Refund failed: back in the wallet/);
  assert.equal(await person.balance(), 5_000_000);
  assert.deepEqual(await refundsOf(person.user), ['5000000: 5000000 declined', '10000000: 10000000 asked']);
  assert.deepEqual(await service.check(), []);
});

test('ON-04 money on hold or from no payment cannot be refunded', async () => {
  const person = await payer(0, [10_000_000]);
  await service.setWallet(app, person.user, 'held_micros = 9000000');
  assert.match((await person.browser.open(`${person.path}/refund`)).text, /<p class="amount">€1\.00<\/p>/);
  assertPage(await refund(person, '2'), 400, 'Refund');
  await service.setWallet(app, person.user, 'held_micros = 10000000');
  const none = await person.browser.open(`${person.path}/refund`);
  assertPage(none, 200, 'Refund');
  assert.match(none.text, /There is nothing to refund at the moment/);
  assert.doesNotMatch(none.text, /<form/);
  await service.setWallet(app, person.user, 'held_micros = 0');
  const given = await payer(5_000_000, []);
  assert.match((await given.browser.open(`${given.path}/refund`)).text, /There is nothing to refund at the moment/);
});

test('ON-05 a disconnected wallet can still be refunded', async () => {
  const person = await payer(0, [10_000_000]);
  await person.browser.open(`${person.path}/disconnect`);
  const left = await person.browser.submit(`${person.path}/disconnect`);
  assert.match(left.text, /href="[^"]*\/refund"/);
  assertPage(await refund(person, '10'), 200, 'Your wallet for Test app');
  assert.equal(await person.balance(), 0);
});

test('WA-04 a blocked wallet refunds nothing and says whom to contact', async () => {
  const person = await payer(0, [10_000_000]);
  const { browser, path } = person;
  await browser.open(`${path}/refund`);
  const form = { ...browser.fieldsOf(`${path}/refund`), amount: '1', sure: 'yes' };
  await service.setWallet(app, person.user, 'is_suspended = true, shortfall_micros = 3777777');
  const page = await browser.open(`${path}/refund`);
  assertPage(page, 200, 'Refund');
  assert.match(page.text, /This wallet is blocked, so you cannot get a refund\. Please contact Purser\./);
  assert.doesNotMatch(mainOf(page), /3[.,]77|<form/);
  assertPage(await browser.ask(`${path}/refund`, { form }), 400, 'Refund');
  assert.equal(await person.balance(), 10_000_000);
  assert.deepEqual(await refundsOf(person.user), []);
  assertRefusal(await callAs(person.user), { code: 'WALLET_SUSPENDED' });
  await service.setWallet(app, person.user, 'is_suspended = false, shortfall_micros = 0');
});

test('ON-04 the refund page of another’s wallet is not found', async () => {
  const person = await payer(0, [10_000_000]);
  const { browser, path, user } = person;
  await browser.open(`${path}/refund`);
  const form = { ...browser.fieldsOf(`${path}/refund`), amount: '1', sure: 'yes' };
  const stranger = await newWalletOwner();
  assertPage(await stranger.browser.ask(`${path}/refund`), 404, 'There is nothing here');
  assertPage(await stranger.browser.ask(`${path}/refund`, { form }), 403);
  assertPage(await openBrowser(service.url).ask(`${path}/refund`, { form }), 403);
  assertPage(await browser.ask(`${path}/refund`, { form, origin: 'https://evil.test' }), 403);
  assert.deepEqual(await refundsOf(user), []);
  await waitUntil('the books are right', async () => (await service.check()).length === 0);
});

test('CP-12 no table holds a plain e-mail address', async () => {
  const operator = await newOperator(service);
  const owner = await newOwner(service);
  const { account } = (await owner.get(200, 'GET', '/sessions/current')) as { account: { email: string } };
  const stranger = personWith(service.url, undefined);
  await stranger.get(201, 'POST', '/accounts', { email: 'New.One@example.test', password: PASSWORD, name: 'New' });
  await stranger.get(202, 'POST', '/password-resets', { email: account.email });
  const { appId } = await newOwnApp(owner);
  await owner.get(201, 'POST', `/apps/${appId}/invitations`, { email: 'invited@example.test', role: 'viewer' });
  await signedInPerson(service, 'signs-in@example.test');
  const person = await newWalletOwner();
  await person.connect(app, await newUser(0));
  const query = new URLSearchParams({ email: person.email });
  const { identityId } = await operator.get(200, 'GET', `/operator/identities?${String(query)}`);
  const move = { email: 'moved@example.test', reason: 'asked from other@example.test' };
  await operator.get(200, 'PATCH', `/operator/identities/${String(identityId)}`, move);
  // The tests above have had the gifts, top-ups and refunds.
  assert.deepEqual(await tablesWithAddresses(database), []);
  const rows = await sql<{ mails: number; accounts: number; acts: number }>(database)`select (select count(*)::int
    from mail.messages where body is not null) as mails,
    (select count(*)::int from accounts.accounts) as accounts,
    (select count(*)::int from audit.entries where actor_name is not null) as acts`;
  assert.ok(
    Object.values(rows[0] ?? {}).every((count) => count > 2),
    'there was something to seal',
  );
  const trail = (await operator.get(200, 'GET', `/operator/audit?who=${encodeURIComponent(account.email)}`)) as {
    entries: { action: string; after: unknown }[];
  };
  const invited = trail.entries.find(({ action }) => action === 'team.invite');
  assert.deepEqual(invited?.after, { email: 'invited@example.test', role: 'viewer' });
});
