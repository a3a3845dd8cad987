import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDatabase } from '../../support/database.ts';
import { reserveAtOnce } from './reserves.ts';

test('WA-03 WA-07 four processes’ holds never exceed a limit', async (t) => {
  const database = await createTestDatabase();
  try {
    const finding = await reserveAtOnce(database.owner, { url: database.url, reserves: 20_000, processes: 4 });
    t.diagnostic(JSON.stringify(finding));
    assert.deepEqual(finding.violations, []);
    assert.ok(finding.asked >= 20_000 && finding.granted > 0);
    for (const reason of ['payment_required', 'cap_reached', 'cap_race_lost', 'stream_limit']) {
      assert.ok((finding.refused[reason] ?? 0) > 0, `nothing was refused for ${reason}`);
    }
  } finally {
    await database.close();
  }
});
