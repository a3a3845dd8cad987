import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { createWallets } from '../../../packages/service/src/ledger/wallet/wallet.ts';
import { allPages } from './all-pages.ts';
import { send } from '../../support/client.ts';
import { newOperator, type Person } from '../../support/control.ts';
import { cutOff, moveUser, unmovedUser } from './moving-two-cells.ts';
import { seedKept } from '../../support/payments.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { sql } from '../../support/sql.ts';
import { type CellName, startTwoCells } from './two-cells.ts';

/** What operators see of several cells. No call is made here, so there is no upstream. */

const cells = await startTwoCells('http://127.0.0.1:9');
const { c1, c2, app } = cells;
after(() => cells.close());

const OPERATORS: { readonly [name in CellName]: Person } = { c1: await newOperator(c1), c2: await newOperator(c2) };
const NO_SUM = /figures without it would be wrong/;

interface Listed {
  readonly userId: string;
  readonly id: string;
  readonly openedAt: string;
  readonly at: string;
  readonly cell: string;
  readonly connected: boolean;
}

/** All pages of a list, as an operator of the cell `at` reads them. */
const pagesOf = (at: CellName, path: string, list: string, cursor: string): Promise<readonly Listed[]> =>
  allPages<Listed>(OPERATORS[at], path, list, cursor);

const cellsOf = (rows: readonly Listed[]) => Object.fromEntries(rows.map(({ userId, cell }) => [userId, cell]));

/** Opens a wallet that is in this cell. */
async function opened(cell: CellName, balance = 1_000): Promise<EndUserId> {
  const user = unmovedUser(cells, cell);
  await cells[cell].fund(app, user, balance);
  return user;
}

/** Begins a checkout and gives its id. */
async function begun(cell: CellName, user: EndUserId): Promise<string> {
  const id = `chk_of${user.replace('-', '')}`;
  await sql(cells[cell])`
    insert into payments.checkouts (checkout_id, app_id, user_id, amount_micros, currency, processor)
    values (${id}, ${app.appId}, ${user}, 7000000, 'EUR', 'test')`;
  return id;
}

async function pageAt(at: CellName, path: string): Promise<string> {
  const headers = { cookie: `__Host-purser-session=${OPERATORS[at].token}` };
  return (await send(path, { url: cells[at].url, headers })).text;
}

test('CE-06 CP-05 the list of wallets covers all cells', async () => {
  const wallets: EndUserId[] = [];
  for (const cell of ['c1', 'c2', 'c2', 'c1', 'c2'] as const) wallets.push(await opened(cell));
  const [moved = '' as EndUserId, native] = wallets;
  await moveUser(cells, moved, 'c2');
  await createWallets(c2.database.owner).setConnected({ appId: app.appId, userId: moved, isConnected: false });
  const expected = Object.fromEntries(wallets.map((user, at) => [user, at === 3 ? 'c1' : 'c2']));
  for (const at of ['c1', 'c2'] as const) {
    for (const most of [1, 2, 500]) {
      const newest = await pagesOf(at, `/operator/wallets?limit=${most}`, 'wallets', 'after');
      assert.deepEqual([newest.length, cellsOf(newest)], [wallets.length, expected], `${at} ${most}`);
      const times = newest.map(({ openedAt }) => openedAt);
      assert.deepEqual(times, times.toSorted().toReversed());
      const oldest = await pagesOf(at, `/operator/wallets?limit=${most}&sort=oldest`, 'wallets', 'after');
      assert.deepEqual(oldest, newest.toReversed());
      const byUser = await pagesOf(at, `/operator/wallets?limit=${most}&userId=user-`, 'wallets', 'after');
      assert.deepEqual(
        byUser.map(({ userId }) => userId),
        wallets.toSorted(),
      );
    }
    const gone = await pagesOf(at, '/operator/wallets?status=disconnected', 'wallets', 'after');
    assert.deepEqual(cellsOf(gone), { [moved]: 'c2' }, 'what a user left behind is no wallet of theirs');
    const found = await pagesOf(at, `/operator/wallets?userId=${native}&minBalanceMicros=1000`, 'wallets', 'after');
    assert.equal(found[0]?.userId, native);
    const other = at === 'c1' ? native : wallets[3];
    const page = await pageAt(at, '/ops/wallets');
    assert.match(page, new RegExp(`You are in the cell ${at}\\.`));
    assert.match(page, new RegExp(`<code>${other}</code>`));
    assert.doesNotMatch(page, new RegExp(`user=${other}"`), 'no link to a wallet that this cell does not have');
  }
  for (const cursor of [
    'x',
    Buffer.from('1.1; drop').toString('base64url'),
    Buffer.from('a\0').toString('base64url'),
  ]) {
    for (const filter of ['', '&userId=user-']) {
      const isText = filter !== '' && !cursor.endsWith('A');
      const reply = await OPERATORS.c1.ask('GET', `/operator/wallets?after=${cursor}${filter}`);
      assert.equal(reply.status, isText ? reply.status : 400, `${cursor}${filter}: ${reply.text}`);
      assert.ok(reply.status < 500);
    }
  }
});

test('CE-06 CP-05 the list of payments shows each once', async () => {
  const [moved, native, there] = [await opened('c1'), await opened('c1'), await opened('c2')];
  const ids = [await begun('c1', moved), await begun('c1', native), await begun('c2', there)];
  await moveUser(cells, moved, 'c2');
  for (const at of ['c1', 'c2'] as const) {
    for (const most of [1, 2, 500]) {
      const lines = await pagesOf(at, `/operator/payments?limit=${most}`, 'payments', 'before');
      assert.deepEqual(lines.map(({ id }) => id).toSorted(), ids.toSorted(), `${at} ${most}`);
      assert.deepEqual(cellsOf(lines), { [moved]: 'c2', [native]: 'c1', [there]: 'c2' });
      const times = lines.map((line) => line.at);
      assert.deepEqual(times, times.toSorted().toReversed());
    }
    const [one] = await pagesOf(at, `/operator/payments?appId=${app.appId}&userId=${moved}`, 'payments', 'before');
    assert.equal(one?.id, ids[0]);
    assert.match(await pageAt(at, '/ops/payments'), new RegExp(`You are in the cell ${at}\\.`));
    assert.match(await pageAt(at, '/ops/reconciliation'), new RegExp(`This cell: ${at}<`));
  }
});

const find = (at: CellName, text: string) => pageAt(at, `/ops/find?q=${encodeURIComponent(text)}`);

test('CE-01 CP-05 a wallet opens only in its user’s cell', async () => {
  const ask = { userId: unmovedUser(cells, 'c2'), reason: 'They asked for it.' };
  const path = `/operator/apps/${app.appId}/wallets`;
  const { error } = await OPERATORS.c1.get(409, 'POST', path, ask);
  assert.match(String((error as { readonly message: unknown }).message), /^This user belongs to the cell c2\./);
  assert.equal((await OPERATORS.c2.get(201, 'POST', path, ask))['userId'], ask.userId);
});

const findings = (at: CellName, text: string) =>
  OPERATORS[at].get(200, 'GET', `/operator/find?q=${encodeURIComponent(text)}`);

test('CE-06 CP-10 a page names the cell of what it lacks', async () => {
  const user = await opened('c2');
  const id = await begun('c2', user);
  for (const text of [id, `${app.appId} ${user}`]) {
    assert.match(await find('c1', text), /Nothing has the ID.*It is in the cell c2\. Look there\./s);
    assert.doesNotMatch(await find('c2', text), /Nothing has the ID|in the cell c[12]/);
    assert.deepEqual(await findings('c1', text), { found: [], otherCells: [{ cell: 'c2', answers: true, has: true }] });
    const there = await findings('c2', text);
    assert.deepEqual([(there['found'] as unknown[]).length, there['otherCells']], [1, undefined]);
  }
  const nowhere = [{ cell: 'c2', answers: true, has: false }];
  assert.deepEqual(await findings('c1', 'chk_nobody'), { found: [], otherCells: nowhere });
  assert.doesNotMatch(await find('c1', 'chk_nobody'), /in the cell c2/);
  const restore = await cutOff(cells, 'c1');
  assert.match(await find('c1', `${app.appId} ${user}`), /It may be in the cell c2, which is not responding\./);
  assert.deepEqual((await findings('c1', `${app.appId} ${user}`))['otherCells'], [{ cell: 'c2', answers: false }]);
  await restore();
});

const overview = () => OPERATORS.c1.get(200, 'GET', '/operator/overview');

test('CE-06 CP-10 the overview says what each other cell needs', async () => {
  await seedKept(c2.database.owner, app.appId);
  const { cell, findings, otherCells } = await overview();
  assert.equal(cell, 'c1');
  assert.ok(!JSON.stringify(findings).includes('payments-kept'), 'what it finds itself is of this cell');
  const [other] = otherCells as Record<string, unknown>[];
  assert.deepEqual(
    [other?.['cell'], other?.['answers'], other?.['findings'], other?.['held']],
    ['c2', true, [{ kind: 'payments-kept', count: 1 }], { amountMicros: 0, calls: 0 }],
  );
  assert.match(await pageAt('c1', '/ops'), /Cell c2: 1 payment needs a decision\./);
  const restore = await cutOff(cells, 'c1');
  assert.deepEqual((await overview())['otherCells'], [{ cell: 'c2', answers: false }]);
  assert.match(await pageAt('c1', '/ops'), /You are in the cell c1\..*Cell c2: <span[^>]*>It is not responding\./s);
  await restore();
});

test('CE-06 CP-05 no list appears without every cell’s answer', async () => {
  const restore = await cutOff(cells, 'c1');
  for (const path of ['/operator/wallets', '/operator/payments']) {
    const reply = await OPERATORS.c1.ask('GET', path);
    assertRefusal(reply, { code: 'TOO_MANY_REQUESTS' }, path);
    assert.match(String(reply.error['message']), NO_SUM);
  }
  assert.match(await pageAt('c1', '/ops/wallets'), NO_SUM);
  await restore();
  await OPERATORS.c1.get(200, 'GET', '/operator/wallets');
});
