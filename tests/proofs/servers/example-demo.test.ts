import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test, type TestContext } from 'node:test';
import { DEMO_OWNER_EMAIL, ensureDemo } from '../../../packages/service/src/app/start/demo.ts';
import { signIn } from '../../support/control.ts';
import { isLinux } from '../../support/embedded-harness.ts';
import { type Example, layOutExample, runExampleCommand, whenReady } from '../../support/example.ts';
import { descendantsOf, untilGone } from '../../support/service-process.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** The example takes the place of the demo app beside a running service: how it starts and ends. */

const { service } = await setStage();
const { dataDirectory } = service;
const demo = await ensureDemo(service.database.owner, { dataDirectory, currency: 'EUR', publicUrl: service.url });
service.keepSecret(demo.liveKey);
const owner = await signIn(service, DEMO_OWNER_EMAIL, demo.ownerPassword);
const settings = { PURSER_URL: service.url, PURSER_DATA_DIR: dataDirectory, CHAT_MODEL: 'large' };
const ENDED = '`purser listen` has ended: no events come any more. Start the example again.\n';

/** How many sessions of the demo's owner exist besides the one of this test. */
async function otherSessions(): Promise<number> {
  const { sessions } = await owner.get(200, 'GET', '/sessions');
  return (sessions as readonly unknown[]).length - 1;
}

function firstPage({ url, address }: Example): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(`${address}/`, { headers: { host: new URL(url).host } }, (answer) => {
      let page = '';
      answer.setEncoding('utf8').on('data', (part: string) => void (page += part));
      answer.on('end', () => resolve(`${answer.statusCode} ${page}`));
    });
    asked.once('error', reject).end();
  });
}

function skipElsewhere(t: TestContext): boolean {
  if (!isLinux) t.skip('It looks at the process table of Linux.');
  return !isLinux;
}

test('OP-18 the example reports when events stop coming', async (t) => {
  if (skipElsewhere(t)) return;
  const startExample = await layOutExample();
  const example = await whenReady(startExample(settings));
  assert.equal(await otherSessions(), 1);
  const [listener = 0, ...more] = descendantsOf(example.pid);
  assert.deepEqual(more, []);
  process.kill(listener, 'SIGKILL');
  await waitUntil('it says so', () => example.said().includes(ENDED));
  assert.match(await firstPage(example), /^200 [^]*Sign in to Chat/);
  await example.stop();
  assert.equal(await otherSessions(), 0);
});

test('OP-18 the example ends its session after a failed start', async () => {
  const { database } = service;
  await database.owner.query('update accounts.apps set redirect_uris = $2, return_uri = null where app_id = $1', [
    demo.appId,
    Array.from({ length: 20 }, (_, index) => `https://app.test/${index}`), // The most that is allowed.
  ]);
  const startExample = await layOutExample();
  const { said, ended } = startExample(settings);
  assert.equal(await ended, 1);
  assert.match(said(), /answered 400 to PATCH/);
  assert.equal(await otherSessions(), 0);
  await sql(database)`update accounts.apps set redirect_uris = '{}' where app_id = ${demo.appId}`;
});

test('OP-18 npm run example starts the example beside a service', async (t) => {
  if (skipElsewhere(t)) return;
  const example = await whenReady(runExampleCommand(settings));
  assert.match(await firstPage(example), /^200 [^]*Sign in to Chat/);
  assert.equal(await otherSessions(), 1);
  const family = descendantsOf(example.pid);
  await example.stop();
  await untilGone(family);
  assert.equal(await otherSessions(), 0);
  assert.ok(!example.said().includes(ENDED), example.said());
});
