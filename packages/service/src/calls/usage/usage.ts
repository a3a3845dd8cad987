import type { Pool } from '#db/pool/pool.ts';
import type { AppId, CallId, EndUserId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { type ReadSessions, sessionReaderOf } from '#kernel/calls/session-page.ts';
import { selectCallsOfWallet, selectMonthByModel, selectReceipt } from '#calls/usage/queries.ts';
import { type CallReceipt, receiptOf } from '#calls/usage/report.ts';
import { selectSessions } from '#calls/sessions/queries.ts';

/** A UTC calendar month as `YYYY-MM`, from 2000 to 2999. */
const MONTH = /^2\d{3}-(0[1-9]|1[0-2])$/;

/** One model's share of a wallet's month. */
export interface ModelUsage {
  readonly model: string;
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly charged: Micros;
}

/** The usage of one call. */
export interface CallUsage {
  /** The model. It is undefined when the process of the call died. */
  readonly model: string | undefined;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Tells whether the call was charged after its hold had been released (WA-10). */
  readonly isLate: boolean;
  /** The session that its client named (CP-19). */
  readonly session: string | undefined;
}

/** A wallet, as its usage is looked up by. */
interface UsedWallet {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly walletId: bigint;
}

export interface UsageReader {
  /** A wallet's usage in a UTC month, by resolved model (MO-07). The ledger writes the receipts when it settles a call. */
  readonly ofMonth: (wallet: UsedWallet, month: string) => Promise<readonly ModelUsage[]>;
  /** The usage of single calls of a wallet, by call id. Calls of other wallets are left out. */
  readonly ofCalls: (wallet: UsedWallet, calls: readonly CallId[]) => Promise<ReadonlyMap<CallId, CallUsage>>;
  /** The receipt of a call of this user. Undefined if it is another one's, or still runs. */
  readonly receipt: (appId: AppId, userId: EndUserId, callId: CallId) => Promise<CallReceipt | undefined>;
  /** What sessions of coding agents have cost this user, in this cell (CP-19). */
  readonly sessions: ReadSessions;
}

export function createUsage(pool: Pool): UsageReader {
  return {
    ofMonth: async ({ walletId }, month) => {
      const rows = await selectMonthByModel(pool, walletId, `${month}-01`);
      return rows.map((row) => ({
        model: row.model,
        requests: Number(row.requests),
        promptTokens: Number(row.prompt_tokens),
        completionTokens: Number(row.completion_tokens),
        charged: microsFromRow(row.charged_micros),
      }));
    },
    ofCalls: async ({ walletId }, calls) => {
      const rows = calls.length === 0 ? [] : await selectCallsOfWallet(pool, walletId, calls);
      return new Map(
        rows.map((row) => [
          row.call_id,
          {
            model: row.model ?? undefined,
            promptTokens: Number(row.prompt_tokens),
            completionTokens: Number(row.completion_tokens),
            isLate: row.is_late,
            session: row.session ?? undefined,
          },
        ]),
      );
    },
    receipt: async (appId, userId, callId) => {
      const row = await selectReceipt(pool, appId, callId);
      return row?.user_id === userId ? receiptOf(row) : undefined;
    },
    sessions: createSessions(pool),
  };
}

export function createSessions(pool: Pool): ReadSessions {
  return sessionReaderOf((user, page) => selectSessions(pool, user, page));
}

/** Returns true for `YYYY-MM` with a real month, from 2000 to 2999. */
export function isMonth(text: string): boolean {
  return MONTH.test(text);
}
