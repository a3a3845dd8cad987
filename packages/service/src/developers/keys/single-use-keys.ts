import type { AppFacts, Caller, KeyDirectory } from '#developers/keys/directory.ts';
import { keyFactsOf } from '#developers/keys/settings.ts';
import { type SteadyClock, steadyClock } from '#kernel/time/clock.ts';
import { type AppId, CONSOLE_KEY_ID, type Mode } from '#kernel/values/ids.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

/** Makes a key for the next call of an app in this process. It works once, within a minute. Undefined if there is no such app. */
export type Lend = (appId: AppId, mode: Mode) => Promise<string | undefined>;

const LENT_MS = 60_000;
const TOKEN_LENGTH = 30; // 178 bits, as an API key.
/** A key is used as soon as it is lent. So many at once are a fault, and the oldest are forgotten. */
const LOANS_MAX = 1_000;

/** A lent key has no settings. */
const LENT: Omit<Caller, 'app' | 'mode'> = {
  keyId: CONSOLE_KEY_ID,
  boundUser: null,
  joinSeconds: null,
  key: keyFactsOf({
    key_id: CONSOLE_KEY_ID,
    counts_as: null,
    models: null,
    addresses: null,
    rate_per_minute: null,
    budget_micros: null,
  }),
};

/** Keys of the directory, and keys that are lent for one call each. */
export function withLoans(
  keys: KeyDirectory,
  readApp: (appId: AppId) => Promise<AppFacts | undefined>,
  clock: SteadyClock = steadyClock,
): KeyDirectory & { readonly lend: Lend } {
  const loans = new Map<string, { readonly caller: Caller; readonly untilMs: number }>();

  function take(key: string): Caller | undefined {
    const loan = loans.get(key);
    loans.delete(key);
    return loan !== undefined && clock.nowMs() < loan.untilMs ? loan.caller : undefined;
  }

  return {
    ...keys,
    find: (apiKey) => keys.find(apiKey) ?? take(apiKey),
    lend: async (appId, mode) => {
      const app = await readApp(appId);
      if (app === undefined) return undefined;
      const [oldest] = loans.keys();
      if (loans.size >= LOANS_MAX && oldest !== undefined) loans.delete(oldest);
      const key = `svc_lent_${randomBase62(TOKEN_LENGTH)}`;
      loans.set(key, { caller: { app, mode, ...LENT }, untilMs: clock.nowMs() + LENT_MS });
      return key;
    },
  };
}
