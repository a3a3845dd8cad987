import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '#kernel/time/clock.ts';
import { equalBytes, hmacSha256, sha256 } from '#kernel/crypto/crypto.ts';
import { keyOfProof, type ProofKeys } from '#kernel/crypto/keys.ts';

/** The header that signs a request of a gateway to one of another cell: not a caller's request that is forwarded, but one of its own. */
export const CELL_REQUEST = 'x-service-cell';

const SHAPE = /^(\S{1,32}) (\d{1,16}) ([A-Za-z0-9_-]{43}) ([A-Za-z0-9_-]{43})$/;
/** How long a signature is valid, and how far the clocks of two machines may be apart. */
const VALID_MS = 60_000;

interface Signed {
  /** The cell that asks. */
  readonly from: string;
  /** Whether this is the body that was signed. */
  readonly covers: (body: Buffer) => boolean;
}

export interface CellRequests {
  /** The header of a POST to the cell `to`. It is signed with the path, the body and the time. */
  readonly sign: (to: string, path: string, body: string) => string;
  /**
   * Reads who signed a POST to this path of this cell. Returns undefined if no other cell has signed one within a
   * minute.
   */
  readonly read: (headers: IncomingHttpHeaders, path: string) => Signed | undefined;
}

/** `keys` come from the secret that all cells share, and sign nothing else. */
export function createCellRequests(own: string, keys: ProofKeys, clock: Clock): CellRequests {
  return {
    sign: (to, path, body) => {
      const atMs = String(clock.nowMs());
      const digest = sha256(body).toString('base64url');
      const proof = hmacSha256(keys[0], signed(path, own, to, atMs, digest)).toString('base64url');
      return `${own} ${atMs} ${digest} ${proof}`;
    },
    read: (headers, path) => {
      const header = headers[CELL_REQUEST];
      if (typeof header !== 'string') return undefined;
      const [, from = '', atMs = '', digest = '', proof = ''] = SHAPE.exec(header) ?? [];
      if (Math.abs(clock.nowMs() - Number(atMs)) > VALID_MS) return undefined;
      const parts = signed(path, from, own, atMs, digest);
      if (keyOfProof(keys, Buffer.from(proof, 'base64url'), parts) === undefined) return undefined;
      return { from, covers: (body) => equalBytes(Buffer.from(digest, 'base64url'), sha256(body)) };
    },
  };
}

/** What is signed. No part contains a space. */
function signed(path: string, from: string, to: string, atMs: string, digest: string): string {
  return `POST ${path} ${from} ${to} ${atMs} ${digest}`;
}
