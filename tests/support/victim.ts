import assert from 'node:assert/strict';
import type { Queryable } from '../../packages/service/src/db/pool/pool.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from './ledger-database.ts';
import { rewrite } from './rewrite.ts';
import { sql } from './sql.ts';

/**
 * A wallet with a credit, two charges, a failed call, a hold and a stream. Also another wallet, one whose provider billed
 * more than was held, one that could pay only a part of a call, and one with a charge from before receipts were entries.
 */
export async function createVictim(): Promise<LedgerDatabase> {
  const ledger = await createLedgerDatabase();
  await ledger.open('victim', 1_000);
  await ledger.open('other', 500);
  await ledger.open('overrun', 500);
  const calls = [100, 100, 100].map((amount) => holdOf('victim', amount));
  const overrun = holdOf('overrun', 50);
  await ledger.reserve([...calls, holdOf('victim', 60, { streamsMax: 4 }), holdOf('victim', 40), overrun]);
  await ledger.settle(calls.map((call, index) => endOf(call, [30, 20, 0][index] ?? 0)));
  await ledger.settle([endOf(overrun, 61)]);
  await ledger.open('clawed', 100);
  await ledger.open('early', 100);
  const [partly, early] = [holdOf('clawed', 80), holdOf('early', 50)];
  await ledger.reserve([partly, early]);
  await ledger.takeBack('clawed', 60);
  await ledger.settle([endOf(partly, 70), endOf(early, 25)]);
  await bookAsBefore(ledger, early.callId);
  assert.deepEqual(await ledger.differences(), []);
  return ledger;
}

/** Books the charge of a call in the journal, as it was done before receipts were entries. */
async function bookAsBefore({ database }: LedgerDatabase, callId: string): Promise<void> {
  await sql(database)`insert into ledger.journal select * from ledger.entries where kind = 'charge'
    and cause = ${callId}`;
  await rewrite(database, 'update usage.calls set seq = null, balance_after_micros = null where call_id = $1', [
    callId,
  ]);
}

export const VICTIM = `(select wallet_id from ledger.wallets where user_id = 'victim')`;

/** Changes rows past all rights, triggers and constraints, runs the check, and undoes the change. */
export async function afterTampering<Seen>(
  { database }: LedgerDatabase,
  tampering: readonly string[],
  look: (db: Queryable) => Promise<Seen>,
): Promise<Seen> {
  const client = await database.owner.connect();
  try {
    await client.query('begin');
    await client.query('set local session_replication_role = replica'); // No triggers.
    for (const text of tampering) {
      const { rowCount } = await client.query(text);
      if (!text.startsWith('alter')) assert.ok((rowCount ?? 0) > 0, `changed nothing: ${text}`);
    }
    return await look(client);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

export const STRAY = 'every row belongs to a wallet: 0, not 1';

export const ofVictim = (assignment: string): string =>
  `update ledger.wallets set ${assignment} where user_id = 'victim'`;

export interface Tampering {
  readonly what: string;
  readonly by: readonly string[];
  /** The findings of the full check. */
  readonly found: readonly string[];
  /** The findings of the incremental check if they differ. It starts from wallets and their entries. */
  readonly foundAsNew?: readonly string[];
}
