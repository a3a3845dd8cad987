import { resealAuthenticators } from '#developers/factors/authenticator-secret.ts';
import { SetupError, StartError } from '#app/environment/start-error.ts';
import { resealHead } from '#audit/sealer.ts';
import { openKeptKeys, replaceSecret } from '#db/identity/kept-keys.ts';
import type { Pool, Queryable } from '#db/pool/pool.ts';
import type { KeptKeys, Secrets } from '#kernel/crypto/keys.ts';
import { resealSigningSecrets } from '#webhooks/subscriptions/reseal.ts';

/**
 * Opens the keys that the database keeps. Throws `SetupError` if neither secret of this process opens them: two gateways with
 * different secrets would not recognise each other's retries, links and sealed secrets, and one idempotency key could be charged twice.
 */
export async function openKeys(
  owner: Pool,
  secrets: Secrets,
  { isGateway, say }: { readonly isGateway: boolean; readonly say: (text: string) => void },
): Promise<KeptKeys> {
  const opened = await openKeptKeys(owner, secrets, { isGateway });
  if (opened === undefined) {
    throw new SetupError(
      'This database belongs to another PURSER_SECRET. Set the one that its other gateways use, or, in development, start ' +
        'with the data directory that keeps it. If you are changing the secret, set the former one as PURSER_SECRET_ALSO. ' +
        'If the former one is lost, read "Change PURSER_SECRET" in the operator\'s guide.',
    );
  }
  if (opened.hasEndedChange) say('The change of PURSER_SECRET has ended. No other secret opens this database now.');
  return opened.keys;
}

/**
 * Makes `secret` the only one that opens the database, and seals again what can be sealed again. Says whether everything was kept.
 * Throws `StartError`, with nothing changed, if that cannot be.
 */
export async function replaceSecretNow(
  owner: Pool,
  secrets: Secrets,
  { isLost }: { readonly isLost: boolean },
): Promise<'replaced' | 'lost'> {
  const result = await replaceSecret(owner, secrets, { isLost, reseal });
  if (result === 'running') {
    throw new StartError('A gateway runs on this database. Stop all of them, wait 15 seconds, and try again.');
  }
  if (result === 'unopened') {
    throw new StartError(
      'Neither PURSER_SECRET nor PURSER_SECRET_ALSO opens this database, so nothing was changed. Set the former secret as ' +
        'PURSER_SECRET_ALSO and try again. If it is lost, `npm run purser -- secret replace --lost` gives up all that it ' +
        "protected, for good; the operator's guide says what that is.",
    );
  }
  return result;
}

async function reseal(tx: Queryable, before: KeptKeys, after: KeptKeys): Promise<void> {
  await resealSigningSecrets(tx, before['webhook-secrets'], after['webhook-secrets']);
  await resealAuthenticators(tx, before['account-authenticator'], after['account-authenticator']);
  await resealHead(tx, after['audit-head']);
}
