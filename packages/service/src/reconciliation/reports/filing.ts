import type { Pool } from '#db/pool/pool.ts';
import { newReconciliationId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type Act, audited, Repeated } from '#operator/acts/act.ts';
import type { Period } from '#reconciliation/files/period.ts';
import { insertItems, insertReport, lockReports, type ReportRow, selectSame } from '#reconciliation/reports/queries.ts';
import type { Sum } from '#reconciliation/reports/sums.ts';

/** A report that was found clean, as it is kept. */
export interface FiledReport {
  readonly seq: bigint;
  readonly reportId: string;
  readonly processor: string;
  readonly period: Period;
  readonly source: 'file' | 'processor';
  /** The SHA-256 in hexadecimal. */
  readonly digest: string;
  readonly lines: number;
  readonly daysApart: number;
  readonly sums: readonly Sum[];
  readonly filedBy: string;
  readonly filedByName: string | undefined;
  readonly filedAtMs: number;
}

interface CleanReport extends Pick<ReportRow, 'digest' | 'source'> {
  readonly period: Period;
  readonly lines: number;
  readonly daysApart: number;
  readonly sums: readonly Sum[];
  readonly matched: ReadonlyMap<string, string>;
}

/** Stores a clean report with its line in the audit trail. Two requests with the same report store one. */
export async function fileReport(
  { pool, processor }: { readonly pool: Pool; readonly processor: string },
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
    if (!isKept)
      return refuse('CONFLICT', 'Another report with some of these movements was filed meanwhile. Compare again.');
    note({ after: { processor, ...period, source, digest: digest.toString('hex'), lines } });
    return row;
  });
}

export function filedOf(row: ReportRow): FiledReport {
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
