import type { SteadyClock } from '#kernel/time/clock.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { UpstreamError } from '#providers/port/provider.ts';

const KEY_CHARACTERS_MAX = 16_384;
const KEY = /^[\x21-\x7e]+$/;

/** A key that was fetched, and for how long it may be used. */
export interface FetchedKey {
  readonly key: string;
  readonly lifeMs: number;
}

interface FetchedKeyOptions {
  readonly name: string;
  readonly isToken: boolean;
  /** Gets a new key. Its failures must not quote what it read: they are logged. */
  readonly fetch: () => Promise<FetchedKey>;
  /** After a failure, and after a key was refused, the key is fetched at most this often. */
  readonly intervalMs: number;
  readonly clock: SteadyClock;
}

/**
 * A key that lives for a while. It is fetched when the first call needs it, and again after three quarters of its life while calls
 * still use the old one. All calls share one fetch. Without a key, calls fail as an outage of that provider.
 */
export function createFetchedKey({ name, isToken, fetch, intervalMs, clock }: FetchedKeyOptions): KeySource {
  let held: { readonly key: string; readonly renewAt: number; readonly endsAt: number } | undefined;
  let fetching: Promise<string> | undefined;
  let failure: UpstreamError | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let isRefused = false;

  async function renew(): Promise<string> {
    fetchedAt = clock.nowMs();
    try {
      const { key, lifeMs } = await fetch();
      const now = clock.nowMs();
      held = { key: checked(key), renewAt: now + lifeMs * 0.75, endsAt: now + lifeMs };
      failure = undefined;
      return key;
    } catch (fault) {
      failure = failureOf(name, fault);
      throw failure;
    } finally {
      fetching = undefined;
      isRefused = false;
    }
  }

  const start = (): Promise<string> => {
    fetching ??= renew();
    fetching.catch(() => {}); // A renewal ahead of time is awaited by nobody.
    return fetching;
  };

  return {
    name,
    isToken,
    current: () => {
      const now = clock.nowMs();
      const isEarly = now - fetchedAt < intervalMs;
      if (held !== undefined && now < held.endsAt && !(isRefused && !isEarly)) {
        if (now >= held.renewAt && !isEarly) void start();
        return held.key;
      }
      if (fetching === undefined && failure !== undefined && isEarly) throw failure;
      return start();
    },
    refused: (key) => {
      if (key === held?.key) isRefused = true;
    },
  };
}

/** The key without the line break at its end. A key with other characters could not be sent in a header. */
export function keyIn(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function checked(key: string): string {
  if (KEY.test(key) && key.length <= KEY_CHARACTERS_MAX) return key;
  throw new KeyFault('what was read is not one line of visible characters');
}

/** Why there is no key. The words are ours and hold nothing of what was read. */
export class KeyFault extends Error {}

function failureOf(name: string, fault: unknown): UpstreamError {
  const why = fault instanceof KeyFault ? fault.message : 'it could not be fetched';
  return new UpstreamError('outage', `There is no key \`${name}\` at present: ${why}.`);
}
