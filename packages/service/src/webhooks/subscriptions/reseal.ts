import type { Queryable } from '#db/pool/pool.ts';
import { lockSealedSecrets, updateSealedSecrets } from '#webhooks/subscriptions/queries.ts';
import { createSigningSecrets } from '#webhooks/delivery/signing-secret.ts';

/** Seals every signing secret under another key. One that the key before does not open stays as it is. */
export async function resealSigningSecrets(tx: Queryable, before: Buffer, after: Buffer): Promise<void> {
  const [from, to] = [createSigningSecrets(before), createSigningSecrets(after)];
  const rows = (await lockSealedSecrets(tx)).flatMap(({ app_id: appId, sealed_secret: sealed }) => {
    const secret = from.open(appId, sealed);
    return secret === undefined ? [] : [{ app_id: appId, sealed_secret: to.seal(appId, secret) }];
  });
  await updateSealedSecrets(tx, rows);
}
