import { z } from 'zod';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import type { CellPeers, CellQuestion } from '#http/cells/questions/question.ts';
import {
  appIdSchema,
  bigintSchema,
  listOf,
  maybe,
  microsSchema,
  textSchema,
  timeSchema,
  userIdSchema,
} from '#http/cells/questions/schemas.ts';
import type { AppId, CheckoutId, EndUserId } from '#kernel/values/ids.ts';
import type { AnyWalletRow, WalletFilter, WalletPage, WalletRows } from '#ledger/overview/operator-queries.ts';
import type { ReadWallets } from '#operator/money/wallets.ts';
import {
  PAYMENT_KINDS,
  PAYMENT_STATES,
  type PaymentFilter,
  type PaymentLine,
  type PaymentPage,
  type PaymentPlace,
} from '#payments/overview/queries.ts';
import type { ReadPayments } from '#payments/overview/overview.ts';

/** A person waits for a page. */
const WAIT_MS = 5_000;
const PAGE_MAX = 1_000;
const BYTES_MAX = 16_384;

const pageSchema = z.int().min(1).max(PAGE_MAX);
const walletShape = {
  app_id: appIdSchema,
  created_at: timeSchema,
  place: textSchema,
  wallet_id: bigintSchema,
  user_id: userIdSchema,
  currency: z.string(),
  is_connected: z.boolean(),
  is_suspended: z.boolean(),
  balance_micros: bigintSchema,
  held_micros: bigintSchema,
  shortfall_micros: bigintSchema,
  cap_micros: bigintSchema.nullable(),
  spent_this_month_micros: bigintSchema,
} satisfies { readonly [name in keyof AnyWalletRow]: z.ZodType<AnyWalletRow[name]> };

interface Of<Filter, Page> {
  readonly filter: Filter;
  readonly page: Page;
}

/** `POST /cells/wallets-of-all` asks for wallets of all apps that are in that cell. */
const WALLETS: CellQuestion<Of<WalletFilter, WalletPage>, WalletRows & { readonly cell: string }> = {
  path: '/cells/wallets-of-all',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({
    filter: z.object({
      appId: maybe(appIdSchema),
      userId: maybe(textSchema),
      status: maybe(z.enum(['connected', 'disconnected', 'suspended'])),
      openedFromMs: maybe(z.number()),
      openedBeforeMs: maybe(z.number()),
      minHeld: maybe(microsSchema),
      minBalance: maybe(microsSchema),
      maxBalance: maybe(microsSchema),
    }),
    page: z.object({ isOldestFirst: z.boolean(), after: maybe(textSchema), most: pageSchema }),
  }),
  answer: z.object({ cell: z.string(), rows: listOf(z.object(walletShape)), upTo: maybe(textSchema) }),
};

const placeSchema = maybe(z.object({ us: bigintSchema, id: textSchema }));
const lineShape = {
  kind: z.enum(PAYMENT_KINDS),
  id: z.string(),
  checkout_id: z.custom<CheckoutId>((id) => typeof id === 'string'),
  app_id: appIdSchema,
  user_id: userIdSchema,
  amount_micros: bigintSchema,
  currency: z.string(),
  state: z.enum(PAYMENT_STATES),
  anomaly: z.custom<PaymentLine['anomaly']>((text) => text === null || typeof text === 'string'),
  waits: z.boolean(),
  at: timeSchema,
  at_us: bigintSchema,
};

interface Lines {
  readonly cell: string;
  readonly lines: readonly PaymentLine[];
  readonly upTo: PaymentPlace | undefined;
}

/** `POST /cells/payments-of-all` asks for lines about payments of users of that cell. */
const PAYMENTS: CellQuestion<Of<PaymentFilter, PaymentPage>, Lines> = {
  path: '/cells/payments-of-all',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({
    filter: z.object({
      kind: maybe(z.enum(PAYMENT_KINDS)),
      state: maybe(z.enum(PAYMENT_STATES)),
      appId: maybe(appIdSchema),
      userId: maybe(userIdSchema),
      fromMs: maybe(z.number()),
      untilMs: maybe(z.number()),
      waits: z.boolean(),
    }),
    page: z.object({ after: placeSchema, most: pageSchema }),
  }),
  answer: z.object({ cell: z.string(), lines: listOf(z.object(lineShape)), upTo: placeSchema }),
};

/** The cell that answers: its name, and who is in it. */
interface Here {
  readonly own: string;
  readonly map: Pick<CellPeers['map'], 'otherOf'>;
}

/**
 * Wallets and payments of all cells, as one list. What a user left behind when they moved is not of the cell any more, so it is left
 * out there: their cell has it. A page can be short for that.
 */
export function operatorListsEverywhere(
  local: { readonly wallets: ReadWallets; readonly payments: ReadPayments },
  { own, map }: Here,
  { reader }: EveryCell,
): typeof local {
  const isHere = (row: { readonly app_id: AppId; readonly user_id: EndUserId }): boolean =>
    map.otherOf(row.app_id, row.user_id) === undefined;
  const wallets = reader(WALLETS, async ({ filter, page }) => {
    const { rows, upTo } = await local.wallets(filter, page);
    return { cell: own, rows: rows.filter(isHere), upTo };
  });
  const payments = reader(PAYMENTS, async ({ filter, page }) => {
    const { lines, upTo } = await local.payments(filter, page);
    return { cell: own, lines: lines.filter(isHere), upTo };
  });
  return {
    wallets: async (filter, page) => {
      const parts = (await wallets({ filter, page })).map(({ cell, rows, upTo }) => ({
        rows: rows.map((row) => ({ ...row, cell })),
        upTo,
      }));
      return merged(parts, ({ place }) => place, walletOrder(filter, page));
    },
    payments: async (filter, page) => {
      const parts = (await payments({ filter, page })).map(({ cell, lines, upTo }) => ({
        rows: lines.map((line) => ({ ...line, cell })),
        upTo,
      }));
      const { rows: lines, upTo } = merged(parts, (line) => ({ us: line.at_us, id: line.id }), newestFirst);
      return { lines, upTo };
    },
  };
}

/** Less than 0: `one` comes before `other`. */
type Order<Place> = (one: Place, other: Place) => number;

function merged<Row, Place>(
  parts: readonly { readonly rows: readonly Row[]; readonly upTo: Place | undefined }[],
  placeOf: (row: Row) => Place,
  order: Order<Place>,
): { readonly rows: readonly Row[]; readonly upTo: Place | undefined } {
  // What comes after the place to which a cell has looked may have something of that cell before it.
  const [upTo] = parts.flatMap((part) => (part.upTo === undefined ? [] : [part.upTo])).toSorted(order);
  const rows = parts
    .flatMap((part) => part.rows)
    .filter((row) => upTo === undefined || order(placeOf(row), upTo) <= 0)
    .toSorted((one, other) => order(placeOf(one), placeOf(other)));
  return { rows, upTo };
}

function walletOrder({ userId }: WalletFilter, { isOldestFirst }: WalletPage): Order<string> {
  if (userId !== undefined) return compare;
  const oldestFirst: Order<string> = (one, other) => {
    const [us = 0n, id = 0n] = one.split('.').map(BigInt);
    const [otherUs = 0n, otherId = 0n] = other.split('.').map(BigInt);
    return compare(us, otherUs) || compare(id, otherId);
  };
  return isOldestFirst ? oldestFirst : (one, other) => oldestFirst(other, one);
}

const newestFirst: Order<PaymentPlace> = (one, other) => compare(other.us, one.us) || compare(other.id, one.id);

function compare<Value extends string | bigint>(one: Value, other: Value): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
