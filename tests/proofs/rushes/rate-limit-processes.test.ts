import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { catalogueAt } from '../../support/catalogue.ts';
import { type Reply, send } from '../../support/client.ts';
import { type GatewayProcesses, startGatewayProcesses } from './gateway-processes.ts';
import { stepDatabaseClock, stopDatabaseClock } from '../../support/database-clock.ts';
import { createTestGround, type TestApp, type TestGround } from '../../support/service.ts';
import { sql } from '../../support/sql.ts';

/** The bucket of an app over gateways that share only the database. */

let ground: TestGround;
let gateways: GatewayProcesses;
const catalogue = catalogueAt('http://127.0.0.1:9/v1');

before(async () => {
  ground = await createTestGround(catalogue);
  gateways = await startGatewayProcesses(2, { ground, catalogue });
});

after(async () => {
  await gateways.close();
  await ground.close();
});

const UNITS = 60_000_000n;

async function setTokens({ appId }: TestApp, tokens: number, refilled: string): Promise<void> {
  await sql(ground)`update limits.buckets set units = ${BigInt(tokens) * UNITS},
    refilled_at_us = (extract(epoch from db.wall_clock() + ${refilled}::interval) * 1000000)::bigint where app_id = ${appId}`;
}

function askAll(app: TestApp, calls: number): Promise<readonly Reply[]> {
  return Promise.all(
    Array.from({ length: calls }, (_, index) =>
      send('/v1/models', {
        url: gateways.urls[index % gateways.urls.length] ?? '',
        key: index % 3 === 0 ? app.testKey : app.liveKey,
      }),
    ),
  );
}

test('LI-01 two processes give out exactly the tokens of one bucket', async () => {
  const app = await ground.addApp({ ratePerMinute: 60, rateBurst: 10_000 });
  await gateways.untilKnown(app);
  await stopDatabaseClock(ground.database); // Nothing is refilled, so the counts are exact.
  await setTokens(app, 150, '0');
  const served: Reply[] = [];
  for (let round = 0; round < 5; round += 1) {
    served.push(...(await askAll(app, 60)).filter(({ status }) => status === 200));
  }
  const left = served.map(({ headers }) => Number(headers.get('x-ratelimit-remaining-requests')));
  assert.deepEqual(
    left.toSorted((one, next) => next - one),
    Array.from({ length: 150 }, (_, index) => 149 - index),
  );
  await stepDatabaseClock(ground.database, '0');
});

test('LI-01 two processes never exceed burst and refill', async () => {
  const app = await ground.addApp({ ratePerMinute: 600, rateBurst: 20 });
  await gateways.untilKnown(app);
  const startMs = Date.now();
  await setTokens(app, 20, '0');
  let served = 0;
  for (let round = 0; round < 10; round += 1) {
    served += (await askAll(app, 40)).filter(({ status }) => status === 200).length;
    const refilled = Math.ceil((Date.now() - startMs) / 100); // Ten a second.
    assert.ok(served >= 20 && served <= 20 + refilled, `${served} were served, ${refilled} refilled`);
  }
});
