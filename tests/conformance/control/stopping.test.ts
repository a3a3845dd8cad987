// A stopping service finishes the requests it has begun, also those of the account and app planes.
import { mailsTo } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send } from '../../support/client.ts';
import { newOwner } from '../../support/control.ts';
import { dawdleAt, untilDawdling } from '../../support/lock-wait.ts';
import { openRaw } from '../../support/raw-http.ts';
import { startSecondGateway } from '../../support/service.ts';
import { sqlValue } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

const { service } = await setStage();
const { owner: database } = service.database;
const owner = await newOwner(service);
const { appId } = await owner.get(201, 'POST', '/apps', { name: 'App', redirectUris: [] });

function headOf(path: string, body: string): string {
  return (
    `POST ${path} HTTP/1.1\r\nhost: purser.test\r\nauthorization: Bearer ${owner.token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`
  );
}

test('CP-03 a key requested during a stop is created and shown', async () => {
  const gateway = await startSecondGateway(service);
  const body = '{"mode":"live"}';
  const connection = openRaw(gateway.url);
  connection.write(headOf(`/apps/${String(appId)}/keys`, body));
  await connection.until((text) => text.includes('100 Continue'));
  const closed = gateway.close();
  connection.write(body);
  const text = await connection.until((sofar) => sofar.includes('apiKey'));
  connection.close();
  await closed;
  assert.match(text, /HTTP\/1\.1 201 [^]*"apiKey":"svc_live_/);
});

test('CP-02 an app requested during a stop is created', async () => {
  await dawdleAt(service.database, 'accounts.apps');
  const gateway = await startSecondGateway(service);
  const body = '{"name":"Left behind","redirectUris":[]}';
  const connection = openRaw(gateway.url);
  connection.write(headOf('/apps', body) + body);
  await untilDawdling(service.database);
  connection.close();
  await gateway.close();
  const { rowCount } = await database.query(`select from accounts.apps where name = 'Left behind'`);
  assert.equal(rowCount, 1);
  assert.deepEqual(
    gateway.logged().filter((line) => line.includes('a call failed')),
    [],
  );
});

test('CP-01 a reset requested during a stop is mailed', async () => {
  await dawdleAt(service.database, 'accounts.password_resets');
  const gateway = await startSecondGateway(service);
  const body = JSON.stringify({ email: owner.email });
  const connection = openRaw(gateway.url);
  connection.write(headOf('/password-resets', body) + body);
  await untilDawdling(service.database);
  connection.close();
  await gateway.close();
  assert.equal((await mailsTo(database, owner.email)).length, 1);
});

test('WH-15 a waiting event listener is answered at once on stop', async () => {
  const gateway = await startSecondGateway(service);
  const listeners = `/apps/${String(appId)}/webhook/listeners`;
  const { listenerId } = await owner.get(201, 'POST', listeners, { events: ['topup.completed'] });
  const until = async () => {
    const at = await sqlValue<Date>(database)`select listening_until as at from webhooks.subscriptions
      where listener_id = ${listenerId}`;
    return at?.getTime() ?? 0;
  };
  const before = await until();
  const looking = send(`${listeners}/${String(listenerId)}/events`, { url: gateway.url, key: owner.token ?? '' });
  await waitUntil('the listener waits', async () => (await until()) > before);
  await gateway.close();
  const { status, body } = await looking;
  assert.deepEqual([status, body['events']], [200, []]);
});
