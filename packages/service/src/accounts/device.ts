import { equalBytes, hmacSha256 } from '#kernel/crypto.ts';
import type { AccountId } from '#kernel/ids.ts';
import { randomBase62 } from '#kernel/random.ts';

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

const SHAPE = /^([0-9A-Za-z]{22})\.([A-Za-z0-9_-]{43})$/;
const NAME_LENGTH = 22; // 131 bits.
const NOBODY = { accountId: '', passwordHash: '' };

export function createDevices(key: Buffer): Devices {
  function proofOf(name: string, { accountId, passwordHash }: { readonly [Part in keyof Known]: string }): Buffer {
    return hmacSha256(key, [name, accountId, passwordHash].join('\n'));
  }
  return {
    issue: (known) => {
      const name = randomBase62(NAME_LENGTH);
      return `${name}.${proofOf(name, known).toString('base64url')}`;
    },
    nameOf: (shown, known) => {
      const [, name, proof] = SHAPE.exec(shown ?? '') ?? [];
      if (name === undefined || proof === undefined) return undefined;
      // Computed for an e-mail without an account too, so that both take as long.
      const isRight = equalBytes(Buffer.from(proof, 'base64url'), proofOf(name, known ?? NOBODY));
      return isRight && known !== undefined ? name : undefined;
    },
  };
}
