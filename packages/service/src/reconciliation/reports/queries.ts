import type { Queryable } from '#db/pool/pool.ts';

interface ItemRow {
  readonly transaction: string;
  readonly subject: string;
  readonly report_seq: bigint;
}

/** Transactions that a filed report has, among these or about these, and what each is about. */
export async function selectItems(
  db: Queryable,
  processor: string,
  { transactions, subjects }: { readonly transactions: readonly string[]; readonly subjects: readonly string[] },
): Promise<readonly ItemRow[]> {
  const { rows } = await db.query<ItemRow>(
    `select transaction, subject, report_seq from reconciliation.items where processor = $1 and transaction = any ($2::text[])
     union select transaction, subject, report_seq from reconciliation.items where processor = $1 and subject = any ($3::text[])`,
    [processor, transactions, subjects],
  );
  return rows;
}

export interface ReportRow {
  readonly report_seq: bigint;
  readonly report_id: string;
  readonly processor: string;
  readonly from_day: string;
  readonly to_day: string;
  readonly source: 'file' | 'processor';
  readonly digest: Buffer;
  readonly lines: number;
  readonly days_apart: number;
  readonly sums: unknown;
  readonly filed_by: string;
  readonly filed_by_name: string | null;
  readonly filed_at: Date;
}

const REPORT = `report_seq, report_id, processor, from_day::text, to_day::text, source, digest, lines, days_apart, sums, filed_by,
  filed_by_name, filed_at`;

/** Reads filed reports, the newest first. */
export async function selectReports(
  db: Queryable,
  { before, most }: { readonly before: bigint | undefined; readonly most: number },
): Promise<readonly ReportRow[]> {
  const { rows } = await db.query<ReportRow>(
    `select ${REPORT} from reconciliation.reports where $1::bigint is null or report_seq < $1
     order by report_seq desc limit $2`,
    [before ?? null, most],
  );
  return rows;
}

interface SameReport {
  readonly processor: string;
  readonly digest: Buffer;
  readonly from: string;
  readonly to: string;
}

/** The same report, if it was filed already. */
export async function selectSame(
  db: Queryable,
  { processor, digest, from, to }: SameReport,
): Promise<ReportRow | undefined> {
  const { rows } = await db.query<ReportRow>(
    `select ${REPORT} from reconciliation.reports where processor = $1 and digest = $2 and from_day = $3 and to_day = $4`,
    [processor, digest, from, to],
  );
  return rows[0];
}

/** Reports are filed one after the other. */
export async function lockReports(tx: Queryable): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('reconciliation.reports', 0))`);
}

type NewReportRow = Omit<ReportRow, 'report_seq' | 'filed_at' | 'sums'> & { readonly sums: string };

export async function insertReport(tx: Queryable, report: NewReportRow): Promise<ReportRow> {
  const { rows } = await tx.query<ReportRow>(
    `insert into reconciliation.reports (report_id, processor, from_day, to_day, source, digest, lines, days_apart, sums,
       filed_by, filed_by_name)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${REPORT}`,
    [
      report.report_id,
      report.processor,
      report.from_day,
      report.to_day,
      report.source,
      report.digest,
      report.lines,
      report.days_apart,
      report.sums,
      report.filed_by,
      report.filed_by_name,
    ],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('A report was not stored.');
  return row;
}

/** Keeps what a filed report had. False if one of the transactions is in another one. */
export async function insertItems(
  tx: Queryable,
  of: { readonly processor: string; readonly reportSeq: bigint },
  items: readonly (readonly [transaction: string, subject: string])[],
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into reconciliation.items (processor, report_seq, transaction, subject)
     select $1, $2, u.* from unnest($3::text[], $4::text[]) as u
     on conflict do nothing`,
    [of.processor, of.reportSeq, items.map(([transaction]) => transaction), items.map(([, subject]) => subject)],
  );
  return rowCount === items.length;
}
