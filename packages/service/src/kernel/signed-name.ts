import { equalBytes, hmacSha256 } from '#kernel/crypto.ts';
import { randomBase62 } from '#kernel/random.ts';

/** Names that somebody keeps and shows again, each good for one thing that it was given for. Nothing of them is stored. */
export interface SignedNames {
  readonly issue: (of: string) => string;
  /** The name, where it was given for this. */
  readonly nameOf: (shown: string | undefined, of: string) => string | undefined;
}

const SHAPE = /^([0-9A-Za-z]{22})\.([A-Za-z0-9_-]{43})$/;
const NAME_LENGTH = 22; // 131 bits.

export function createSignedNames(key: Buffer): SignedNames {
  const proofOf = (name: string, of: string): Buffer => hmacSha256(key, name, '\n', of);
  return {
    issue: (of) => {
      const name = randomBase62(NAME_LENGTH);
      return `${name}.${proofOf(name, of).toString('base64url')}`;
    },
    nameOf: (shown, of) => {
      const [, name, proof] = SHAPE.exec(shown ?? '') ?? [];
      if (name === undefined || proof === undefined) return undefined;
      return equalBytes(Buffer.from(proof, 'base64url'), proofOf(name, of)) ? name : undefined;
    },
  };
}
