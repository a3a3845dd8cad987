import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogueAt } from '../../support/catalogue.ts';
import { send } from '../../support/client.ts';
import { newOwner } from '../../support/control.ts';
import { afterwards } from '../../support/embedded-harness.ts';
import { createTestGround } from '../../support/service.ts';
import { startGatewayProcesses } from './gateway-processes.ts';

const KEYS = 6;
const SENDERS = 4;

test('AU-09 AU-10 after a revocation no other process answers one more request', async (t) => {
  const catalogue = catalogueAt('http://127.0.0.1:9/v1');
  const ground = await createTestGround(catalogue);
  afterwards(t, ground.close);
  const gateways = await startGatewayProcesses(2, { ground, catalogue });
  afterwards(t, gateways.close);
  const [url = '', elsewhere = ''] = gateways.urls;
  const owner = await newOwner({ url, database: ground.database });
  const appId = String((await owner.get(201, 'POST', '/apps', { name: 'App' }))['appId']);
  const mint = () => owner.get(201, 'POST', `/apps/${appId}/keys`, { mode: 'sandbox' });
  const [known, ...keys] = await Promise.all(Array.from({ length: KEYS + 1 }, mint));

  let answeredLate = 0;
  for (const { keyId, apiKey } of keys) {
    let isRevoked = false;
    const sender = async () => {
      for (let after = 0; after < 5; after += isRevoked ? 1 : 0) {
        const isLate = isRevoked; // Sent after the act was answered.
        const { status } = await send('/v1/models', { url: elsewhere, key: String(apiKey) });
        if (isLate && status === 200) answeredLate += 1;
      }
    };
    const senders = Array.from({ length: SENDERS }, sender);
    const { headers } = await owner.ask('DELETE', `/apps/${appId}/keys/${String(keyId)}`);
    isRevoked = true;
    assert.equal(headers.get('x-service-unconfirmed'), null);
    await Promise.all(senders);
  }
  assert.equal(answeredLate, 0);

  // A process that is frozen confirms nothing. The act says so after a second, and what it did holds when the process goes on.
  const pid = gateways.pids[1] ?? assert.fail();
  process.kill(pid, 'SIGSTOP');
  const startedMs = performance.now();
  const asked = owner.ask('DELETE', `/apps/${appId}/keys/${String(known?.['keyId'])}`);
  const act = await asked.finally(() => process.kill(pid, 'SIGCONT')); // Before anything may fail: a frozen process cannot stop.
  const tookMs = performance.now() - startedMs;
  assert.deepEqual([act.status, /^\d+$/.test(act.headers.get('x-service-unconfirmed') ?? '')], [204, true]);
  assert.ok(tookMs >= 1_000, `${tookMs} ms`);
  t.diagnostic(`the act with a frozen process took ${Math.round(tookMs)} ms`);
  assert.equal((await send('/v1/models', { url, key: String(known?.['apiKey']) })).status, 401);
});
