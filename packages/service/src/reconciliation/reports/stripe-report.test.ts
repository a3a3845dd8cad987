import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileFault } from '#reconciliation/files/file-fault.ts';
import { csvRecords, FILE_BYTES_MAX, textOf } from '#reconciliation/files/read-file.ts';
import { readStripeReport } from '#reconciliation/reports/stripe-report.ts';

const PERIOD = { from: '2026-10-01', to: '2026-11-01' };
const HEAD =
  'balance_transaction_id,created_utc,created,available_on_utc,currency,gross,fee,net,reporting_category,source_id,description,customer_facing_amount,customer_facing_currency,payment_intent_id,payment_metadata[purser_checkout]';
const CHARGE =
  'txn_1,2026-10-02 10:00:00,2026-10-02 12:00:00,2026-10-04 00:00:00,eur,25.00,0.63,24.37,charge,ch_1,"Top-up: Acme, ""Pro""",25.00,eur,pi_1,chk_1';

function read(text: string | Buffer, pieceLength = 7) {
  const bytes = Buffer.from(text);
  const pieces = [];
  for (let at = 0; at < bytes.length; at += pieceLength) pieces.push(bytes.subarray(at, at + pieceLength));
  return readStripeReport(csvRecords(textOf(pieces).texts), PERIOD);
}

/** A report with the charge, some of whose fields are others. */
function withField(name: string, value: string): string {
  const columns = HEAD.split(',');
  const fields = 'txn_1,2026-10-02 10:00:00,,,eur,25.00,0.63,24.37,charge,ch_1,,,,pi_1,chk_1'.split(',');
  fields[columns.indexOf(name)] = value;
  return `${HEAD}\n${fields.join(',')}\n`;
}

test('CP-16 a report is read in Stripe’s format', async () => {
  const other =
    'txn_2,2026-10-03 23:59:59,,,eur,-10.00,-0.05,-9.95,refund,re_1,"Rück\r\nzahlung",-10.00,eur,pi_1,chk_1';
  for (const end of ['\n', '\r\n']) {
    for (const length of [1, 7, 100_000]) {
      const movements = await read(`\uFEFF${[HEAD, CHARGE, other].join(end)}${end}${end}`, length);
      assert.deepEqual(movements, [
        {
          line: 2,
          transaction: 'txn_1',
          category: 'charge',
          subject: 'payment',
          createdMs: Date.UTC(2026, 9, 2, 10),
          currency: 'EUR',
          gross: 25_000_000n,
          fee: 630_000n,
          net: 24_370_000n,
          source: 'ch_1',
          payment: 'pi_1',
          paid: { amount: 25_000_000n, currency: 'EUR' },
          isOurs: true,
        },
        {
          line: 3,
          transaction: 'txn_2',
          category: 'refund',
          subject: 'refund',
          createdMs: Date.UTC(2026, 9, 3, 23, 59, 59),
          currency: 'EUR',
          gross: -10_000_000n,
          fee: -50_000n,
          net: -9_950_000n,
          source: 're_1',
          payment: 'pi_1',
          paid: { amount: 10_000_000n, currency: 'EUR' },
          isOurs: true,
        },
      ]);
    }
  }
});

test('CP-16 an ambiguous amount is refused with its line', async () => {
  const amounts = [
    '25,00',
    '1.234,50',
    '1,234.50',
    '"1,234.50"',
    '25.001',
    '2.5e1',
    '+25.00',
    '25.',
    '.5',
    ' 25.00',
    '€25',
    '',
    '9999999999999999.00',
  ];
  for (const gross of amounts) {
    await assert.rejects(read(withField('gross', gross)), /Line 2: .* Nothing was compared\./, gross);
  }
  assert.equal((await read(withField('currency', 'usd'))).length, 1);
  await assert.rejects(read(withField('currency', 'jpy')), /Line 2: `gross`, `fee` and `net` must be amounts/);
});

test('CP-16 every wrong line is named, nothing is compared', async () => {
  const faults: readonly (readonly [string, string, RegExp])[] = [
    ['currency', 'euro', /Line 2: `currency` is not one\./],
    ['net', '24.00', /Line 2: `gross` less `fee` is not `net`\./],
    ['created_utc', '2.10.2026 10:00', /Line 2: `created_utc` must be a moment/],
    ['created_utc', '2026-10-32 10:00:00', /Line 2: `created_utc` must be a moment/],
    ['created_utc', '2026-11-01 00:00:00', /Line 2: 2026-11-01 is outside the period\./],
    ['balance_transaction_id', '', /Line 2: `balance_transaction_id` is not an id\./],
    ['source_id', 'ch 1', /Line 2: an id has other characters/],
    ['customer_facing_amount', '25', /Line 2: `customer_facing_amount`/],
  ];
  for (const [name, value, message] of faults) await assert.rejects(read(withField(name, value)), message);
  await assert.rejects(read([HEAD, CHARGE, CHARGE].join('\n')), /Line 3: txn_1 is on line 2 already\./);
  await assert.rejects(read([HEAD, `${CHARGE},more`].join('\n')), /Line 2: 16 fields in place of 15\./);
  const many = Array.from({ length: 30 }, () => 'x');
  await assert.rejects(read([HEAD, ...many].join('\n')), /Line 2: .* Line 21: .* More lines are wrong\./);
});

test('CP-16 a foreign file is refused with what to export', async () => {
  await assert.rejects(read(''), /The file is empty\./);
  await assert.rejects(
    read('"ID","Type","Source","Amount"\n'),
    /Columns are missing: `balance_transaction_id`, .*Balance change from activity/,
  );
  await assert.rejects(read(`${HEAD},gross\n`), /The column `gross` is there twice\./);
  await assert.rejects(read(Buffer.from(`\uFEFF${HEAD}\n`, 'utf16le')), /not UTF-8/);
  await assert.rejects(read(Buffer.concat([Buffer.from(HEAD), Buffer.from([0xc3])])), /not UTF-8/);
  await assert.rejects(read(`${HEAD}\n\0`), /NUL/);
  await assert.rejects(read(`${HEAD}\n"never closed`), /line 2 is never closed/);
  await assert.rejects(read(`${HEAD}\nab"c`), /Line 2 has a quote inside a field/);
  await assert.rejects(read(`${HEAD}\n"ab"c`), /Line 2 goes on after the quote/);
  await assert.rejects(read(`${HEAD}\rtxn`), /Line 1 has a carriage return/);
  await assert.rejects(read(`${HEAD}\n${'x'.repeat(70_000)}`, 8_192), /Line 2 has more than 65536 characters/);
  await assert.rejects(read(`${'a,'.repeat(300)}\n`), /Line 1 has more than 256 fields/);
});

test('CP-16 a file above 50 MiB is refused while being read', async () => {
  let pieces = 0;
  const piece = Buffer.alloc(1_048_576, 0x20);
  function* endless() {
    for (;;) {
      pieces += 1;
      yield piece;
    }
  }
  const readAll = async () => {
    for await (const text of textOf(endless()).texts) assert.equal(text.length, piece.length);
  };
  await assert.rejects(readAll(), (fault) => fault instanceof FileFault && fault.isTooLarge);
  assert.equal(pieces, FILE_BYTES_MAX / piece.length + 1);
});
