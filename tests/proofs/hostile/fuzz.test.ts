import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TARGETS } from './chat-body.ts';
import { fuzz } from './fuzz-run.ts';

/** The short form of `npm run proofs -- fuzz`. */
const REQUESTS = 2_000;
/**
 * The bytes cover sixteen bodies of a megabyte at a time, each also as text, parsed and written again, on top of the
 * memory at start.
 */
const RESIDENT_BYTES_MAX = 512 * 1024 * 1024;

test('ER-03 ER-08 CC-08 no request breaks the service', async (t) => {
  const { violations, memory, statuses, kinds, answered } = await fuzz({ seed: 7, requests: REQUESTS, slots: 16 });
  t.diagnostic(JSON.stringify({ statuses, kinds, answered, memory }));
  assert.deepEqual(violations, [], 'again: npm run proofs -- fuzz --seed 7 --requests 2000');
  assert.ok(memory.most.resident < RESIDENT_BYTES_MAX, JSON.stringify(memory));
  // A run in which everything, or nothing, is refused at the door shows little.
  for (const { target } of TARGETS) assert.ok((answered[target] ?? 0) > 0, `no answer of ${target}`);
  for (const status of [200, 400, 401, 402, 403, 404, 405, 413]) assert.ok((statuses[status] ?? 0) > 0, `no ${status}`);
});
