import { type BenchApp, fundUser } from '../../../benchmarks/support/database.ts';
import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import type { Call } from './load.ts';
import { sql } from '../../support/sql.ts';

/** How many users have little money. */
export const POOR = 6;
/** It pays for about twenty plain calls of the load. Each of these users makes far more. */
const FUNDS_MICROS = 1_200;

/** Opens the wallets of those whom the load calls for after this `go`, counted from 1. */
export async function fundPoor(owner: Pool, app: BenchApp, go: number): Promise<void> {
  for (let n = 0; n < POOR; n += 1) await fundUser(owner, app, `poor-${go}-${n}`, FUNDS_MICROS);
}

/** What became of the users with little money. */
export type Admission = Awaited<ReturnType<typeof judgeAdmission>>;

interface Spent {
  readonly user: string;
  readonly left: number;
  /** What the user owes, with what calls cost beyond their holds. */
  readonly owed: number;
  readonly charged: number;
  readonly hold: number;
}

/** Compares their wallets with their receipts, over all cells, when nothing is held (WA-02). */
export async function judgeAdmission(owners: readonly Pool[], calls: readonly Call[]) {
  const refusals = calls.filter(({ user, status }) => user.startsWith('poor-') && status === 402);
  const refused = new Set(refusals.map(({ user }) => user));
  const poor = [...new Set(calls.map(({ user }) => user))].filter((user) => user.startsWith('poor-'));
  const rows = new Map<string, Spent[]>();
  for (const owner of owners) {
    for (const row of await spentBy(owner, poor)) rows.set(row.user, [...(rows.get(row.user) ?? []), row]);
  }
  const sum = (user: string, of: (row: Spent) => number): number =>
    (rows.get(user) ?? []).reduce((total, row) => total + of(row), 0);
  const isOverspent = (user: string): boolean =>
    sum(user, ({ left, charged }) => left + charged) !== FUNDS_MICROS || sum(user, ({ owed }) => owed) > 0;
  const isSpentOut = (user: string): boolean =>
    refused.has(user) && sum(user, ({ left }) => left) < Math.max(...(rows.get(user) ?? []).map(({ hold }) => hold));
  return {
    /** The number of their calls that were refused for want of funds. */
    refused: refusals.length,
    /** Users who were refused, and have less left than the largest hold of their calls. A run without any proves nothing. */
    spentOut: poor.filter(isSpentOut).length,
    /** Users who were charged something else than what left their wallets, who owe something, or whose calls cost more than their holds. Must be 0. */
    overspent: poor.filter(isOverspent).length,
  };
}

async function spentBy(owner: Pool, users: readonly string[]): Promise<readonly Spent[]> {
  return sql<Spent>(owner)`
    select w.user_id as user, w.balance_micros::float8 as left, (w.shortfall_micros + coalesce(j.overrun, 0))::float8 as owed,
      coalesce(c.charged, 0)::float8 as charged, coalesce(c.hold, 0)::float8 as hold
    from ledger.wallets w
    left join lateral (
      select sum(charged_micros) as charged, max(held_micros) as hold from usage.calls where wallet_id = w.wallet_id
    ) c on true
    left join lateral (
      select sum(amount_micros) as overrun from ledger.journal where wallet_id = w.wallet_id and kind = 'charge_overrun'
    ) j on true
    where w.user_id = any (${users}::text[])`;
}
