import type { AccountId } from '#kernel/values/ids.ts';
import type { ProofKeys } from '#kernel/crypto/keys.ts';
import { createSignedNames } from '#kernel/crypto/signed-name.ts';

/** The account that a browser signed in to, with its password hash at that time. A password change voids what was issued. */
interface Known {
  readonly accountId: AccountId;
  readonly passwordHash: string;
}

/**
 * Recognises browsers that have signed in to an account before. They show a signed name that they got then; nothing is
 * stored here. A known browser has attempts of its own, so that strangers who guess cannot lock the owner out.
 */
export interface Devices {
  /** Makes the signed name for a browser that has just signed in. It grants no access, only attempts of its own. */
  readonly issue: (known: Known) => string;
  /** The browser's name when `shown` was issued for this account and its current password; undefined otherwise. */
  readonly nameOf: (shown: string | undefined, known: Known | undefined) => string | undefined;
}

const NOBODY = { accountId: '', passwordHash: '' };

export function createDevices(keys: ProofKeys): Devices {
  const names = createSignedNames(keys);
  return {
    issue: (known) => names.issue(textOf(known)),
    nameOf: (shown, known) => {
      // Computed for e-mails without an account too, so that both take the same time.
      const name = names.nameOf(shown, textOf(known ?? NOBODY));
      return known === undefined ? undefined : name;
    },
  };
}

/** Neither part contains a line break, so two different accounts never give the same text. */
function textOf({ accountId, passwordHash }: { readonly [Part in keyof Known]: string }): string {
  return `${accountId}\n${passwordHash}`;
}
