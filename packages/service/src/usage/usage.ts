import type { Pool } from '#db/pool.ts';
import type { CallId } from '#kernel/ids.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';
import { selectCallsOfWallet, selectMonthByModel } from '#usage/queries.ts';

/** A UTC calendar month as `YYYY-MM`, of this millennium. */
const MONTH = /^2\d{3}-(0[1-9]|1[0-2])$/;

export interface ModelUsage {
  readonly model: string;
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly charged: Micros;
}

/** What one call used. */
export interface CallUsage {
  /** Undefined where the process died. */
  readonly model: string | undefined;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface UsageReader {
  /** What a wallet used in a UTC month, by resolved model (MO-07). Receipts are written by the ledger's settlement. */
  readonly ofMonth: (walletId: bigint, month: string) => Promise<readonly ModelUsage[]>;
  /** What calls of a wallet used, by call. Those of others are not there. */
  readonly ofCalls: (walletId: bigint, calls: readonly CallId[]) => Promise<ReadonlyMap<CallId, CallUsage>>;
}

export function createUsage(pool: Pool): UsageReader {
  return {
    ofMonth: async (walletId, month) => {
      const rows = await selectMonthByModel(pool, walletId, `${month}-01`);
      return rows.map((row) => ({
        model: row.model,
        requests: Number(row.requests),
        promptTokens: Number(row.prompt_tokens),
        completionTokens: Number(row.completion_tokens),
        charged: microsFromRow(row.charged_micros),
      }));
    },
    ofCalls: async (walletId, calls) => {
      const rows = calls.length === 0 ? [] : await selectCallsOfWallet(pool, walletId, calls);
      return new Map(
        rows.map((row) => [
          row.call_id,
          {
            model: row.model ?? undefined,
            promptTokens: Number(row.prompt_tokens),
            completionTokens: Number(row.completion_tokens),
          },
        ]),
      );
    },
  };
}

/** True for `YYYY-MM` with a month that exists, from 2000 to 2999. */
export function isMonth(text: string): boolean {
  return MONTH.test(text);
}
