import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { catalogueAt, chargeFor } from '../support/catalogue.ts';
import { chat } from '../support/client.ts';
import {
  completionBody,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamSteps,
} from '../support/scripted-upstream.ts';
import { startTestService, type TestApp, type TestService } from '../support/service.ts';
import { recordsOf, spoolIn, untilEmpty } from '../support/spool.ts';
import { waitUntil } from '../support/wait-until.ts';

let upstream: ScriptedUpstream;
let service: TestService;
let app: TestApp;

const USAGE = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
const CHARGE = chargeFor({ prompt: 100, completion: 50 });

before(async () => {
  upstream = await startScriptedUpstream();
  service = await startTestService(catalogueAt(upstream.baseUrl));
  app = await service.addApp();
});

after(async () => {
  await service.close();
  await upstream.close();
});

/** Makes the gateway's new sessions read-only or writable and ends its old ones, which is how a failover looks from inside. */
async function failOver(isReadOnly: boolean): Promise<void> {
  const { owner } = service.database;
  const { rows } = await owner.query<{ name: string }>('select current_database() as name');
  await owner.query(`alter database ${rows[0]?.name} set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`);
  await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like 'purser\\_%' and application_name <> 'purser_owner'`,
  );
}

for (const isStream of [false, true]) {
  test(`a ${isStream ? 'streamed' : 'plain'} call that ends while the database is read-only is charged when it is back`, async () => {
    const user = `user-${isStream}`;
    await service.fund(app, user, 1_000_000);
    const provider = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const answer = isStream
      ? streamSteps({ model: 'large-upstream', pieces: ['Hi'], usage: USAGE, includeUsageChunk: true })
      : [{ write: completionBody({ model: 'large-upstream', content: 'Hi', usage: USAGE }) }];
    upstream.script(() => {
      reached.resolve();
      return { body: [{ waitFor: provider.promise }, ...answer] };
    });
    const call = chat({ url: service.url, key: app.liveKey, user }, { stream: isStream });
    await reached.promise;
    await failOver(true);
    provider.resolve();
    const reply = await call;
    assert.equal(reply.status, 200, reply.text);
    const spool = spoolIn(service.dataDirectory);
    const kept = recordsOf(spool).map(({ callId, charge }) => [callId, charge]);
    assert.deepEqual(kept, [[reply.headers.get('x-service-call-id'), String(CHARGE)]]);
    const refused = await chat({ url: service.url, key: app.liveKey, user });
    assert.deepEqual([refused.status, refused.error['code']], [500, 'INTERNAL_SERVER_ERROR']);
    await failOver(false);
    await untilEmpty(spool);
    await waitUntil('nothing is held', async () => (await service.wallet(app, user)).held === 0);
    assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000 - CHARGE, held: 0, openStreams: 0 });
    assert.deepEqual(await service.check(), []);
  });
}
