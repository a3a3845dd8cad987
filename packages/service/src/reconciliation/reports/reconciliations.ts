import { createHash } from 'node:crypto';
import type { Pool } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Act } from '#operator/acts/act.ts';
import type { Movement } from '#payments/processor/movement.ts';
import type { Processor } from '#payments/processor/processor.ts';
import { readBooks } from '#reconciliation/reports/books.ts';
import { compare, type Difference } from '#reconciliation/reports/compare.ts';
import { FileFault } from '#reconciliation/files/file-fault.ts';
import { type FiledReport, filedOf, fileReport } from '#reconciliation/reports/filing.ts';
import { type Period, periodRefusal, startOf } from '#reconciliation/files/period.ts';
import { selectReports, selectSame } from '#reconciliation/reports/queries.ts';
import { csvRecords, type Pieces, textOf } from '#reconciliation/files/read-file.ts';
import { readStripeReport } from '#reconciliation/reports/stripe-report.ts';
import { type OwnSum, ownSumsOf, type Sum, sumsOf } from '#reconciliation/reports/sums.ts';

/** A processor's own list of its movements in a time, for services with a key of it. */
type ListMovements = NonNullable<Processor['listMovements']>;

/** A report beside our books. */
export interface Reconciled {
  readonly period: Period;
  readonly digest: string;
  readonly lines: number;
  readonly matched: number;
  /** Movements of other software with the same account. */
  readonly foreign: number;
  /** The differences, at most 1,000, those about money first. */
  readonly differences: readonly Difference[];
  readonly found: number;
  /** The differences of these that are only about the day. They leave the report clean. */
  readonly daysApart: number;
  readonly sums: readonly Sum[];
  readonly ownSums: readonly OwnSum[];
  /** The report, if it is clean. */
  readonly filed: FiledReport | undefined;
}

type ReconcileRefusal = Refusal<'BAD_REQUEST' | 'PAYLOAD_TOO_LARGE' | 'CONFLICT'>;

/** Compares what the payment processor says it moved with what our books have. Money is never changed here. */
export interface Reconciliations {
  /**
   * Compares a report with our books, and files it if it is clean. Without a file it reads the processor's own list. The same
   * report is filed once.
   */
  readonly reconcile: (act: Act, period: Period, file: Pieces | undefined) => Promise<Reconciled | ReconcileRefusal>;
  /** Reads filed reports, the newest first, before a number. */
  readonly filed: (page: {
    readonly before: bigint | undefined;
    readonly most: number;
  }) => Promise<readonly FiledReport[]>;
  /** Whether the processor's own list can be read. */
  readonly hasList: boolean;
}

interface ReconciliationOptions {
  readonly pool: Pool;
  /** The pool for statements that read a lot. */
  readonly reports: Pool;
  readonly clock: Clock;
  /** The processor whose movements the books have: `stripe`, or `test` where payments are tried. */
  readonly processor: string;
  readonly listMovements: ListMovements | undefined;
}

const DIFFERENCES_MAX = 1_000;

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

/** Returns a digest of rows that came without a file. Two looks at the same rows have the same digest, in any order. */
function digestOf(movements: readonly Movement[]): Buffer {
  const lines = movements.map(({ transaction, category, createdMs, currency, gross, fee }) =>
    [transaction, category, createdMs, currency, gross, fee].join(' '),
  );
  return createHash('sha256').update(lines.toSorted().join('\n')).digest();
}
