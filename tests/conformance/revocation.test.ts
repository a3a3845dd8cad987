import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApiKey } from '../../packages/service/src/developers/keys/key-text.ts';
import { register } from '../../packages/service/src/developers/registration.ts';
import { newAccountId, newKeyId } from '../../packages/service/src/kernel/values/ids.ts';
import { chargeFor } from '../support/catalogue.ts';
import { chat, send } from '../support/client.ts';
import { waitUntil } from '../support/wait-until.ts';
import { newOwner } from '../support/control.ts';
import { DATA_PLANE, everyRouteRefuses } from '../support/every-route-refuses.ts';
import { openStream } from '../support/open-stream.ts';
import { revokeKey, setApp, untilRefused } from '../support/operator-acts.ts';
import { assertRefusal, type Code } from '../support/refusal.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { startSecondGateway, type TestApp } from '../support/service.ts';
import { setStage } from '../support/stage.ts';

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const CHARGE = chargeFor({ prompt: 10, completion: 5 });

const { upstream, service } = await setStage({ model: { timeoutMs: 60_000 } });
const second = await startSecondGateway(service);

async function eachGateway(work: (url: string) => Promise<void>): Promise<void> {
  await Promise.all([service.url, second.url].map(work));
}

test('AU-09 a revoked key is refused on every process', async () => {
  const app = await service.addApp();
  await eachGateway(async (url) => assert.equal((await send('/v1/models', { url, key: app.liveKey })).status, 200));
  await revokeKey(service, app, 'live');
  await eachGateway(async (url) => {
    await untilRefused(url, app.liveKey, 'UNAUTHORIZED');
    await everyRouteRefuses(DATA_PLANE, { url, key: app.liveKey, user: 'u' }, { code: 'UNAUTHORIZED' });
    assert.equal((await send('/v1/models', { url, key: app.testKey })).status, 200);
  });
});

test('AU-09 CP-08 a changed key limit applies everywhere within a second', async () => {
  const owner = await newOwner(service);
  const { appId } = await owner.get(201, 'POST', '/apps', { name: 'App' });
  const { keyId, apiKey } = await owner.get(201, 'POST', `/apps/${String(appId)}/keys`, { mode: 'live' });
  const key = String(apiKey);
  await eachGateway(async (url) => assert.equal((await send('/v1/models', { url, key })).status, 200));
  await owner.get(200, 'PATCH', `/apps/${String(appId)}/keys/${String(keyId)}`, {
    limits: { addresses: ['192.0.2.1'] },
  });
  assertRefusal(await send('/v1/models', { url: service.url, key }), { code: 'FORBIDDEN' }); // At once where it was made.
  await eachGateway(async (url) => void (await untilRefused(url, key, 'FORBIDDEN')));
});

test('AU-09 a key revoked before its first call is refused', async () => {
  const app = await service.addApp();
  await revokeKey(service, app, 'live');
  await eachGateway(async (url) => void (await untilRefused(url, app.liveKey, 'UNAUTHORIZED')));
});

test('AU-09 a suspension takes effect and ends on every process', async () => {
  const app = await service.addApp();
  await eachGateway(async (url) => assert.equal((await send('/v1/models', { url, key: app.liveKey })).status, 200));
  await setApp(service, app, `status = 'suspended'`);
  await eachGateway(async (url) => {
    await untilRefused(url, app.liveKey, 'APP_SUSPENDED');
    await everyRouteRefuses(DATA_PLANE, { url, key: app.testKey, user: 'u' }, { code: 'APP_SUSPENDED' });
  });
  await setApp(service, app, `status = 'active'`);
  await eachGateway(async (url) => {
    await waitUntil('the app is served again', async () => {
      return (await send('/v1/models', { url, key: app.liveKey })).status === 200;
    });
  });
});

test('AU-09 an unknown key works once it is registered', async () => {
  const app = await service.addApp();
  const apiKey = newApiKey('live');
  await eachGateway(async (url) =>
    assertRefusal(await send('/v1/models', { url, key: apiKey }), { code: 'UNAUTHORIZED' }),
  );
  const accountId = newAccountId();
  await register(service.database.owner, {
    account: { accountId, email: `${accountId.toLowerCase()}@example.test`, name: 'Later' },
    app: { appId: app.appId, name: 'Later', redirectUris: [], isFirstParty: false, limits: undefined },
    keys: [{ keyId: newKeyId(), apiKey }],
  });
  await eachGateway(async (url) => {
    await waitUntil('the key works', async () => (await send('/v1/models', { url, key: apiKey })).status === 200);
  });
});

type Running = Awaited<ReturnType<typeof startCalls>>;

/** A stream that has begun and a buffered call that has reached the provider, both of one user. */
async function startCalls(user: string) {
  const app = await service.addApp();
  await service.fund(app, user, 1_000_000);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const steps = streamSteps({ model: 'm', pieces: ['begun', ' ended'], usage: USAGE, includeUsageChunk: true });
  upstream.script(({ body }) => {
    const isStream = (body as Record<string, unknown>)['stream'] === true;
    const answer = { write: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) };
    return {
      body: isStream ? [...steps.slice(0, 2), { waitFor: held }, ...steps.slice(2)] : [{ waitFor: held }, answer],
    };
  });
  const options = { url: service.url, key: app.liveKey, user };
  const stream = await openStream(options);
  await stream.until('begun');
  const arrived = upstream.arrival(upstream.requests.length);
  const plain = chat(options);
  await arrived;
  return { app, stream, plain /** Lets the provider answer both calls. */, release };
}

/** Both calls end as if nothing had happened, and are charged. */
async function assertUnharmed({ app, stream, plain, release }: Running, user: string): Promise<void> {
  release();
  const text = await stream.whole();
  assert.match(text, /ended/);
  assert.ok(text.endsWith('data: [DONE]\n\n'), text);
  assert.equal((await plain).status, 200, (await plain).text);
  const expected = { balance: 1_000_000 - 2 * CHARGE, held: 0, openStreams: 0 };
  assert.deepEqual(await service.wallet(app, user), expected);
  assert.deepEqual(await service.check(), []);
}

const ACTS: readonly { readonly name: string; readonly code: Code; readonly act: (app: TestApp) => Promise<void> }[] = [
  { name: 'suspending the app', code: 'APP_SUSPENDED', act: (app) => setApp(service, app, `status = 'suspended'`) },
  { name: 'revoking the key', code: 'UNAUTHORIZED', act: (app) => revokeKey(service, app, 'live') },
  {
    name: 'disconnecting the user',
    code: 'PAYMENT_REQUIRED',
    act: (app) => service.setWallet(app, 'running', 'is_connected = false'),
  },
  {
    name: 'lowering the cap',
    code: 'APP_SPEND_CAP_EXCEEDED',
    act: (app) => service.setWallet(app, 'running', 'cap_micros = 1'),
  },
  {
    name: 'suspending the wallet',
    code: 'WALLET_SUSPENDED',
    act: (app) => service.setWallet(app, 'running', 'is_suspended = true'),
  },
];

for (const { name, code, act } of ACTS) {
  test(`AU-10 ${name} never cuts a running call, and refuses the next one`, async () => {
    const running = await startCalls('running');
    const { liveKey } = running.app;
    await act(running.app);
    // Changes to apps and keys take a moment to reach the other processes; changes to wallets apply at once.
    if (code === 'APP_SUSPENDED' || code === 'UNAUTHORIZED') await untilRefused(service.url, liveKey, code);
    assertRefusal(await chat({ url: service.url, key: liveKey, user: 'running' }), { code });
    await assertUnharmed(running, 'running');
  });
}
