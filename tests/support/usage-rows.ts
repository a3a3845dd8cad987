import { type CorrelationId, newCallId, parseCallId } from '../../packages/service/src/kernel/values/ids.ts';
import { settleLate } from '../../packages/service/src/ledger/settlement/queries.ts';
import type { TestDatabase } from './database.ts';
import { endOf } from './ledger-database.ts';
import { sql } from './sql.ts';

/** A receipt like the ledger's, for reports over days and outcomes that no test can wait for. */
export interface UsageRow {
  readonly appId: string;
  readonly user: string;
  /** The time in UTC, as `2026-03-31T23:59:59.999Z`. */
  readonly at: string;
  /** The month of the hold. By default the month of `at`. */
  readonly month?: string;
  readonly model?: string;
  readonly outcome?: string;
  readonly charged?: number;
}

/** Writes the row as the owner of the tables, without the ledger. The ledger's check would report it. */
export async function addUsage({ owner }: TestDatabase, row: UsageRow): Promise<string> {
  const callId = newCallId();
  const { outcome = 'answered', charged = outcome === 'failed' ? 0 : 7 } = row;
  await sql(owner)`
    insert into usage.calls (call_id, wallet_id, month, model, outcome, is_estimated, prompt_tokens, cached_tokens,
      completion_tokens, reasoning_tokens, held_micros, charged_micros, settled_at)
    select ${callId}, wallet_id, ${`${row.month ?? row.at.slice(0, 7)}-01`}, ${row.model ?? 'acme.large-1'}, ${outcome}, false, 3, 1, 2, 1, 100, ${charged}, ${row.at}
    from ledger.wallets where app_id = ${row.appId} and user_id = ${row.user}`;
  return callId;
}

/** A call that is charged now, by the ledger, after its hold of 100 was released (WA-10). Gives its id as its caller knows it. */
export async function addLateCharge(
  database: TestDatabase,
  { correlationId, charge, ...row }: Pick<UsageRow, 'appId' | 'user'> & { correlationId: string; charge: number },
): Promise<string> {
  const at = new Date().toISOString();
  const callId = parseCallId(await addUsage(database, { ...row, at, outcome: 'expired', charged: 0 }));
  if (callId === undefined) throw new Error('A call has no id.');
  const settlement = { ...endOf({ callId }, charge), correlationId: correlationId as CorrelationId };
  await settleLate(database.owner, [settlement]);
  return callId;
}
