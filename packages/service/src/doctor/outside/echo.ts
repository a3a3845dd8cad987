import type { IncomingMessage } from 'node:http';
import { selectIncarnation } from '#db/health/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { hmacSha256 } from '#kernel/crypto/crypto.ts';
import { DOCTOR_HEADER, isDoctorToken, type SeenRequest } from '#kernel/crypto/doctor-call.ts';
import type { Keys, ProofKeys } from '#kernel/crypto/keys.ts';

export const DOCTOR_PURPOSE = 'doctor';

/** Tells the doctor of this service what arrived. A request without its token, which needs the secret, learns nothing. */
export function createEchoToDoctor({
  addressOf,
  keys,
  pools,
}: {
  /** Where the gateway takes the caller to be. */
  readonly addressOf: (request: IncomingMessage) => string;
  readonly keys: Pick<Keys, 'proof'>;
  readonly pools: { readonly planes: Pool };
}): (request: IncomingMessage) => Promise<SeenRequest | undefined> {
  const proof = keys.proof(DOCTOR_PURPOSE);
  return async (request) => {
    const shown = request.headers[DOCTOR_HEADER];
    if (typeof shown !== 'string' || !isDoctorToken(shown, proof, systemClock.nowMs())) return undefined;
    const { 'x-forwarded-for': forwarded = '', 'x-forwarded-proto': proto, host } = request.headers;
    const entries = String(forwarded).split(',');
    return {
      address: addressOf(request),
      forwardedFor: entries.map((entry) => entry.trim()).filter((entry) => entry !== ''),
      forwardedProto: proto === undefined ? undefined : String(proto),
      host,
      database: await databaseName(pools.planes, proof),
    };
  };
}

/** The name of this database, keyed: it says nothing of the server, and a copy has another one. Undefined if it does not answer. */
export async function databaseName(pool: Pool, [key]: ProofKeys): Promise<string | undefined> {
  try {
    return hmacSha256(key, await selectIncarnation(pool)).toString('base64url');
  } catch {
    return undefined;
  }
}
