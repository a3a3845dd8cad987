// Live keys with monthly budgets, which both cells know.
import { digestOfApiKey, newApiKey } from '../../../packages/service/src/accounts/api-key.ts';
import { insertKey } from '../../../packages/service/src/accounts/key-queries.ts';
import { NO_SETTINGS } from '../../../packages/service/src/accounts/key-settings.ts';
import { type KeyId, newKeyId } from '../../../packages/service/src/kernel/ids.ts';
import { micros } from '../../../packages/service/src/kernel/micros.ts';
import { changeKeys } from '../../support/operator-acts.ts';
import { sql } from '../../support/sql.ts';
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
  return {
    newKey: async (budget: number) => {
      const [keyId, apiKey] = [newKeyId(), newApiKey('live')];
      const settings = { ...NO_SETTINGS, monthlyBudget: micros(BigInt(budget)) };
      const digest = digestOfApiKey(apiKey);
      const key = { keyId, appId: app.appId, digest, mode: 'live', hint: '', settings } as const;
      for (const owner of owners) await insertKey(owner, key, 1n);
      return { keyId, apiKey };
    },
    /** The gateways know it within a second. */
    setBudget: async ({ keyId }: Budgeted, budget: number) => {
      const ofKey = { set: 'budget_micros = $2', where: 'key_id = $1' };
      for (const owner of owners) await changeKeys(owner, ofKey, [keyId, budget]);
    },
    /** What the key has spent and holds in each cell. */
    usedOf: async (key: Budgeted) => ({ c1: await usedIn(key, owners[0]), c2: await usedIn(key, owners[1]) }),
  };
}
