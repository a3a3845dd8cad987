import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EndUserId } from '../../packages/service/src/kernel/ids.ts';
import { createWallets } from '../../packages/service/src/ledger/wallet/wallet.ts';
import { chargeFor } from '../support/catalogue.ts';
import { chat, send } from '../support/client.ts';
import { usersOfOneSlot } from '../support/moving-stage.ts';
import { moveUser } from '../support/moving-two-cells.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { type CellName, startTwoCells } from '../support/two-cells.ts';
import { saying, USAGE } from '../support/two-gateways.ts';
import { waitUntil } from '../support/wait-until.ts';

/** What was booked in several cells, as one: for users who have moved, and in reports. */

const NOWHERE = 'http://127.0.0.1:9';
const upstream = await startScriptedUpstream();
const cells = await startTwoCells(upstream.baseUrl);
const { c1, c2, app } = cells;
const key = app.liveKey;
const CHARGE = chargeFor({ prompt: USAGE.prompt_tokens, completion: USAGE.completion_tokens });
after(async () => {
  const differences = [...(await c1.check()), ...(await c2.check())];
  try {
    await cells.close();
  } finally {
    await upstream.close();
  }
  assert.deepEqual(differences, []);
});

await waitUntil('c1 knows the address of c2', async () => {
  return (await send('/balance', { url: c1.url, key, user: cells.userOf('c2') })).status === 402;
});

const ask = (path: string, user: EndUserId, at: CellName = 'c1') => send(path, { url: cells[at].url, key, user });

/** Makes a call of the user, wherever they are, and gives its id. */
async function called(user: EndUserId): Promise<string> {
  upstream.script(saying('Hi'));
  const reply = await chat({ url: c1.url, key, user });
  assert.equal(reply.status, 200, reply.text);
  return String(reply.headers.get('x-service-call-id'));
}

/** Says in the cell `at` that nobody is at the address of the other one, until the test ends. */
async function cutOff(at: CellName): Promise<() => Promise<void>> {
  const other = at === 'c1' ? 'c2' : 'c1';
  const reaches = async () => (await ask('/balance', cells.userOf(other), at)).status === 402;
  await cells.setAddress(at, other, NOWHERE);
  await waitUntil('it has no way', async () => !(await reaches()));
  return async () => {
    await cells.setAddress(at, other, cells[other].url);
    await waitUntil('it has a way', reaches);
  };
}

test('BI-03 WA-02 a user who has moved finds the calls of before, there and back, as in one cell', async () => {
  const { slot, users } = usersOfOneSlot(app.appId, 2);
  const [user = '' as EndUserId, other = user] = users;
  const [home, away]: readonly [CellName, CellName] = slot < 2_048 ? ['c1', 'c2'] : ['c2', 'c1'];
  for (const one of users) await cells[home].fund(app, one, 1_000_000);
  const first = await called(user);
  const before = await ask(`/calls/${first}`, user);
  assert.equal(before.status, 200);
  const calls = [first];
  const foreign = await called(other);
  for (const to of [away, home]) {
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
  const wallets = createWallets(cells[home].database.owner);
  const of = { appId: app.appId, userId: user };
  await wallets.setConnected({ ...of, isConnected: false });
  assertRefusal(await ask(`/calls/${first}`, user), { code: 'NOT_FOUND' });
  assert.equal((await ask('/usage/summary', user)).body['requests'], 0);
  await wallets.setConnected({ ...of, isConnected: true });
  assert.equal((await ask(`/calls/${first}`, user)).text, before.text);
});

test('BI-03 what a cell that is away has is neither missing nor left out of a sum, and nobody else notices', async () => {
  const [moved, native] = [cells.userOf('c1'), cells.userOf('c2')];
  await c1.fund(app, moved, 1_000_000);
  await c2.fund(app, native, 1_000_000);
  const [call, own] = [await called(moved), await called(native)];
  await moveUser(cells, moved, 'c2');
  const restore = await cutOff('c2');
  assertRefusal(await ask('/usage/summary', moved, 'c2'), { code: 'INTERNAL_SERVER_ERROR' });
  assertRefusal(await ask(`/calls/${call}`, moved, 'c2'), { code: 'INTERNAL_SERVER_ERROR' });
  assert.equal((await ask('/usage/summary', native, 'c2')).body['requests'], 1);
  assert.equal((await ask(`/calls/${own}`, native, 'c2')).status, 200);
  assertRefusal(await ask(`/calls/${call}`, native, 'c2'), { code: 'NOT_FOUND' });
  await restore();
  assert.equal((await ask(`/calls/${call}`, moved, 'c2')).status, 200);
});
