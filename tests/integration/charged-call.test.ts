import assert from 'node:assert/strict';
import { chargeFor, withVectors } from '../support/catalogue.ts';
import { send } from '../support/client.ts';
import { streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { ask, eachWire, everyWire, saidIn } from '../support/wires.ts';

const USAGE = {
  prompt_tokens: 1_234,
  completion_tokens: 77,
  total_tokens: 1_311,
  prompt_tokens_details: { cached_tokens: 1_000 },
};
const USED = { prompt: 1_234, cached: 1_000, completion: 77 };

const { upstream, service, app } = await setStage({ catalogue: withVectors });

everyWire.test('WA-07 WI-01 a plain call costs exactly the price of its usage', async (wire) => {
  const user = `plain-${wire.name.length}`;
  await service.fund(app, user, 1_000_000);
  upstream.script(wire.saying('Hi.', USAGE));
  const reply = await ask(wire, { url: service.url, key: app.liveKey, user }, wire.promptOf('word '.repeat(300)));
  assert.equal(reply.body['model'], wire.modelId, reply.text);
  const usage = wire.paidOf(USED);
  const said = { text: 'Hi.', reason: 'stop', usage, charged: chargeFor(usage), code: undefined };
  assert.deepEqual(saidIn(wire, reply), said);
  await expectCharged(user, chargeFor(usage));
});

eachWire.test('WA-07 WI-01 a streamed call costs exactly the price of its usage', async (wire) => {
  const user = `streamed-${wire.name.length}`;
  await service.fund(app, user, 1_000_000);
  const stream = { model: 'large-upstream', pieces: ['Hi', '.'], usage: USAGE, includeUsageChunk: true };
  upstream.script({ body: streamSteps(stream) });
  const reply = await ask(wire, { url: service.url, key: app.liveKey, user }, wire.streamed);
  const said = { text: 'Hi.', reason: 'stop', usage: USED, charged: chargeFor(USED), code: undefined };
  assert.deepEqual(saidIn(wire, reply), said, reply.text);
  await expectCharged(user, chargeFor(USED));
  const balance = await send('/balance', { url: service.url, key: app.liveKey, user });
  assert.equal(balance.body['balanceMicros'], 1_000_000 - chargeFor(USED));
});

async function expectCharged(user: string, charge: number): Promise<void> {
  assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000 - charge, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
}
