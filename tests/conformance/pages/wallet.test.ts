import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../../support/catalogue.ts';
import { send } from '../../support/client.ts';
import { assertPage, mainOf, openBrowser } from '../../support/page.ts';
import { browserOf, walletOwnersOf } from '../../support/people.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { addLateCharge } from '../../support/usage-rows.ts';

const { service, app, upstream, newUser, callAs } = await setStage();
const newWalletOwner = walletOwnersOf(service);
const CHARGE = chargeFor({ prompt: 100, completion: 10 });
upstream.script({
  body: completionBody({ model: 'm', content: 'Hi', usage: { prompt_tokens: 100, completion_tokens: 10 } }),
});

/** What is left of an amount after so many calls, as the pages write it. */
function left(calls: number, amount: number): string {
  return `€${((amount - calls * CHARGE) / 1_000_000).toFixed(6).replace(/0{1,4}$/, '')}`;
}

async function walletOf(user: string): Promise<{ readonly walletId: bigint }> {
  const text = 'select wallet_id as "walletId" from ledger.wallets where app_id = $1 and user_id = $2';
  const { rows } = await service.database.owner.query<{ walletId: bigint }>(text, [app.appId, user]);
  return rows[0] ?? assert.fail(user);
}

test('ON-04 a signed-out visitor is led to sign-in and back', async () => {
  const browser = openBrowser(service.url);
  const ways = [
    ['/wallet/con_1', '/wallet/con_1'],
    ['/wallet/con_1/disconnect', '/wallet/con_1'],
    ['/wallet/con_1/movements.csv', '/wallet/con_1'],
  ] as const;
  assert.equal((await browser.ask('/wallet')).headers.get('location'), '/wallet/sign-in');
  for (const [path, back] of ways) {
    const reply = await browser.ask(path);
    assertPage(reply, 303);
    assert.equal(reply.headers.get('location'), `/wallet/sign-in?then=${encodeURIComponent(back)}`);
  }
});

test('ON-04 a wallet without apps says so', async () => {
  const { browser, email } = await newWalletOwner();
  const page = await browser.open('/wallet');
  assertPage(page, 200, 'Your wallet');
  assert.match(page.text, /You have not connected an app yet/);
  assert.ok(page.text.includes(email));
});

test('ON-04 the wallet lists every app, disconnected ones separately', async () => {
  const { browser, connect } = await newWalletOwner();
  const [active, paused, left, blocked] = [
    await newUser(5_000_000),
    await newUser(6_000_000),
    await newUser(7_000_000),
    await newUser(8_000_000),
  ];
  const id = await connect(app, active, { userLabel: 'Work <b>account</b>', cap: 2_500_000 });
  const pausedId = await connect(app, paused);
  const leftId = await connect(app, left);
  await connect(app, blocked);
  assert.equal((await callAs(active)).status, 200);
  await service.setWallet(app, left, 'is_connected = false');
  await service.setWallet(app, blocked, 'is_suspended = true');
  await browser.open(`/wallet/${pausedId}`);
  await browser.submit(`/wallet/${pausedId}/pause`);

  const page = await browser.open('/wallet');
  assertPage(page, 200, 'Your wallet');
  const [connected = '', disconnected = ''] = mainOf(page).split('id="disconnected"');
  for (const state of ['Active', 'Paused', 'Blocked']) assert.equal(connected.split(`>${state}<`).length, 2, state);
  assert.ok(disconnected.includes('>Disconnected<') && disconnected.includes('€7.00'));
  assert.match(disconnected, /<dt>Available to spend<\/dt><dd>€0\.00<\/dd>/);
  assert.ok(disconnected.includes(leftId) && !connected.includes(leftId));
  const item = connected.split('<li>').find((one) => one.includes(id)) ?? '';
  assert.ok(item.includes('Work &#60;b&#62;account&#60;/b&#62;'), item);
  const spent = `€0.${String(CHARGE).padStart(6, '0')}`;
  const balance = `€4.${1_000_000 - CHARGE}`;
  assert.deepEqual(
    [...item.matchAll(/<dd>(.*?)<\/dd>/g)].map(([, text = '']) => text.replaceAll(/<[^>]*>/g, '')),
    [balance, '€0.00', `€2.${500_000 - CHARGE}`, spent, '€2.50'],
  );
});

test('ON-04 money on hold is shown and cannot be spent', async () => {
  const { browser, connect } = await newWalletOwner();
  const user = await newUser(5_000_000);
  const id = await connect(app, user);
  await service.setWallet(app, user, 'held_micros = 1250000');
  const page = await browser.open(`/wallet/${id}`);
  assertPage(page, 200, 'Your wallet for Test app');
  assert.match(page.text, /<p class="amount">€5\.00<\/p>/);
  assert.match(page.text, /<dt>On hold<\/dt><dd>€1\.25<\/dd>[^]*Money on hold is for requests that are running now/);
  assert.match(page.text, /<dt>Available to spend<\/dt><dd>€3\.75<\/dd>/);
  // Only as far as the cap has room, and holds take some of it.
  await service.setWallet(app, user, `cap_micros = 2000000, cap_spent_micros = 300000, cap_month = db.current_month()`);
  assert.match((await browser.open(`/wallet/${id}`)).text, /<dt>Available to spend<\/dt><dd>€0\.45<\/dd>/);
  await service.setWallet(app, user, 'cap_micros = 1500000');
  assert.match((await browser.open(`/wallet/${id}`)).text, /<dt>Available to spend<\/dt><dd>€0\.00<\/dd>/);
  await service.setWallet(app, user, 'held_micros = 0, cap_spent_micros = 0');
});

test('ON-04 amounts are exact, in the reader’s language', async () => {
  const { browser, connect } = await newWalletOwner();
  const id = await connect(app, await newUser(1_234_567_890_001));
  const german = await browser.ask(`/wallet/${id}`, { headers: { 'accept-language': 'de-DE,de;q=0.9' } });
  assert.ok(german.text.includes('1.234.567,890001\u00a0€'), mainOf(german));
});

test('ON-04 further pages list every remaining app once', async () => {
  const { browser, connect } = await newWalletOwner();
  const ids = new Set<string>();
  const userLabel = '\'"&<>'.repeat(16); // 80 characters; each takes five bytes of a page.
  for (let count = 0; count < 45; count += 1) {
    ids.add(await connect(app, `many-${count}`, { userLabel }));
  }
  const newest = [...ids].at(-1) ?? '';
  await service.setWallet(app, 'many-44', 'is_connected = false');
  const found: string[] = [];
  for (const from of ['', '?from=20', '?from=40']) {
    const page = await browser.open(`/wallet${from}`);
    assertPage(page, 200, 'Your wallet');
    found.push(...[...page.text.matchAll(/href="\/wallet\/(con_\w+)"/g)].map(([, id]) => id ?? ''));
    assert.equal(page.text.includes('More apps'), from !== '?from=40');
    assert.equal(page.text.includes('Newer apps'), from !== '');
  }
  assert.deepEqual([...found].toSorted(), [...ids].toSorted());
  assert.equal(found.at(-1), newest, 'disconnected apps come last');
  for (const odd of ['?from=-1', '?from=9999', '?from=1e1', '?from=900']) {
    assertPage(await browser.open(`/wallet${odd}`), 200, 'Your wallet');
  }
});

test('WA-04 a blocked wallet only says whom to contact', async () => {
  const { browser, connect } = await newWalletOwner();
  const user = await newUser(0);
  const id = await connect(app, user);
  await service.setWallet(app, user, 'is_suspended = true, shortfall_micros = 3777777');
  for (const path of ['/wallet', `/wallet/${id}`]) {
    const page = await browser.open(path);
    assert.match(page.text, />Blocked</);
    assert.doesNotMatch(mainOf(page), /3[.,]77|shortfall|chargeback|\bowe|dispute|topup/i);
  }
  assert.match(browser.page().text, /This wallet is blocked: [^<]*Please contact Purser\./);
  await service.setWallet(app, user, 'shortfall_micros = 0, is_suspended = false');
});

test('ON-04 the owner can sign out here or everywhere', async () => {
  const { browser, email } = await newWalletOwner();
  const [second, third] = [await browserOf(service, email), await browserOf(service, email)];
  await browser.open('/wallet');
  await browser.submit('/wallet/sign-out', {}, 'Sign out<');
  assert.equal((await browser.ask('/wallet')).status, 303);
  assertPage(await second.open('/wallet'), 200, 'Your wallet');
  await second.submit('/wallet/sign-out', {}, 'Sign out everywhere');
  assert.equal((await third.ask('/wallet')).status, 303);
});

test('ON-04 calls of a day between other movements are one correct line', async () => {
  const { browser, connect } = await newWalletOwner();
  const { owner: database } = service.database;
  const user = await newUser(5_000_000);
  const path = `/wallet/${await connect(app, user)}`;
  for (let count = 0; count < 20; count += 1) {
    if (count === 12) {
      await sql(database)`select ledger.credit(${app.appId}, ${user}, 'top_up', 1000000, 'among days')`;
    }
    assert.equal((await callAs(user)).status, 200);
  }
  const { walletId } = await walletOf(user);
  // The days end with the entries 2, 5, 14 (the top-up), 20 and 22.
  const ago = `- case when seq <= 2 then interval '40 days' when seq <= 5 then interval '11 days'
    when seq <= 14 then interval '9 days' when seq <= 20 then interval '1 day' else interval '0' end where wallet_id = ${walletId}`;
  await database.query(`begin; set local session_replication_role = replica;
    update usage.calls set settled_at = settled_at ${ago}; update ledger.journal set at = at ${ago}; commit`);
  const { rows } = await database.query(`select calls::int, charged::int from ledger.days($1, null, 10)`, [walletId]);
  const counts = [2, 6, 8, 3, 1];
  assert.deepEqual(
    rows,
    counts.map((calls) => ({ calls, charged: calls * CHARGE })),
  );
  const { text } = await browser.open(path);
  assert.equal(text.match(/<tr class="group">/g)?.length, counts.length);
  const lines = text.replace(/^[^]*<h2 id="movements">/, '').match(/<tr><td>[^]*?<\/tr>/g) ?? [];
  const said = lines.map((line) =>
    line
      .replace(/<br>[^]*?<\/td>/, ' ')
      .replaceAll(/<[^>]*>/g, ' ')
      .trim()
      .split(/\s{2,}/),
  );
  assert.deepEqual(said.slice(0, 1), [['2 calls', `−${left(-2, 0)}`, left(20, 6_000_000)]]);
  assert.deepEqual(said.slice(2, 4), [
    ['Top-up', '+€1.00', left(12, 6_000_000)],
    ['8 calls', `−${left(-8, 0)}`, left(12, 5_000_000)],
  ]);
});

test('WA-10 a late charge has one receipt under any id', async () => {
  const { browser, connect } = await newWalletOwner();
  const user = await newUser(5_000_000);
  const path = `/wallet/${await connect(app, user)}`;
  assert.equal((await callAs(user)).status, 200);
  const callId = await addLateCharge(service.database, {
    appId: app.appId,
    user,
    correlationId: 'cut-off',
    charge: 60,
  });
  const [, day = ''] = /href="[^"]*(\?day=[^"]+)"/.exec((await browser.open(path)).text) ?? [];
  const page = await browser.open(path + day.replace('&#38;', '&'));
  assert.equal(page.text.split('Charged late: the server was cut off').length, 2);
  const [, late = ''] = /href="\?receipt=([^"]+)"/.exec(page.text) ?? [];
  assert.notEqual(late, callId, 'a movement names the receipt of the late charge');
  assert.match(mainOf(await browser.open(`${path}?receipt=${late}`)), /the server that handled this call was cut off/);
  for (const id of [callId, late]) {
    const { body } = await send(`/calls/${id}`, { url: service.url, key: app.liveKey, user });
    assert.deepEqual(
      ['callId', 'correlationId', 'outcome', 'heldMicros', 'chargedMicros', 'late'].map((name) => body[name]),
      [callId, 'cut-off', 'answered', 100, 60, true],
    );
  }
});
