import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPLETIONS, type Reply, send } from '../../support/client.ts';
import { makeSandboxWallet, readSandboxWallet } from '../../support/sandbox-wallet.ts';
import { startSecondGateway } from '../../support/service.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

const CALLS = 200;
const ADMITTED = 3;
/** The fixed answer has eleven one-token pieces and this model's input is free, so a call costs exactly what it holds. */
const OUTPUT_TOKENS = 11;
const HOLD = 49; // 11 tokens at 4 micros and a tenth of margin: 48.4.

const price = { inputMicrosPerMillion: 0, cachedInputMicrosPerMillion: 0, outputMicrosPerMillion: 4_000_000 };
const { upstream, service, app } = await setStage({ model: { price } });
const second = await startSecondGateway(service);

async function rush(user: string, isStream: boolean): Promise<readonly Reply[]> {
  const body = {
    model: 'large',
    messages: [{ role: 'user', content: 'Hello' }],
    max_completion_tokens: OUTPUT_TOKENS,
    ...(isStream ? { stream: true } : {}),
  };
  return Promise.all(
    Array.from({ length: CALLS }, (_, index) => {
      const url = index % 2 === 0 ? service.url : second.url;
      return send(COMPLETIONS, { url, key: app.testKey, user, body });
    }),
  );
}

async function expectExactlyThree(user: string, balance: number, replies: readonly Reply[]): Promise<Set<unknown>> {
  assert.equal(replies.filter(({ status }) => status === 200).length, ADMITTED);
  const refused = replies.filter(({ status }) => status === 402);
  assert.equal(refused.length, CALLS - ADMITTED);
  assert.deepEqual(new Set(replies.map(({ headers }) => headers.get('x-service-mode'))), new Set(['sandbox']));
  const spent = ADMITTED * HOLD;
  const figures = { balance: balance - spent, held: 0, openStreams: 0, requests: ADMITTED, spentThisMonth: spent };
  assert.deepEqual(await readSandboxWallet(service.database, app, user), figures);
  assert.equal(upstream.requests.length, 0);
  return new Set(refused.map(({ error }) => error['code']));
}

for (const isStream of [false, true]) {
  const kind = isStream ? 'streams' : 'plain calls';

  test(`SB-02 of ${CALLS} ${kind}, a wallet worth three admits three`, async () => {
    const user = `balance-${isStream}`;
    await makeSandboxWallet(service.database, app, { user, balance: ADMITTED * HOLD });
    const codes = await expectExactlyThree(user, ADMITTED * HOLD, await rush(user, isStream));
    assert.deepEqual([...codes], ['PAYMENT_REQUIRED']);
  });

  test(`SB-02 of ${CALLS} ${kind}, a cap worth three admits three`, async () => {
    const user = `cap-${isStream}`;
    await makeSandboxWallet(service.database, app, { user, balance: 5_000_000, cap: ADMITTED * HOLD });
    const codes = await expectExactlyThree(user, 5_000_000, await rush(user, isStream));
    assert.deepEqual([...codes], ['APP_SPEND_CAP_EXCEEDED']);
  });
}

test('SB-03 sandbox calls leave no trace in real data', async () => {
  const rows = await sql<{ traces: number }>(service)`select ((select count(*) from ledger.wallets) + (select count(*)
    from ledger.holds)
    + (select count(*) from ledger.entries) + (select count(*) from usage.calls))::int as traces`;
  assert.deepEqual(rows, [{ traces: 0 }]);
});
