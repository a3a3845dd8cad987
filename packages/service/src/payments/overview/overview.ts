import { inSnapshot, type Pool } from '#db/pool/pool.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { type EntryRow, type KeyedEntry, selectEntriesOfKeys } from '#ledger/history/queries.ts';
import { createWallets, type Wallet } from '#ledger/wallet/wallet.ts';
import { ACTS_OF, amountOf, type CaseEffect, effectOf } from '#payments/cases/effects.ts';
import { type CaseRow, selectCases } from '#payments/cases/queries.ts';
import {
  type FoundCheckout,
  type MovedBack,
  type PaymentFilter,
  type PaymentLine,
  type PaymentPage,
  type PaymentPlace,
  type PaymentOfCheckout,
  selectCheckoutByAnyId,
  selectMovedBack,
  selectPaymentLines,
} from '#payments/overview/queries.ts';

/** A case, and what each act that can solve it would do now. */
export interface CaseWithEffects {
  readonly row: CaseRow;
  readonly amount: Micros;
  readonly effects: readonly CaseEffect[];
}

/** A checkout and everything that hangs on it, of one moment. */
export interface PaymentDetails {
  readonly checkout: FoundCheckout;
  /** The payments, which are more than one if the checkout was paid twice. */
  readonly payments: readonly PaymentOfCheckout[];
  readonly movedBack: readonly MovedBack[];
  readonly cases: readonly CaseWithEffects[];
  /** The wallet. It is undefined if it does not exist. */
  readonly wallet: Wallet | undefined;
  /** The entries of the wallet that these payments made, the oldest first. */
  readonly entries: readonly EntryRow[];
}

/** Reads lines about payments, and the place to which none is missing (undefined: to the end): in one cell, or in all. */
export type ReadPayments = (
  filter: PaymentFilter,
  page: PaymentPage,
) => Promise<{ readonly lines: readonly PaymentLine[]; readonly upTo: PaymentPlace | undefined }>;

export function createPaymentReader(pool: Pool): ReadPayments {
  return async (filter, page) => {
    const lines = await selectPaymentLines(pool, filter, page);
    return { lines, upTo: lines.length === page.most ? placeOf(lines.at(-1)) : undefined };
  };
}

/** Payments of all wallets, for operators. */
export interface PaymentOverview {
  /** The newest first. Pass `next` as `after` to get older lines. */
  readonly page: (
    filter: PaymentFilter,
    page: { readonly after: string | undefined; readonly most: number },
  ) => Promise<{ readonly lines: readonly PaymentLine[]; readonly next: string | undefined }>;
  /**
   * Finds details by the id of a checkout, payment, refund or movement of a dispute. Returns undefined if there are
   * none.
   */
  readonly find: (id: string) => Promise<PaymentDetails | undefined>;
}

/** Takes `payable`, which rounds an amount down to what the processor can pay back. */
export function createPaymentOverview(
  pool: Pool,
  read: ReadPayments,
  payable: (amount: Micros, currency: string) => Micros,
): PaymentOverview {
  return {
    page: async (filter, { after, most }) => {
      const { lines: found, upTo } = await read(filter, { after: readPlace(after), most: most + 1 });
      const lines = found.slice(0, most);
      const next = found.length > most ? placeOf(lines.at(-1)) : upTo;
      return { lines, next: next && `${next.us}.${next.id}` };
    },
    find: (id) =>
      inSnapshot(pool, async (tx) => {
        const found = await selectCheckoutByAnyId(tx, id);
        if (found === undefined) return undefined;
        const { checkout, payments } = found;
        const wallet = await createWallets(tx).find(checkout.app_id, checkout.user_id);
        if (payments.length === 0) return { checkout, payments, movedBack: [], cases: [], wallet, entries: [] };
        const paymentIds = payments.map((payment) => payment.payment_id);
        const movedBack = await selectMovedBack(tx, paymentIds);
        const cases = await selectCases(tx, { paymentIds });
        const keys = keysOf(checkout.processor, payments, movedBack);
        const entries = wallet === undefined ? [] : await selectEntriesOfKeys(tx, wallet.walletId, keys);
        const withEffects = cases.map((row) => withEffectsOf(row, wallet, (amount) => payable(amount, row.currency)));
        return { checkout, payments, movedBack, cases: withEffects, wallet, entries };
      }),
  };
}

function withEffectsOf(
  row: CaseRow,
  wallet: Wallet | undefined,
  payableNow: (amount: Micros) => Micros,
): CaseWithEffects {
  const acts = row.closed_at === null ? ACTS_OF[row.kind] : [];
  const effects = acts.map((act) => effectOf(row, act, { wallet, payable: payableNow }));
  return { row, amount: amountOf(row, wallet), effects };
}

/** A malformed text begins with the newest: the routes have refused it before. */
function readPlace(after: string | undefined): PaymentPlace | undefined {
  const [, us, id] = /^(\d{1,18})\.(\w{1,64})$/.exec(after ?? '') ?? [];
  return us === undefined || id === undefined ? undefined : { us: BigInt(us), id };
}

function placeOf(line: PaymentLine | undefined): PaymentPlace | undefined {
  return line && { us: line.at_us, id: line.id };
}

/** The keys under which the ledger has the steps of payments, see `differences.sql`. */
function keysOf(
  processor: string,
  payments: readonly PaymentOfCheckout[],
  movedBack: readonly MovedBack[],
): readonly KeyedEntry[] {
  const credited = payments.map(({ payment_id: key }) => ({ kind: 'top_up', of: 'top_up', key }));
  const others = movedBack.flatMap(({ kind, id, processor_id: there }): readonly KeyedEntry[] => {
    if (kind === 'dispute') return takenKeys('claw_back', `${processor} ${there}`);
    const setAside = ['refund_set_aside', 'refund_paid', 'refund_released'].map((of) => ({ kind: of, of, key: id }));
    return [...setAside, ...takenKeys('refund', `payment ${id}`)];
  });
  return [...credited, ...others];
}

function takenKeys(of: string, key: string): readonly KeyedEntry[] {
  return [
    { kind: of, of, key },
    { kind: `${of}_receivable`, of, key },
    { kind: 'funds_reinstated', of: 'funds_reinstated', key },
  ];
}

/** The part of a payment that is left: not paid back, and not taken by a bank. */
export function leftOf(payment: PaymentOfCheckout, movedBack: readonly MovedBack[]): Micros {
  const sumOf = (...states: readonly MovedBack['state'][]) =>
    movedBack.reduce((sum, one) => {
      return one.payment_id === payment.payment_id && states.includes(one.state) ? sum + one.amount_micros : sum;
    }, 0n);
  const disputed = sumOf('taken') - sumOf('returned');
  const left = payment.amount_micros - sumOf('asked', 'paid') - (disputed > 0n ? disputed : 0n);
  return microsFromRow(left < 0n ? 0n : left);
}
