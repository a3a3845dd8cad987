import type { SandboxOutcome } from '@purser/contract/sandbox.ts';
import type { Pool } from '#db/pool.ts';
import type { AppId, EndUserId } from '#kernel/ids.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';
import {
  resetSandboxWallet,
  type SandboxWalletRow,
  selectSandboxWallet,
  selectSandboxWallets,
  setNextOutcome,
} from '#sandbox/queries.ts';

/** A test user's sandbox wallet, as the app's owner sees it. */
export interface SandboxWallet {
  readonly userId: EndUserId;
  readonly balance: Micros;
  readonly held: Micros;
  readonly cap: Micros | undefined;
  readonly isSuspended: boolean;
  readonly requests: number;
  readonly tokens: number;
  /** What this user's next call will play. Undefined: what its model asks for. */
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
  /** Replaces a test user's wallet with a new one. Calls that still run end without a charge. */
  readonly reset: (appId: AppId, userId: EndUserId, reset: SandboxReset) => Promise<SandboxWallet>;
  /** Sets what this user's next call that gets a hold will play in place of the outcome of its model, once (decision 0058). Undefined clears it. */
  readonly setNext: (appId: AppId, userId: EndUserId, outcome: SandboxOutcome | undefined) => Promise<SandboxWallet>;
}

export function createSandboxWallets(pool: Pool, grant: Micros): SandboxWallets {
  return {
    list: async (appId, page) => (await selectSandboxWallets(pool, { appId, ...page })).map(walletOf),
    find: async (appId, userId) => {
      const row = await selectSandboxWallet(pool, appId, userId);
      return row && walletOf(row);
    },
    reset: async (appId, userId, { balance = grant, cap, isSuspended = false }) =>
      walletOf(await resetSandboxWallet(pool, { appId, userId, balance, cap, isSuspended })),
    setNext: async (appId, userId, outcome) => walletOf(await setNextOutcome(pool, { appId, userId, grant, outcome })),
  };
}

function walletOf(row: SandboxWalletRow): SandboxWallet {
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
