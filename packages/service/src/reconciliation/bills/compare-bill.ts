import type { BillLine } from '#reconciliation/bills/bill-line.ts';

/** What our calls used. Costs are picos, by our upstream prices without the margin. */
export interface OwnUse {
  readonly calls: bigint;
  /** The calls of these that a provider served and nobody paid for: abandoned or failed. */
  readonly unpaidCalls: bigint;
  /** The calls of these with a price of tiers or fees, or with rare kinds of token. Their cost here is a rough one. */
  readonly roughCalls: bigint;
  readonly inputTokens: bigint;
  readonly outputTokens: bigint;
  readonly cost: bigint;
  readonly unpaidCost: bigint;
}

/** What our calls of one model used on one UTC day, at one price. */
export interface OwnDay {
  readonly day: string;
  /** The model, as the provider names it. */
  readonly model: string;
  readonly use: OwnUse;
}

/** One model on one UTC day, on both sides. Costs are picos. */
export interface BillRow {
  readonly day: string;
  /** The model. It is undefined for costs that are of no model. */
  readonly model: string | undefined;
  readonly theirs: bigint;
  /** The number of requests. It is undefined if the bill does not say. */
  readonly requests: bigint | undefined;
  readonly inputTokens: bigint | undefined;
  readonly outputTokens: bigint | undefined;
  readonly ours: OwnUse;
}

const NONE: OwnUse = {
  calls: 0n,
  unpaidCalls: 0n,
  roughCalls: 0n,
  inputTokens: 0n,
  outputTokens: 0n,
  cost: 0n,
  unpaidCost: 0n,
};

/** A bill beside our calls, by day and model. Every line of the bill and every call is in exactly one row. */
export function compareBill(lines: readonly BillLine[], days: readonly OwnDay[]): readonly BillRow[] {
  const ownModels = new Set(days.map(({ model }) => model));
  const rows = new Map<string, BillRow>();
  const rowOf = (day: string, model: string | undefined): BillRow =>
    rows.get(`${day} ${model ?? ''}`) ?? {
      day,
      model,
      theirs: 0n,
      requests: undefined,
      inputTokens: undefined,
      outputTokens: undefined,
      ours: NONE,
    };
  const keep = (row: BillRow) => rows.set(`${row.day} ${row.model ?? ''}`, row);
  for (const line of lines) {
    const row = rowOf(line.day, line.model === undefined ? undefined : ownName(line.model, ownModels));
    keep({
      ...row,
      theirs: row.theirs + line.cost,
      requests: added(row.requests, line.requests),
      inputTokens: added(row.inputTokens, line.inputTokens),
      outputTokens: added(row.outputTokens, line.outputTokens),
    });
  }
  for (const { day, model, use } of days) {
    const row = rowOf(day, model);
    keep({ ...row, ours: addedUse(row.ours, use) });
  }
  return [...rows.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

/** Providers bill a model by its dated name (`claude-sonnet-4-20250514`), and a catalogue may call it by the name without a date. */
function ownName(model: string, ownModels: ReadonlySet<string>): string {
  if (ownModels.has(model)) return model;
  const plain = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  return ownModels.has(plain) ? plain : model;
}

function added(sum: bigint | undefined, more: bigint | undefined): bigint | undefined {
  return more === undefined ? sum : (sum ?? 0n) + more;
}

function addedUse(a: OwnUse, b: OwnUse): OwnUse {
  return {
    calls: a.calls + b.calls,
    unpaidCalls: a.unpaidCalls + b.unpaidCalls,
    roughCalls: a.roughCalls + b.roughCalls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cost: a.cost + b.cost,
    unpaidCost: a.unpaidCost + b.unpaidCost,
  };
}
