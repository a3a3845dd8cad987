import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openStream } from '../support/open-stream.ts';
import { assertRefusal } from '../support/refusal.ts';
import { streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { answerTo, STEPS, violate, VIOLATION_SETTINGS, violationCatalogue, wiresWith } from '../support/violations.ts';
import { ask, eachWire, everyWire } from '../support/wires.ts';

const { upstream, service } = await setStage({ catalogue: violationCatalogue, environment: VIOLATION_SETTINGS });

/** Everything that a call could leave behind: holds, receipts, entries that move a wallet's money, sandbox holds. */
async function traces(): Promise<Readonly<Record<string, number>>> {
  const rows = await sql<Record<string, number>>(service)`select (select count(*)::int from ledger.holds) as holds,
    (select count(*)::int from usage.calls) as receipts,
    (select count(*)::int from ledger.entries where kind <> 'contract_credit') as charges,
    (select coalesce(sum(held_micros + cap_held_micros + cap_spent_micros), 0)::int from ledger.wallets) as held,
    (select count(*)::int from sandbox.holds) as fake_holds,
    (select coalesce(sum(held_micros + cap_spent_micros + requests + tokens), 0)::int from sandbox.wallets) as fake`;
  return rows[0] ?? {};
}

const NOTHING = { holds: 0, receipts: 0, charges: 0, held: 0, fake_holds: 0, fake: 0 };

for (const fault of STEPS.flat()) {
  everyWire.test(
    `CC-08 "${fault}" charges nothing and leaves no hold`,
    async (wire) => {
      for (const mode of ['live', 'sandbox'] as const) {
        if (mode === 'sandbox' && fault === 'not connected') continue;
        assertRefusal(await violate(service, new Set([fault]), { wire, mode }), answerTo(fault, wire), mode);
      }
      assert.equal(upstream.requests.length, 0);
      assert.deepEqual(await traces(), NOTHING);
    },
    wiresWith(fault),
  );
}

test('CC-08 after all refusals the books are right', async () => {
  // Some wallets were marked as having open streams. They never had any.
  await sql(service)`update ledger.wallets set open_streams = 0`;
  assert.deepEqual(await service.check(), []);
});

eachWire.test('CC-08 refusing a stream leaves the open ones untouched', async (wire) => {
  const app = await service.addApp({ maxStreamsPerUser: 1 });
  await service.fund(app, 'u', 1_000_000);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  const steps = streamSteps({ model: 'm', pieces: ['begun'], usage, includeUsageChunk: true });
  upstream.script({ body: [...steps.slice(0, 2), { waitFor: held }, ...steps.slice(2)] });
  const options = { url: service.url, key: app.liveKey, user: 'u' };
  const stream = await openStream({ ...options, path: wire.path }, wire.question);
  await stream.until('begun');
  const requests = upstream.requests.length;
  const beside = await traces();
  const wallet = await service.wallet(app, 'u');
  assert.equal(wallet.openStreams, 1);
  assert.ok(wallet.held > 0);
  assertRefusal(await ask(wire, options, { stream: true }), { code: 'CONCURRENT_STREAM_LIMIT' });
  assert.deepEqual(await traces(), beside);
  assert.deepEqual(await service.wallet(app, 'u'), wallet);
  assert.equal(upstream.requests.length, requests);
  release();
  assert.match(await stream.whole(), /charge-micros=/);
  await waitUntil('the hold is gone', async () => (await service.wallet(app, 'u')).held === 0);
  assert.deepEqual(await service.check(), []);
});
