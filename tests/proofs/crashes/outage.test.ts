import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { catalogueAt, chargeFor } from '../../support/catalogue.ts';
import { chat } from '../../support/client.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../../support/database-proxy.ts';
import { afterwards, isLinux } from '../../support/embedded-harness.ts';
import { createGate } from '../../support/gate.ts';
import { type LosableServer, startLosableServer } from './losable-server.ts';
import { openStream } from '../../support/open-stream.ts';
import { movementsOf } from '../../support/receipts.ts';
import { completionBody, startScriptedUpstream, streamSteps } from '../../support/scripted-upstream.ts';
import { startTestService } from '../../support/service.ts';
import { emptyTables, fillTables, mountSmallDisk } from './small-disk.ts';
import { filesOf, recordsOf, spoolIn, untilEmpty } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';

const RICH = 1_000_000_000;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const CHARGE = chargeFor({ prompt: 40, completion: 20 });
const FACTS = { model: 'large-upstream', usage: USAGE };

interface Ground {
  readonly server: LosableServer;
  readonly proxy: DatabaseProxy;
}

interface Loss {
  /** The server answers, and renews leases, but refuses what a call writes. */
  readonly isFull?: boolean;
  readonly begin: () => Promise<void> | void;
  readonly end: () => Promise<void> | void;
}

/** A service with its own database server behind its own network, with a plain call and a stream running. */
async function arrange(t: TestContext, server: LosableServer) {
  const upstream = await startScriptedUpstream();
  afterwards(t, upstream.close);
  const proxy = await startDatabaseProxy(server.database.url);
  afterwards(t, proxy.close);
  const catalogue = catalogueAt(upstream.baseUrl, { timeoutMs: 60_000 });
  const service = await startTestService(catalogue, { DATABASE_URL: proxy.url }, server.database);
  afterwards(t, service.close);
  const app = await service.addApp();
  await service.fund(app, 'plain', RICH);
  await service.fund(app, 'stream', RICH);
  await service.fund(app, 'late', RICH);
  const gate = createGate();
  const [first, ...rest] = streamSteps({ ...FACTS, pieces: ['Hi', '.'], includeUsageChunk: true });
  const write = completionBody({ ...FACTS, content: 'Hi.' });
  upstream.script(({ body }) =>
    (body as { stream?: boolean }).stream === true
      ? { body: [first ?? { write: '' }, { waitFor: gate.opened }, ...rest] }
      : { headers: { 'content-type': 'application/json' }, body: [{ waitFor: gate.opened }, { write }] },
  );
  const account = { url: service.url, key: app.liveKey };
  const plain = chat({ ...account, user: 'plain' });
  const stream = await openStream({ ...account, user: 'stream' });
  await upstream.arrival(1);
  return { upstream, proxy, service, app, gate, account, plain, stream };
}

async function surviveLoss(t: TestContext, server: LosableServer, lossOf: (ground: Ground) => Loss): Promise<void> {
  const { upstream, proxy, service, app, gate, account, plain, stream } = await arrange(t, server);
  const spool = spoolIn(service.dataDirectory);
  const loss = lossOf({ server, proxy });
  await loss.begin();
  const status = waitUntil('the status page says so, without its database', async () => {
    const reply = await fetch(`${service.url}/status.json`);
    const { state } = (await reply.json()) as { readonly state: string };
    return reply.status === 200 && state === 'out';
  });
  gate.open();

  const answer = await plain;
  assert.equal(answer.status, 200, answer.text);
  assert.ok(answer.text.includes('Hi.'));
  assert.equal(answer.headers.get('x-service-charge-micros'), String(CHARGE));
  assert.ok((await stream.whole()).endsWith('data: [DONE]\n\n'));
  const kept = recordsOf(spool).map(({ callId, charge, outcome }) => ({ callId, charge, outcome }));
  const calls = [answer.headers, stream.headers].map((headers) => headers.get('x-service-call-id'));
  assert.deepEqual(
    kept.toSorted((left, right) => calls.indexOf(String(left.callId)) - calls.indexOf(String(right.callId))),
    calls.map((callId) => ({ callId, charge: String(CHARGE), outcome: 'answered' })),
  );
  await status;
  assert.equal(statSync(spool).mode & 0o777, 0o700);
  assert.ok(filesOf(spool).every(({ mode }) => mode === 0o600));

  const refused = await chat({ ...account, user: 'late' });
  assert.deepEqual([refused.status, refused.error['code']], [500, 'INTERNAL_SERVER_ERROR']);
  assert.equal(upstream.requests.length, 2);
  const readiness = async () => (await fetch(`${service.url}/readyz`)).status;
  if (loss.isFull === true) assert.equal(await readiness(), 503, 'OP-04: not ready with the first call that fails');

  await loss.end();
  await untilEmpty(spool);
  const released = async (): Promise<boolean> => {
    const wallets = await Promise.all(['plain', 'stream', 'late'].map((user) => service.wallet(app, user)));
    return wallets.every(({ held }) => held === 0);
  };
  await waitUntil('nothing is held', () => released().catch(() => false));
  for (const user of ['plain', 'stream']) {
    assert.deepEqual(await service.wallet(app, user), { balance: RICH - CHARGE, held: 0, openStreams: 0 });
    assert.deepEqual(
      (await movementsOf(server.database, user)).map(({ kind, amount }) => [kind, amount]),
      [
        ['contract_credit', RICH],
        ['charge', CHARGE],
      ],
    );
  }
  assert.deepEqual(await service.wallet(app, 'late'), { balance: RICH, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
  await waitUntil('new calls are answered', async () => (await chat({ ...account, user: 'late' })).status === 200);
  await waitUntil('it is ready again', async () => (await readiness()) === 200);
}

const LOSSES: readonly (readonly [string, (ground: Ground) => Loss])[] = [
  ['freezes', ({ server }) => ({ begin: server.freeze, end: server.thaw })],
  ['is killed', ({ server }) => ({ begin: server.kill, end: server.revive })],
  ['is cut off by a silent network', ({ proxy }) => ({ begin: proxy.fallSilent, end: proxy.restore })],
  ['is cut off by a network that resets', ({ proxy }) => ({ begin: proxy.reset, end: proxy.restore })],
];

for (const [what, lossOf] of LOSSES) {
  test(
    `WA-17 a database that ${what} loses and doubles no charge`,
    {
      skip: !isLinux, // The process table is read.
    },
    async (t) => surviveLoss(t, await startLosableServer(t), lossOf),
  );
}

test('WA-17 a full database disk loses and doubles no charge', {
  skip: !isLinux,
}, async (t) => {
  const disk = mountSmallDisk(t);
  if (disk === undefined) return t.skip('This process may not mount a small disk.');
  const server = await startLosableServer(t);
  return surviveLoss(t, server, () => ({
    isFull: true,
    begin: () => fillTables(server, disk),
    end: () => emptyTables(server, disk),
  }));
});
