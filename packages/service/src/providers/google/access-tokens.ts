import { type Clock, systemClock } from '#kernel/time/clock.ts';

/** An access token, and when it ends in milliseconds since 1970. */
export interface AccessToken {
  readonly token: string;
  readonly expiresAt: number;
}

interface AccessTokens {
  /** A token that is valid now. It waits only if there is none. Rejects as `fetchToken` does. */
  readonly current: () => Promise<string>;
  /** Forgets a token that was refused, so that the next call gets another. */
  readonly drop: (token: string) => void;
}

/** A token with less than this left is renewed while calls still use it. Google's last an hour. */
const EARLY_MS = 5 * 60_000;
/** A kept token with less than this left is not sent: it might end on its way, and clocks differ. */
const SAFE_MS = 10_000;
/** After a renewal that failed while the old token is still good, the next try waits for this long. */
const RETRY_MS = 5_000;

/**
 * Keeps one access token. It is renewed before it ends, by one request for all calls, so a short outage of the token endpoint
 * fails no call.
 */
export function keepAccessToken(fetchToken: () => Promise<AccessToken>, clock: Clock = systemClock): AccessTokens {
  let kept: AccessToken | undefined;
  let pending: Promise<AccessToken> | undefined;
  let nextTryAt = 0;

  function renew(): Promise<AccessToken> {
    pending ??= fetchToken()
      .then((fresh) => (kept = fresh))
      .finally(() => (pending = undefined));
    return pending;
  }

  function renewInBackground(): void {
    if (pending !== undefined || clock.nowMs() < nextTryAt) return;
    // The calls of the next minutes have a token. One of them will meet the failure if it lasts.
    renew().catch(() => (nextTryAt = clock.nowMs() + RETRY_MS));
  }

  return {
    current: async () => {
      const left = kept === undefined ? 0 : kept.expiresAt - clock.nowMs();
      if (kept === undefined || left < SAFE_MS) return (await renew()).token;
      if (left < EARLY_MS) renewInBackground();
      return kept.token;
    },
    drop: (token) => {
      if (kept?.token === token) kept = undefined;
    },
  };
}
