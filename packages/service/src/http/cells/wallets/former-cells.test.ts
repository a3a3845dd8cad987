import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OtherCell } from '#cells/routing/map.ts';
import { createFormerCells } from '#http/cells/wallets/former-cells.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';

const USER = { appId: 'app_1' as AppId, userId: 'user-1' as EndUserId };

/** Asks from c1, in cells that were given the slot by these. */
async function asked(givers: Readonly<Record<string, readonly string[]>>): Promise<readonly string[]> {
  const others: readonly OtherCell[] = ['c2', 'c3', 'c4'].map((name) => ({ name, baseUrl: '' }));
  const former = createFormerCells('c1', { giversOf: () => givers['c1'] ?? [], others: () => others });
  return former.ask(USER, ({ name }) => Promise.resolve({ found: name, givers: givers[name] ?? [] }));
}

test('CE-06 BI-03 each former cell is asked once', async () => {
  assert.deepEqual(await asked({}), []);
  assert.deepEqual(await asked({ c1: ['c2'], c2: ['c1', 'c3'], c3: ['c2'] }), ['c2', 'c3']);
  assert.deepEqual(await asked({ c1: ['c2', 'c3'], c2: ['c4'], c3: ['c4'] }), ['c2', 'c3', 'c4']);
  await assert.rejects(asked({ c1: ['c9'] }), /no cell c9/);
});
