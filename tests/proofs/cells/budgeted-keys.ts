// Live keys with monthly budgets, which both cells know.
import assert from 'node:assert/strict';
import { digestOfApiKey, newApiKey } from '../../../packages/service/src/developers/keys/key-text.ts';
import { insertKey } from '../../../packages/service/src/developers/keys/queries.ts';
import { NO_SETTINGS } from '../../../packages/service/src/developers/keys/settings.ts';
import { type KeyId, newKeyId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { send } from '../../support/client.ts';
import { changeKeys } from '../../support/operator-acts.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { TwoCells } from './two-cells.ts';

export interface Budgeted {
  readonly keyId: KeyId;
  readonly apiKey: string;
}

interface Used {
  readonly spent: number;
  readonly held: number;
}

export function budgetedKeys({ c1, c2, app }: TwoCells) {
  const owners = [c1.database.owner, c2.database.owner] as const;
  const usedIn = async ({ keyId }: Budgeted, owner: (typeof owners)[number]): Promise<Used> => {
    const rows = await sql<Used>(owner)`select spent_micros::int as spent, held_micros::int as held
      from ledger.key_budgets where key_id = ${keyId}`;
    return rows[0] ?? { spent: 0, held: 0 };
  };
  const newKey = async (budget: number): Promise<Budgeted> => {
    const [keyId, apiKey] = [newKeyId(), newApiKey('live')];
    const settings = { ...NO_SETTINGS, monthlyBudget: micros(BigInt(budget)) };
    const digest = digestOfApiKey(apiKey);
    const key = { keyId, appId: app.appId, digest, mode: 'live', hint: '', settings } as const;
    for (const owner of owners) await insertKey(owner, key, 1n);
    return { keyId, apiKey };
  };
  const change = async (set: string, ...values: readonly unknown[]): Promise<void> => {
    for (const owner of owners) await changeKeys(owner, { set, where: 'key_id = $1' }, values);
  };
  return {
    newKey,
    /** Resolves once the gateways of both cells know it: they refuse another key that was revoked after it. */
    setBudget: async ({ keyId }: Budgeted, budget: number) => {
      const later = await newKey(1);
      const statuses = () =>
        Promise.all(
          [c1, c2].map(({ url }) => send('/v1/models', { url, key: later.apiKey }).then(({ status }) => status)),
        );
      assert.deepEqual(await statuses(), [200, 200]);
      await change('budget_micros = $2', keyId, budget);
      await change('revoked_at = clock_timestamp()', later.keyId);
      await waitUntil('the change is in force', async () => (await statuses()).every((status) => status === 401));
    },
    /** What the key has spent and holds in each cell. */
    usedOf: async (key: Budgeted) => ({ c1: await usedIn(key, owners[0]), c2: await usedIn(key, owners[1]) }),
  };
}
