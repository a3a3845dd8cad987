import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { allPages } from './all-pages.ts';
import { askerOf, cellPeopleOf } from './cell-people.ts';
import { cellPaymentsOf, stripeSettings } from './cell-payments.ts';
import { aDayLater, assertEntriesAddUp, cellWalletsOf, type ListedEntry } from './cell-wallets.ts';
import { chat, send } from '../../support/client.ts';
import { newMember, newOperator, type Person } from '../../support/control.ts';
import { cutOff, moveUser, neighbours, unmovedUser } from './moving-two-cells.ts';
import { assertPage, mainOf, operatorBrowser } from '../../support/page.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { sql } from '../../support/sql.ts';
import { startStripeServer } from '../../support/stripe-server.ts';
import { saying, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { type CellName, startTwoCells } from './two-cells.ts';

/** Wallets that were in several cells, and payments whose webhooks reach any cell. */

const upstream = await startScriptedUpstream();
const stripe = await startStripeServer();
const cells = await startTwoCells(upstream.baseUrl, stripeSettings(stripe));
const { c1, c2, app } = cells;
const { pays, told } = cellPaymentsOf(cells, stripe);
const people = cellPeopleOf(cells);
const { signedInAt } = people;
const wallets = cellWalletsOf(cells, people, () => upstream.script(saying('Hi')));
const { openTwins, credit, takeBack, recover, call, assertAlike, inherited, exportOf } = wallets;
after(() => cells.close(upstream, stripe));

const OPERATORS: { readonly [name in CellName]: Person } = { c1: await newOperator(c1), c2: await newOperator(c2) };
const MEMBERS: typeof OPERATORS = {
  c1: await newMember(c1, app.appId, 'viewer'),
  c2: await newMember(c2, app.appId, 'viewer'),
};
const NO_SUM = /figures without it would be wrong/;

async function pageAt(at: CellName, path: string): Promise<string> {
  const headers = { cookie: `__Host-purser-session=${OPERATORS[at].token}` };
  return (await send(path, { url: cells[at].url, headers })).text;
}

test('CE-06 ON-04 WA-09 a moved wallet looks like one that stayed', async () => {
  const [user, other] = neighbours(cells);
  const [rich, poor] = [await openTwins(user), await openTwins(other)];
  const everybody = [rich, poor].flatMap(({ moved, twin }) => [moved, twin]);
  const days = async (at: CellName, count: number) => {
    for (let n = 0; n < count; n += 1) {
      await credit(rich, at, 1_000_003);
      await call(rich);
      await aDayLater(cells, everybody);
    }
  };
  await days('c1', 9);
  await credit(poor, 'c1', 1_000);
  await takeBack(poor, 'c1', 1_000); // Nothing is left, so it moves without an entry.
  await credit(rich, 'c1', 7, 30);
  const calls = await call(rich);
  await moveUser(cells, user, 'c2');
  for (const twins of [rich, poor]) await assertAlike(twins, 'c2');
  await credit(rich, 'c2', 7, 30); // With those of before the move more than a page of the day.
  await credit(poor, 'c2', 1_000);
  await days('c2', 2);
  await takeBack(poor, 'c2', 1_070); // Owes 70.
  await moveUser(cells, user, 'c1');
  await assertAlike(poor, 'c1');
  await days('c1', 2);
  await credit(poor, 'c1', 100);
  await recover(poor, 'c1');
  await assertAlike(poor, 'c1');
  assert.equal(
    await assertAlike(rich, 'c1'),
    2 + 13 + 3 + 1,
    'of days, one for each day and three of the full one, the file',
  );
  const { pages } = await signedInAt('c1', rich.email);
  const receipts = rich.ids.map((id, at) => pages.c1.ask(`/wallet/${id}?receipt=${calls[at]}`));
  for (const reply of await Promise.all(receipts)) assertPage(reply, 200, 'Receipt');

  // An operator sees all entries, each with its cell, and also those that carried the balance.
  const path = `/operator/apps/${app.appId}/wallets/${rich.moved}?limit=7`;
  const inOrder = (await allPages<ListedEntry>(OPERATORS.c1, path, 'entries', 'before')).toReversed();
  assert.deepEqual(
    inOrder.filter(({ kind }) => kind.startsWith('moved')).map(({ kind, cell }) => `${kind} ${cell}`),
    ['moved_out c1', 'moved_in c2', 'moved_out c2', 'moved_in c1'],
  );
  assertEntriesAddUp(inOrder);
  assert.match(await pageAt('c1', `/ops/wallet?app=${app.appId}&user=${rich.moved}`), /in cell c1</);

  // As in one cell, who gets a wallet whose owner was deleted sees what was in it, and their file has nothing of it.
  await takeBack(poor, 'c1', 30);
  const heir = await inherited(poor);
  await assertAlike(heir, 'c1');
  const file = await exportOf(heir.email);
  assert.ok(file.includes(heir.email) && !file.includes('contract_credit'), file);
  const again = await signedInAt('c1', poor.email);
  for (const id of [...poor.ids, ...heir.ids]) assert.equal((await again.pages.c1.ask(`/wallet/${id}`)).status, 404);
});

test('CE-08 WA-02 a former cell tells only cells', async () => {
  const user = await openTwins(unmovedUser(cells, 'c1'));
  await credit(user, 'c1', 2_000_000);
  const [made = '', foreign] = await call(user);
  const ask = askerOf(c1);
  const appId = app.appId;
  const pageOf = (userId: EndUserId) => ({ appId, userId, before: null, most: 10 });
  const parts = [{ move: 0, first: '1', last: '9' }];
  for (const [path, asked] of Object.entries({
    '/cells/user-movements': pageOf(user.moved),
    '/cells/user-days': pageOf(user.moved),
    '/cells/user-other-movements': { appId, userId: user.moved, parts, most: 10 },
    '/cells/user-calls': { appId, userId: user.moved, calls: [made] },
    '/cells/user-entries': pageOf(user.moved),
  })) {
    assert.equal((await send(path, { url: c1.url, method: 'POST', body: JSON.stringify(asked) })).status, 404, path);
    assert.equal((await ask(path, asked, 'the secret of another service')).status, 404, path);
    const { found } = (await ask(path, asked)).body as { found: readonly unknown[] };
    assert.ok(found.length > 0, path);
    assert.doesNotMatch((await ask(path, { ...asked, userId: 'nobody' })).text, new RegExp(made));
    assert.equal((await ask(path, { ...asked, most: 20_000, parts: [] })).status, path.endsWith('calls') ? 200 : 404);
  }
  const { found } = (await ask('/cells/user-calls', { appId, userId: user.moved, calls: [made, foreign] })).body;
  assert.deepEqual(
    (found as { callId: string }[]).map(({ callId }) => callId),
    [made],
  );
});

test('CE-06 ON-04 a wallet says since when it shows movements', async () => {
  const moved = await openTwins(unmovedUser(cells, 'c1'));
  await credit(moved, 'c1', 2_000_000);
  const [former, foreign] = await call(moved);
  await moveUser(cells, moved.moved, 'c2');
  const [here] = await call(moved);
  const { pages } = await signedInAt('c2', moved.email);
  const path = `/wallet/${moved.ids[0]}`;
  const whole = await pages.c2.ask(path);
  assert.match(mainOf(whole), /2 calls[^]*Credit from the operator/);
  assert.match(mainOf(whole), /<svg class="month"/);
  const older = /href="([^"]*day=[^"]*)"/.exec(whole.text)?.[1]?.replaceAll('&#38;', '&') ?? '';
  assertPage(await pages.c2.ask(`${path}?receipt=${former}`), 200, 'Receipt');
  assertPage(await pages.c2.ask(`${path}?receipt=${foreign}`), 404);
  const restore = await cutOff(cells, 'c2');
  const part = await pages.c2.ask(path);
  assertPage(part, 200);
  assert.match(mainOf(part), /Movements before <?[^<]* UTC are missing here[^]*1 call/);
  assert.doesNotMatch(mainOf(part), /<svg class="month"|2 calls|Credit from the operator|carried over/);
  assertPage(await pages.c2.ask(`${path}?receipt=${here}`), 200, 'Receipt');
  for (const address of [older, `${path}/movements.csv`, `${path}?receipt=${former}`, `${path}?before=5`]) {
    const refused = await pages.c2.ask(address);
    assert.equal(refused.status, 429, address);
    assert.match(mainOf(refused), NO_SUM);
  }
  const wallet = `/operator/apps/${app.appId}/wallets/${moved.moved}`;
  const { entries, next } = await OPERATORS.c2.get(200, 'GET', wallet);
  assert.deepEqual(
    (entries as { kind: string }[]).map(({ kind }) => kind),
    ['charge', 'moved_in'],
  );
  assertRefusal(await OPERATORS.c2.ask('GET', `${wallet}?before=${String(next)}`), { code: 'TOO_MANY_REQUESTS' });
  await restore();
  assert.match(mainOf(await pages.c2.ask(path)), /2 calls/);
});

const balanceOf = async (cell: CellName, user: EndUserId) => (await cells[cell].wallet(app, user)).balance;

async function emptyWallet(cell: CellName): Promise<EndUserId> {
  const user = unmovedUser(cells, cell);
  await cells[cell].fund(app, user, 0);
  return user;
}

test('CE-07 ON-02 a webhook at another cell counts once', async () => {
  const user = await emptyWallet('c1');
  const payment = await pays('c1', user, 5_000_000n);
  // The first one is told to the wrong cell alone.
  for (const at of ['c2', 'c1', 'c2'] as const) {
    assert.equal(await told(at, 'payment_intent.succeeded', payment), 200);
    assert.equal(await balanceOf('c1', user), 5_000_000);
  }
  await moveUser(cells, user, 'c2');
  stripe.refundThere(payment, 200);
  for (const at of ['c1', 'c2'] as const) {
    assert.equal(await told(at, 'charge.refunded', payment), 200);
    assert.equal(await balanceOf('c2', user), 3_000_000);
  }
  const rows = await sql(c1)`select from payments.processor_webhooks where type = ${'charge.refunded'}`;
  assert.equal(rows.length, 0, 'a cell keeps no webhook of a payment that it does not have');
});

test('CE-07 ON-02 an unclaimed webhook is resent while a cell is away', async () => {
  const [here, there] = [await emptyWallet('c1'), await emptyWallet('c2')];
  const payments = [await pays('c1', here, 1_000_000n), await pays('c2', there, 1_000_000n)] as const;
  const restore = await cutOff(cells, 'c1');
  assert.equal(await told('c1', 'payment_intent.succeeded', payments[0]), 200);
  assert.equal(await told('c1', 'payment_intent.succeeded', payments[1]), 500);
  await restore();
  assert.equal(await told('c1', 'payment_intent.succeeded', payments[1]), 200);
  assert.deepEqual([await balanceOf('c1', here), await balanceOf('c2', there)], [1_000_000, 1_000_000]);
});

test('CE-06 CP-19 members of an app see sessions of every cell', async () => {
  const user = unmovedUser(cells, 'c1');
  await c1.fund(app, user, 1_000_000);
  upstream.script(saying('Hi'));
  const named = async (name: string) => {
    const reply = await chat({ url: c1.url, key: app.liveKey, user, headers: { 'session-id': name } });
    assert.equal(reply.status, 200, reply.text);
  };
  const names = Array.from({ length: 27 }, (_, at) => `s-${at}`);
  for (const name of names) await named(name);
  await moveUser(cells, user, 'c2');
  // One that goes on after a move is in both cells, with what it cost in each.
  for (const name of ['s-27', 's-26']) await named(name);
  for (const at of ['c1', 'c2'] as const) {
    const browser = operatorBrowser(cells[at], MEMBERS[at]);
    const shown: string[] = [];
    for (let path: string | undefined = `/console/${app.appId}/sessions?user=${user}`; path !== undefined; ) {
      const page = mainOf(await browser.open(path));
      shown.push(...Array.from(page.matchAll(/<code>(s-\d+)</g), ([, name = '']) => name));
      path = /href="([^"]*before=[^"]*)"/.exec(page)?.[1]?.replaceAll('&#38;', '&');
    }
    assert.deepEqual(shown, [...names, 's-27', 's-26'].toReversed(), at);
  }
});
