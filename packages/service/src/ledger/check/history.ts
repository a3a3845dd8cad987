import { hostname } from 'node:os';
import type { Pool } from '#db/pool/pool.ts';
import type { LedgerCheck } from '#ledger/check/check.ts';
import { insertCheck, selectChecks } from '#ledger/check/queries.ts';

/** What checks of the ledger found: a full one, or those of changes within an hour. */
export interface PastCheck {
  readonly kind: 'full' | 'changes';
  /** When the check began. For `changes` it is the beginning of the hour. */
  readonly begunAtMs: number;
  readonly endedAtMs: number;
  /** The last process that ran one. */
  readonly process: string;
  readonly passes: number;
  readonly wallets: number;
  readonly longestMs: number;
  /** The most that one of them found. */
  readonly differences: bigint;
}

const PROCESS_LENGTH_MAX = 200;

/** Keeps the result of a check and how long it took, with the name of this process, for 90 days. */
export async function noteCheck(pool: Pool, kind: PastCheck['kind'], check: LedgerCheck, ms: number): Promise<void> {
  const by = `${process.pid}@${hostname()}`.slice(0, PROCESS_LENGTH_MAX);
  const { wallets, found } = check;
  await insertCheck(pool, { kind, process: by, wallets, ms: BigInt(Math.round(ms)), differences: found });
}

/** Lists what checks found, the last first. */
export async function listChecks(pool: Pool, most: number): Promise<readonly PastCheck[]> {
  return (await selectChecks(pool, most)).map((row) => ({
    kind: row.kind,
    begunAtMs: row.begun_at.getTime(),
    endedAtMs: row.ended_at.getTime(),
    process: row.process,
    passes: row.passes,
    wallets: Number(row.wallets),
    longestMs: Number(row.longest_ms),
    differences: row.differences,
  }));
}
