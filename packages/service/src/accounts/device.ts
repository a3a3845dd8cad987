import type { AccountId } from '#kernel/ids.ts';
import { createSignedNames } from '#kernel/signed-name.ts';

/** The account that a browser signed in to, with its password as it was then stored. */
interface Known {
  readonly accountId: AccountId;
  readonly passwordHash: string;
}

/** Browsers that have signed in to an account before: they show what they were given then, and nothing is stored. */
export interface Devices {
  /** What a browser is given that has just signed in. It opens nothing: it has tries of its own, that is all. */
  readonly issue: (known: Known) => string;
  /** The name of a browser that was given this for this account, before its password was last changed. */
  readonly nameOf: (shown: string | undefined, known: Known | undefined) => string | undefined;
}

const NOBODY = { accountId: '', passwordHash: '' };

export function createDevices(key: Buffer): Devices {
  const names = createSignedNames(key);
  return {
    issue: (known) => names.issue(textOf(known)),
    nameOf: (shown, known) => {
      // Computed for an e-mail without an account too, so that both take as long.
      const name = names.nameOf(shown, textOf(known ?? NOBODY));
      return known === undefined ? undefined : name;
    },
  };
}

function textOf({ accountId, passwordHash }: { readonly [Part in keyof Known]: string }): string {
  return `${accountId}\n${passwordHash}`;
}
