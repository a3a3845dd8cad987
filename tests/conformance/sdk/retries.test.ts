import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ChatOpenAI } from '@langchain/openai';
import OpenAI from 'openai';
import { type Charge, isPurserError, Purser, type PurserUser } from '../../../packages/sdk/src/sdk.ts';
import { HOW_TO_GET_PYTHON, packageVersion, PYTHON, QUIET } from '../../clients/python.ts';
import { chargeFor } from '../../support/catalogue.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { createGate } from '../../support/gate.ts';
import { givingUp } from '../../support/giving-up.ts';
import { findPython, PYTHON_PACKAGE, reasonToSkip, runPython } from '../../support/python-package.ts';
import { CLIENTS } from '../../support/sdk.ts';
import { saying, streamSteps, USAGE } from '../../support/scripted-upstream.ts';
import { keptCount } from '../../support/receipts.ts';
import { setTwoGateways } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Connections that break between a stock client and the service: with the SDK's settings nothing is charged twice. */

const { service, app, upstream, newUser } = await setTwoGateways();
const line = await startDatabaseProxy(service.url);
after(() => line.close());
const purser = new Purser({ baseURL: line.url, apiKey: app.liveKey });

const FUNDS = 1_000_000;
const run = promisify(execFile);
const CHARGE = chargeFor({ prompt: USAGE.prompt_tokens, completion: USAGE.completion_tokens });
const PLAIN = Object.entries(CLIENTS).filter(([name]) => !name.endsWith('streamed'));

/** A provider that gives this answer once the gate is open, and counts its requests. */
function provide(content: string) {
  const gate = createGate();
  const before = upstream.requests.length;
  upstream.script({ body: [{ waitFor: gate.opened }, { write: saying(content).body as string }] });
  const asked = () => upstream.requests.length - before;
  return { open: gate.open, asked, isAsked: () => waitUntil('the provider is asked', () => asked() === 1) };
}

async function expectOneCharge(user: PurserUser, asked: number): Promise<void> {
  assert.equal(asked, 1);
  const balance = FUNDS - CHARGE;
  assert.deepEqual(await service.wallet(app, user.userId), { balance, held: 0, openStreams: 0 });
}

test('SDK-02 BI-05 an app learns each call’s charge', async () => {
  const steps = streamSteps({ model: 'm', pieces: ['Hi'], usage: USAGE, includeUsageChunk: true });
  upstream.script(({ body }) => ((body as { stream?: boolean }).stream === true ? { body: steps } : saying('Hi')));
  const charges: Charge[] = [];
  const user = purser.forUser(await newUser(FUNDS), { onCharge: (charge) => charges.push(charge) });
  const clients = Object.values(CLIENTS);
  for (const says of clients) assert.equal(await says(user, 'large', 'Hello'), 'Hi');
  assert.deepEqual(
    charges.map(({ chargeMicros, isReplayed }) => ({ chargeMicros, isReplayed })),
    clients.map(() => ({ chargeMicros: CHARGE, isReplayed: false })),
  );
  const receipts = await Promise.all(charges.map(({ callId }) => user.receipt(callId)));
  assert.deepEqual(
    receipts.map(({ callId, chargedMicros }) => ({ callId, chargedMicros })),
    charges.map(({ callId }) => ({ callId, chargedMicros: CHARGE })),
  );
  const [{ callId } = { callId: '' }] = charges;
  await assert.rejects(purser.receipt('nobody', callId), (error) => {
    return isPurserError(error, 'ServiceApiError') && error.code === 'NOT_FOUND';
  });

  const ask = () =>
    user.fetch(`${user.baseURL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'again' },
      body: JSON.stringify({ model: 'large', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    });
  const texts = [await (await ask()).text(), await (await ask()).text()];
  assert.equal(texts[0], texts[1]);
  assert.deepEqual(
    charges.slice(-2).map(({ isReplayed }) => isReplayed),
    [false, true],
  );
});

for (const [name, says] of PLAIN) {
  test(`CC-14 ${name}: a connection lost in mid-call costs no second charge`, async () => {
    const user = purser.forUser(await newUser(FUNDS));
    const { open, asked, isAsked } = provide('Here it is.');
    const answer = says(user, 'large', 'Hello');
    await isAsked();
    line.reset();
    line.restore();
    open();
    assert.equal(await answer, 'Here it is.');
    await expectOneCharge(user, asked());
  });

  test(`CC-14 ${name}: a lost answer costs no second charge`, async () => {
    const user = purser.forUser(await newUser(FUNDS));
    const { open, asked, isAsked } = provide('It was sent.');
    const answer = says(user, 'large', 'Hello');
    await isAsked();
    line.fallSilent();
    open();
    await waitUntil('it is charged', async () => (await service.wallet(app, user.userId)).balance < FUNDS);
    assert.equal(await keptCount(service, user.userId), 1);
    line.reset();
    line.restore();
    assert.equal(await answer, 'It was sent.');
    await expectOneCharge(user, asked());
  });
}

type Impatient = (user: PurserUser, isAsked: () => Promise<unknown>) => Promise<string | null | undefined>;
const IMPATIENT: Readonly<Record<string, Impatient>> = {
  openai: async (user, isAsked) => {
    const options = user.openai();
    const client = new OpenAI({ ...options, fetch: givingUp(isAsked, options.fetch) });
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    return (await client.chat.completions.create({ model: 'large', messages })).choices[0]?.message.content;
  },
  '@langchain/openai': async (user, isAsked) => {
    const { configuration, ...options } = user.langchain();
    const impatient = { ...configuration, fetch: givingUp(isAsked, configuration.fetch) };
    return (await new ChatOpenAI({ model: 'large', ...options, configuration: impatient }).invoke('Hello')).text;
  },
};

for (const [name, says] of Object.entries(IMPATIENT)) {
  test(`CC-14 ${name}: a call retried after a timeout is charged once`, async () => {
    const user = purser.forUser(await newUser(FUNDS));
    const { open, asked, isAsked } = provide('At last.');
    const answer = says(user, isAsked);
    await waitUntil('the retry waits', async () => {
      const { rows } = await service.database.owner.query('select from ledger.holds where is_joined');
      return rows.length === 1;
    });
    open();
    assert.equal(await answer, 'At last.');
    await expectOneCharge(user, asked());
  });
}

const hasPython = packageVersion('openai') !== undefined;
test('CC-14 openai (Python): a timed-out call with its own key is charged once', {
  skip: hasPython ? false : HOW_TO_GET_PYTHON,
}, async () => {
  const user = purser.forUser(await newUser(FUNDS));
  const { open, asked } = provide('At last.');
  const script = fileURLToPath(new URL('../../clients/python/keyed_call.py', import.meta.url));
  const order = JSON.stringify({ baseUrl: user.baseURL, key: user.apiKey, user: user.userId });
  const answer = run(PYTHON, ['-B', script, order], { env: { ...process.env, ...QUIET } });
  await waitUntil('the retry waits', async () => {
    const { rows } = await service.database.owner.query('select from ledger.holds where is_joined');
    return rows.length === 1;
  });
  open();
  assert.equal((await answer).stdout.trim(), 'At last.');
  await expectOneCharge(user, asked());
  assert.equal(await keptCount(service, user.userId), 1, 'a retry without a key would take it away');
});

for (const client of ['openai', 'async_openai']) {
  test(`CC-14 ${client} (Python): a timed-out call with the package’s settings is charged once`, {
    skip: reasonToSkip('import openai', findPython()),
  }, async () => {
    const user = purser.forUser(await newUser(FUNDS));
    const { open, asked } = provide('At last.');
    const script = fileURLToPath(new URL('../../clients/python/package_call.py', import.meta.url));
    const order = JSON.stringify({ url: line.url, key: app.liveKey, user: user.userId, client });
    const environment = { PYTHONPATH: path.join(PYTHON_PACKAGE, 'src') };
    const answer = runPython([script, order], { environment });
    await waitUntil('the retry waits', async () => {
      const { rows } = await service.database.owner.query('select from ledger.holds where is_joined');
      return rows.length === 1;
    });
    open();
    assert.match(await answer, new RegExp(`\\{"text": "At last.", "charges": \\[${CHARGE}\\]\\}$`));
    await expectOneCharge(user, asked());
    assert.equal(await keptCount(service, user.userId), 1, 'a retry without a key would take it away');
  });
}

test('CC-14 equal calls that were refused for money stay separate', async () => {
  const samples = 3;
  const user = purser.forUser('sampler');
  const body = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Head or tail?' }] });
  const chat = `${user.baseURL}/chat/completions`;
  const askAll = () => Promise.all(Array.from({ length: samples }, () => user.fetch(chat, { method: 'POST', body })));
  const refused = await askAll();
  assert.deepEqual(
    refused.map(({ status }) => status),
    [402, 402, 402],
  );
  await service.fund(app, user.userId, FUNDS);
  const { open, asked } = provide('Head.');
  const answers = askAll();
  await waitUntil('all of them have reached the provider', () => asked() === samples).finally(open);
  assert.deepEqual(
    (await answers).map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal((await service.wallet(app, user.userId)).balance, FUNDS - samples * CHARGE);
});
