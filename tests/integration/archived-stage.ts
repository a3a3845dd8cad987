import assert from 'node:assert/strict';
import type { KeyId } from '../../packages/service/src/kernel/values/ids.ts';
import { closeMonth } from '../../packages/service/src/ledger/closing/close.ts';
import { settleLate } from '../../packages/service/src/ledger/settlement/queries.ts';
import { callIdAt } from '../support/call-ids.ts';
import { endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { rewrite } from '../support/rewrite.ts';
import { sql } from '../support/sql.ts';

const KEY = 'key_budget' as KeyId;

const at = (day: string): Date => new Date(`${day}T12:00:00Z`);

/** A call that began then, and ended a minute later. */
async function callOn(
  ledger: LedgerDatabase,
  user: string,
  day: string,
  charge: number,
  budget?: { key: KeyId; micros: bigint },
): Promise<string> {
  const request = {
    ...holdOf(user, 10, budget === undefined ? {} : { budget: budget as never }),
    callId: callIdAt(at(day)),
  };
  assert.deepEqual(await ledger.reserve([request]), [10]);
  await ledger.settle([endOf(request, charge)]);
  await rewrite(ledger.database, 'update usage.calls set settled_at = $2 where call_id = $1', [
    request.callId,
    new Date(at(day).getTime() + 60_000).toISOString(),
  ]);
  return request.callId;
}

/**
 * Fills January and February of 2025 with every kind of receipt, closes them, and adds a later call. There are wallets
 * of `user` and `other`.
 */
export async function fillAndClose(ledger: LedgerDatabase): Promise<void> {
  await callOn(ledger, 'user', '2025-01-05', 3);
  await callOn(ledger, 'user', '2025-01-06', 0);
  await callOn(ledger, 'other', '2025-01-06', 2, { key: KEY, micros: 1_000n });
  await ledger.credit('user', 5);
  await callOn(ledger, 'user', '2025-01-31', 4);
  const late = { ...holdOf('user', 10), callId: callIdAt(at('2025-01-31')) }; // Ends after a call of February.
  await ledger.reserve([late]);
  await callOn(ledger, 'user', '2025-02-01', 1);
  await ledger.settle([endOf(late, 6)]);
  await ledger.open('clawed', 10);
  const partly = { ...holdOf('clawed', 10), callId: callIdAt(at('2025-01-31')) };
  await ledger.reserve([partly]);
  await ledger.takeBack('clawed', 6);
  await ledger.settle([endOf(partly, 9)]); // A charge that is in the journal.
  await rewrite(
    ledger.database,
    `update usage.calls set model = 'a "model", \n of ours', rare_counts = '{"audio": 3}', correlation_id = ''
     where charged_micros = 3`,
  );
  const cut = { ...holdOf('other', 10), callId: callIdAt(at('2025-01-20')) }; // Released, and charged late.
  await ledger.reserve([cut]);
  await sql(ledger)`select ledger.settle(array[ledger.expired(${cut.callId})])`;
  assert.equal((await settleLate(ledger.live, [endOf(cut, 8)]))[0]?.charged, 8n);
  await rewrite(
    ledger.database,
    `update usage.calls set settled_at = '2025-02-01T12:05:00Z' where settled_at > '2025-03-01'`,
  );
  await callOn(ledger, 'user', '2025-12-24', 5);
  assert.deepEqual(await ledger.differences(), []);
  for (const month of ['2025-01', '2025-02']) await closeMonth(ledger.database.owner, month);
}
