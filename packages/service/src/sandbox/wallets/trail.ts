import { type ActingToken, type Facts, type Owner, ownersEntry, tokensEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import { type SteadyClock, steadyClock } from '#kernel/time/clock.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';

/** A member of the app, or a token that may reset its test users (SB-07). */
export type SandboxActor = Owner | ActingToken;

export interface TestUser {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

interface SandboxAct {
  readonly action: 'sandbox.reset' | 'sandbox.next';
  readonly user: TestUser;
  /** The facts before the act. It is undefined if the user had no wallet. */
  readonly before: Facts | undefined;
  readonly after: Facts;
}

const SAME_ACT_MS = 60_000;
/** The most acts that are remembered. Beyond them, all are forgotten, and some are recorded again. */
const KEPT_MAX = 10_000;

/**
 * Records what is done to test users in the trail of the owner. Play money has a database role of its own, which cannot write
 * the trail, so the entry comes first, in a transaction of its own: no act is without one.
 *
 * A test suite does the same act before each of its tests, and entries are kept for good. What a token does again to the same
 * user within a minute is one entry.
 */
export function createSandboxTrail(db: Pool, clock: SteadyClock = steadyClock) {
  const done = new Map<string, number>();

  return async (by: SandboxActor, act: SandboxAct): Promise<void> => {
    const { action, user, before, after } = act;
    const named = { action, subject: `${user.appId} ${user.userId}`, appId: user.appId, before, after };
    if (!('tokenId' in by)) return insertAuditEntry(db, ownersEntry(by, named));
    const name = nameOf(by, act);
    const lastMs = done.get(name);
    if (lastMs !== undefined && clock.nowMs() - lastMs < SAME_ACT_MS) return;
    await insertAuditEntry(db, tokensEntry(by, named));
    if (done.size >= KEPT_MAX) done.clear();
    done.set(name, clock.nowMs()); // Only now: an entry that the database did not take is tried again.
  };
}

function nameOf({ tokenId }: ActingToken, { action, user, after }: SandboxAct): string {
  return JSON.stringify([tokenId, action, user.userId, after], (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
