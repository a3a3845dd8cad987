import type { Pool } from '#db/pool/pool.ts';
import type { Movement } from '#payments/processor/movement.ts';
import { type BookedRow, selectBooked, selectBookedBetween } from '#payments/check/queries.ts';
import { type Booked, keyOf, nameOf } from '#reconciliation/reports/compare.ts';
import { FileFault } from '#reconciliation/files/file-fault.ts';
import { type Period, startOf } from '#reconciliation/files/period.ts';
import { selectItems } from '#reconciliation/reports/queries.ts';

/** The number is more than any report may have. */
const BOOKED_MAX = 300_000;
/** Ids of one statement. */
const IDS_MAX = 5_000;

interface BooksQuery {
  readonly processor: string;
  readonly period: Period;
  readonly movements: readonly Movement[];
  /** The same report, if it was filed: its own items are no second filing. */
  readonly sameSeq: bigint | undefined;
}

/** What our books have of the period, and of the ids that the report names. Statements of at most 5,000 ids, by index. */
export async function readBooks(db: Pool, { processor, period, movements, sameSeq }: BooksQuery) {
  const time = { from: startOf(period.from), to: startOf(period.to), most: BOOKED_MAX };
  const ofPeriod = (await selectBookedBetween(db, processor, time)).map(bookedOf);
  if (ofPeriod.length === BOOKED_MAX)
    throw new FileFault('Our books have too many movements. Choose a shorter period.', { isTooLarge: true });
  const booked = new Map(ofPeriod.map((one) => [keyOf(one.kind, one.processorId), one]));
  const filed = new Map<string, string>();
  for (let at = 0; at < movements.length; at += IDS_MAX) {
    const some = movements.slice(at, at + IDS_MAX);
    const ids = { payment: [] as string[], refund: [] as string[], movement: [] as string[] };
    for (const movement of some) {
      const name = nameOf(movement);
      if (name?.id !== undefined && !booked.has(keyOf(name.kind, name.id))) ids[name.kind].push(name.id);
    }
    const rows = await selectBooked(db, processor, {
      payments: ids.payment,
      refunds: ids.refund,
      movements: ids.movement,
    });
    for (const one of rows.map(bookedOf)) booked.set(keyOf(one.kind, one.processorId), one);
    await addFiled(filed, db, {
      processor,
      sameSeq,
      transactions: some.map(({ transaction }) => transaction),
      subjects: [],
    });
  }
  const keys = [...booked.keys()];
  for (let at = 0; at < keys.length; at += IDS_MAX) {
    await addFiled(filed, db, { processor, sameSeq, transactions: [], subjects: keys.slice(at, at + IDS_MAX) });
  }
  return { booked, ofPeriod, filed };
}

interface ItemsQuery {
  readonly processor: string;
  readonly sameSeq: bigint | undefined;
  readonly transactions: readonly string[];
  readonly subjects: readonly string[];
}

async function addFiled(
  filed: Map<string, string>,
  db: Pool,
  { processor, sameSeq, ...ids }: ItemsQuery,
): Promise<void> {
  for (const { transaction, subject, report_seq: seq } of await selectItems(db, processor, ids)) {
    if (seq !== sameSeq) filed.set(transaction, subject);
  }
}

function bookedOf({
  kind,
  processor_id: processorId,
  payment_id: paymentId,
  amount_micros: amount,
  currency,
  at,
  state,
}: BookedRow): Booked {
  return { kind, processorId, paymentId, amount, currency, atMs: at.getTime(), state };
}
