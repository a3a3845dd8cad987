import type { Pool } from '#db/pool/pool.ts';
import type { CallId } from '#kernel/values/ids.ts';
import { type BookedRow, selectBookedCalls } from '#ledger/told/queries.ts';
import { linesOf, type ToldCharge, toldBy } from '#ledger/told/lines.ts';

/** A told charge that the books do not have as it was told. Amounts are in micros. */
export interface ToldDifference {
  readonly callId: CallId;
  /** With `missing`, nothing is booked for it. With `doubled`, it was charged in time and late as well. */
  readonly kind: 'missing' | 'different' | 'doubled';
  readonly told: bigint;
  readonly booked: bigint;
}

/** What a comparison has found. Sums are in micros. */
interface ToldSums {
  /** Lines of all kinds. */
  lines: number;
  /** Lines that are neither JSON of a log nor a whole settlement, such as one that was cut off. */
  malformed: number;
  /** Lines that tell a charge, also of 0. A call that is in a log and in a settlement file counts for each. */
  told: number;
  toldMicros: bigint;
  bookedMicros: bigint;
  /**
   * The told charges whose calls still hold their money, because their settlement is under way. They are not booked
   * yet.
   */
  waiting: number;
  waitingMicros: bigint;
  /** The told charges of calls whose receipts are in archives. They cannot be compared. */
  archived: number;
  missing: number;
  missingMicros: bigint;
  different: number;
  doubled: number;
  /** Calls that were charged late, and what the operator lost by them. */
  late: number;
  lostMicros: bigint;
}

/** This many calls are looked up with one statement, and they are all that is kept in memory. */
const BATCH_MAX = 1_000;

/**
 * Compares the charges that callers were told with the books (WA-14). `ledger check` proves that the books agree with
 * themselves, and cannot see a charge that never reached them. Changes nothing. Each difference is handed to `report`.
 */
export async function compareTold(
  pool: Pool,
  texts: AsyncIterable<string>,
  report: (difference: ToldDifference) => void,
): Promise<ToldSums> {
  const sums: ToldSums = {
    lines: 0,
    malformed: 0,
    told: 0,
    toldMicros: 0n,
    bookedMicros: 0n,
    waiting: 0,
    waitingMicros: 0n,
    archived: 0,
    missing: 0,
    missingMicros: 0n,
    different: 0,
    doubled: 0,
    late: 0,
    lostMicros: 0n,
  };
  let batch: ToldCharge[] = [];
  const compare = async (): Promise<void> => {
    const rows = await selectBookedCalls(
      pool,
      batch.map(({ callId }) => callId),
    );
    const byCall = new Map(rows.map((row) => [row.call_id, row]));
    for (const told of batch) judge(told, byCall.get(told.callId), sums, report);
    batch = [];
  };
  for await (const line of linesOf(texts)) {
    sums.lines += 1;
    const read = toldBy(line);
    if (read === 'malformed') sums.malformed += 1;
    if (typeof read !== 'string') batch.push(read);
    if (batch.length === BATCH_MAX) await compare();
  }
  await compare();
  return sums;
}

function judge(
  { callId, micros, isSpooled }: ToldCharge,
  row: BookedRow | undefined,
  sums: ToldSums,
  report: (difference: ToldDifference) => void,
): void {
  const held = row?.held ?? micros;
  const told = isSpooled && micros > held ? held : micros;
  sums.told += 1;
  sums.toldMicros += told;
  if (row?.is_running === true) {
    sums.waiting += 1;
    sums.waitingMicros += told;
    return;
  }
  if (row?.is_archived === true) {
    sums.archived += 1;
    return;
  }
  const late = row?.late ?? 0n;
  const lost = row?.lost ?? 0n;
  const booked = (row?.charged ?? 0n) + late + lost;
  sums.bookedMicros += booked;
  sums.late += Number(row?.is_late ?? false);
  sums.lostMicros += lost;
  const isDoubled = row?.is_late === true && row.charged > 0n;
  if (booked === told && !isDoubled) return;
  const kind = isDoubled ? 'doubled' : booked === 0n ? 'missing' : 'different';
  sums[kind] += 1;
  if (kind === 'missing') sums.missingMicros += told;
  report({ callId, kind, told, booked });
}
