import type { Queryable } from '../../packages/service/src/db/pool/pool.ts';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import type { ReservedRow } from '../../packages/service/src/ledger/hold/queries.ts';
import type { SettledRow } from '../../packages/service/src/ledger/settlement/queries.ts';
import type { Settlement } from '../../packages/service/src/ledger/settlement/settlement.ts';
import { takeOrdinary, takeTurn } from '../../packages/service/src/ledger/turn/queries.ts';

/** The instance is nobody's: a turn that only settles does not look for its process. */
const NO_INSTANCE = 0n;

/** A turn that only places holds. */
export async function placeHolds(
  db: Queryable,
  instance: bigint,
  requests: readonly HoldRequest[],
): Promise<readonly ReservedRow[]> {
  const { placed } = await takeTurn(db, instance, { settlements: [], requests });
  return placed;
}

/** A turn that only settles. */
export async function endHolds(db: Queryable, settlements: readonly Settlement[]): Promise<readonly SettledRow[]> {
  const { settled } = await takeTurn(db, NO_INSTANCE, { settlements, requests: [] });
  return settled;
}

interface Parts<Item> {
  readonly done: readonly Item[];
  readonly left: readonly Item[];
}

/** What the ordinary statement does of these, and what it leaves. */
export async function placeOrdinary(
  db: Queryable,
  instance: bigint,
  requests: readonly HoldRequest[],
): Promise<Parts<HoldRequest>> {
  const { done, left } = await takeOrdinary(db, instance, { settlements: [], requests });
  return { done: done.requests, left: left.requests };
}

export async function endOrdinary(db: Queryable, settlements: readonly Settlement[]): Promise<Parts<Settlement>> {
  const { done, left } = await takeOrdinary(db, NO_INSTANCE, { settlements, requests: [] });
  return { done: done.settlements, left: left.settlements };
}
