import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { judge } from '../failover/books.ts';
import type { Call } from '../failover/load.ts';
import { sql } from '../../support/sql.ts';

/** What callers were told, against the books of both cells: lists of calls by their tags. Each must be empty. */
export async function judgeBoth(
  owners: readonly [Pool, Pool],
  calls: readonly Call[],
): Promise<Readonly<Record<string, readonly string[]>>> {
  const one = await judge(owners[0], calls);
  const two = await judge(owners[1], calls);
  const [notInOne, notInTwo] = [new Set(one.lost), new Set(two.lost)];
  const told = calls.flatMap(({ tag, toldMicros = 0 }) => (toldMicros > 0 ? [tag] : []));
  return {
    'told and not booked': told.filter((tag) => notInOne.has(tag) && notInTwo.has(tag)),
    'told otherwise': [...one.different, ...two.different],
    'booked twice': [...one.twice, ...two.twice, ...told.filter((tag) => !notInOne.has(tag) && !notInTwo.has(tag))],
    'refused and charged': [...one.chargedRefusals, ...two.chargedRefusals],
  };
}

/** The money in the wallets of a cell, and what it has charged and lost, in micros. */
export async function sumsOf(owner: Pool): Promise<{ readonly wallets: bigint; readonly charged: bigint }> {
  const rows = await sql<{ wallets: bigint; charged: bigint }>(owner)`
    select (select coalesce(sum(balance_micros), 0)::bigint from ledger.wallets) as wallets,
    (select coalesce(sum(charged_micros), 0)::bigint from usage.calls) as charged`;
  const [row = { wallets: 0n, charged: 0n }] = rows;
  return row;
}
