import { type PriceRates, selectRates } from '#catalogue/rate-queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import { type Clock, isoOf } from '#kernel/time/clock.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { PICOS_PER_MICRO } from '#reconciliation/bills/bill-line.ts';
import { type BillRow, compareBill, type OwnUse, type OwnDay } from '#reconciliation/bills/compare-bill.ts';
import { FileFault } from '#reconciliation/files/file-fault.ts';
import { type Period, periodRefusal, startOf } from '#reconciliation/files/period.ts';
import { BILL_BYTES_MAX, type BillFormat, readBill } from '#reconciliation/bills/provider-bill.ts';
import { type Pieces, textOf } from '#reconciliation/files/read-file.ts';
import { type BilledRow, selectBilled } from '#calls/usage/billed-queries.ts';
import { selectArchivedUntil } from '#calls/usage/queries.ts';
import { tooOld } from '#calls/usage/report.ts';

/** What a bill is about. */
export interface BillOf {
  /** The provider, as the catalogue names it. */
  readonly provider: string;
  readonly format: BillFormat;
  readonly period: Period;
  /** Micros of our currency for one US dollar. One million if our currency is the dollar. */
  readonly dollarMicros: bigint | undefined;
}

/** A bill beside our receipts. Amounts are micros of our currency. */
export interface ComparedBill {
  readonly rows: readonly BillRow[];
  readonly theirs: bigint;
  readonly ours: bigint;
  /** What of our figure nobody paid for. */
  readonly unpaid: bigint;
  readonly difference: bigint;
}

/** Compares what providers say they billed with receipts. Nothing is kept. */
export interface ProviderBills {
  readonly compare: (of: BillOf, file: Pieces) => Promise<ComparedBill | Refusal<'BAD_REQUEST' | 'PAYLOAD_TOO_LARGE'>>;
}

/** Wallets of one statement. */
const WALLETS_MAX = 500;
const DOLLAR = 1_000_000n;

export function createProviderBills({
  reports,
  clock,
  currency,
}: {
  readonly reports: Pool;
  readonly clock: Clock;
  readonly currency: string;
}): ProviderBills {
  return {
    compare: async ({ provider, format, period, dollarMicros }, file) => {
      const refusal = periodRefusal(period, clock.nowMs());
      if (refusal !== undefined) return refusal;
      const until = await selectArchivedUntil(reports);
      if (until !== undefined && period.from <= isoOf(until.getTime()).slice(0, 10)) return tooOld(until);
      const rate = dollarMicros ?? (currency === 'USD' ? DOLLAR : undefined);
      if (rate === undefined) {
        const words = `Bills are in US dollars, and your prices in ${currency}. Say what a dollar was worth.`;
        return refuse('BAD_REQUEST', words, { param: 'dollarMicros' });
      }
      try {
        const { texts } = textOf(file, BILL_BYTES_MAX);
        let text = '';
        for await (const piece of texts) text += piece;
        const lines = readBill(text, format, period).map((line) => ({ ...line, cost: (line.cost * rate) / DOLLAR }));
        return summed(compareBill(lines, await readUse(reports, provider, period)));
      } catch (fault) {
        if (!(fault instanceof FileFault)) throw fault;
        return refuse(fault.isTooLarge ? 'PAYLOAD_TOO_LARGE' : 'BAD_REQUEST', fault.message, { param: 'bill' });
      }
    },
  };
}

/** What calls used at a provider, by day and model, read wallet after wallet by index. */
async function readUse(db: Pool, provider: string, period: Period): Promise<readonly OwnDay[]> {
  const rates = new Map<bigint, PriceRates>();
  const days: OwnDay[] = [];
  for (let after = 0n; ; ) {
    const rows = await selectBilled(db, {
      after,
      most: WALLETS_MAX,
      from: startOf(period.from),
      to: startOf(period.to),
    });
    const used = rows.filter((row) => row.day !== null);
    const unknown = [...new Set(used.map((row) => row.price_id))].filter((id) => !rates.has(id));
    for (const one of await selectRates(db, unknown)) rates.set(one.price_id, one);
    for (const row of used) {
      const rate = rates.get(row.price_id);
      if (rate?.provider === provider)
        days.push({ day: row.day ?? '', model: rate.provider_model ?? rate.model_id, use: useOf(row, rate) });
    }
    const [first] = rows;
    if (first === undefined) return days;
    after = first.last_wallet;
  }
}

/**
 * Returns what a row used. The cost is exact: prices are micros for a million tokens, so a token costs a whole number
 * of picos.
 */
function useOf(row: BilledRow, rate: PriceRates): OwnUse {
  const cost =
    row.input_tokens * rate.input_micros_per_million +
    row.cached_tokens * rate.cached_input_micros_per_million +
    row.cache_write_tokens * rate.cache_write_micros_per_million +
    row.output_tokens * rate.output_micros_per_million;
  return {
    calls: row.calls,
    unpaidCalls: row.is_charged ? 0n : row.calls,
    // Tiers, fees and rare kinds of token are in the charge of each call, and not in these sums.
    roughCalls: rate.has_details ? row.calls : row.rare_calls,
    inputTokens: row.input_tokens + row.cached_tokens + row.cache_write_tokens,
    outputTokens: row.output_tokens,
    cost,
    unpaidCost: row.is_charged ? 0n : cost,
  };
}

function summed(rows: readonly BillRow[]): ComparedBill {
  const sum = (amountOf: (row: BillRow) => bigint) => rows.reduce((total, row) => total + amountOf(row), 0n);
  return {
    rows,
    theirs: sum(({ theirs }) => theirs) / PICOS_PER_MICRO,
    ours: sum(({ ours }) => ours.cost) / PICOS_PER_MICRO,
    unpaid: sum(({ ours }) => ours.unpaidCost) / PICOS_PER_MICRO,
    difference: sum(({ theirs, ours }) => theirs - ours.cost) / PICOS_PER_MICRO,
  };
}
