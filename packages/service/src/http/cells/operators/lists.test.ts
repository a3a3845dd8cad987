import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import { operatorListsEverywhere } from '#http/cells/operators/lists.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import type { WalletFilter } from '#ledger/overview/operator-queries.ts';

const NONE: WalletFilter = {
  appId: undefined,
  userId: undefined,
  status: undefined,
  openedFromMs: undefined,
  openedBeforeMs: undefined,
  minHeld: undefined,
  minBalance: undefined,
  maxBalance: undefined,
};

/** Cells that answer with these places of wallets, and the place to which each has looked. */
function listOf(cells: readonly { readonly places: readonly string[]; readonly upTo?: string }[]) {
  const parts = cells.map(({ places, upTo }, at) => ({
    cell: `c${at + 1}`,
    rows: places.map((place) => ({ place, app_id: 'app_1' as AppId, user_id: 'user' as EndUserId })),
    upTo,
  }));
  const every = { reader: () => () => Promise.resolve(parts) } as unknown as EveryCell;
  const local = { wallets: () => assert.fail(), payments: () => assert.fail() };
  const { wallets } = operatorListsEverywhere(local, { own: 'c1', map: { otherOf: () => undefined } }, every);
  return async (isOldestFirst: boolean) => {
    const { rows, upTo } = await wallets(NONE, { isOldestFirst, after: undefined, most: 10 });
    return { places: rows.map(({ place }) => place), upTo };
  };
}

test('CE-06 CP-05 a list over several cells ends at the shortest look-back', async () => {
  const newest = listOf([{ places: ['90.1', '70.1'], upTo: '60.1' }, { places: ['80.2', '50.2', '9.2'] }]);
  assert.deepEqual(await newest(false), { places: ['90.1', '80.2', '70.1'], upTo: '60.1' });
  const oldest = listOf([
    { places: ['9.2', '50.2'], upTo: '50.2' },
    { places: [], upTo: '10.1' },
  ]);
  assert.deepEqual(await oldest(true), { places: ['9.2'], upTo: '10.1' });
  const whole = listOf([{ places: ['100.1', '9.1'] }, { places: ['100.2'] }]);
  assert.deepEqual(await whole(false), { places: ['100.2', '100.1', '9.1'], upTo: undefined });
});
