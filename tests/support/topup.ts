import assert from 'node:assert/strict';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { TEST_CARDS, type TestCardName } from '../../packages/service/src/payments/test-processor/cards.ts';
import { chat, type Reply } from './client.ts';
import { assertPage, type Browser } from './page.ts';
import { peopleOf } from './people.ts';
import { completionBody } from './scripted-upstream.ts';
import type { TestApp, TestService } from './service.ts';
import { sql } from './sql.ts';
import { setStage } from './stage.ts';
import { waitUntil } from './wait-until.ts';

const PRICE = { inputMicrosPerMillion: 3_000_000_000, outputMicrosPerMillion: 4_000_000 };
const USAGE = { prompt_tokens: 1, completion_tokens: 1 };

/** A stage whose calls cost about two units, with people who own wallets, and links to pay into them. */
export async function setTopupStage() {
  const stage = await setStage({ model: { price: PRICE }, environment: { PURSER_PROXY_HOPS: '1' } });
  const { service, app, upstream, linksOf } = stage;
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });
  return {
    ...stage,
    ...peopleOf(stage),
    /** The path of a new link, as a refused call gives it. */
    linkFor: (user: string, hold?: bigint, purpose: 'topup' | 'cap' = 'topup') => {
      const subject = { appId: app.appId, userId: user as EndUserId };
      return new URL(linksOf()[purpose](subject, hold === undefined ? undefined : micros(hold))).pathname;
    },
    /** The books must be right. */
    balanceOf: async (user: string) => {
      assert.deepEqual(await service.check(), []);
      return (await service.wallet(app, user)).balance;
    },
  };
}

/** Goes to the top-up page from a refused call. */
export async function refusedPath({ url }: TestService, { liveKey }: TestApp, user: string): Promise<string> {
  const reply = await chat({ url, key: liveKey, user });
  assert.equal(reply.status, 402, reply.text);
  return new URL(String(reply.body['topupUrl'])).pathname;
}

/** Chooses an amount on the page of a link, up to the test processor's page. Returns the address of that page. */
export async function beginTopup(browser: Browser, path: string, fields: Readonly<Record<string, string>>) {
  await browser.open(`${path}/pay`);
  assertPage(await browser.submit(`${path}/pay`, { amount: '', ...fields }), 200, 'Test payment');
  const [, address = ''] = /action="(\/test-processor\/[^"]+)"/.exec(browser.page().text) ?? [];
  return address;
}

/** Pays at the test processor, which shows its page. Returns the next page. */
export function payBy(browser: Browser, address: string, card: TestCardName): Promise<Reply> {
  return browser.submit(address, { number: TEST_CARDS[card].number });
}

/** Makes everything that follows a payment at the test processor happen now, up to events of this type, and delivers it. */
export async function hurry({ database: { owner } }: TestService, address: string, upTo?: string): Promise<void> {
  const events = `payments.test_events e using payments.test_payments p
    where p.test_payment = e.test_payment and p.test_checkout = $1`;
  const checkout = address.replace(/^.*\//, '');
  const due =
    upTo === undefined
      ? ''
      : ` and e.happens_at <= (select max(o.happens_at) from payments.test_events o
    where o.test_payment = e.test_payment and o.type = '${upTo}')`;
  await owner.query(
    `update payments.test_events set due_at = clock_timestamp() where test_event in (
      select e.test_event from ${events.replace(' using ', ', ')}${due})`,
    [checkout],
  );
  await waitUntil('every webhook was accepted', async () => {
    const { rowCount } = await owner.query(
      `select from ${events.replace(' using ', ', ')}${upTo === undefined ? '' : ` and e.type = '${upTo}'`}`,
      [checkout],
    );
    return rowCount === 0;
  });
}

/** The page of the only checkout of a user. */
export async function checkoutPath({ database }: TestService, user: string): Promise<string> {
  const rows = await sql<{ checkout_id: string }>(database)`select checkout_id from payments.checkouts
    where user_id = ${user}`;
  assert.equal(rows.length, 1);
  return `/checkout/${rows[0]?.checkout_id}`;
}
