import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { CONSENT, consentAndGoOn, newConnectPerson } from '../../support/connect-stage.ts';
import { setConnectStage } from '../../support/connect-stage.ts';
import { assertPage, mainOf, wayBackOf } from '../../support/page.ts';
import { browserOf } from '../../support/people.ts';
import { sqlValue } from '../../support/sql.ts';
import { beginTopup, hurry, payBy, refusedPath } from '../../support/topup.ts';

const stage = await setConnectStage();
const { service, newConnectApp, connections, everything } = stage;
const app = await newConnectApp();

function connectionOf(user: string) {
  return connections.find(app.appId, user as EndUserId);
}

test('ON-01 ON-02 a person consents, pays and returns once the money arrives', async () => {
  const { email, user } = newConnectPerson();
  const browser = await browserOf(service, email);
  const next = await consentAndGoOn(browser, await app.linkFor(user, { state: 's' }));
  const page = await browser.open(`${next}/topup`);
  assertPage(page, 200);
  assert.ok(page.text.includes('Notes is connected'), mainOf(page));
  assert.ok(page.text.includes(`href="${next}/done"`), 'the payment may be skipped');
  await browser.submit(`${next}/topup`, { amount: '5000000', other: '' });
  const [, address = ''] = /action="(\/test-processor\/[^"]+)"/.exec(browser.page().text) ?? [];
  await payBy(browser, address, 'success');
  await hurry(service, address);
  const checkoutId = await sqlValue<string>(service)`select checkout_id from payments.checkouts
    where user_id = ${user}`;
  const arrived = await browser.open(`/checkout/${checkoutId}`);
  assert.ok(arrived.text.includes(`href="${next}/done"`), mainOf(arrived));
  assert.equal(wayBackOf(await browser.ask(`${next}/done`)), 'https://app.test/back?status=connected&state=s');
  assert.equal((await connectionOf(user))?.wallet.balance, 5_000_000n);
});

test('BI-04 a refused call’s link leads to consent first, then amounts', async () => {
  const { email, user } = newConnectPerson();
  const browser = await browserOf(service, email);
  const path = await refusedPath(service, app, user);
  for (const step of ['', '/pay']) {
    assertPage(await browser.open(path + step), 200, 'Connect Notes');
    assert.ok(!browser.page().text.includes('/cancel'), 'no way back is shown');
  }
  const refused = await browser.submit(`${path}/consent`, { ...CONSENT, own: '' });
  assertPage(refused, 400, 'Connect Notes');
  const amounts = await browser.submit(`${path}/consent`, { ...CONSENT, cap: '10' });
  assert.equal(amounts.status, 200);
  assert.ok(amounts.text.includes(`action="${path}/pay"`), mainOf(amounts));
  const made = await connectionOf(user);
  assert.deepEqual([made?.wallet.isConnected, made?.cap], [true, 10_000_000n]);
  assert.ok(made !== undefined);
  await connections.setConnected(made, false);
  assert.match((await browser.open(path)).text, /You connected this app before/);
});

test('BI-04 a spent or otherwise used link gives no consent', async () => {
  const [first, second] = [newConnectPerson(), newConnectPerson()];
  const [owner, late] = [await browserOf(service, first.email), await browserOf(service, second.email)];
  const path = await refusedPath(service, app, first.user);
  await late.open(path);
  const lateForm = { ...late.fieldsOf(`${path}/consent`), ...CONSENT };
  await owner.open(path);
  const form = { ...owner.fieldsOf(`${path}/consent`), ...CONSENT };
  await owner.submit(`${path}/consent`, CONSENT);
  const made = await connectionOf(first.user);
  for (const own of ['yes', '']) {
    const reply = await late.ask(`${path}/consent`, { form: { ...lateForm, own } });
    assertPage(reply, 303);
    assert.equal(reply.headers.get('location'), path);
  }
  assert.deepEqual(await connectionOf(first.user), made);
  assert.ok(made !== undefined);
  const address = await beginTopup(owner, path, { amount: '5000000' });
  await payBy(owner, address, 'success');
  await hurry(service, address);
  await connections.setConnected(made, false);
  const before = await everything();
  for (const [browser, sent] of [
    [owner, form],
    [late, lateForm],
  ] as const) {
    assertPage(await browser.ask(path), 404, 'This link no longer works');
    assertPage(await browser.ask(`${path}/consent`, { form: sent }), 404, 'This link no longer works');
  }
  assert.equal(await everything(), before);
});
