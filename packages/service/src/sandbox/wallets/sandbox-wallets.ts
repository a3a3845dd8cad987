import type { SandboxOutcome } from '@purser/contract/sandbox.ts';
import type { Facts } from '#audit/entry.ts';
import type { Pool } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { type ReadSessions, sessionReaderOf } from '#kernel/calls/session-page.ts';
import { createSandboxTrail, type SandboxActor, type TestUser } from '#sandbox/wallets/trail.ts';
import {
  resetSandboxWallet,
  type SandboxWalletRow,
  selectSandboxSessions,
  selectSandboxWallet,
  selectSandboxWallets,
  setNextOutcome,
} from '#sandbox/wallets/queries.ts';

/** A test user's sandbox wallet, as the app's owner sees it. */
export interface SandboxWallet {
  readonly userId: EndUserId;
  readonly balance: Micros;
  readonly held: Micros;
  readonly cap: Micros | undefined;
  readonly isSuspended: boolean;
  readonly requests: number;
  readonly tokens: number;
  /** What this user's next call will play. If it is undefined, the model of the call decides. */
  readonly nextOutcome: string | undefined;
}

/** The values that a reset sets. Undefined fields go back to their defaults (SB-05). */
interface SandboxReset {
  readonly balance: Micros | undefined;
  readonly cap: Micros | undefined;
  readonly isSuspended: boolean | undefined;
}

export interface SandboxWallets {
  /** An app's sandbox wallets after a user, in the order of their user ids. Expired ones are left out (SB-08). */
  readonly list: (
    appId: AppId,
    page: { readonly after: string; readonly most: number },
  ) => Promise<readonly SandboxWallet[]>;
  readonly find: (appId: AppId, userId: EndUserId) => Promise<SandboxWallet | undefined>;
  /** What sessions of coding agents have cost this test user (CP-19). */
  readonly sessions: ReadSessions;
  /** Replaces a test user's wallet with a new one. Calls that still run end without a charge. In the trail. */
  readonly reset: (by: SandboxActor, user: TestUser, reset: SandboxReset) => Promise<SandboxWallet>;
  /** Sets what this user's next call that gets a hold will play in place of the outcome of its model, once (decision 19). Undefined clears it. In the trail. */
  readonly setNext: (by: SandboxActor, user: TestUser, outcome: SandboxOutcome | undefined) => Promise<SandboxWallet>;
}

interface SandboxWalletsOptions {
  /** The pool of the role that may touch play money only. */
  readonly pool: Pool;
  /** The pool of the role that may write the trail. */
  readonly trail: Pool;
  readonly grant: Micros;
}

export function createSandboxWallets({ pool, trail, grant }: SandboxWalletsOptions): SandboxWallets {
  const record = createSandboxTrail(trail);
  const find: SandboxWallets['find'] = async (appId, userId) => {
    const row = await selectSandboxWallet(pool, appId, userId);
    return row && walletOf(row);
  };
  return {
    list: async (appId, page) => (await selectSandboxWallets(pool, { appId, ...page })).map(walletOf),
    find,
    sessions: sessionReaderOf((user, page) => selectSandboxSessions(pool, user, page)),
    reset: async (by, user, { balance = grant, cap, isSuspended = false }) => {
      const before = await find(user.appId, user.userId);
      const after = factsOf({ balance, cap, isSuspended, nextOutcome: undefined });
      await record(by, { action: 'sandbox.reset', user, before: before && factsOf(before), after });
      return walletOf(await resetSandboxWallet(pool, { ...user, balance, cap, isSuspended }));
    },
    setNext: async (by, user, outcome) => {
      const before = { nextOutcome: (await find(user.appId, user.userId))?.nextOutcome ?? null };
      await record(by, { action: 'sandbox.next', user, before, after: { nextOutcome: outcome ?? null } });
      return walletOf(await setNextOutcome(pool, { ...user, grant, outcome }));
    },
  };
}

/** A wallet as the trail shows it. */
function factsOf(wallet: Pick<SandboxWallet, 'balance' | 'cap' | 'isSuspended' | 'nextOutcome'>): Facts {
  const { balance, cap, isSuspended, nextOutcome } = wallet;
  const amounts = { balanceMicros: balance, spendCapMicros: cap ?? null };
  return { ...amounts, suspended: isSuspended, nextOutcome: nextOutcome ?? null };
}

function walletOf(row: SandboxWalletRow): SandboxWallet {
  assert(row.held_micros <= row.balance_micros, 'a test user’s calls hold at most the balance');
  return {
    userId: row.user_id,
    balance: microsFromRow(row.balance_micros),
    held: microsFromRow(row.held_micros),
    cap: row.cap_micros === null ? undefined : microsFromRow(row.cap_micros),
    isSuspended: row.is_suspended,
    requests: Number(row.requests),
    tokens: Number(row.tokens),
    nextOutcome: row.next_outcome ?? undefined,
  };
}
