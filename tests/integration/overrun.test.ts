import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { catalogueAt } from '../support/catalogue.ts';
import { COMPLETIONS, send } from '../support/client.ts';
import { holdFor } from '../support/hold-price.ts';
import { openChat } from '../support/open-chat.ts';
import { receiptNamed } from '../support/receipts.ts';
import { completionBody, frame, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';
import { startTestService, type TestApp, type TestService } from '../support/service.ts';
import { waitUntil } from '../support/wait-until.ts';

const BALANCE = 1_000_000;
const LIMIT = 20;
const BODY = { model: 'large', messages: [{ role: 'user', content: 'Hello' }], max_completion_tokens: LIMIT };

let upstream: ScriptedUpstream;
let service: TestService;
let app: TestApp;

before(async () => {
  upstream = await startScriptedUpstream();
  service = await startTestService(catalogueAt(upstream.baseUrl));
  app = await service.addApp();
});

after(async () => {
  await service.close();
  await upstream.close();
});

/** One call that its provider bills far above the limit which it was sent. */
async function overrun(user: string): Promise<{ readonly hold: number; readonly billed: number }> {
  await service.fund(app, user, BALANCE);
  const body = JSON.stringify(BODY);
  const usage = { prompt_tokens: 10, completion_tokens: 5_000, total_tokens: 5_010 };
  upstream.script({ body: completionBody({ model: 'large-upstream', content: 'word '.repeat(5_000), usage }) });
  const reply = await send(COMPLETIONS, { url: service.url, key: app.liveKey, user, body });
  assert.equal(reply.status, 200, reply.text);
  return { hold: holdFor(body, LIMIT), billed: Math.ceil(((10 + 4 * 5_000) * 11) / 10) };
}

/** The wallet is safe: nothing above its hold is ever taken. What the operator loses is neither cut nor booked yet. */
const LATER = 'comes with the whole ledger';

test('WA-07 what a provider bills above the hold is not taken from the wallet', async () => {
  const { hold } = await overrun('billed');
  assert.deepEqual(await service.wallet(app, 'billed'), { balance: BALANCE - hold, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
});

test("WA-07 what a provider bills above the hold is booked as the operator's loss", { todo: LATER }, async () => {
  const { hold, billed } = await overrun('lost');
  const { rows } = await service.database.owner.query<{ lost: number }>(
    `select coalesce(sum(e.amount_micros), 0)::float8 as lost from ledger.entries e
     join ledger.wallets w on w.wallet_id = e.wallet_id where w.user_id = 'lost' and e.debit = 'loss'`,
  );
  assert.equal(rows[0]?.lost, billed - hold);
});

test('WA-07 content that runs past the limit is cut, the provider cancelled and the hold charged', {
  todo: LATER,
}, async () => {
  await service.fund(app, 'endless', BALANCE);
  const body = JSON.stringify({ ...BODY, stream: true });
  const endless = { write: frame({ choices: [{ index: 0, delta: { content: 'word '.repeat(40_000) } }] }) };
  upstream.script({ body: [endless, { hang: true }] });
  const before = upstream.requests.length;
  const chat = openChat({ url: service.url, key: app.liveKey, user: 'endless', body, correlationId: 'endless' });
  const request = await upstream.arrival(before);
  try {
    const receipt = await waitUntil('it is settled', () => receiptNamed(service.database, 'endless'), 1_500);
    assert.equal(receipt.charged, holdFor(body, LIMIT));
    assert.ok(chat.text().length < 200_000);
  } finally {
    chat.leave();
    await request.closed;
  }
});
