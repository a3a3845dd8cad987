import { digestOfApiKey, hintOfApiKey, modeOfApiKey } from '#developers/keys/key-text.ts';
import { insertKey } from '#developers/keys/queries.ts';
import { ensureAccount, insertApp, type NewAccount, type NewApp } from '#developers/apps/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { bumpGeneration } from '#db/processes/queries.ts';
import type { KeyId } from '#kernel/values/ids.ts';

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
