import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pool } from '#db/pool/pool.ts';
import { createLedgerCheck } from '#operator/health/ledger-check.ts';

test('WA-09 one check at a time serves all requests', async () => {
  const answers: ((answer: { rows: unknown[] }) => void)[] = [];
  const query = (text: string) => {
    if (text.includes('payments.') || text.includes('note_check')) return Promise.resolve({ rows: [] });
    return new Promise((resolve) => answers.push(resolve));
  };
  const check = createLedgerCheck({ query } as unknown as Pool);
  const asked = [check(), check(), check()];
  assert.equal(answers.length, 1);
  answers[0]?.({ rows: [{ wallets: 3n, entries: 5n, all: null, rule: null }] });
  for (const { wallets, found } of await Promise.all(asked)) assert.deepEqual([wallets, found], [3n, 0n]);

  const failed = check();
  answers[1]?.(Promise.reject(new Error('The database went away.')) as never);
  await assert.rejects(failed, /went away/);
  const again = check();
  assert.equal(answers.length, 3);
  answers[2]?.({ rows: [] });
  assert.equal((await again).wallets, 0n);
});
