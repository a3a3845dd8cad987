import { holdRequests } from '#db/records/hold-request.ts';
import { namedSessions } from '#db/records/named-session.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { HoldRequest, HoldRow } from '#kernel/calls/hold.ts';
import type { CallId, KeyId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { type SandboxSettlement, sandboxSettlementRecords } from '#sandbox/holds/settlement.ts';

/** The field `plays` holds the outcome that was set for this call (decision 19). */
type SandboxHoldRow = HoldRow & { readonly plays: string | null };

/** Places a hold in the sandbox wallet of each request (see `place.sql`). */
export async function reserveSandboxHolds(
  db: Queryable,
  instanceId: bigint,
  grant: Micros,
  requests: readonly HoldRequest[],
): Promise<readonly SandboxHoldRow[]> {
  const { rows } = await db.query<SandboxHoldRow>({
    name: 'sandbox_place',
    text: 'select call_id, outcome, granted, earlier, plays from sandbox.place($1, $2, $3)',
    values: [instanceId, grant, holdRequests(requests)],
  });
  return rows;
}

/** `is_joined` means that nothing has ended, because a retry waits for the answer. */
interface SandboxSettledRow {
  readonly call_id: CallId;
  readonly charged: bigint;
  readonly is_joined: boolean;
}

/** Ends calls (see `settle.sql`). A call that has ended already stays as it is. */
export async function settleSandboxHolds(
  db: Queryable,
  settlements: readonly SandboxSettlement[],
): Promise<readonly SandboxSettledRow[]> {
  const { rows } = await db.query<SandboxSettledRow>({
    name: 'sandbox_settle',
    text: 'select call_id, charged, is_joined from sandbox.settle($1, $2)',
    values: [sandboxSettlementRecords(settlements), namedSessions(settlements)],
  });
  return rows;
}

/** Releases at most `most` holds of fenced processes and returns how many it released. */
export async function reapSandboxHolds(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ released: number }>(`select sandbox.reap($1) as released`, [most]);
  return rows[0]?.released ?? 0;
}

interface KeyBudgetRow {
  readonly key_id: KeyId;
  readonly spent_micros: bigint;
  readonly held_micros: bigint;
}

/** Reads this month's budgets of API keys (see `budgets_of.sql`). */
export async function selectKeyBudgets(db: Queryable, lines: readonly KeyId[]): Promise<readonly KeyBudgetRow[]> {
  const { rows } = await db.query<KeyBudgetRow>(
    'select key_id, spent_micros, held_micros from sandbox.budgets_of($1)',
    [lines],
  );
  return rows;
}
