import type { Clock } from '#kernel/time/clock.ts';
import { hmacSha256, sha256 } from '#kernel/crypto/crypto.ts';
import { keyOfProof, type ProofKeys } from '#kernel/crypto/keys.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

/** A person signs in, shows again who they are, or turns an account that has a password into one of the provider. */
export type SsoPurpose = 'sign-in' | 'prove' | 'link';

interface Begun {
  readonly purpose: SsoPurpose;
  /** The account that was signed in when it began. Empty for a sign-in. */
  readonly holder: string;
  /** The page to go on to. */
  readonly next: string;
}

/** A sign-in that has gone to the provider. The browser keeps it in a cookie, and nothing is stored here. */
export interface SsoTicket extends Begun {
  readonly expiresAtMs: number;
  /** Names the ticket where it is used up. */
  readonly digest: Buffer;
  /** The three values that the provider gives back or asks for. Nobody can compute them from the cookie without our key. */
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

interface SsoTickets {
  readonly issue: (begun: Begun) => { readonly cookie: string; readonly ticket: SsoTicket };
  /** The ticket in a cookie. Undefined when there is none, or it was altered or has expired. */
  readonly read: (cookie: string | undefined) => SsoTicket | undefined;
}

const LIFETIME_MS = 10 * 60 * 1_000;
const TOKEN_LENGTH = 43; // 256 bits.
const SHAPE =
  /^([0-9A-Za-z]{43})\.(\d{1,15})\.(sign-in|prove|link)\.([\w-]*)\.([A-Za-z0-9_-]{0,1024})\.([A-Za-z0-9_-]{43})$/;

export function createSsoTickets(keys: ProofKeys, clock: Clock): SsoTickets {
  return {
    issue: (begun) => {
      const token = randomBase62(TOKEN_LENGTH);
      const begunAtMs = clock.nowMs();
      const next = Buffer.from(begun.next).toString('base64url');
      const said = `${token}.${begunAtMs}.${begun.purpose}.${begun.holder}.${next}`;
      return {
        cookie: `${said}.${hmacSha256(keys[0], 'ticket', '\n', said).toString('base64url')}`,
        ticket: ticketOf(keys[0], token, begunAtMs, begun),
      };
    },
    read: (cookie = '') => {
      const [, token = '', begunAt = '', purpose, holder = '', next = '', proof = ''] = SHAPE.exec(cookie) ?? [];
      if (purpose === undefined) return undefined;
      const said = cookie.slice(0, -proof.length - 1);
      const key = keyOfProof(keys, Buffer.from(proof, 'base64url'), 'ticket', '\n', said);
      if (key === undefined) return undefined;
      const begunAtMs = Number(begunAt);
      if (clock.nowMs() >= begunAtMs + LIFETIME_MS) return undefined;
      return ticketOf(key, token, begunAtMs, {
        purpose: purpose as SsoPurpose,
        holder,
        next: Buffer.from(next, 'base64url').toString(),
      });
    },
  };
}

function ticketOf(key: Buffer, token: string, begunAtMs: number, begun: Begun): SsoTicket {
  const valueOf = (purpose: string): string => hmacSha256(key, purpose, '\n', token).toString('base64url');
  return {
    ...begun,
    expiresAtMs: begunAtMs + LIFETIME_MS,
    digest: sha256(token),
    state: valueOf('state'),
    nonce: valueOf('nonce'),
    verifier: valueOf('verifier'),
  };
}
