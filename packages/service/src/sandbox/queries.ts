import { plainArray, textArray } from '#db/array-literal.ts';
import type { Queryable } from '#db/pool.ts';
import type { HoldOutcome, HoldRequest } from '#kernel/hold.ts';
import type { CallId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
import type { SandboxSettlement } from '#sandbox/settlement.ts';

interface SandboxReservedRow {
  readonly call_id: CallId;
  readonly outcome: HoldOutcome;
  readonly granted: bigint;
}

/** Places a hold for each request in its fake wallet, see `sandbox.reserve` in the migrations. */
export async function reserveSandboxHolds(
  db: Queryable,
  instanceId: bigint,
  grant: Micros,
  requests: readonly HoldRequest[],
): Promise<readonly SandboxReservedRow[]> {
  const { rows } = await db.query<SandboxReservedRow>({
    name: 'sandbox_reserve',
    text: `select call_id, outcome, granted from sandbox.reserve($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      instanceId,
      plainArray(requests.map(({ callId }) => callId)),
      textArray(requests.map(({ appId }) => appId)),
      textArray(requests.map(({ userId }) => userId)),
      plainArray(requests.map(({ least }) => least)),
      plainArray(requests.map(({ most }) => most)),
      plainArray(requests.map(({ streamsMax }) => streamsMax)),
      grant,
    ],
  });
  return rows;
}

interface SandboxSettledRow {
  readonly call_id: CallId;
  readonly charged: bigint;
}

/** Ends each call, see `sandbox.settle` in the migrations. */
export async function settleSandboxHolds(
  db: Queryable,
  settlements: readonly SandboxSettlement[],
): Promise<readonly SandboxSettledRow[]> {
  const { rows } = await db.query<SandboxSettledRow>({
    name: 'sandbox_settle',
    text: `select call_id, charged from sandbox.settle($1, $2, $3)`,
    values: [
      plainArray(settlements.map(({ callId }) => callId)),
      plainArray(settlements.map(({ charge }) => charge)),
      plainArray(settlements.map(({ tokens }) => tokens)),
    ],
  });
  return rows;
}

/** Releases at most `most` holds of fenced processes. Gives how many. */
export async function reapSandboxHolds(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ released: number }>(`select sandbox.reap($1) as released`, [most]);
  return rows[0]?.released ?? 0;
}
