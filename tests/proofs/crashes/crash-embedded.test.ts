import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { catalogueAt, chargeFor } from '../../support/catalogue.ts';
import { chat, send } from '../../support/client.ts';
import { afterwards, isLinux, makeOpenDirectory, postmasterPid } from '../../support/embedded-harness.ts';
import { createGate } from '../../support/gate.ts';
import { openChat } from '../../support/open-chat.ts';
import { completionBody, startScriptedUpstream, streamSteps } from '../../support/scripted-upstream.ts';
import {
  checkByCommand,
  descendantsOf,
  readDemo,
  type ServiceProcess,
  startServiceProcess,
  untilGone,
} from '../../support/service-process.ts';
import { spoolIn, untilEmpty } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** A short lease; crash.test.ts runs with the real one. */
const LEASE_SECONDS = 3;
const RELEASE_MS_MAX = 30_000;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const CHARGE = chargeFor({ prompt: 40, completion: 20 });

test('WA-10 kill -9 with the embedded database leaves no process', {
  skip: !isLinux, // The test reads the process table, and the kernel ends the server.
}, async (t) => {
  const upstream = await startScriptedUpstream();
  afterwards(t, upstream.close);
  const options = {
    dataDirectory: makeOpenDirectory(t),
    catalogue: catalogueAt(upstream.baseUrl),
    leaseSeconds: LEASE_SECONDS,
  };
  const start = async (): Promise<ServiceProcess> => {
    const service = await startServiceProcess(options);
    afterwards(t, service.stop);
    return service;
  };
  const balanceOf = async ({ url }: ServiceProcess): Promise<readonly unknown[]> => {
    const { liveKey: key, userId: user } = readDemo(options.dataDirectory);
    const { body } = await send('/balance', { url, key, user });
    return [body['balanceMicros'], body['reservedMicros']];
  };

  const killed = await start();
  const [untouched] = await balanceOf(killed);
  const { liveKey: key, userId: user } = readDemo(options.dataDirectory);
  const begun = streamSteps({ model: 'large-upstream', pieces: ['A begun', ' answer'], includeUsageChunk: false });
  upstream.script({ body: [...begun.slice(0, 3), { hang: true }] });
  const body = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }], stream: true });
  const streamed = openChat({ url: killed.url, key, user, body });
  await streamed.read('answer');
  const [, reserved] = await balanceOf(killed);
  assert.ok(Number(reserved) > 0);

  const postmaster = postmasterPid(path.join(options.dataDirectory, 'postgres'));
  const family = descendantsOf(killed.pid);
  assert.ok(family.includes(postmaster), 'the server descends from the service');
  assert.ok(family.length >= 3, 'its backends and the simulator descend from it too');
  await killed.kill();
  const killedAt = Date.now();
  await streamed.closed;
  await untilGone(family);

  const restarted = await start();
  await waitUntil(
    'the hold is released',
    async () => (await balanceOf(restarted))[1] === 0,
    RELEASE_MS_MAX - (Date.now() - killedAt),
  );
  assert.deepEqual(await balanceOf(restarted), [untouched, 0]);
  const { status, said } = await checkByCommand(options);
  assert.match(said, /^1 wallets, 1 entries, 0 differences\n/);
  assert.equal(status, 0);
  const last = descendantsOf(restarted.pid);
  await restarted.stop();
  await untilGone(last);
});

test('WA-07 kill -9 of the embedded server loses no charge', async (t) => {
  const upstream = await startScriptedUpstream();
  afterwards(t, upstream.close);
  const options = {
    dataDirectory: makeOpenDirectory(t),
    catalogue: catalogueAt(upstream.baseUrl, { timeoutMs: 60_000 }),
  };
  const service = await startServiceProcess(options);
  afterwards(t, service.stop);
  const { liveKey: key, userId: user } = readDemo(options.dataDirectory);
  const account = { url: service.url, key, user };
  const { body: untouched } = await send('/balance', account);
  const gate = createGate();
  const write = completionBody({ model: 'large-upstream', content: 'Hi.', usage: USAGE });
  upstream.script({ headers: { 'content-type': 'application/json' }, body: [{ waitFor: gate.opened }, { write }] });
  const calls = Array.from({ length: 20 }, () => chat(account));
  await upstream.arrival(calls.length - 1);
  process.kill(postmasterPid(path.join(options.dataDirectory, 'postgres')), 'SIGKILL');
  gate.open();
  const replies = await Promise.all(calls);
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
  assert.deepEqual(
    new Set(replies.map(({ headers }) => headers.get('x-service-charge-micros'))),
    new Set([String(CHARGE)]),
  );
  await untilEmpty(spoolIn(options.dataDirectory));
  // A backend may have settled them all before it saw that its server is gone. Then nothing was on disk.
  const { body } = await waitUntil('the server is back', async () => {
    const reply = await send('/balance', account);
    return reply.status === 200 ? reply : undefined;
  });
  assert.equal(body['balanceMicros'], Number(untouched['balanceMicros']) - calls.length * CHARGE);
  assert.equal(body['reservedMicros'], 0);
  assert.match((await checkByCommand(options)).said, /^1 wallets, 21 entries, 0 differences\n/);
});
