import type { Clock } from '#kernel/clock.ts';
import { deriveKey, hmacSha256 } from '#kernel/crypto.ts';
import type { AppId, EndUserId } from '#kernel/ids.ts';

/** BI-04: fifteen minutes. */
const LIFETIME_SECONDS = 15 * 60;

/** Signed links to the hosted top-up page, one (app, user) each. Issuing one writes nothing. */
export interface TopupLinks {
  readonly create: (appId: AppId, userId: EndUserId) => string;
  /** The same address without a token, for fake money: it leads to no payment. */
  readonly placeholderUrl: string;
}

/**
 * The token is its claims and an HMAC over them under a key used for nothing else: base64url of `purpose`, app, user
 * and expiry, a dot, base64url of the signature. It looks the same whether a wallet exists or not.
 */
export function createTopupLinks(options: {
  readonly secret: Buffer;
  readonly publicUrl: string;
  readonly clock: Clock;
}): TopupLinks {
  const key = deriveKey(options.secret, 'topup-link');
  const page = `${options.publicUrl}/topup`;
  return {
    create: (appId, userId) => {
      const expiresAt = Math.floor(options.clock.nowMs() / 1_000) + LIFETIME_SECONDS;
      const claims = Buffer.from(JSON.stringify(['topup', appId, userId, expiresAt])).toString('base64url');
      return `${page}/${claims}.${hmacSha256(key, claims).toString('base64url')}`;
    },
    placeholderUrl: `${page}/sandbox`,
  };
}
