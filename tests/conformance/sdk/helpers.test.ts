import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { isPurserError, Purser, type PurserUser } from '../../../packages/sdk/src/sdk.ts';
import { send } from '../../support/client.ts';
import { requestsAt } from '../../support/sdk.ts';
import { REDIRECT_URI } from '../../support/service.ts';
import { sql } from '../../support/sql.ts';
import { beginTopup, hurry, payBy, setTopupStage } from '../../support/topup.ts';

/** Each helper against the real service, and a wallet that is funded through its pages. */

const { service, app, personWith, balanceOf } = await setTopupStage();
const purser = new Purser({ baseURL: `${service.url}/`, apiKey: app.liveKey });
const messages = [{ role: 'user' as const, content: 'Hello' }];

test('SDK-02 balance and usage summary match the service’s', async () => {
  const { user } = await personWith(50_000_000, { cap: 40_000_000 });
  await new OpenAI(purser.forUser(user).openai()).chat.completions.create({ model: 'large', messages });
  const from = { url: service.url, key: app.liveKey, user };
  const balance = await purser.balance(user);
  assert.deepEqual(balance, (await send('/balance', from)).body);
  assert.equal(balance.spendCapMicros, 40_000_000);
  const usage = await purser.usageSummary(user);
  assert.deepEqual(usage, (await send('/usage/summary', from)).body);
  assert.equal(usage.chargedMicros, 50_000_000 - balance.balanceMicros);
  assert.equal((await purser.usageSummary(user, { month: '2020-01' })).requests, 0);
  const sandbox = new Purser({ baseURL: service.url, apiKey: app.testKey });
  assert.equal((await sandbox.usageSummary(user)).requests, 0);
});

test('SDK-02 connect gives a link with the app’s user label', async () => {
  const link = await purser.connect('new', { redirectUri: REDIRECT_URI, state: 's1', userLabel: 'anna@app.test' });
  assert.match(link.connectUrl, /^https:\/\/purser\.test\/connect\/.+/);
  assert.ok(Date.parse(link.expiresAt) > Date.now());
  const { browser } = await personWith();
  const page = await browser.open(new URL(link.connectUrl).pathname);
  assert.match(page.text, /anna@app\.test/);
  const plain = await purser.forUser('new').connect({ redirectUri: REDIRECT_URI });
  assert.notEqual(plain.connectUrl, link.connectUrl);
});

/** Pays on the page of the link, as the person whose browser it is. */
async function pay(browser: Parameters<typeof beginTopup>[0], topupUrl: string): Promise<void> {
  const address = await beginTopup(browser, new URL(topupUrl).pathname, { amount: '5000000' });
  await payBy(browser, address, 'success');
  await hurry(service, address);
}

function ask(user: PurserUser): Promise<string | null | undefined> {
  const client = new OpenAI(user.openai());
  return client.chat.completions
    .create({ model: 'large', messages })
    .then(({ choices }) => choices[0]?.message.content);
}

test('SDK-02 withTopUp waits for the payment and calls again once', async () => {
  const { user: userId, browser } = await personWith(0);
  const user = purser.forUser(userId);
  let links = 0;
  let paid: Promise<void> = Promise.resolve();
  const requests = await requestsAt(service.url, async () => {
    const answer = await user.withTopUp(() => ask(user), {
      onTopUp: ({ topupUrl }) => {
        links += 1;
        paid = pay(browser, topupUrl);
      },
      pollMs: 50,
    });
    assert.equal(answer, 'Hi');
  });
  await paid;
  assert.equal(links, 1);
  assert.equal(requests.filter((path) => path === '/v1/chat/completions').length, 2);
  assert.ok((await balanceOf(userId)) < 5_000_000, 'the second one was charged');
});

test('SDK-02 withTopUp prefers the app’s own signal to polling', async () => {
  const { user: userId, browser } = await personWith(0);
  const user = purser.forUser(userId);
  const requests = await requestsAt(service.url, async () => {
    const answer = await user.withTopUp(() => ask(user), {
      onTopUp: () => {},
      until: ({ topupUrl = '' }) => pay(browser, topupUrl),
    });
    assert.equal(answer, 'Hi');
  });
  assert.ok(!requests.includes('/balance'));
});

test('SDK-02 withTopUp throws the refusal when nobody pays', async () => {
  const { user: userId } = await personWith(0);
  const user = purser.forUser(userId);
  await assert.rejects(
    user.withTopUp(() => ask(user), { onTopUp: () => {}, waitMs: 100, pollMs: 20 }),
    (error) => isPurserError(error, 'PaymentRequiredError'),
  );
  await sql(service)`insert into sandbox.wallets (app_id, user_id, balance_micros)
    values (${app.appId}, ${'player'}, 0)`;
  const player = new Purser({ baseURL: service.url, apiKey: app.testKey }).forUser('player');
  const requests = await requestsAt(service.url, () =>
    assert.rejects(
      player.withTopUp(() => ask(player), { onTopUp: () => assert.fail('There is nothing to pay.') }),
      (error) => isPurserError(error, 'PaymentRequiredError'),
    ),
  );
  assert.deepEqual(requests, ['/v1/chat/completions']);
});
