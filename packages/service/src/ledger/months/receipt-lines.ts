import { createHash } from 'node:crypto';
import type { Queryable } from '#db/pool/pool.ts';
import { selectMonthPage } from '#ledger/months/queries.ts';

/** The columns of a receipt in the CSV of a month, in their order. `month_page.sql` writes them. */
export const RECEIPT_COLUMNS = [
  'call_id',
  'wallet_id',
  'month',
  'model',
  'price_id',
  'outcome',
  'is_estimated',
  'is_usage_clamped',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'rare_counts',
  'held_micros',
  'charged_micros',
  'correlation_id',
  'budget_key',
  'seq',
  'balance_after_micros',
  'settled_at',
] as const;

export const HEADER = `${RECEIPT_COLUMNS.join(',')}\n`;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
/** Some 1.5 MB of text. */
const PAGE_ROWS = 5_000;

/** What was read of a month: how many receipts, and SHA-256 over the whole text. */
interface ReadMonth {
  readonly receipts: number;
  readonly hash: Buffer;
}

/**
 * Reads the receipts of a month as CSV, the line of names first and then by call id, page by page, and hands each piece on.
 * No more than a page is in memory.
 */
export async function readReceiptLines(
  db: Queryable,
  month: string,
  take: (piece: string) => Promise<void> | void = () => {},
): Promise<ReadMonth> {
  const hash = createHash('sha256').update(HEADER);
  await take(HEADER);
  let receipts = 0;
  for (let after: string | null = BEFORE_ALL; after !== null; ) {
    const page: Awaited<ReturnType<typeof selectMonthPage>> = await selectMonthPage(db, month, after, PAGE_ROWS);
    if (page.lines === null) break;
    hash.update(page.lines);
    await take(page.lines);
    receipts += page.rows;
    after = page.last_call;
  }
  return { receipts, hash: hash.digest() };
}
