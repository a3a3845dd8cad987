import { digestOfApiKey, hintOfApiKey, modeOfApiKey } from '#accounts/api-key.ts';
import { insertKey } from '#accounts/key-queries.ts';
import { ensureAccount, insertApp, type NewAccount, type NewApp } from '#accounts/queries.ts';
import { inTransaction, type Pool } from '#db/pool.ts';
import { bumpGeneration } from '#db/queries.ts';
import type { KeyId } from '#kernel/ids.ts';

interface Registration {
  readonly account: NewAccount;
  readonly app: NewApp;
  /** The keys in clear text. Only their digests are stored. */
  readonly keys: readonly { readonly keyId: KeyId; readonly apiKey: string }[];
}

/**
 * Registers an account, one of its apps and the app's keys, all or nothing. Anything that already exists under the same id
 * stays as it is, so repeating is harmless. In force on every process within a second.
 */
export async function register(pool: Pool, { account, app, keys }: Registration): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const generation = await bumpGeneration(tx, 'accounts');
    const accountId = await ensureAccount(tx, account);
    await insertApp(tx, accountId, app, generation);
    for (const { keyId, apiKey } of keys) {
      const key = {
        keyId,
        appId: app.appId,
        digest: digestOfApiKey(apiKey),
        mode: modeOfApiKey(apiKey),
        hint: hintOfApiKey(apiKey),
      };
      await insertKey(tx, key, generation);
    }
  });
}
