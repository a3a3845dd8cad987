import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../support/catalogue.ts';
import { send } from '../support/client.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const USAGE = {
  prompt_tokens: 1_234,
  completion_tokens: 77,
  total_tokens: 1_311,
  prompt_tokens_details: { cached_tokens: 1_000 },
};
const CHARGE = chargeFor({ prompt: 1_234, cached: 1_000, completion: 77 });

const { upstream, service, app, callAs } = await setStage();

test('WA-07 a plain call costs exactly the price of its usage', async () => {
  await service.fund(app, 'plain', 1_000_000);
  upstream.script({ body: completionBody({ model: 'large-upstream', content: 'Hi.', usage: USAGE }) });
  const reply = await callAs('plain');
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
  const reply = await callAs('streamed', { stream: true });
  assert.equal(reply.status, 200, reply.text);
  assert.ok(reply.text.endsWith('data: [DONE]\n\n'));
  assert.deepEqual(await service.wallet(app, 'streamed'), { balance: 1_000_000 - CHARGE, held: 0, openStreams: 0 });
  const balance = await send('/balance', { url: service.url, key: app.liveKey, user: 'streamed' });
  assert.equal(balance.body['balanceMicros'], 1_000_000 - CHARGE);
  assert.deepEqual(await service.check(), []);
});
