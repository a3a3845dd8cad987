import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '#kernel/time/clock.ts';
import { hmacSha256 } from '#kernel/crypto/crypto.ts';
import { keyOfProof, type ProofKeys } from '#kernel/crypto/keys.ts';

/** The header by which a cell says that it has forwarded a request. No caller can make one: it is signed with a key from the secret that all cells share. */
export const MARKER = 'x-service-forwarded';

/** What this header says in the answer to a request whose marker was refused. A cell that forwarded it knows then that it is not the caller's fault. */
export const MARKER_REFUSED = 'refused';

const CORRELATION_ID = 'x-correlation-id';
const SHAPE = /^(\S{1,32}) (\d{1,16}) (\S{1,64}) ([A-Za-z0-9_-]{43})$/;
/** How long a marker is valid, and how far the clocks of two machines may be apart. */
const VALID_MS = 60_000;

interface Marked {
  /** The cell that has forwarded the request. */
  readonly from: string;
  /** The address of its caller, as that cell saw it. */
  readonly address: string;
}

export interface Markers {
  /** The marker of a request that is forwarded to the cell `to` under this correlation id. */
  readonly make: (to: string, correlationId: string, address: string) => string;
  /** What the marker of a request says. Undefined if it has none, or one that no other cell has made for this cell within a minute. */
  readonly read: (headers: IncomingHttpHeaders) => Marked | undefined;
}

export function createMarkers(own: string, keys: ProofKeys, clock: Clock): Markers {
  return {
    make: (to, correlationId, address) => {
      const [atMs, from] = [String(clock.nowMs()), address === '' ? '-' : address];
      const proof = hmacSha256(keys[0], signed(own, to, atMs, from, correlationId)).toString('base64url');
      return `${own} ${atMs} ${from} ${proof}`;
    },
    read: (headers) => {
      const marker = headers[MARKER];
      const correlationId = headers[CORRELATION_ID];
      if (typeof marker !== 'string' || typeof correlationId !== 'string') return undefined;
      const [, from = '', atMs = '', address = '', proof = ''] = SHAPE.exec(marker) ?? [];
      if (Math.abs(clock.nowMs() - Number(atMs)) > VALID_MS) return undefined;
      const parts = signed(from, own, atMs, address, correlationId);
      const isOurs = keyOfProof(keys, Buffer.from(proof, 'base64url'), parts) !== undefined;
      return isOurs ? { from, address } : undefined;
    },
  };
}

/** What is signed. No part contains a space. */
function signed(...parts: readonly string[]): string {
  return parts.join(' ');
}
