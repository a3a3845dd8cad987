/** A thing at Stripe. */
export type Row = Record<string, unknown> & { readonly id: string };

/** A movement of Stripe's balance, with the thing that it is about. */
export interface BalanceRow extends Row {
  readonly created: number;
  readonly currency: string;
  readonly amount: number;
  readonly fee: number;
  readonly net: number;
  readonly reporting_category: string;
  readonly source: Row & { readonly payment_intent: string };
}

/** The movements of the account's balance. */
export type Balance = ReturnType<typeof createBalance>;

export function createBalance({
  at,
  next,
}: {
  readonly at: () => number | undefined;
  readonly next: (kind: string) => string;
}) {
  const rows: BalanceRow[] = [];
  return {
    rows,
    /** Adds a movement about something. A positive amount comes in. */
    move: (
      category: string,
      amount: number,
      source: Row,
      { id = next('txn'), fee = 0 }: { readonly id?: string; readonly fee?: number } = {},
    ) => {
      const created = at() ?? Math.floor(Date.now() / 1_000);
      const currency = String(source['currency']);
      const row = { id, object: 'balance_transaction', created, amount, fee, net: amount - fee, currency };
      rows.push({ ...row, reporting_category: category, source: source as BalanceRow['source'] });
    },
    /** Those of the time that a query names: `created[gte]` and `created[lt]`. */
    within: (query: Readonly<Record<string, string>>) => {
      const [from, to] = [Number(query['created[gte]']), Number(query['created[lt]'])];
      return rows.filter(({ created }) => created >= from && created < to);
    },
  };
}

/** One page of a list as Stripe answers it, the newest first. */
export function pageOf(rows: readonly Row[], pageSize: number, query: Readonly<Record<string, string>>) {
  const all = rows.filter((row) => row['payment_intent'] === query['payment_intent']).toReversed();
  const start = all.findIndex(({ id }) => id === query['starting_after']) + 1;
  const data = all.slice(start, start + pageSize);
  return { object: 'list', url: '/v1/list', data, has_more: start + pageSize < all.length };
}
