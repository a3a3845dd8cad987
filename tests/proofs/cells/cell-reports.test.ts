import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { checkChanges } from '../../../packages/service/src/ledger/check/check.ts';
import { createWallets } from '../../../packages/service/src/ledger/wallet/wallet.ts';
import { chargeFor } from '../../support/catalogue.ts';
import { chat, send } from '../../support/client.ts';
import { newMember, newOperator, newOwnApp, newOwner, type Person } from '../../support/control.ts';
import { bookedInBoth, cutOff, moveUser, neighbours, unmovedUser } from './moving-two-cells.ts';
import { printedBooks, type Sums } from './printed-books.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { saying, startScriptedUpstream, USAGE } from '../../support/scripted-upstream.ts';
import { type CellName, startTwoCells } from './two-cells.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** What was booked in several cells, as one: for users who have moved, and in reports. */

const upstream = await startScriptedUpstream();
const cells = await startTwoCells(upstream.baseUrl);
const { c1, c2, app } = cells;
const key = app.liveKey;
const CHARGE = chargeFor({ prompt: USAGE.prompt_tokens, completion: USAGE.completion_tokens });
after(() => cells.close(upstream));

await waitUntil('c1 knows the address of c2', async () => {
  return (await send('/balance', { url: c1.url, key, user: cells.userOf('c2') })).status === 402;
});

// Before the first test: the runner would take the cells away while they are awaited.
const PERSONS: { readonly [name in CellName]: Person } = {
  c1: await newMember(c1, app.appId, 'viewer'),
  c2: await newMember(c2, app.appId, 'viewer'),
};

const userOf = (cell: CellName) => unmovedUser(cells, cell);
const ask = (path: string, user: EndUserId, at: CellName = 'c1') => send(path, { url: cells[at].url, key, user });

/** Makes a call of the user, wherever they are, and gives its id. */
async function called(user: EndUserId): Promise<string> {
  upstream.script(saying('Hi'));
  const reply = await chat({ url: c1.url, key, user });
  assert.equal(reply.status, 200, reply.text);
  return String(reply.headers.get('x-service-call-id'));
}

test('CE-06 BI-03 WA-02 a user who has moved finds all earlier calls', async () => {
  const [user, other] = neighbours(cells);
  for (const one of [user, other]) await c1.fund(app, one, 1_000_000);
  const first = await called(user);
  const before = await ask(`/calls/${first}`, user);
  assert.equal(before.status, 200);
  const calls = [first];
  const foreign = await called(other);
  for (const to of ['c2', 'c1'] as const) {
    await moveUser(cells, user, to);
    calls.push(await called(user));
    for (const at of ['c1', 'c2'] as const) {
      assert.equal((await ask(`/calls/${first}`, user, at)).text, before.text, `${to} ${at}`);
      for (const call of calls) assert.equal((await ask(`/calls/${call}`, user, at)).status, 200);
      const { requests, promptTokens, chargedMicros, models } = (await ask('/usage/summary', user, at)).body;
      assert.deepEqual(
        { requests, promptTokens, chargedMicros, models: (models as readonly unknown[]).length },
        {
          requests: calls.length,
          promptTokens: calls.length * USAGE.prompt_tokens,
          chargedMicros: calls.length * CHARGE,
          models: 1,
        },
      );
    }
  }
  assert.equal((await ask('/usage/summary?month=2026-01', user)).body['requests'], 0);
  assertRefusal(await ask(`/calls/${crypto.randomUUID()}`, user), { code: 'NOT_FOUND' });

  // Nobody else finds them: not another user who has moved, and not the user who has disconnected.
  for (const call of calls) assertRefusal(await ask(`/calls/${call}`, other), { code: 'NOT_FOUND' });
  assertRefusal(await ask(`/calls/${foreign}`, user), { code: 'NOT_FOUND' });
  const wallets = createWallets(c1.database.owner);
  const of = { appId: app.appId, userId: user };
  await wallets.setConnected({ ...of, isConnected: false });
  assertRefusal(await ask(`/calls/${first}`, user), { code: 'NOT_FOUND' });
  assert.equal((await ask('/usage/summary', user)).body['requests'], 0);
  await wallets.setConnected({ ...of, isConnected: true });
  assert.equal((await ask(`/calls/${first}`, user)).text, before.text);
});

test('CE-06 BI-03 a cell away affects only its own users', async () => {
  const [moved, native] = [userOf('c1'), userOf('c2')];
  await c1.fund(app, moved, 1_000_000);
  await c2.fund(app, native, 1_000_000);
  const [call, own] = [await called(moved), await called(native)];
  await moveUser(cells, moved, 'c2');
  const restore = await cutOff(cells, 'c2');
  assertRefusal(await ask('/usage/summary', moved, 'c2'), { code: 'INTERNAL_SERVER_ERROR' });
  assertRefusal(await ask(`/calls/${call}`, moved, 'c2'), { code: 'INTERNAL_SERVER_ERROR' });
  assert.equal((await ask('/usage/summary', native, 'c2')).body['requests'], 1);
  assert.equal((await ask(`/calls/${own}`, native, 'c2')).status, 200);
  assertRefusal(await ask(`/calls/${call}`, native, 'c2'), { code: 'NOT_FOUND' });
  await restore();
  assert.equal((await ask(`/calls/${call}`, moved, 'c2')).status, 200);
});

const NO_SUM = /does not answer, and figures without it would be wrong/;

test('CE-06 CP-04 an app’s reports cover all cells', async () => {
  const [here, there] = [userOf('c1'), userOf('c2')];
  await c1.fund(app, here, 1_000_000);
  await c2.fund(app, there, 1_000_000);
  const ids = { c1: await called(here), c2: await called(there) };
  const booked = await bookedInBoth(cells);
  for (const [at, other] of [
    ['c1', 'c2'],
    ['c2', 'c1'],
  ] as const) {
    const { get } = PERSONS[at];
    const of = `/apps/${app.appId}`;
    const rows: { readonly userId: string; readonly requests: number; readonly chargedMicros: number }[] = [];
    for (let after = ''; ; ) {
      const page = await get(200, 'GET', `${of}/usage?groupBy=day,user&limit=2${after}`);
      rows.push(...(page['rows'] as typeof rows));
      if (page['next'] === null) break;
      after = `&after=${page['next'] as string}`;
    }
    const sum = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + pick(row), 0);
    assert.deepEqual(
      [sum(({ requests }) => requests), sum(({ chargedMicros }) => chargedMicros), rows.length],
      [booked.calls, booked.charged, booked.users.size],
      at,
    );
    const users = rows.map(({ userId }) => userId);
    assert.deepEqual(users, users.toSorted());
    const far = Buffer.from(JSON.stringify({ day: '', model: 'm'.repeat(1_400), userId: '' })).toString('base64url');
    await get(200, 'GET', `${of}/usage?groupBy=model&after=${far}`); // A cursor is as long as its owner likes.
    const { totals, series, models, keys, outcomes } = await waitUntil('all calls are in the sums', async () => {
      const stats = (await get(200, 'GET', `${of}/stats`)) as unknown as Sums;
      const { chargedCalls, total } = stats.totals;
      return chargedCalls === booked.calls && total.count === booked.calls ? stats : undefined;
    });
    assert.equal(totals.chargedMicros, booked.charged);
    assert.equal(
      series.reduce((total, point) => total + point.chargedCalls, 0),
      booked.calls,
    );
    assert.deepEqual(
      [models, keys].map((list) => list.map((row) => row.chargedMicros)),
      [[booked.charged], [booked.charged]],
    );
    assert.equal(outcomes.find(({ outcome }) => outcome === 'charged')?.calls, booked.calls);
    const { correlationId, chargedMicros } = await get(200, 'GET', `${of}/calls/${ids[other]}`);
    assert.equal(chargedMicros, CHARGE);
    const { calls } = await get(200, 'GET', `${of}/calls?correlationId=${String(correlationId)}`);
    assert.deepEqual(
      (calls as { callId: string }[]).map(({ callId }) => callId),
      [ids[other]],
    );
    const stranger = await newOwner(cells[at]);
    const own = await newOwnApp(stranger);
    for (const id of Object.values(ids)) await stranger.get(404, 'GET', `/apps/${own.appId}/calls/${id}`);
    const foreign = await stranger.get(200, 'GET', `/apps/${own.appId}/stats`);
    assert.equal((foreign['totals'] as { calls: number }).calls, 0);
    const operator = await newOperator(cells[at]);
    const whole = await operator.get(200, 'GET', '/operator/stats');
    assert.deepEqual(
      (whole['apps'] as { appId: string; chargedMicros: number }[]).map((row) => [row.appId, row.chargedMicros]),
      [[app.appId, booked.charged]],
    );
  }
});

test('CE-06 CP-04 no report appears without every cell’s answer', async () => {
  const user = userOf('c2');
  await c2.fund(app, user, 1_000_000);
  const call = await called(user);
  const { ask: askAt, get, token } = PERSONS.c2;
  const restore = await cutOff(cells, 'c2');
  const of = `/apps/${app.appId}`;
  for (const path of [
    'usage',
    'usage?format=csv',
    'stats',
    `calls/${crypto.randomUUID()}`,
    'calls?correlationId=none',
  ]) {
    const reply = await askAt('GET', `${of}/${path}`);
    assertRefusal(reply, { code: 'TOO_MANY_REQUESTS' }, path);
    assert.match(String(reply.error['message']), NO_SUM);
    assert.equal(reply.headers.get('retry-after'), '5');
  }
  const page = await send(`/console/${app.appId}`, {
    url: c2.url,
    headers: { cookie: `__Host-purser-session=${token}` },
  });
  assert.equal(page.status, 429, page.text);
  assert.match(page.text, NO_SUM);
  await get(200, 'GET', `${of}/calls/${call}`);
  await restore();
  await get(200, 'GET', `${of}/stats`);
});

test('CE-06 CP-04 lists of users and calls cover all cells', async () => {
  const [moved, native, silent] = [userOf('c1'), userOf('c2'), userOf('c2')];
  await c1.fund(app, moved, 1_000_000);
  for (const user of [native, silent]) await c2.fund(app, user, 1_000_000);
  for (const user of [moved, native, moved]) await called(user);
  await moveUser(cells, moved, 'c2');
  const { calls, users } = await bookedInBoth(cells);
  const of = `/apps/${app.appId}`;
  for (const at of ['c1', 'c2'] as const) {
    const { get } = PERSONS[at];
    const pagesOf = async (path: string, list: string): Promise<readonly Record<string, unknown>[]> => {
      const rows: Record<string, unknown>[] = [];
      for (let after = ''; ; ) {
        const page = await get(200, 'GET', `${of}/${path}?limit=2${after}`);
        rows.push(...(page[list] as typeof rows));
        if (page['next'] === null) return rows;
        after = `&after=${page['next'] as string}`;
      }
    };
    const latest = await waitUntil('all calls have their traces', async () => {
      const traces = await pagesOf('latest-calls', 'traces');
      return traces.length === calls ? traces : undefined;
    });
    const times = latest.map((trace) => String(trace['at']));
    assert.deepEqual(times, times.toSorted().toReversed());
    assert.equal(new Set(latest.map((trace) => trace['callId'])).size, calls);
    const { correlationId, callId } = latest.at(-1) as Record<string, string>;
    for (const name of [`correlationId=${correlationId}`, `callId=${callId}`]) {
      const { traces } = await get(200, 'GET', `${of}/calls?${name}`);
      assert.deepEqual(
        (traces as { callId: string }[]).map((trace) => trace.callId),
        [callId],
      );
    }
    const listed = await pagesOf('users', 'users');
    const ids = listed.map((user) => String(user['userId']));
    assert.deepEqual(ids, ids.toSorted());
    assert.deepEqual(ids, [...users.keys(), silent].toSorted());
    for (const [user, { charged, lastAt }] of [...users, [silent, { charged: 0, lastAt: null }]] as const) {
      const found = await get(200, 'GET', `${of}/users/${user}`);
      assert.deepEqual([found['spentMicros'], found['lastChargedAt']], [charged, lastAt], `${at} ${user}`);
      assert.equal(listed.find((one) => one['userId'] === user)?.['lastChargedAt'], lastAt);
    }
    await get(404, 'GET', `${of}/users/nobody`);
  }
  await createWallets(c2.database.owner).setConnected({ appId: app.appId, userId: moved, isConnected: false });
  for (const { get } of Object.values(PERSONS)) await get(404, 'GET', `${of}/users/${moved}`);
});

test('CE-04 a check reaches wallets that came from elsewhere', async () => {
  const [moved, native] = [userOf('c1'), userOf('c2')];
  await c1.fund(app, moved, 1_000_000);
  await c2.fund(app, native, 1_000_000);
  await moveUser(cells, moved, 'c2');
  const { owner } = c2.database;
  let pages = 0;
  await checkChanges(owner, () => Promise.resolve((pages += 1) < 10));
  const rows = await sql<{ wallets: bigint; checked: bigint }>(owner)`
    select count(*) as wallets, count(p.wallet_id) as checked
    from ledger.wallets w left join ledger.checkpoints p on p.wallet_id = w.wallet_id and p.version = w.version`;
  assert.ok((rows[0]?.wallets ?? 0n) > 1n);
  assert.equal(rows[0]?.checked, rows[0]?.wallets);
});

test('CE-06 the books show what has left and not arrived', async (t) => {
  const user = userOf('c1');
  await c1.fund(app, user, 1_000_000);
  await moveUser(cells, user, 'c2');
  const [{ owner }, { owner: there }] = [c1.database, c2.database];
  const books = () => printedBooks(t, owner);
  const right = await books();
  assert.deepEqual([right.status, right.lines.at(-1)], [0, 'difference: 0 micros, 0 owed']);
  for (const [at, db] of [owner, there].entries()) {
    const sum = await sqlValue<bigint>(db)`select sum(balance_micros)::bigint as sum from ledger.wallets`;
    assert.match(right.lines[at] ?? '', new RegExp(`^c${at + 1}: \\d+ wallets with ${sum} micros, 0 owed; `));
  }
  const change = (by: number) =>
    there.query(
      `alter table ledger.journal disable trigger user;
       update ledger.journal set amount_micros = amount_micros + ${by} where kind = 'moved_in';
       alter table ledger.journal enable trigger user`,
    );
  const { rows: came } = await there.query(`select from ledger.journal where kind = 'moved_in'`);
  await change(-1);
  const wrong = await books();
  await change(1);
  assert.deepEqual([wrong.status, wrong.lines.at(-1)], [1, `difference: ${-came.length} micros, 0 owed`]);
  const restore = await cutOff(cells, 'c1');
  await assert.rejects(books(), /The cell c2 does not answer\. Nothing is added up without it\./);
  await restore();
});
