import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { resetSandboxWallet } from '../../packages/service/src/sandbox/wallets/queries.ts';
import { chargeFor } from '../support/catalogue.ts';
import { chat, type Reply, send } from '../support/client.ts';
import { callRoute, DATA_PLANE } from '../support/every-route-refuses.ts';
import { payloadsOf } from '../support/open-stream.ts';
import { assertRefusal, type Code } from '../support/refusal.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { sql, sqlRow } from '../support/sql.ts';
import {
  answerTo,
  type Fault,
  STEPS,
  violate,
  VIOLATION_SETTINGS,
  violationCatalogue,
  wiresWith,
} from '../support/violations.ts';
import { ALL_WIRES, everyWire } from '../support/wires.ts';
import { setStage } from '../support/stage.ts';

const GRANT = 5_000_000;
const PLACEHOLDER = 'https://purser.test/topup/sandbox';
const USAGE = { prompt_tokens: 100, completion_tokens: 10 };

const { upstream, service, app, callAs } = await setStage({
  catalogue: violationCatalogue,
  environment: VIOLATION_SETTINGS,
});
upstream.script({ body: completionBody({ model: 'm', content: 'Real.', usage: USAGE }) });

function ask(user: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Reply> {
  return chat({ url: service.url, key: app.testKey, user }, fields);
}

interface FakeWallet {
  readonly balance: number;
  readonly held: number;
  readonly requests: number;
  readonly tokens: number;
}

async function fakeWallet(user: string): Promise<FakeWallet | undefined> {
  return sqlRow<FakeWallet>(service)`
    select balance_micros::int as balance, held_micros::int as held, requests::int, tokens::int
    from sandbox.wallets where app_id = ${app.appId} and user_id = ${user}`;
}

async function setFakeWallet(user: string, assignment: string): Promise<void> {
  const { rowCount } = await service.database.owner.query(
    `update sandbox.wallets set ${assignment} where app_id = $1 and user_id = $2`,
    [app.appId, user],
  );
  assert.equal(rowCount, 1);
}

function chargeOf(reply: Reply): number {
  return Number(reply.headers.get('x-service-charge-micros'));
}

test('SB-01 a user’s first call is paid from the grant', async () => {
  assert.equal(await fakeWallet('first'), undefined);
  const reply = await ask('first');
  assert.equal(reply.status, 200, reply.text);
  const usage = reply.body['usage'] as Record<string, number>;
  const charge = chargeFor({ prompt: usage['prompt_tokens'] ?? 0, completion: usage['completion_tokens'] ?? 0 });
  assert.ok(charge > 0);
  assert.equal(chargeOf(reply), charge);
  const tokens = usage['total_tokens'];
  assert.deepEqual(await fakeWallet('first'), { balance: GRANT - charge, held: 0, requests: 1, tokens });
  await ask('first');
  assert.equal((await fakeWallet('first'))?.balance, GRANT - 2 * charge, 'the grant is given only once');
});

test('SB-01 a spent grant leads to the ordinary payment-required refusal', async () => {
  await ask('spender');
  await setFakeWallet('spender', 'balance_micros = 2000');
  const replies: Reply[] = [];
  for (let count = 0; count < 100 && replies.at(-1)?.status !== 402; count += 1) replies.push(await ask('spender'));
  assert.ok(replies.length > 2);
  const last = replies.at(-1);
  assert.ok(last !== undefined);
  assertRefusal(last, { code: 'PAYMENT_REQUIRED', hasLink: true });
});

test('SB-02 any question gets the same answer', async () => {
  const contents = new Set<unknown>();
  for (const content of ['Hello', 'Something else entirely']) {
    const reply = await ask('canned', { messages: [{ role: 'user', content }] });
    assert.deepEqual(Object.keys(reply.body).toSorted(), ['choices', 'created', 'id', 'model', 'object', 'usage']);
    assert.equal(reply.body['object'], 'chat.completion');
    assert.equal(reply.body['model'], 'acme.large-1');
    const [choice] = reply.body['choices'] as { message: { role: string; content: string }; finish_reason: string }[];
    assert.equal(choice?.finish_reason, 'stop');
    assert.equal(choice.message.role, 'assistant');
    contents.add(choice.message.content);
  }
  assert.equal(contents.size, 1);
});

test('SB-02 the same answer arrives in chunks when streamed', async () => {
  const plain = await ask('canned');
  const [whole] = plain.body['choices'] as { message: { content: string } }[];
  const reply = await ask('canned', { stream: true, stream_options: { include_usage: true } });
  assert.equal(reply.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal(reply.headers.get('x-service-mode'), 'sandbox');
  const payloads = payloadsOf(reply.text);
  assert.equal(payloads.at(-1), '[DONE]');
  const chunks = payloads.slice(0, -1) as {
    object: string;
    model: string;
    usage: unknown;
    choices: { delta: { content?: string }; finish_reason: string | null }[];
  }[];
  assert.ok(chunks.length > 3);
  for (const { object, model } of chunks) assert.deepEqual([object, model], ['chat.completion.chunk', 'acme.large-1']);
  assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), whole?.message.content);
  const { usage } = plain.body as { usage: Record<string, number> };
  const told = chunks.at(-1)?.usage as Record<string, number> | undefined;
  assert.equal(told?.['completion_tokens'], usage['completion_tokens']);
  assert.equal(told?.['total_tokens'], (told?.['prompt_tokens'] ?? 0) + (usage['completion_tokens'] ?? 0));
  assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, 'stop');
});

test('SB-02 the caller’s limit cuts the canned answer', async () => {
  const reply = await ask('canned', { max_tokens: 2 });
  const [choice] = reply.body['choices'] as { finish_reason: string }[];
  assert.equal(choice?.finish_reason, 'length');
  assert.equal((reply.body['usage'] as Record<string, number>)['completion_tokens'], 2);
});

const KNOWN_KEY_FAULTS = STEPS.slice(2)
  .flat()
  .filter((fault) => fault !== 'not connected');

for (const fault of KNOWN_KEY_FAULTS) {
  everyWire.test(
    `SB-02 "${fault}" is refused as with a live key`,
    async (wire) => {
      const faults = new Set<Fault>([fault]);
      const reply = await violate(service, faults, { wire, mode: 'sandbox' });
      assertRefusal(reply, answerTo(fault, wire));
      assert.equal(reply.headers.get('x-service-mode'), 'sandbox');
      const live = await violate(service, faults, { wire, mode: 'live' });
      assert.equal(live.headers.get('x-service-mode'), null);
      assert.equal(messageOf(reply), messageOf(live));
      assert.deepEqual(Object.keys(reply.body), Object.keys(live.body));
    },
    wiresWith(fault),
  );
}

/** Without the link, which is the placeholder of the sandbox, or is signed. */
function messageOf({ error }: Reply): string {
  return String(error['message']).replace(String(error['topupUrl']), '');
}

everyWire.test('SB-02 an unknown key’s refusal does not reveal its mode', async (wire) => {
  const reply = await violate(service, new Set<Fault>(['no key']), { wire, mode: 'sandbox' });
  assert.equal(reply.headers.get('x-service-mode'), null);
});

test('SB-02 no other route reveals the mode', async () => {
  for (const route of DATA_PLANE.filter((one) => !ALL_WIRES.some(({ path }) => path === one.path))) {
    for (const user of ['first', 'not well formed']) {
      const reply = await callRoute(route, { url: service.url, key: app.testKey, user });
      assert.equal(reply.headers.get('x-service-mode'), null, route.name);
    }
  }
  const nowhere = await send('/nowhere', { url: service.url, key: app.testKey });
  assert.equal(nowhere.headers.get('x-service-mode'), null);
});

test('SB-02 a live answer does not carry the mode', async () => {
  await service.fund(app, 'live-only', 1_000_000);
  for (const stream of [false, true]) {
    const reply = await callAs('live-only', { stream });
    assert.equal(reply.headers.get('x-service-mode'), null);
  }
});

async function countBooks(): Promise<unknown> {
  return sql(service)`select (select count(*)::int from usage.calls) as receipts, (select count(*)::int
    from ledger.entries) as entries,
    (select count(*)::int from ledger.wallets) as wallets`;
}

test('SB-03 a sandbox call reaches no provider and books nothing', async () => {
  const requests = upstream.requests.length;
  const before = await countBooks();
  for (const fields of [{}, { stream: true }]) assert.equal((await ask('no-trace', fields)).status, 200);
  assert.equal(upstream.requests.length, requests);
  assert.deepEqual(await countBooks(), before);
});

test('SB-03 real and sandbox money do not mix', async () => {
  await service.fund(app, 'twin', 1_000_000);
  const charge = chargeOf(await ask('twin'));
  assert.deepEqual(await service.wallet(app, 'twin'), { balance: 1_000_000, held: 0, openStreams: 0 });
  await callAs('twin');
  const real = { balance: 1_000_000 - chargeFor({ prompt: 100, completion: 10 }), held: 0, openStreams: 0 };
  assert.deepEqual(await service.wallet(app, 'twin'), real);
  assert.equal((await fakeWallet('twin'))?.balance, GRANT - charge);
  await setFakeWallet('twin', 'is_suspended = true, balance_micros = 0');
  assert.equal((await callAs('twin')).status, 200);
  await setFakeWallet('twin', 'is_suspended = false, balance_micros = 1000000');
  await service.setWallet(app, 'twin', 'is_suspended = true');
  assert.equal((await ask('twin')).status, 200);
});

test('SB-03 the sandbox role has no rights on real money', async () => {
  const client = await service.database.owner.connect();
  try {
    await client.query('set role purser_sandbox');
    for (const table of ['ledger.wallets', 'ledger.entries', 'usage.calls', 'accounts.api_keys', 'catalogue.models']) {
      await assert.rejects(client.query(`select from ${table}`), /permission denied/, table);
    }
    const call = `select ledger.open_wallet('a', 'u', 'EUR', null)`;
    await assert.rejects(client.query(call), /permission denied/);
  } finally {
    await client.query('reset role');
    client.release();
  }
});

const STATES: readonly (readonly [string, string, Code, boolean])[] = [
  ['a balance of 0', 'balance_micros = 0', 'PAYMENT_REQUIRED', true],
  ['a cap of 1', 'cap_micros = 1', 'APP_SPEND_CAP_EXCEEDED', true],
  ['a cap of 0', 'cap_micros = 0', 'APP_SPEND_CAP_EXCEEDED', true],
  ['a suspension', 'is_suspended = true', 'WALLET_SUSPENDED', false],
];

for (const [what, assignment, code, hasLink] of STATES) {
  test(`SB-06 with ${what} a call is refused with ${code} and no payment link`, async () => {
    const user = assignment.replaceAll(' ', '');
    await ask(user);
    await setFakeWallet(user, assignment);
    for (const stream of [false, true]) {
      const reply = await ask(user, { stream });
      assertRefusal(reply, { code, param: null, hasLink });
      assert.equal(reply.body['topupUrl'], hasLink ? PLACEHOLDER : undefined);
      assert.equal(reply.headers.get('x-service-mode'), 'sandbox');
    }
    assert.equal((await fakeWallet(user))?.held, 0);
  });
}

test('SB-06 WA-02 play money on hold is refused in the words of a spent grant', async () => {
  await ask('on-hold');
  await setFakeWallet('on-hold', 'held_micros = balance_micros');
  const held = await ask('on-hold');
  assertRefusal(held, { code: 'PAYMENT_REQUIRED', param: null, hasLink: true, isPassing: true });
  await setFakeWallet('on-hold', 'balance_micros = 0, held_micros = 0');
  const spent = await ask('on-hold');
  assertRefusal(spent, { code: 'PAYMENT_REQUIRED', param: null, hasLink: true });
  assert.equal(held.error['message'], spent.error['message']);
});

/** Resets a test user as the app's owner does. */
async function reset(user: string, { balance = GRANT, isSuspended = false }): Promise<void> {
  const wallet = { appId: app.appId, userId: user as EndUserId, balance: micros(BigInt(balance)), cap: undefined };
  await resetSandboxWallet(service.database.owner, { ...wallet, isSuspended });
}

test('SB-05 CC-25 a reset drops a test user’s kept answers', async () => {
  const headers = { 'idempotency-key': 'reset' };
  const retry = () => chat({ url: service.url, key: app.testKey, user: 'reset', headers });
  assert.equal((await retry()).status, 200);
  assert.equal((await retry()).headers.get('x-service-replayed'), 'true');
  await reset('reset', { balance: 0 });
  assert.deepEqual([(await retry()).status, (await retry()).error['code']], [402, 'PAYMENT_REQUIRED']);
  await reset('reset', {});
  const anew = await retry();
  assert.deepEqual([anew.status, anew.headers.get('x-service-replayed')], [200, null]);
  assert.equal((await retry()).headers.get('x-service-replayed'), 'true');
  await setFakeWallet('reset', 'is_suspended = true');
  assert.deepEqual([(await retry()).status, (await retry()).error['code']], [402, 'WALLET_SUSPENDED']);
});
