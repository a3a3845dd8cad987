import { hmacSha256 } from '#kernel/crypto/crypto.ts';
import { keyOfProof, type ProofKeys } from '#kernel/crypto/keys.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

/**
 * Random names with a signature. A browser keeps one and shows it again, and it is valid only for the subject it was issued
 * for (`of`). Nothing is stored on our side.
 */
export interface SignedNames {
  readonly issue: (of: string) => string;
  /** Returns the name when `shown` was issued for `of`; undefined when it was not, or was altered. */
  readonly nameOf: (shown: string | undefined, of: string) => string | undefined;
}

const SHAPE = /^([0-9A-Za-z]{22})\.([A-Za-z0-9_-]{43})$/;
const NAME_LENGTH = 22; // 131 bits.

export function createSignedNames(keys: ProofKeys): SignedNames {
  // A name holds no line break, so two different pairs of name and subject never hash to the same bytes.
  return {
    issue: (of) => {
      const name = randomBase62(NAME_LENGTH);
      return `${name}.${hmacSha256(keys[0], name, '\n', of).toString('base64url')}`;
    },
    nameOf: (shown, of) => {
      const [, name, proof] = SHAPE.exec(shown ?? '') ?? [];
      if (name === undefined || proof === undefined) return undefined;
      return keyOfProof(keys, Buffer.from(proof, 'base64url'), name, '\n', of) === undefined ? undefined : name;
    },
  };
}
