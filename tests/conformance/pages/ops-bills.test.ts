import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../../packages/service/src/kernel/faults/refusal.ts';
import { createProviderBills } from '../../../packages/service/src/reconciliation/bills/bills.ts';
import { newOperator } from '../../support/control.ts';
import { operatorBrowser } from '../../support/page.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { sqlRow } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

const { app, upstream, service, callAs } = await setStage();
const db = service.database.owner;
await service.fund(app, 'anna', 10_000_000);
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });
const paid = await callAs('anna');
const callId = String(paid.headers.get('x-service-call-id'));

const REPORT_HEAD =
  'balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,payment_intent_id';

test('CP-16 the reconciliation page lists differences and files a clean report', async () => {
  const browser = operatorBrowser(service, await newOperator(service, 'finance'));
  const send = (text: string, from = '2026-09-01') =>
    browser.sendFile('/ops/reconciliation', { from, to: '2026-10-01' }, Buffer.from(text));
  const differs = await send(`${REPORT_HEAD}\r\ntxn_1,2026-09-02 10:00:00,eur,25.00,0.63,24.37,charge,ch_1,pi_1\r\n`);
  assert.equal(differs.status, 200);
  for (const text of ['1 difference. The report is not filed.', 'Not in our books', 'line 2', '€25.00', 'pi_1']) {
    assert.ok(differs.text.includes(text), `${text}: ${differs.text}`);
  }
  const wrong = await send(`${REPORT_HEAD}\ntxn_1,2026-09-02 10:00:00,eur,"25,00",0.63,24.37,charge,ch_1,<b>\n`);
  assert.equal(wrong.status, 400);
  assert.ok(wrong.text.includes('Line 2:') && !wrong.text.includes('<b>'), wrong.text);
  assert.equal((await send(REPORT_HEAD, '2026-07-01')).status, 400);
  assert.equal((await send(`${REPORT_HEAD}${' '.repeat(1_100_000)}`)).status, 413);
  const large = `${REPORT_HEAD}\n${'txn_1,2026-09-02 10:00:00,eur,1,0,1,payout,po_1,\n'.repeat(18_000)}`;
  assert.equal((await send(large)).status, 400, 'read, and refused for its repeated rows');

  const clean = await send(`${REPORT_HEAD}\ntxn_2,2026-09-03 10:00:00,eur,-25.00,0.00,-25.00,payout,po_1,\n`);
  assert.ok(clean.text.includes('The report is filed.') && clean.text.includes('−€25.00'), clean.text);
  const [, digest = ''] = /<code>(\w{16}…)<\/code>/.exec(clean.text) ?? [];
  assert.ok(digest !== '' && (await browser.open('/ops/reconciliation')).text.includes(digest));
});

test('CP-16 a provider’s bill is compared with receipts exactly', async () => {
  const call = await sqlRow<{ provider: string; model: string; day: string; tomorrow: string; picos: string }>(db)`
    select p.provider, coalesce(p.provider_model, p.model_id) as model, (c.settled_at at time zone 'UTC')::date::text as day,
      ((c.settled_at at time zone 'UTC')::date + 1)::text as tomorrow,
      (c.prompt_tokens * p.input_micros_per_million + c.completion_tokens * p.output_micros_per_million)::text as picos
    from usage.calls c join catalogue.prices p using (price_id) where c.call_id = ${callId}`;
  assert.ok(call !== undefined);
  const bills = createProviderBills({
    reports: db,
    clock: { nowMs: () => Date.now() + 86_400_000 }, // Today is over tomorrow.
    currency: 'USD',
  });
  const period = { from: call.day, to: call.tomorrow };
  const of = { provider: call.provider, format: 'openrouter', period, dollarMicros: undefined } as const;
  const entry = { date: call.day, model: call.model, requests: 1, prompt_tokens: 40, completion_tokens: 20, usage: 2 };
  const compared = await bills.compare(of, [Buffer.from(JSON.stringify({ data: [entry] }))]);
  assert.ok(!(compared instanceof Refusal), String(compared instanceof Refusal && compared.message));
  const [row] = compared.rows.filter(({ model }) => model === call.model);
  assert.equal(row?.ours.cost, BigInt(call.picos) * (row?.ours.calls ?? 0n));
  assert.equal(row?.ours.inputTokens, 40n * (row?.ours.calls ?? 0n));
  assert.equal(compared.theirs, 2_000_000n);
  assert.equal(compared.difference, 2_000_000n - compared.ours);

  const browser = operatorBrowser(service, await newOperator(service, 'finance'));
  const fields = {
    provider: call.provider,
    format: 'openrouter',
    from: '2026-09-01',
    to: '2026-10-01',
    dollar: '0.92',
  };
  const bill = Buffer.from(JSON.stringify({ data: [{ ...entry, date: '2026-09-03' }] }));
  const shown = await browser.sendFile('/ops/bills', fields, bill);
  assert.equal(shown.status, 200, shown.text);
  assert.ok(shown.text.includes('€1.84') && shown.text.includes(call.model), shown.text);
  assert.equal((await browser.sendFile('/ops/bills', { ...fields, dollar: '0,92' }, bill)).status, 400);
  assert.equal((await browser.sendFile('/ops/bills', fields, Buffer.from('day;cost'))).status, 400);
});
