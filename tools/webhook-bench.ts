// Measures what deliveries promise, on a real database and real HTTP: `node tools/webhook-bench.ts`. First, how long healthy
// endpoints wait for a first attempt while 200 others stall on a backlog; then one event whose six attempts all fail.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../packages/service/src/db/schema/migrate.ts';
import { createPool, type Pool } from '../packages/service/src/db/pool/pool.ts';
import { startEmbeddedPostgres } from '../packages/service/src/embedded/embedded-postgres.ts';
import type { AppId } from '../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../packages/service/src/kernel/log.ts';
import { systemClock } from '../packages/service/src/kernel/time/clock.ts';
import { createCourier } from '../packages/service/src/webhooks/delivery/deliver.ts';
import { createEndpointGuard } from '../packages/service/src/webhooks/delivery/endpoint-guard.ts';
import { upsertSubscription } from '../packages/service/src/webhooks/subscriptions/queries.ts';
import { createSigningSecrets } from '../packages/service/src/webhooks/delivery/signing-secret.ts';
import { startWebhookWorker } from '../packages/service/src/webhooks/queue/worker.ts';
import { startReceiver } from '../tests/support/webhook-receiver.ts';

const { values } = parseArgs({
  options: {
    stalled: { type: 'string', default: '200' },
    backlog: { type: 'string', default: '100000' },
    healthy: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '60' },
    series: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const [STALLED, BACKLOG, HEALTHY, SECONDS] = [values.stalled, values.backlog, values.healthy, values.seconds].map(
  Number,
) as [number, number, number, number];
const SERIES_MS = 330_000;
const WARM_UP_MS = 15_000;
const PERIOD_MS = 50;

const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-webhooks-'));
const log = createLog('error');
const server = await startEmbeddedPostgres({ directory, log, say: console.error });
const db = createPool({ url: server.url, role: 'owner', connectionsMax: 4, log });
await migrate(db);
const secrets = createSigningSecrets(Buffer.alloc(32));
const receiver = await startReceiver((route) => (route.startsWith('/stall') ? 'stall' : route === '/fail' ? 500 : 200));

async function subscribe(app: string): Promise<void> {
  const sealed = secrets.seal(app as AppId, 'whsec_bench');
  const wanted = { appId: app as AppId, endpointUrl: `${receiver.url}/${app}`, threshold: undefined };
  await upsertSubscription(db, { ...wanted, events: ['topup.completed'] }, { sealed, fingerprint: 'bench' });
}

for (let number = 0; number < STALLED; number += 1) await subscribe(`stall-${number}`);
for (let number = 0; number < HEALTHY; number += 1) await subscribe(`healthy-${number}`);
await subscribe('fail');
await db.query(
  `insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at)
   select 'evt_' || md5(n::text), s.app_id, s.subscription_id, 'topup.completed', '{"id":"x"}', clock_timestamp()
   from generate_series(0, $1 - 1) n join webhooks.subscriptions s on s.app_id = 'stall-' || (n % $2)`,
  [BACKLOG, STALLED],
);
await db.query('analyze');

const own = createPool({ url: server.url, role: 'live', connectionsMax: 3, log });
const courier = createCourier({ guard: createEndpointGuard({ allowPrivate: true }), clock: systemClock });
const worker = startWebhookWorker({ keptDays: 30, pool: own, courier, secrets, tellOwner: async () => {}, log });
await pause(WARM_UP_MS);
const sentAt = new Map<string, number>();
const endAt = Date.now() + SECONDS * 1_000;
for (let number = 0; Date.now() < endAt; number += 1) {
  await tell(db, `healthy-${number % HEALTHY}`, `healthy ${number}`);
  await pause(PERIOD_MS);
}
await pause(2_000);
const waits = receiver.received
  .filter(({ path: route }) => route.startsWith('/healthy'))
  .map(({ atMs, headers }) => atMs - (sentAt.get(String(headers['x-service-event-id'])) ?? Number.NaN))
  .toSorted((left, right) => left - right);
const percentile = (share: number): number =>
  waits[Math.min(waits.length - 1, Math.floor(share * waits.length))] ?? Number.NaN;
const stalled = receiver.received.filter(({ path: route }) => route.startsWith('/stall')).length;
console.log(
  `${STALLED} stalled endpoints, ${BACKLOG} events waiting for them, ${stalled} attempts at them; ` +
    `${waits.length} of ${sentAt.size} events of ${HEALTHY} healthy endpoints: first attempt after ` +
    `p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms, most ${waits.at(-1)} ms (load ${os.loadavg()[0]?.toFixed(1)})`,
);
if (values.series) {
  await tell(db, 'fail', 'series');
  await pause(SERIES_MS);
  const at = receiver.at('/fail').map(({ atMs }) => atMs);
  const gaps = at.slice(1).map((end, index) => ((end - (at[index] ?? 0)) / 1_000).toFixed(2));
  console.log(`${at.length} attempts of one event, ${gaps.join(', ')} s apart`);
}
await worker.stop();
await receiver.close();
await own.end();
await db.end();
await server.stop();
rmSync(directory, { recursive: true, force: true });

async function tell(pool: Pool, app: string, cause: string): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `select webhooks.event_id('topup.completed', $2) as id, webhooks.tell($1, 'topup.completed', $2, '{}')`,
    [app, cause],
  );
  sentAt.set(rows[0]?.id ?? '', Date.now());
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
