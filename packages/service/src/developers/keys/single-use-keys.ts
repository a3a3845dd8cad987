import type { AppFacts, Caller, KeyDirectory } from '#developers/keys/directory.ts';
import { keyFactsOf } from '#developers/keys/settings.ts';
import { type SteadyClock, steadyClock } from '#kernel/time/clock.ts';
import { type AppId, CONSOLE_KEY_ID, type Mode } from '#kernel/values/ids.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

/** Makes a key for the next call of an app in this process. It works once, within a minute. Undefined if there is no such app. */
export type MakeSingleUseKey = (appId: AppId, mode: Mode) => Promise<string | undefined>;

const KEY_MS = 60_000;
const TOKEN_LENGTH = 30; // 178 bits, as an API key.
/** A key is used as soon as it is made. So many at once are a fault, and the oldest are forgotten. */
const KEYS_MAX = 1_000;

const WITHOUT_SETTINGS: Omit<Caller, 'app' | 'mode'> = {
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

/** Keys of the directory, and keys that are made for one call each. */
export function withSingleUseKeys(
  keys: KeyDirectory,
  readApp: (appId: AppId) => Promise<AppFacts | undefined>,
  clock: SteadyClock = steadyClock,
): KeyDirectory & { readonly makeSingleUse: MakeSingleUseKey } {
  const made = new Map<string, { readonly caller: Caller; readonly untilMs: number }>();

  function take(key: string): Caller | undefined {
    const one = made.get(key);
    made.delete(key);
    return one !== undefined && clock.nowMs() < one.untilMs ? one.caller : undefined;
  }

  return {
    ...keys,
    find: (apiKey) => keys.find(apiKey) ?? take(apiKey),
    makeSingleUse: async (appId, mode) => {
      const app = await readApp(appId);
      if (app === undefined) return undefined;
      const [oldest] = made.keys();
      if (made.size >= KEYS_MAX && oldest !== undefined) made.delete(oldest);
      const key = `svc_lent_${randomBase62(TOKEN_LENGTH)}`;
      made.set(key, { caller: { app, mode, ...WITHOUT_SETTINGS }, untilMs: clock.nowMs() + KEY_MS });
      return key;
    },
  };
}
