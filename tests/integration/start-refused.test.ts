import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { catalogueAt } from '../support/catalogue.ts';
import { createTestDatabase } from '../support/database.ts';
import { runToEnd } from '../support/service-process.ts';

/** What a start refuses, the doctor says too, and neither changes anything: each row is one thing that only an operator can mend. */

const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-refused-'));
const empty = await createTestDatabase({ isEmpty: true });
await empty.owner.query("create role refused_purser login password 'refused'");
after(async () => {
  await empty.owner.query('drop role refused_purser');
  await empty.close();
  rmSync(directory, { recursive: true });
});

const PRODUCTION = {
  PURSER_ENV: 'production',
  PURSER_SECRET: 'q2Vd0sXk9mB1yTfL7hRzWcN4aUjE8pGi',
  PURSER_PUBLIC_URL: 'https://purser.test',
};
const at = (change: (url: URL) => unknown): string => {
  const url = new URL(empty.url);
  change(url);
  return url.href;
};

for (const [name, databaseUrl, environment, says] of [
  ['a missing database', at((url) => (url.pathname = '/nowhere')), {}, /does not exist, although the server answers/],
  ['a wrong password', at((url) => (url.password = 'wrong')), {}, /refuses the user or the password/],
  [
    'missing rights',
    at((url) => Object.assign(url, { username: 'refused_purser', password: 'refused' })),
    {},
    /may create roles \(CREATEROLE\)/,
  ],
  [
    'a commit that may be lost',
    empty.url,
    { ...PRODUCTION, PURSER_DATABASE_DURABILITY: 'disk' },
    /runs with fsync=off[^]*uses the provider simulator|uses the provider simulator[^]*runs with fsync=off/,
  ],
] as const) {
  test(`OP-03 ${name} ends a start with 78, and the doctor says why`, async () => {
    const options = {
      dataDirectory: directory,
      catalogue: { ...catalogueAt('http://127.0.0.1:9'), providers: { upstream: { kind: 'simulator' } } },
      databaseUrl,
      environment,
      endMsMax: 60_000,
    };
    const started = await runToEnd(options, 'serve');
    assert.match(started.said, says);
    assert.doesNotMatch(started.said, /unexpected fault|\.ts:\d+/);
    assert.equal(started.status, 78, started.said);
    const { rows } = await empty.owner.query(`select to_regclass('db.migrations') as made`);
    assert.deepEqual(rows, [{ made: null }]);
    const looked = await runToEnd(options, 'doctor', '--local');
    assert.match(looked.said, says);
    assert.equal(looked.status, 1, looked.said);
  });
}

test('OP-08 the doctor judges the catalogue before the first start', async () => {
  const catalogue = { ...catalogueAt('http://127.0.0.1:9'), providers: { upstream: { kind: 'simulator' } } };
  const options = { dataDirectory: directory, catalogue, environment: PRODUCTION, endMsMax: 60_000 };
  const { said, status } = await runToEnd(options, 'doctor', '--local');
  assert.match(said, /uses the provider simulator/);
  assert.equal(status, 1);
});

test('OP-03 a taken port ends a start with 78, with one process or two', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  t.after(() => holder.close());
  const database = await createTestDatabase();
  t.after(database.close);
  const PORT = String((holder.address() as AddressInfo).port);
  for (const workers of [1, 2]) {
    const catalogue = catalogueAt('http://127.0.0.1:9');
    const options = { dataDirectory: directory, catalogue, databaseUrl: database.url, workers, environment: { PORT } };
    const { said, status } = await runToEnd({ ...options, endMsMax: 60_000 }, 'serve');
    assert.match(said, /is already in use\. Set PORT/);
    assert.equal(status, 78, String(workers));
  }
});
