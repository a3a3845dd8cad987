import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { createFunding } from '../../../packages/service/src/ledger/funding/funding.ts';
import type { Reply } from '../../support/client.ts';
import { assertPage, type Browser, mainOf, operatorBrowser } from '../../support/page.ts';
import { DATA, setPersonStage } from '../../support/person-stage.ts';
import { sql } from '../../support/sql.ts';

const { service, app, admin, privacy, personWith, call, fileOf } = await setPersonStage();
const { owner: database } = service.database;
const funding = createFunding(database);
const REASON = { reason: 'asked for by letter' };

async function checkIsClean(): Promise<void> {
  const { ok, differences } = await admin.get(200, 'GET', '/operator/ledger/check');
  assert.equal(ok, true, JSON.stringify(differences));
}

async function lastEntry(user: string): Promise<unknown> {
  const [entry] = await sql(database)`select e.kind, e.debit, e.credit, e.amount_micros::int as amount,
      e.balance_after_micros::int as after
    from ledger.entries e join ledger.wallets w using (wallet_id) where w.user_id = ${user} order by e.seq desc limit 1`;
  return entry;
}

const credit = (user: string, amount: bigint, key: string) =>
  funding.credit({ appId: app.appId, userId: user as EndUserId, kind: 'contract_credit', amount: micros(amount), key });
const givenUp = (amount: number) => ({ kind: 'given_up', debit: 'wallet', credit: 'earned', amount, after: 0 });

async function pressDelete(browser: Browser): Promise<Reply> {
  return browser.ask(`${DATA}/delete`, { form: browser.fieldsOf(`${DATA}/delete`) });
}

test('CP-12 ON-04 who has less than a cent gives it up and gets a receipt', async () => {
  const { browser, identityId, user } = await personWith(9_999);
  const page = await browser.open(DATA);
  assertPage(page, 200, 'Your data');
  assert.match(
    mainOf(page),
    /You also give up €0\.009999 in your wallet for Test app\. The smallest amount that can be paid back is €0\.01\./,
  );
  assert.match(mainOf(page), />Delete my data for good and give up €0\.009999</);
  const done = await pressDelete(browser);
  assertPage(done, 200, 'Your data was deleted');
  assert.match(mainOf(done), /Receipt[^]*Given up<\/dt><dd>€0\.009999[^]*Test app/);
  assert.deepEqual(await lastEntry(user), givenUp(9_999));
  assert.equal((await service.wallet(app, user)).balance, 0);
  const [line] = await sql<{ after: unknown }>(database)`select after from audit.entries where subject = ${identityId}`;
  assert.deepEqual(line?.after, { givenUp: [{ appId: app.appId, userId: user, amountMicros: 9_999 }] });
  await checkIsClean();
});

test('CP-12 a cent is paid back and never given up', async () => {
  const { browser, identityId, user } = await personWith(10_000);
  assert.match(mainOf(await browser.open(DATA)), /has money that cannot be paid back to a card/);
  const done = await privacy.deleteOwn(identityId, () => micros(10_000n));
  assert.deepEqual(
    done?.obstacles.map(({ kind }) => kind),
    ['money'],
  );
  assert.equal((await service.wallet(app, user)).balance, 10_000);
});

test('CP-12 nobody gives up more than the amount that they confirmed', async () => {
  const { browser, user } = await personWith(4_000);
  await browser.open(DATA);
  await credit(user, 999n, 'between');
  const refused = await pressDelete(browser);
  assertPage(refused, 409, 'Your data');
  assert.match(mainOf(refused), /has changed\. Nothing was deleted[^]*give up €0\.004999/);
  assert.equal((await service.wallet(app, user)).balance, 4_999);
  await credit(user, 10_000n, 'more');
  await pressDelete(browser);
  assert.equal((await service.wallet(app, user)).balance, 14_999, 'there is enough to pay back now');
  await funding.takeBack({
    appId: app.appId,
    userId: user as EndUserId,
    kind: 'refund',
    amount: micros(10_000n),
    key: 'r',
  });
  await browser.open(DATA);
  assert.equal((await call(user)).status, 200, 'a call is charged after the page was shown');
  const { balance } = await service.wallet(app, user);
  assert.ok(balance > 0 && balance < 4_999);
  assertPage(await pressDelete(browser), 200, 'Your data was deleted');
  assert.deepEqual(await lastEntry(user), givenUp(balance));
  await checkIsClean();
});

test('CP-12 CP-10 an operator deletes a person with a rest that they agreed to', async () => {
  const byRoute = await personWith(7);
  const path = `/operator/identities/${byRoute.identityId}`;
  const rest = { appId: app.appId, userId: byRoute.user, amountMicros: 7, currency: 'EUR' };
  assert.deepEqual((await admin.get(200, 'GET', path))['rests'], [rest]);
  const refused = await admin.get(409, 'POST', `${path}/delete`, REASON);
  assert.match(JSON.stringify(refused), /less than can be paid back[^]*givesUp/);
  const givesUp = (amountMicros: number) => [{ appId: app.appId, userId: byRoute.user, amountMicros }];
  await admin.get(409, 'POST', `${path}/delete`, { ...REASON, givesUp: givesUp(6) });
  const done = await admin.get(200, 'POST', `${path}/delete`, { ...REASON, givesUp: givesUp(8) });
  assert.deepEqual(done, { identityId: byRoute.identityId, wallets: 1, givenUp: [rest] });
  assert.deepEqual(await lastEntry(byRoute.user), givenUp(7));

  const byPage = await personWith(5);
  const operator = operatorBrowser(service, admin);
  const address = `/ops/person-delete?${new URLSearchParams({ email: byPage.email }).toString()}`;
  assert.match(mainOf(await operator.open(address)), /as it is too small to be paid back: €0\.000005/);
  const form = { ...operator.fieldsOf(address), ...REASON };
  await operator.ask(address, { form });
  assert.deepEqual(await lastEntry(byPage.user), givenUp(5));
  await checkIsClean();
});

test('CP-12 ON-04 what was given up is a movement of its wallet’s history', async () => {
  const { browser, user } = await personWith(3);
  await browser.open(DATA);
  await pressDelete(browser);
  const entries = (await admin.get(200, 'GET', `/operator/apps/${app.appId}/wallets/${user}`))['entries'];
  assert.equal((entries as readonly { kind: string }[])[0]?.kind, 'given_up');
  const ops = await operatorBrowser(service, admin).open(`/ops/wallet?app=${app.appId}&user=${user}`);
  assert.match(mainOf(ops), /Given up by the owner, who was deleted[^]*−€0\.000003/);
  const file = await fileOf((await personWith(0)).browser);
  assert.ok(!JSON.stringify(file).includes('given_up'));
});
