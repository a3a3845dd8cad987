import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { catalogueAt, chargeFor } from '../support/catalogue.ts';
import { chat, send } from '../support/client.ts';
import {
  completionBody,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamSteps,
} from '../support/scripted-upstream.ts';
import { startTestService, type TestApp, type TestService } from '../support/service.ts';

let upstream: ScriptedUpstream;
let service: TestService;
let app: TestApp;

const USAGE = {
  prompt_tokens: 1_234,
  completion_tokens: 77,
  total_tokens: 1_311,
  prompt_tokens_details: { cached_tokens: 1_000 },
};
const CHARGE = chargeFor({ prompt: 1_234, cached: 1_000, completion: 77 });

before(async () => {
  upstream = await startScriptedUpstream();
  service = await startTestService(catalogueAt(upstream.baseUrl));
  app = await service.addApp();
});

after(async () => {
  await service.close();
  await upstream.close();
});

test('WA-07 a plain call costs exactly the price of its usage', async () => {
  await service.fund(app, 'plain', 1_000_000);
  upstream.script({ body: completionBody({ model: 'large-upstream', content: 'Hi.', usage: USAGE }) });
  const reply = await chat({ url: service.url, key: app.liveKey, user: 'plain' });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.body['model'], 'acme.large-1');
  assert.equal(reply.headers.get('x-service-charge-micros'), String(CHARGE));
  assert.deepEqual(await service.wallet(app, 'plain'), { balance: 1_000_000 - CHARGE, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
});

test('WA-07 a streamed call costs exactly the price of its usage', async () => {
  await service.fund(app, 'streamed', 1_000_000);
  upstream.script({
    body: streamSteps({ model: 'large-upstream', pieces: ['Hi', '.'], usage: USAGE, includeUsageChunk: true }),
  });
  const reply = await chat({ url: service.url, key: app.liveKey, user: 'streamed' }, { stream: true });
  assert.equal(reply.status, 200, reply.text);
  assert.ok(reply.text.endsWith('data: [DONE]\n\n'));
  assert.deepEqual(await service.wallet(app, 'streamed'), { balance: 1_000_000 - CHARGE, held: 0, openStreams: 0 });
  const balance = await send('/balance', { url: service.url, key: app.liveKey, user: 'streamed' });
  assert.equal(balance.body['balanceMicros'], 1_000_000 - CHARGE);
  assert.deepEqual(await service.check(), []);
});
