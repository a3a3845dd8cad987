import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import type { Books, BudgetRow, Entry, Receipt, WalletRow } from './history-log.ts';
import { sleep } from './sleep.ts';
import { sqlValue } from '../../support/sql.ts';

const LOOK_MS = 250;

/** Reads the books of an app's wallets, except those in `without`, in one snapshot. */
export async function readBooks(pool: Pool, appId: string, without: readonly string[]): Promise<Books> {
  const client = await pool.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const ours = 'w.app_id = $1 and w.user_id <> all ($2::text[])';
    const values = [appId, without];
    const receipts = await client.query<Receipt>(
      `select c.call_id::text as "callId", w.user_id as "user", c.outcome, c.is_estimated as "isEstimated",
         c.held_micros::float8 as held, c.charged_micros::float8 as charged, c.correlation_id as "correlationId",
         c.budget_key as "budgetKey", c.month::text as month, l.call_id::text as "lateFor"
       from usage.calls c join ledger.wallets w on w.wallet_id = c.wallet_id
       left join usage.late_receipts l on l.receipt_id = c.call_id where ${ours}`,
      values,
    );
    const entries = await client.query<Entry>(
      `select w.user_id as "user", e.kind::text as kind, e.cause, e.amount_micros::float8 as amount
       from ledger.entries e join ledger.wallets w on w.wallet_id = e.wallet_id where ${ours}`,
      values,
    );
    const wallets = await client.query<WalletRow>(
      `select w.user_id as "user", w.balance_micros::float8 as balance, w.held_micros::float8 as held,
         w.shortfall_micros::float8 as shortfall, w.is_suspended as "isSuspended"
       from ledger.wallets w where ${ours}`,
      values,
    );
    const budgets = await client.query<BudgetRow>(
      `select key_id as line, month::text as month, spent_micros::float8 as spent, held_micros::float8 as held
       from ledger.key_budgets`,
    );
    const holds = await client.query<{ holds: number }>('select count(*)::int as holds from ledger.holds');
    await client.query('commit');
    return {
      receipts: receipts.rows.map((row) => ({
        ...row,
        correlationId: row.correlationId ?? undefined,
        budgetKey: row.budgetKey ?? undefined,
        lateFor: row.lateFor ?? undefined,
      })),
      entries: entries.rows,
      wallets: wallets.rows,
      budgets: budgets.rows,
      holdsLeft: holds.rows[0]?.holds ?? -1,
    };
  } finally {
    client.release();
  }
}

/** Waits until no hold is left, up to a limit. A hold that is left then has leaked, and the books show it. */
export async function untilNoHolds(pool: Pool, waitMsMax: number): Promise<void> {
  const limit = performance.now() + waitMsMax;
  while (performance.now() < limit) {
    const holds = await sqlValue<number>(pool)`select count(*)::int as holds from ledger.holds`;
    if (holds === 0) return;
    await sleep(LOOK_MS);
  }
}
