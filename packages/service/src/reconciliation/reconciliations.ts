import { createHash } from 'node:crypto';
import type { Pool } from '#db/pool.ts';
import type { Clock } from '#kernel/clock.ts';
import { newReconciliationId } from '#kernel/ids.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { type Act, audited, Repeated } from '#operator/acts.ts';
import type { Processor } from '#payments/processor.ts';
import { type BookedRow, selectBooked, selectBookedBetween } from '#payments/reconciliation-queries.ts';
import { type Booked, compare, type Difference, keyOf, nameOf } from '#reconciliation/compare.ts';
import { FileFault } from '#reconciliation/file-fault.ts';
import type { Movement } from '#payments/movement.ts';
import { type Period, periodRefusal, startOf } from '#reconciliation/period.ts';
import {
  insertItems,
  insertReport,
  lockReports,
  type ReportRow,
  selectItems,
  selectReports,
  selectSame,
} from '#reconciliation/queries.ts';
import { csvRecords, type Pieces, textOf } from '#reconciliation/read-file.ts';
import { readStripeReport } from '#reconciliation/stripe-report.ts';
import { type OwnSum, ownSumsOf, type Sum, sumsOf } from '#reconciliation/sums.ts';

/** A processor's own list of its movements in a time, for services with a key of it. */
export type ListMovements = NonNullable<Processor['listMovements']>;

/** A report that was found clean, as it is kept. */
export interface FiledReport {
  readonly seq: bigint;
  readonly reportId: string;
  readonly processor: string;
  readonly period: Period;
  readonly source: 'file' | 'processor';
  /** SHA-256, in hexadecimal. */
  readonly digest: string;
  readonly lines: number;
  readonly daysApart: number;
  readonly sums: readonly Sum[];
  readonly filedBy: string;
  readonly filedByName: string | undefined;
  readonly filedAtMs: number;
}

/** A report beside our books. */
export interface Reconciled {
  readonly period: Period;
  readonly digest: string;
  readonly lines: number;
  readonly matched: number;
  /** Movements of other software with the same account. */
  readonly foreign: number;
  /** At most 1,000, those about money first. */
  readonly differences: readonly Difference[];
  readonly found: number;
  /** Of these, those that are only about the day. They leave the report clean. */
  readonly daysApart: number;
  readonly sums: readonly Sum[];
  readonly ownSums: readonly OwnSum[];
  /** The report, if it is clean. */
  readonly filed: FiledReport | undefined;
}

export type ReconcileRefusal = Refusal<'BAD_REQUEST' | 'PAYLOAD_TOO_LARGE' | 'CONFLICT'>;

/** Compares what the payment processor says it moved with what our books have. Money is never changed here. */
export interface Reconciliations {
  /**
   * Compares a report with our books, and files it if it is clean. Without a file it reads the processor's own list. The same
   * report is filed once.
   */
  readonly reconcile: (act: Act, period: Period, file: Pieces | undefined) => Promise<Reconciled | ReconcileRefusal>;
  /** Filed reports, the newest first, before a number. */
  readonly filed: (page: { readonly before: bigint | undefined; readonly most: number }) => Promise<readonly FiledReport[]>;
  /** Whether the processor's own list can be read. */
  readonly hasList: boolean;
}

interface ReconciliationOptions {
  readonly pool: Pool;
  /** For statements that read a lot. */
  readonly reports: Pool;
  readonly clock: Clock;
  /** Whose movements the books have: `stripe`, or `test` where payments are tried. */
  readonly processor: string;
  readonly listMovements: ListMovements | undefined;
}

const DIFFERENCES_MAX = 1_000;
/** More than any report may have. */
const BOOKED_MAX = 300_000;
/** Ids of one statement. */
const IDS_MAX = 5_000;

export function createReconciliations(options: ReconciliationOptions): Reconciliations {
  const { reports, clock, listMovements } = options;
  return {
    hasList: listMovements !== undefined,
    filed: async ({ before, most }) => (await selectReports(reports, { before, most })).map(filedOf),
    reconcile: async (act, period, file) => {
      const refusal = periodRefusal(period, clock.nowMs());
      if (refusal !== undefined) return refusal;
      try {
        return await reconcile(options, act, period, file);
      } catch (fault) {
        if (!(fault instanceof FileFault)) throw fault;
        return refuse(fault.isTooLarge ? 'PAYLOAD_TOO_LARGE' : 'BAD_REQUEST', fault.message, { param: 'report' });
      }
    },
  };
}

async function reconcile(
  { pool, reports, processor, listMovements }: ReconciliationOptions,
  act: Act,
  period: Period,
  file: Pieces | undefined,
): Promise<Reconciled | Refusal<'CONFLICT'>> {
  const { movements, digest, source } = await readMovements(file, period, listMovements);
  const same = await selectSame(reports, { processor, digest, ...period });
  const books = await readBooks(reports, { processor, period, movements, sameSeq: same?.report_seq });
  const { differences, matched, foreign } = compare({ movements, ...books });
  const daysApart = differences.filter(({ kind }) => kind === 'day').length;
  const sums = sumsOf(movements);
  const isClean = differences.length === daysApart;
  const report = { period, digest, lines: movements.length, daysApart, sums, matched, source };
  const filed = isClean ? (same ?? (await fileReport({ pool, processor }, act, report))) : undefined;
  if (filed instanceof Refusal) return filed;
  const byWeight = differences.toSorted((a, b) => Number(a.kind === 'day') - Number(b.kind === 'day'));
  return {
    period,
    digest: digest.toString('hex'),
    lines: movements.length,
    matched: matched.size,
    foreign,
    differences: byWeight.slice(0, DIFFERENCES_MAX),
    found: differences.length,
    daysApart,
    sums,
    ownSums: ownSumsOf(books.ofPeriod),
    filed: filed === undefined ? undefined : filedOf(filed),
  };
}

interface ReadReport {
  readonly movements: readonly Movement[];
  readonly digest: Buffer;
  readonly source: 'file' | 'processor';
}

async function readMovements(
  file: Pieces | undefined,
  period: Period,
  listMovements: ListMovements | undefined,
): Promise<ReadReport> {
  if (file !== undefined) {
    const { texts, digest } = textOf(file);
    const movements = await readStripeReport(csvRecords(texts), period);
    return { movements, digest: digest(), source: 'file' };
  }
  if (listMovements === undefined) {
    throw new FileFault('Send the report as a file: this service has no key of a processor that lists its movements.');
  }
  const movements: Movement[] = [];
  for await (const movement of listMovements({ from: startOf(period.from), to: startOf(period.to) })) {
    movements.push(movement);
  }
  return { movements, digest: digestOf(movements), source: 'processor' };
}

/** Of rows that came without a file. Two looks at the same rows have the same digest, in any order. */
function digestOf(movements: readonly Movement[]): Buffer {
  const lines = movements.map(({ transaction, category, createdMs, currency, gross, fee }) =>
    [transaction, category, createdMs, currency, gross, fee].join(' '),
  );
  return createHash('sha256').update(lines.toSorted().join('\n')).digest();
}

interface BooksQuery {
  readonly processor: string;
  readonly period: Period;
  readonly movements: readonly Movement[];
  /** The same report, if it was filed: its own items are no second filing. */
  readonly sameSeq: bigint | undefined;
}

/** What our books have of the period, and of the ids that the report names. Statements of at most 5,000 ids, by index. */
async function readBooks(db: Pool, { processor, period, movements, sameSeq }: BooksQuery) {
  const time = { from: startOf(period.from), to: startOf(period.to), most: BOOKED_MAX };
  const ofPeriod = (await selectBookedBetween(db, processor, time)).map(bookedOf);
  if (ofPeriod.length === BOOKED_MAX) throw new FileFault('Our books have too many movements. Choose a shorter period.', { isTooLarge: true });
  const booked = new Map(ofPeriod.map((one) => [keyOf(one.kind, one.processorId), one]));
  const filed = new Map<string, string>();
  for (let at = 0; at < movements.length; at += IDS_MAX) {
    const some = movements.slice(at, at + IDS_MAX);
    const ids = { payment: [] as string[], refund: [] as string[], movement: [] as string[] };
    for (const movement of some) {
      const name = nameOf(movement);
      if (name?.id !== undefined && !booked.has(keyOf(name.kind, name.id))) ids[name.kind].push(name.id);
    }
    const rows = await selectBooked(db, processor, { payments: ids.payment, refunds: ids.refund, movements: ids.movement });
    for (const one of rows.map(bookedOf)) booked.set(keyOf(one.kind, one.processorId), one);
    await addFiled(filed, db, { processor, sameSeq, transactions: some.map(({ transaction }) => transaction), subjects: [] });
  }
  const keys = ofPeriod.map(({ kind, processorId }) => keyOf(kind, processorId));
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

async function addFiled(filed: Map<string, string>, db: Pool, { processor, sameSeq, ...ids }: ItemsQuery): Promise<void> {
  for (const { transaction, subject, report_seq: seq } of await selectItems(db, processor, ids)) {
    if (seq !== sameSeq) filed.set(transaction, subject);
  }
}

interface CleanReport extends Pick<ReadReport, 'digest' | 'source'> {
  readonly period: Period;
  readonly lines: number;
  readonly daysApart: number;
  readonly sums: readonly Sum[];
  readonly matched: ReadonlyMap<string, string>;
}

/** Stores a clean report with its line in the audit trail. Two requests with the same report store one. */
async function fileReport(
  { pool, processor }: Pick<ReconciliationOptions, 'pool' | 'processor'>,
  act: Act,
  { period, digest, source, lines, daysApart, sums, matched }: CleanReport,
): Promise<ReportRow | Refusal<'CONFLICT'>> {
  const reportId = newReconciliationId();
  const named = { ...act, action: 'reconciliation.file', subject: reportId };
  return audited<ReportRow | Refusal<'CONFLICT'>>(pool, named, async (tx, note) => {
    await lockReports(tx);
    const before = await selectSame(tx, { processor, digest, ...period });
    if (before !== undefined) return new Repeated(before);
    const row = await insertReport(tx, {
      report_id: reportId,
      processor,
      from_day: period.from,
      to_day: period.to,
      source,
      digest,
      lines,
      days_apart: daysApart,
      sums: JSON.stringify(sums, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
      filed_by: act.actor,
      filed_by_name: act.actorName ?? null,
    });
    const isKept = await insertItems(tx, { processor, reportSeq: row.report_seq }, [...matched]);
    if (!isKept) return refuse('CONFLICT', 'Another report with some of these movements was filed meanwhile. Compare again.');
    note({ after: { processor, ...period, source, digest: digest.toString('hex'), lines } });
    return row;
  });
}

function bookedOf({ kind, processor_id: processorId, payment_id: paymentId, amount_micros: amount, currency, at, state }: BookedRow): Booked {
  return { kind, processorId, paymentId, amount, currency, atMs: at.getTime(), state };
}

function filedOf(row: ReportRow): FiledReport {
  const sums = row.sums as readonly Readonly<Record<keyof Sum, string>>[];
  return {
    seq: row.report_seq,
    reportId: row.report_id,
    processor: row.processor,
    period: { from: row.from_day, to: row.to_day },
    source: row.source,
    digest: row.digest.toString('hex'),
    lines: row.lines,
    daysApart: row.days_apart,
    sums: sums.map(({ category, currency, count, gross, fee, net }) => ({
      category,
      currency,
      count: Number(count),
      gross: BigInt(gross),
      fee: BigInt(fee),
      net: BigInt(net),
    })),
    filedBy: row.filed_by,
    filedByName: row.filed_by_name ?? undefined,
    filedAtMs: row.filed_at.getTime(),
  };
}
