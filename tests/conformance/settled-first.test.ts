import assert from 'node:assert/strict';
import { chargeFor, withVectors } from '../support/catalogue.ts';
import { replyOf } from '../support/client.ts';
import { lockWallet } from '../support/lock-wait.ts';
import { openStream } from '../support/open-stream.ts';
import { frame, streamSteps, type UpstreamStep } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { ask, eachWire, everyWire, saidIn } from '../support/wires.ts';

const USAGE = { prompt_tokens: 10, completion_tokens: 5 };
const USED = { prompt: 10, cached: 0, completion: 5 };
const CHARGE = chargeFor(USED);
const STEPS = streamSteps({ model: 'm', pieces: ['begun', 'ended'], usage: USAGE, includeUsageChunk: true });

const { upstream, service, app } = await setStage({ model: { timeoutMs: 60_000 }, catalogue: withVectors });

const ENDINGS: readonly (readonly [string, readonly UpstreamStep[], string, number])[] = [
  ['reaches its end', STEPS.slice(2), 'charge-micros=', CHARGE],
  ['fails', [{ write: frame({ error: { message: 'no' } }) }], 'UPSTREAM_PROVIDER_ERROR', 0],
];

for (const [how, rest, lastWord, charge] of ENDINGS) {
  eachWire.test(`CC-08 a stream that ${how} tells its caller only after settlement`, async (wire, t) => {
    const user = `user-${lastWord.length}-${wire.name.length}`;
    await service.fund(app, user, 1_000_000);
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    upstream.script({ body: [...STEPS.slice(0, 2), { waitFor: held }, ...rest] });
    const stream = await openStream({ path: wire.path, url: service.url, key: app.liveKey, user }, wire.question);
    await stream.until('begun');
    const lock = await lockWallet(service.database, user);
    t.after(lock.release);
    release();
    await lock.waiting(1); // The settlement, which is blocked.
    assert.ok(!(await stream.soFar()).includes(lastWord));
    await lock.release();
    await stream.until(lastWord);
    const { charged = 0 } = saidIn(wire, replyOf(stream, await stream.whole()));
    assert.equal(charged, charge);
    assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000 - charge, held: 0, openStreams: 0 });
  });
}

everyWire.test('CC-08 a buffered answer is sent only after its settlement', async (wire, t) => {
  const user = `plain-${wire.name.length}`;
  await service.fund(app, user, 1_000_000);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const answer = { write: wire.saying('Hi', USAGE).body as string };
  const charge = chargeFor(wire.paidOf(USED));
  upstream.script({ body: [{ waitFor: held }, answer] });
  const arrived = upstream.arrival(upstream.requests.length);
  let isAnswered = false;
  const call = ask(wire, { url: service.url, key: app.liveKey, user }).finally(() => {
    isAnswered = true;
  });
  await arrived;
  const lock = await lockWallet(service.database, user);
  t.after(lock.release);
  release();
  await lock.waiting(1);
  assert.equal(isAnswered, false);
  await lock.release();
  assert.equal((await call).headers.get('x-service-charge-micros'), String(charge));
  assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000 - charge, held: 0, openStreams: 0 });
});
