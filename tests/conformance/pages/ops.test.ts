import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOperator } from '../../support/control.ts';
import { operatorBrowser } from '../../support/ops-browser.ts';
import { setStage } from '../../support/stage.ts';

const { service } = await setStage();

const REPORT_HEAD =
  'balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,payment_intent_id';

test('ON-03 the page of reconciliation lists each difference, and files a clean report', async () => {
  const browser = operatorBrowser(service, await newOperator(service, 'finance'));
  const send = (text: string, from = '2026-09-01') =>
    browser.sendFile('/ops/reconciliation', { from, to: '2026-10-01' }, Buffer.from(text));
  const differs = await send(`${REPORT_HEAD}\r\ntxn_1,2026-09-02 10:00:00,eur,25.00,0.63,24.37,charge,ch_1,pi_1\r\n`);
  assert.equal(differs.status, 200);
  for (const text of ['1 differences. The report is not filed.', 'Not in our books', 'line 2', '€25.00', 'pi_1']) {
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
