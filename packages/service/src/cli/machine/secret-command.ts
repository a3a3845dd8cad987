import { replaceSecretNow } from '#app/secrets/open-keys.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Secrets } from '#kernel/crypto/keys.ts';

/** Makes `PURSER_SECRET` the only secret of this database, at once. Throws with nothing changed if it cannot. */
export async function replaceSecret(
  owner: Pool,
  secrets: Secrets,
  options: { readonly isLost: boolean },
): Promise<void> {
  const result = await replaceSecretNow(owner, secrets, options);
  const kept =
    result === 'replaced'
      ? 'Pseudonyms, webhook secrets, second factors and the audit trail are as before.'
      : 'What the former secret protected is given up.';
  console.error(
    `The database now belongs to this PURSER_SECRET. ${kept} Start every gateway with it, and without PURSER_SECRET_ALSO.`,
  );
}
