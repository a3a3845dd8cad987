import assert from 'node:assert/strict';
import { createGate } from '../support/gate.ts';
import type { UpstreamScript } from '../support/scripted-upstream.ts';
import { sql } from '../support/sql.ts';
import { emptyBucket } from '../support/violations.ts';
import { waitUntil } from '../support/wait-until.ts';
import { BALANCE, COST, PLAIN, type Scenario, STREAM, TEXT } from './scenario.ts';
import type { Scene } from './scene.ts';
import type { Failure } from './stock-client.ts';

/** Calls that are refused or fail: what the client learns about it, and how often it tries. */
export const FAILURES: readonly Scenario[] = [
  { name: '402', clause: 'ER-07', promise: 'reads the link of a 402, and asks once', run: noMoney },
  {
    name: '402, streamed',
    clause: 'ER-07',
    promise: 'reads the link of a 402 on a streamed call, and asks once',
    run: (scene) => noMoney(scene, true),
  },
  { name: '429, too fast', clause: 'ER-05', promise: 'waits as long as a 429 says, then succeeds', run: tooFast },
  {
    name: '429, provider throttled',
    clause: 'ER-05',
    promise: 'retries a throttled call, and is charged for the one that succeeds',
    run: throttled,
  },
  {
    name: '502, rejected by the provider',
    clause: 'ER-05',
    promise: 'raises the 502 for a request that the provider rejects, and is not charged',
    run: (scene) => badGateway(scene, { status: 400, body: '{"error":{"message":"No."}}' }),
  },
  {
    name: '502, provider down',
    clause: 'ER-05',
    promise: 'raises the 502 for a provider that is down, and is not charged',
    run: (scene) => badGateway(scene, { status: 500, body: '{"error":{"message":"Down."}}' }),
  },
  {
    name: 'stream breaks off',
    clause: 'ER-06',
    promise: 'raises an error when a stream breaks off, and is not charged',
    run: (scene) => brokenStream(scene, { body: [...STREAM.body.slice(0, 3), { destroy: true }] }),
  },
  {
    name: 'stream ends without a reason',
    clause: 'ER-06',
    promise: 'raises an error when a stream ends without a finish reason, and is not charged',
    run: (scene) => brokenStream(scene, { body: STREAM.body.slice(0, 3) }),
  },
  {
    name: 'connection lost',
    clause: 'CC-14',
    promise: 'is charged once for a buffered call that it retries after its connection was lost',
    run: lostLine,
  },
];

async function noMoney(scene: Scene, stream = false): Promise<string> {
  const user = await scene.newUser(0);
  const { failure } = await scene.ask(user, { stream });
  assert.ok(failure);
  assert.equal(failure.status, 402, failure.message);
  const link = failure.link ?? failure.linkInHeaders ?? '';
  assert.match(link, /^https:\/\/purser\.test\/topup\/[\w-]{60,}$/);
  assert.deepEqual([scene.arrived(user).length, scene.provided().length], [1, 0]);
  return told(failure.link === link || 'link in the headers', hasCode(failure, 'PAYMENT_REQUIRED'));
}

async function tooFast(scene: Scene): Promise<string> {
  const { service } = scene.stage;
  const app = await service.addApp({ ratePerMinute: 20 });
  const user = await scene.newUser(0);
  await service.fund(app, user, BALANCE);
  await emptyBucket(service, app);
  scene.provide(PLAIN);
  const asked = scene.ask(user, {}, app.liveKey);
  await waitUntil('a call is refused', () => scene.arrived(user)[0]?.answeredAtMs !== undefined);
  await sql(service)`delete from limits.buckets where app_id = ${app.appId}`;
  const { text, failure } = await asked;
  assert.equal(failure?.message, undefined);
  assert.equal(text, TEXT);
  assert.deepEqual([scene.provided().length, BALANCE - (await service.wallet(app, user)).balance], [1, COST]);
  return waited(scene, user);
}

async function throttled(scene: Scene): Promise<string> {
  scene.provide({ status: 429, body: '{"error":{"message":"Slow down."}}' }, PLAIN);
  const user = await scene.newUser(BALANCE);
  const { text, failure } = await scene.ask(user, {});
  assert.equal(failure?.message, undefined);
  assert.equal(text, TEXT);
  assert.deepEqual([scene.provided().length, await spentBy(scene, user)], [2, COST]);
  return waited(scene, user);
}

const EARLY_MS_MAX = 100; // The client may have the answer before this process records that it was sent.

/** Whether the client waited at least as long as each refusal said. A longer wait is fine: the machine may be slow. */
function waited(scene: Scene, user: string): string {
  const arrivals = scene.arrived(user);
  assert.ok(arrivals.length > 1, 'nothing was refused');
  for (const [index, { answeredAtMs = 0, retryAfterSeconds = 0 }] of arrivals.slice(0, -1).entries()) {
    assert.ok(retryAfterSeconds > 0, 'the refusal says when to retry');
    const waitedMs = (arrivals[index + 1]?.atMs ?? 0) - answeredAtMs;
    if (waitedMs < retryAfterSeconds * 1_000 - EARLY_MS_MAX) return 'comes too early';
  }
  return 'ok';
}

/** A rejection is remembered for five seconds (CC-15). On a busy machine, a client's next try may come later: then it is asked again. */
const REMEMBERED_MS = 5_000;

async function badGateway(scene: Scene, answer: UpstreamScript, more = 3): Promise<string> {
  scene.provide(answer);
  const before = scene.provided().length;
  const user = await scene.newUser(BALANCE);
  const { failure } = await scene.ask(user, {});
  assert.ok(failure);
  assert.equal(failure.status, 502, failure.message);
  assert.equal(await spentBy(scene, user), 0);
  const arrivals = scene.arrived(user);
  const pauses = arrivals.slice(1).map(({ atMs }, index) => atMs - (arrivals[index]?.atMs ?? 0));
  if (pauses.length > 0 && Math.min(...pauses) >= REMEMBERED_MS && more > 0) return badGateway(scene, answer, more - 1);
  const [arrived, provided] = [arrivals.length, scene.provided().length - before];
  // How many fewer depends on how soon the client retries.
  const often = `${arrived} requests, ${provided < arrived ? 'fewer' : 'all'} at the provider`;
  return told((arrived === 1 && provided === 1) || often, hasCode(failure));
}

async function brokenStream(scene: Scene, answer: UpstreamScript): Promise<string> {
  scene.provide(answer);
  const user = await scene.newUser(BALANCE);
  const { text, failure } = await scene.ask(user, { stream: true });
  assert.ok(text !== '' && TEXT.startsWith(text), 'the text before the break is read');
  assert.ok(failure, 'the client takes it for a success');
  assert.equal(await spentBy(scene, user), 0);
  assert.deepEqual([scene.arrived(user).length, scene.provided().length], [1, 1]);
  return told(hasCode(failure));
}

/** The connection is lost while the call runs. The service then finishes the call and charges it. */
async function lostLine(scene: Scene): Promise<string> {
  const gate = createGate();
  scene.provide({ body: [{ waitFor: gate.opened }, { write: PLAIN.body }] });
  const user = await scene.newUser(BALANCE);
  const asked = scene.ask(user, {});
  await waitUntil('the provider is asked', () => scene.provided().length === 1);
  await scene.arrived(user)[0]?.cut();
  gate.open();
  const { text, failure } = await asked;
  assert.equal(failure?.message, undefined);
  assert.equal(text, TEXT);
  const { service, app } = scene.stage;
  await waitUntil('nothing is running any more', async () => (await service.wallet(app, user)).held === 0);
  const [spent, provided] = [await spentBy(scene, user), scene.provided().length];
  assert.equal(spent, provided * COST);
  return told(provided === 1 || `charged ${provided} times`);
}

/** Returns true, or a note that the client's error does not show the code. A wrong code is a fault. */
function hasCode({ code, message }: Failure, expected = 'UPSTREAM_PROVIDER_ERROR'): true | string {
  if (code === undefined || code === null) return 'no code';
  assert.equal(code, expected, message);
  return true;
}

/** Returns `ok`, or the observed differences. */
function told(...facts: readonly (true | string)[]): string {
  return facts.filter((fact) => fact !== true).join(', ') || 'ok';
}

async function spentBy({ stage: { service, app } }: Scene, user: string): Promise<number> {
  const { balance, held, openStreams } = await service.wallet(app, user);
  assert.deepEqual([held, openStreams], [0, 0]);
  return BALANCE - balance;
}
