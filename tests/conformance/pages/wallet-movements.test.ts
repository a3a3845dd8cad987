import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOVEMENT_TEXTS } from '../../../packages/service/src/web/movements/texts.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { createFunding } from '../../../packages/service/src/ledger/funding/funding.ts';
import { chargeFor } from '../../support/catalogue.ts';
import type { Reply } from '../../support/client.ts';
import { assertPage, type Browser, mainOf } from '../../support/page.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { addUsage } from '../../support/usage-rows.ts';
import { walletOwnersOf } from '../../support/people.ts';

const MODEL = `-${'m'.repeat(60)}.${'x'.repeat(66)}`; // As long as a model name can be; a spreadsheet would add it up.
const TIER = {
  inputMicrosPerMillion: 2_000_000,
  cachedInputMicrosPerMillion: 500_000,
  outputMicrosPerMillion: 8_000_000,
  reasoningMicrosPerMillion: 10_000_000,
};
const BASE = {
  inputMicrosPerMillion: 1,
  cachedInputMicrosPerMillion: 1,
  outputMicrosPerMillion: 1,
  reasoningMicrosPerMillion: 1,
};
const SPECIAL = {
  price: { ...BASE, microsPerCall: 700, microsPerSearch: 5_000, tiers: [{ aboveInputTokens: 99, ...TIER }] },
  marginMicrosPerCall: 9,
  searchesMax: 3,
};
const { service, app, upstream, newUser, callAs } = await setStage({
  catalogue: (basis) => ({
    ...basis,
    models: [
      ...basis.models,
      { ...basis.models[0], id: MODEL },
      { ...basis.models[0], ...SPECIAL, id: 'acme.special-1' },
    ],
  }),
});
const newWalletOwner = walletOwnersOf(service);
const { owner: database } = service.database;
const funding = createFunding(database);
const USAGE = { prompt_tokens: 100, completion_tokens: 10 };
const CHARGE = chargeFor({ prompt: 100, completion: 10 });
upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });

async function atWallet(amount: number) {
  const person = await newWalletOwner();
  const user = await newUser(amount);
  return { ...person, user, path: `/wallet/${await person.connect(app, user)}` };
}

async function call(user: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Reply> {
  const reply = await callAs(user, fields);
  assert.equal(reply.status, 200, reply.text);
  return reply;
}

/** The movements on a page: description, amount, balance after. */
function rowsOf({ text }: Reply): readonly (readonly string[])[] {
  const rows = text.match(/<tr><td>[^]*?<\/tr>/g) ?? [];
  return rows.map((row) => [...row.matchAll(/<td[^>]*>([^]*?)<\/td>/g)].map(([, cell = '']) => textOf(cell)));
}

/** The page with every movement of the newest day, to which the wallet's page leads. */
async function newestDay(browser: Browser, path: string): Promise<Reply> {
  const [, query = ''] = /href="[^"]*(\?day=[^"]+)"/.exec((await browser.open(path)).text) ?? [];
  return browser.open(path + query.replace('&#38;', '&'));
}

function textOf(cell: string): string {
  return cell.replace(/<br>.*/s, '').replace(/<[^>]*>/g, '');
}

/** A file of movements, its cells by column. Cells are quoted only if they must be. */
function tableOf({ text }: Reply): readonly Readonly<Record<string, string>>[] {
  const [head = '', ...lines] = text.split('\r\n');
  assert.equal(lines.pop(), '');
  const names = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, index) => [names[index], cell])));
}

/** Writes an amount as the pages do: two decimals, and more if needed. */
function euro(amount: number): string {
  return `€${(amount / 1_000_000).toFixed(6).replace(/0{1,4}$/, '')}`;
}

/** A decimal as micros, computed independently of the service’s code. */
function microsOf(decimal: string): bigint {
  const [, sign, whole = '', part = ''] = /^(-?)(\d+)(?:\.(\d{6}))?$/.exec(decimal) ?? assert.fail(decimal);
  return BigInt(`${sign}${whole}${part.padEnd(6, '0')}`);
}

const credit = (user: string, kind: 'top_up' | 'funds_reinstated', amount: bigint, key: string) =>
  funding.credit({ appId: app.appId, userId: user as EndUserId, kind, amount: micros(amount), key });
const takeBack = (user: string, kind: 'refund' | 'claw_back', amount: bigint, key: string) =>
  funding.takeBack({ appId: app.appId, userId: user as EndUserId, kind, amount: micros(amount), key });
const setAside = (user: string, amount: bigint, key: string) =>
  database.query('select ledger.set_aside($1, $2, $3, $4)', [app.appId, user, amount, key]);
const endSetAside = (user: string, kind: string, key: string) =>
  database.query('select ledger.end_set_aside($1, $2, $3, $4)', [app.appId, user, kind, key]);

test('ON-04 every movement is shown in words with its balance', async () => {
  const { browser, user, path } = await atWallet(5_000_000);
  await call(user);
  await credit(user, 'top_up', 10_000_000n, 'one');
  await setAside(user, 3_000_000n, 'a');
  await endSetAside(user, 'refund_paid', 'a');
  await setAside(user, 1_000_000n, 'b');
  await endSetAside(user, 'refund_released', 'b');
  await takeBack(user, 'refund', 500_000n, 'c');
  await takeBack(user, 'claw_back', 20_000_000n, 'd'); // More than the balance: the rest is owed, and is no movement here.
  await credit(user, 'funds_reinstated', 20_000_000n, 'e');
  await funding.reinstate({ appId: app.appId, userId: user as EndUserId, writesOff: false });
  const page = await newestDay(browser, path);
  assertPage(page, 200);
  const start = 5_000_000 - CHARGE;
  const clawed = start + 10_000_000 - 3_500_000;
  assert.deepEqual(rowsOf(page), [
    ['Correction by the operator', `−${euro(20_000_000 - clawed)}`, euro(clawed)],
    ['Payment returned by a bank', '+€20.00', '€20.00'],
    ['Payment taken back by a bank', `−${euro(clawed)}`, '€0.00'],
    ['Refund', '−€0.50', euro(clawed)],
    ['Refund failed: back in the wallet', '+€1.00', euro(clawed + 500_000)],
    ['Set aside for a refund', '−€1.00', euro(clawed - 500_000)],
    ['Refund paid out', 'no change', euro(clawed + 500_000)], // It left the balance when it was set aside.
    ['Set aside for a refund', '−€3.00', euro(clawed + 500_000)],
    ['Top-up', '+€10.00', euro(start + 10_000_000)],
    ['Call: acme.large-1', `−${euro(CHARGE)}`, euro(start)],
    ['Credit from the operator', '+€5.00', '€5.00'],
  ]);
  assert.deepEqual(await service.check(), []);
});

test('ON-04 every kind of wallet entry has its words', async () => {
  const rows = await sql<{ kind: string }>(database)`select k::text as kind
    from unnest(enum_range(null::ledger.entry_kind)) k
    where 'wallet' in (ledger.debit_of(k), ledger.credit_of(k)) or k = 'refund_paid'`;
  for (const { kind } of rows) assert.ok(MOVEMENT_TEXTS.movement(kind as 'charge'), kind);
});

test('ON-04 movements come in small pages of 50, each once', async () => {
  const { browser, user, path } = await atWallet(9_000_000_000_000_000);
  for (let count = 0; count < 119; count += 1) await call(user, { model: MODEL });
  const seen: string[] = [];
  await browser.ask(path, { headers: { 'accept-language': 'ar-EG' } }).then((page) => assertPage(page, 200));
  assert.match((await browser.open(path)).text, /<a href="[^"]*\?day=[^"]*">119 calls<\/a>/);
  for (let page = await newestDay(browser, path); ; ) {
    assertPage(page, 200);
    assert.ok(rowsOf(page).length <= 50);
    seen.push(...rowsOf(page).map(([, , after = '']) => after));
    const [, older] = /href="([^"]+)">Older movements/.exec(page.text) ?? [];
    if (older === undefined) break;
    page = await browser.open(older.replace('&#38;', '&'));
  }
  assert.equal(seen.length, 120);
  assert.equal(new Set(seen).size, 120);
  for (const odd of ['0', '-1', 'x', '1e3', '99999999999999999999', '999999999999999999', '']) {
    assertPage(await browser.open(`${path}?before=${odd}`), 200, 'Your wallet for Test app');
  }
});

test('ON-04 the file has every movement, adds up and runs no formula', async () => {
  const { browser, user, path } = await atWallet(9_007_199_254_000_000);
  await sql(database)`with w as (
      update ledger.wallets set balance_micros = balance_micros - 2500, entry_seq = 2501
      where app_id = ${app.appId} and user_id = ${user} returning *
    )
    insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
    select wallet_id, 1 + n, 'charge', gen_random_uuid()::text, 'wallet', 'earned', 1, balance_micros + 2500 - n
    from w, generate_series(1, 2500) n`;
  await call(user, { model: MODEL });
  await setAside(user, 1_000_001n, 'a');
  await endSetAside(user, 'refund_paid', 'a');
  const reply = await browser.ask(`${path}/movements.csv`);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-type'), 'text/csv; charset=utf-8');
  assert.equal(reply.headers.get('content-disposition'), 'attachment; filename="movements.csv"');
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  assert.equal(reply.headers.get('x-content-type-options'), 'nosniff');
  const table = tableOf(reply);
  assert.equal(table.length, 2504);
  const { balance } = await service.wallet(app, user);
  const sum = table.reduce((total, { amount = '' }) => total + microsOf(amount), 0n);
  assert.equal(sum, BigInt(balance));
  assert.equal(microsOf(table[0]?.['balanceAfter'] ?? ''), BigInt(balance));
  for (const { at = '', currency } of table) {
    assert.match(at, /^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(currency, 'EUR');
  }
  const charge = table.find(({ model }) => model !== '');
  assert.equal(charge?.['model'], `'${MODEL}`);
  assert.deepEqual([charge?.['tokensIn'], charge?.['tokensOut']], ['100', '10']);
  assert.equal(microsOf(charge?.['amount'] ?? ''), BigInt(-CHARGE));
});

test('ON-04 a reader who leaves ends the file', async () => {
  const { browser, user, path } = await atWallet(5_000_000);
  await call(user);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  for (let count = 0; count < 5; count += 1) {
    const leave = new AbortController();
    const left = fetch(`${service.url}${path}/movements.csv`, { headers: { cookie }, signal: leave.signal });
    await left.then((response) => response.body?.cancel());
    leave.abort();
  }
  const head = await fetch(`${service.url}${path}/movements.csv`, { method: 'HEAD', headers: { cookie } });
  assert.deepEqual([head.status, await head.text()], [200, '']);
  assert.equal(tableOf(await browser.ask(`${path}/movements.csv`)).length, 2);
});

test('CC-11 a call leads to its receipt and its reasons', async () => {
  const { browser, user, path } = await atWallet(5_000_000);
  await call(user);
  const page = await newestDay(browser, path);
  const [, query = ''] = /href="(\?receipt=[^"]+)"/.exec(page.text) ?? [];
  const receipt = await browser.open(path + query);
  assertPage(receipt, 200, 'Receipt');
  assert.match(receipt.text, /<p class="app">/);
  const rows = await sql<{ held: bigint; call_id: string }>(database)`select held_micros as held, call_id
    from usage.calls where call_id = ${query.replace('?receipt=', '')}`;
  const held = Number(rows[0]?.held);
  const said = Object.fromEntries(
    [...receipt.text.matchAll(/<dt>([^<]*)<\/dt><dd>([^]*?)<\/dd>/g)].map(([, name = '', text = '']) => [name, text]),
  );
  assert.equal(said['Call'], rows[0]?.call_id);
  assert.equal(said['Model'], 'acme.large-1');
  assert.deepEqual([said['Tokens in'], said['Tokens out']], ['100', '10']);
  assert.equal(said['Price'], 'Per million tokens: €1.10 in (€0.275 if cached), €4.40 out');
  assert.deepEqual([said['Charged'], said['On hold at the start']], [euro(CHARGE), euro(held)]);
  assert.equal(said['Returned'], euro(held - CHARGE));
  assert.match(
    receipt.text,
    /Charged by the token count that the model’s provider reported, and never more than was put on hold\./,
  );
});

test('CC-11 a receipt shows rarer tokens, a tier and fees', async () => {
  const { browser, user, path } = await atWallet(5_000_000);
  const details = { prompt_tokens_details: { cached_tokens: 30 }, completion_tokens_details: { reasoning_tokens: 4 } };
  const usage = { ...USAGE, ...details, num_search_queries: 2 };
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage }) });
  await call(user, { model: 'acme.special-1' });
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });
  const [, query = ''] = /href="(\?receipt=[^"]+)"/.exec((await newestDay(browser, path)).text) ?? [];
  const said = mainOf(await browser.open(path + query))
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
  assert.match(said, /Tokens in 100 \(30 cached\) Tokens out 10 \(4 reasoning\) Web searches 2/);
  const perMillion = '€2.20 in (€0.55 if cached), €8.80 out (€11.00 if reasoning)';
  const fees = 'Plus €0.000779 for the call, €0.0055 for each search';
  assert.ok(said.includes(`Per million tokens: ${perMillion}. ${fees}`), said);
});

test('CC-11 receipts of estimated, abandoned and failed calls say so', async () => {
  const { browser, user, path } = await atWallet(5_000_000);
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi' }) });
  await call(user);
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });
  const page = await newestDay(browser, path);
  const [, query = ''] = /href="(\?receipt=[^"]+)"/.exec(page.text) ?? [];
  assert.match((await browser.open(path + query)).text, /Estimated: the model’s provider reported no token count/);
  const at = '2026-03-01T00:00:00.000Z';
  const said = {
    abandoned: /The app disconnected early: you pay for what was sent and generated until then/,
    failed: /Failed calls cost nothing\./,
    expired: /Failed calls cost nothing\./,
  };
  for (const [outcome, sentence] of Object.entries(said)) {
    const charged = outcome === 'abandoned' ? 7 : 0;
    const callId = await addUsage(service.database, { appId: app.appId, user, at, outcome, charged });
    const receipt = await browser.open(`${path}?receipt=${callId}`);
    assertPage(receipt, 200, 'Receipt');
    assert.match(receipt.text, sentence, outcome);
    assert.match(receipt.text, /<dt>Tokens in<\/dt><dd>3 <span class="soft">\(1 cached\)<\/span>/);
  }
});

test('ON-04 another wallet’s receipt is not found', async () => {
  const { browser, path } = await atWallet(5_000_000);
  const other = await atWallet(5_000_000);
  await call(other.user);
  const [, query = ''] = /href="(\?receipt=[^"]+)"/.exec((await newestDay(other.browser, other.path)).text) ?? [];
  assertPage(await other.browser.open(other.path + query), 200, 'Receipt');
  for (const odd of [query, '?receipt=', '?receipt=x', `?receipt=${'0'.repeat(36)}`]) {
    const page = await browser.open(path + odd);
    assertPage(page, 404, 'There is nothing here');
    assert.doesNotMatch(mainOf(page), /acme/);
  }
});
