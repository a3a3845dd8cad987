import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../support/sql.ts';
import { createVerifier } from '../../support/webhook-receiver.ts';
import { setWebhookStage, type SubscribedApp } from '../../support/webhook-stage.ts';

const DELAYS = [10, 20, 40, 80, 160] as const;
/** By path, the bits tell which of the six attempts succeed. */
const patterns = new Map<string, number>();
const { receiver, subscribe, topUp, whenQuiet, endWaits, events, service } = await setWebhookStage((path, times) => {
  const succeeds = ((patterns.get(path) ?? 0) >> (times - 1)) & 1;
  return succeeds === 1 ? 204 : ([500, 302, 404, 503][times % 4] ?? 500);
});

test('WH-11 WH-09 WH-04 all 64 patterns of six attempts keep the schedule', async () => {
  const apps: (SubscribedApp & { pattern: number })[] = [];
  for (let pattern = 0; pattern < 64; pattern += 1) {
    const app = await subscribe();
    patterns.set(app.path, pattern);
    apps.push({ ...app, pattern });
    await topUp(app.appId, 'anna', 1_000);
  }
  for (let attempt = 1; attempt <= 6; attempt += 1) {
    await whenQuiet();
    for (const app of apps) await assertAfter(app, attempt);
    await endWaits();
  }
  await whenQuiet();
  for (const app of apps) await assertEnd(app);
});

/** How many attempts a pattern takes: up to the first success, at most six. */
function attemptsOf(pattern: number): number {
  const first = [1, 2, 3, 4, 5, 6].find((attempt) => (pattern >> (attempt - 1)) & 1);
  return first ?? 6;
}

async function assertAfter({ appId, path, pattern }: SubscribedApp & { pattern: number }, attempt: number) {
  const [event] = await events(appId);
  const all = attemptsOf(pattern);
  assert.equal(receiver.at(path).length, Math.min(attempt, all), `pattern ${pattern}: attempts so far`);
  if (attempt < all) {
    assert.equal(event?.state, 'pending');
    const delay = DELAYS[attempt - 1] ?? 0;
    const gap = event?.wait_seconds ?? 0; // The gap includes the attempt itself, and is far from the next delay.
    assert.ok(gap >= delay && gap < 2 * delay, `pattern ${pattern}: ${gap} s, not ${delay}`);
  } else {
    assert.equal(event?.state, (pattern >> (all - 1)) & 1 ? 'delivered' : 'dropped');
    assert.deepEqual(event?.body, receiver.at(path)[0]?.body, 'the body stays as it was sent');
  }
}

async function assertEnd({ path, pattern, secret, appId }: SubscribedApp & { pattern: number }) {
  const sent = receiver.at(path);
  assert.equal(sent.length, attemptsOf(pattern), 'nothing is sent after the end');
  const verify = createVerifier(secret);
  sent.forEach(({ headers, body, atMs }, index) => {
    const { id, type } = JSON.parse(body.toString('utf8')) as { id: string; type: string };
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['user-agent'], 'service-webhooks/1');
    assert.equal(headers['x-service-event-id'], id);
    assert.equal(headers['x-service-event-type'], type);
    assert.equal(headers['x-service-delivery-attempt'], String(index + 1));
    assert.match(String(headers['x-service-signature']), /^t=\d{10},v1=[0-9a-f]{64}$/);
    assert.ok(body.equals(sent[0]?.body ?? Buffer.of()), 'the body is the same at every attempt');
    assert.equal(verify({ headers, body }, atMs), index === 0 ? 'accepted' : 'repeated');
  });
  const rows = await sql<Record<string, unknown>>(service)`select failures_in_row, exhausted_in_row, status
    from webhooks.subscriptions where app_id = ${appId}`;
  const isDropped = pattern === 0;
  assert.deepEqual(rows, [
    { failures_in_row: isDropped ? 6 : 0, exhausted_in_row: isDropped ? 1 : 0, status: 'active' },
  ]);
}
