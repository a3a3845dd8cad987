import assert from 'node:assert/strict';
import { chargeFor } from '../support/catalogue.ts';
import { send } from '../support/client.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { ask, eachWire, saidIn } from '../support/wires.ts';

const USAGE = {
  prompt_tokens: 1_234,
  completion_tokens: 77,
  total_tokens: 1_311,
  prompt_tokens_details: { cached_tokens: 1_000 },
};
const CHARGE = chargeFor({ prompt: 1_234, cached: 1_000, completion: 77 });

const { upstream, service, app } = await setStage();
const USED = { prompt: 1_234, cached: 1_000, completion: 77 };

eachWire.test('WA-07 WI-01 a plain call costs exactly the price of its usage', async (wire) => {
  const user = `plain-${wire.name.length}`;
  await service.fund(app, user, 1_000_000);
  upstream.script({ body: completionBody({ model: 'large-upstream', content: 'Hi.', usage: USAGE }) });
  const reply = await ask(wire, { url: service.url, key: app.liveKey, user });
  assert.equal(reply.body['model'], 'acme.large-1', reply.text);
  const said = { text: 'Hi.', reason: 'stop', usage: USED, charged: CHARGE, code: undefined };
  assert.deepEqual(saidIn(wire, reply), said);
  await expectCharged(user);
});

eachWire.test('WA-07 WI-01 a streamed call costs exactly the price of its usage', async (wire) => {
  const user = `streamed-${wire.name.length}`;
  await service.fund(app, user, 1_000_000);
  const stream = { model: 'large-upstream', pieces: ['Hi', '.'], usage: USAGE, includeUsageChunk: true };
  upstream.script({ body: streamSteps(stream) });
  const reply = await ask(wire, { url: service.url, key: app.liveKey, user }, wire.streamed);
  const said = { text: 'Hi.', reason: 'stop', usage: USED, charged: CHARGE, code: undefined };
  assert.deepEqual(saidIn(wire, reply), said, reply.text);
  await expectCharged(user);
  const balance = await send('/balance', { url: service.url, key: app.liveKey, user });
  assert.equal(balance.body['balanceMicros'], 1_000_000 - CHARGE);
});

async function expectCharged(user: string): Promise<void> {
  assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000 - CHARGE, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
}
