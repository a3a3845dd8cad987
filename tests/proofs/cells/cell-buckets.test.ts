import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { CELL_REQUEST, createCellRequests } from '../../../packages/service/src/cells/routing/cell-request.ts';
import { TOKENS } from '../../../packages/service/src/http/cells/apps/rate-tokens.ts';
import { systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import type { AppId } from '../../../packages/service/src/kernel/values/ids.ts';
import { proofsOf } from '../../../packages/service/src/kernel/crypto/keys.ts';
import { type CallOptions, type Reply, send } from '../../support/client.ts';
import { changeKeys } from '../../support/operator-acts.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { type CellName, startTwoCells, type TwoCells } from './two-cells.ts';
import { sqlValue } from '../../support/sql.ts';
import { SHARED_SECRET } from '../../support/keys.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Rate limits of apps whose calls reach two cells. Every limit here gains so little in a minute that time decides nothing. */

const upstream = await startScriptedUpstream();
const cells = await startTwoCells(upstream.baseUrl);
const { c1, c2 } = cells;
after(() => cells.close(upstream));

const OTHER = { c1: 'c2', c2: 'c1' } as const;
const SLOW = { ratePerMinute: 1, rateBurst: 9 };

/** How many calls of an app are let through at a cell, of so many. The route is about no user, so nothing is forwarded. */
async function letThrough(at: CellName, { liveKey: key }: Pick<TwoCells['app'], 'liveKey'>, calls: number) {
  const sent = Array.from({ length: calls }, () => send('/v1/models', { url: cells[at].url, key }));
  const replies = await Promise.all(sent);
  for (const reply of replies) if (reply.status !== 200) assertRefusal(reply, { code: 'TOO_MANY_REQUESTS' });
  return replies.filter(({ status }) => status === 200).length;
}

/** How many calls were counted against shares, by both cells: they run in this process. */
async function sharedCalls(): Promise<number> {
  const metrics = (await send('/metrics', { url: c1.url })).text;
  return Number(/^purser_rate_share_calls_total (\d+)$/m.exec(metrics)?.[1]);
}

/** The tokens in the bucket of an app, in the database of a cell. */
async function tokensIn(at: CellName, appId: AppId): Promise<number | undefined> {
  return sqlValue<number>(cells[at])`select (units / 60000000)::int as tokens from limits.buckets
    where app_id = ${appId}`;
}

/** The wait is needed because a cell lets through only its share until it knows where the other one is. */
await waitUntil('both cells reach each other', async () => {
  const before = await sharedCalls();
  for (const home of ['c1', 'c2'] as const) await letThrough(OTHER[home], await cells.addApp(home, SLOW), 1);
  return (await sharedCalls()) === before;
});

test('CE-05 LI-01 all cells together keep to an app’s burst', async () => {
  for (const home of ['c1', 'c2'] as const) {
    const app = await cells.addApp(home, SLOW);
    const away = OTHER[home];
    assert.equal(await letThrough(away, app, 2), 2);
    assert.equal(await letThrough(home, app, 3), 3);
    assert.equal((await letThrough(away, app, 12)) + (await letThrough(home, app, 12)), 4);
    assert.equal(await letThrough(away, app, 3), 0);
    assert.equal(await tokensIn(away, app.appId), undefined);
  }
});

test('CE-05 LI-01 two busy cells keep to the burst', async () => {
  const app = await cells.addApp('c1', { ratePerMinute: 1, rateBurst: 200 });
  const rounds: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    rounds.push(...(await Promise.all([letThrough('c1', app, 15), letThrough('c2', app, 15)])));
  }
  const { rows } = await c1.database.owner.query('select from limits.token_leases where app_id = $1', [app.appId]);
  const count = rounds.reduce((sum, one) => sum + one, 0);
  assert.ok(count <= 200 && count >= 100, `${count} calls`);
  assert.ok(rows.length <= 2);
});

test('CE-05 CP-08 a key’s limit counts across all cells', async () => {
  const app = await cells.addApp('c1', { ratePerMinute: 1_000, rateBurst: 1_000 });
  for (const { database } of [c1, c2]) {
    await changeKeys(database.owner, { set: 'rate_per_minute = 1', where: 'app_id = $1' }, [app.appId]);
  }
  /** The first answer at a cell that knows the limit. */
  const limited = async (at: CellName): Promise<number> => {
    let reply = await send('/v1/models', { url: cells[at].url, key: app.liveKey });
    await waitUntil(`${at} knows the limit of the key`, async () => {
      if (reply.headers.get('x-ratelimit-limit-requests') === '1') return true;
      reply = await send('/v1/models', { url: cells[at].url, key: app.liveKey });
      return false;
    });
    return reply.status;
  };
  assert.deepEqual([await limited('c1'), await limited('c2')], [200, 429]);
  assert.equal(await letThrough('c2', app, 3), 0);
});

test('CE-05 calls get a share while the home is away', async (t) => {
  const asked: string[] = [];
  const silent = createServer((request) => void text(request).then((body) => asked.push(body)));
  silent.listen(0, '127.0.0.1');
  t.after(() => {
    silent.closeAllConnections();
    silent.close();
  });
  await once(silent, 'listening');
  await cells.setAddress('c2', 'c1', `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  await waitUntil('c2 has lost c1', async () => {
    const before = await sharedCalls();
    await letThrough('c2', await cells.addApp('c1', SLOW), 1);
    return (await sharedCalls()) > before;
  });
  const app = await cells.addApp('c1', SLOW);
  assert.equal(await letThrough('c2', app, 12), 4, 'half of nine');
  assert.equal(await letThrough('c1', app, 2), 2);
  // One call has waited for an answer. After that, nobody does: the home is asked for nothing until it answers.
  await waitUntil('c2 looks for c1', async () => {
    await letThrough('c2', app, 1);
    return asked.length > 1;
  });
  assert.deepEqual(
    asked.map((body) => (JSON.parse(body) as { asked: unknown[] }).asked.length),
    asked.map((_, n) => (n === 0 ? 1 : 0)),
  );

  await cells.setAddress('c2', 'c1', c1.url);
  const other = await cells.addApp('c1', { ratePerMinute: 1, rateBurst: 1_000 });
  await waitUntil('c2 has found c1', async () => {
    const before = await sharedCalls();
    await letThrough('c2', other, 1);
    return (await sharedCalls()) === before;
  });
  let atC2 = 0;
  await waitUntil(
    'c2 has forgotten that its share was empty',
    async () => (atC2 += await letThrough('c2', app, 1)) > 0,
  );
  assert.equal(atC2 + (await letThrough('c2', app, 9)) + (await letThrough('c1', app, 9)), 7);
  assert.equal(await letThrough('c2', app, 9), 0);
});

const signer = (from: string, secret = SHARED_SECRET.PURSER_SECRET, clock = systemClock) =>
  createCellRequests(from, proofsOf({ secret: Buffer.from(secret) })('cell-requests'), clock);

/** Asks c1 for tokens of a bucket as a process of another cell does. */
function bodyOf(bucket: string, holder: string, number = 1): string {
  const asked = [{ bucket, perMinute: 1, burst: 9, wanted: 1, kept: 0, returned: 0, target: 0 }];
  return JSON.stringify({ holder, number, asked });
}

const ask = (header: string | undefined, body: string, options: Partial<CallOptions> = {}): Promise<Reply> =>
  send(TOKENS.path, {
    url: c1.url,
    method: 'POST',
    body,
    ...options,
    headers: header === undefined ? {} : { [CELL_REQUEST]: header },
  });

test('CE-08 only a genuine request from another cell takes tokens', async () => {
  const { appId, liveKey: key } = await cells.addApp('c1', SLOW);
  const body = bodyOf(appId, randomUUID());
  const good = (from = 'c2', to = 'c1', path: string = TOKENS.path) => signer(from).sign(to, path, body);
  const at = (nowMs: number) => signer('c2', undefined, { ...systemClock, nowMs: () => nowMs });
  const refused = {
    'without a signature': await ask(undefined, body),
    'with the key of an app': await ask(undefined, body, { key }),
    'by another secret': await ask(signer('c2', 'the secret of another service').sign('c1', TOKENS.path, body), body),
    'for another cell': await ask(good('c2', 'c2'), body),
    'for another path': await ask(good('c2', 'c1', '/balance'), body),
    'by another cell than it says': await ask(good().replace('c2', 'c3'), body),
    'with another body': await ask(good(), body.replace('"wanted":1', '"wanted":9')),
    old: await ask(at(Date.now() - 61_000).sign('c1', TOKENS.path, body), body),
    'ahead of time': await ask(at(Date.now() + 61_000).sign('c1', TOKENS.path, body), body),
    'with another time': await ask(good().replace(/ \d+ /, ` ${Date.now() + 5} `), body),
  };
  for (const [why, reply] of Object.entries(refused)) assert.equal(reply.status, 404, why);
  assert.equal(await tokensIn('c1', appId), undefined);
  assert.equal((await ask(good(), body)).status, 200);
  assert.equal(await tokensIn('c1', appId), 8);
  const large = `${body}${' '.repeat(262_144)}`;
  assert.equal((await ask(signer('c2').sign('c1', TOKENS.path, large), large)).status, 413);
  assert.equal((await ask(signer('c2').sign('c1', TOKENS.path, '{'), '{')).status, 404);
  const attempts = bodyOf('sign-in:somebody', randomUUID());
  assert.equal((await ask(signer('c2').sign('c1', TOKENS.path, attempts), attempts)).status, 404);
});

test('CE-08 a repeated or late request takes no tokens', async () => {
  const { appId } = await cells.addApp('c1', SLOW);
  const holder = randomUUID();
  const status = async (number: number, by: string = holder) => {
    const body = bodyOf(appId, by, number);
    return (await ask(signer('c2').sign('c1', TOKENS.path, body), body)).status;
  };
  assert.deepEqual([await status(2), await status(2), await status(1)], [200, 404, 404]);
  assert.equal(await tokensIn('c1', appId), 8);
  assert.deepEqual([await status(3), await status(1, randomUUID())], [200, 200]);
  assert.equal(await tokensIn('c1', appId), 6);
});
