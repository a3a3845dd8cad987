import { z } from 'zod';
import { CellAway } from '#kernel/faults/cell-away.ts';
import type { FormerAnswer, FormerCells, User } from '#http/cells/wallets/former-cells.ts';
import type { CellPeers, CellQuestion } from '#http/cells/questions/question.ts';
import { giversSchema } from '#http/cells/wallets/usage.ts';
import {
  appIdSchema,
  bigintSchema,
  callIdSchema,
  countSchema,
  daySchema,
  listOf,
  maybe,
  microsSchema,
  userIdSchema,
} from '#http/cells/questions/schemas.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { micros } from '#kernel/values/micros.ts';
import { MOVEMENT_KINDS } from '#ledger/history/queries.ts';
import {
  type DayPart,
  dayOf,
  type MovementPage,
  type OtherMovement,
  type WalletDay,
  type WalletMovement,
  type WalletMovements,
} from '#ledger/history/movements.ts';
import { newestFirst } from '#ledger/history/place.ts';
import type { StayDay, StayReader } from '#ledger/history/stays.ts';

/** A person waits for a page. */
const WAIT_MS = 5_000;
const BYTES_MAX = 65_536;
const MOST_MAX = 10_000;
const PARTS_MAX = 500;

const mostSchema = z.int().min(1).max(MOST_MAX);
const moveSchema = z.int().min(0);
const placeShape = { move: moveSchema, seq: bigintSchema };
const partSchema = z.object({ move: moveSchema, first: bigintSchema, last: bigintSchema });
const userShape = { appId: appIdSchema, userId: userIdSchema };
const movementSchema = z.object({
  ...placeShape,
  kind: z.enum(MOVEMENT_KINDS),
  callId: maybe(callIdSchema),
  amount: microsSchema,
  direction: z.enum(['in', 'out', 'beside']),
  balanceAfter: microsSchema,
  atMs: z.number(),
});
const otherSchema = movementSchema.extend({ unseenAbove: countSchema.default(0) });
const daysSchema = z.object({
  day: daySchema,
  calls: countSchema,
  charged: microsSchema,
  others: countSchema,
  balanceAfter: microsSchema,
  balanceBefore: z.optional(microsSchema),
  part: partSchema,
});

export type Paged = User & MovementPage;

const limits = { bytesMax: BYTES_MAX, waitMs: WAIT_MS };
/** The limits and the shape of a question for a page about a user. */
export const userPage = {
  ...limits,
  asked: z.object({ ...userShape, before: maybe(z.object(placeShape)), most: mostSchema }),
};
export const fromFormer = <Row extends z.ZodType>(row: Row) => z.object({ found: listOf(row), givers: giversSchema });

/** `POST /cells/user-movements` asks for a page of what was booked for this user in that cell. */
export const USER_MOVEMENTS: CellQuestion<Paged, FormerAnswer<readonly WalletMovement[]>> = {
  ...userPage,
  path: '/cells/user-movements',
  answer: fromFormer(movementSchema),
};

/** A day as another cell tells it: builds of version 0.1 do not say the balance before it. */
type ToldDay = Omit<StayDay, 'balanceBefore'> & { readonly balanceBefore?: StayDay['balanceBefore'] | undefined };

/** `POST /cells/user-days` asks for the same by day. */
export const USER_DAYS: CellQuestion<Paged, FormerAnswer<readonly ToldDay[]>> = {
  ...userPage,
  path: '/cells/user-days',
  answer: fromFormer(daysSchema),
};

interface Parts extends User {
  readonly parts: readonly DayPart[];
  readonly most: number;
}

/** `POST /cells/user-other-movements` asks for what was booked on some days and is no call. */
export const USER_OTHERS: CellQuestion<Parts, FormerAnswer<readonly OtherMovement[]>> = {
  ...limits,
  path: '/cells/user-other-movements',
  asked: z.object({ ...userShape, parts: listOf(partSchema).check(z.maxLength(PARTS_MAX)), most: mostSchema }),
  answer: fromFormer(otherSchema),
};

interface Readers {
  /** Reads the movements of wallets that were always here. */
  readonly local: WalletMovements;
  readonly stays: StayReader;
}

/** The way to the cells in which users were before. */
export interface FormerPeers {
  /** The name of this cell. */
  readonly own: string;
  readonly map: Pick<CellPeers['map'], 'otherOf'>;
  readonly former: FormerCells;
  readonly log: Log;
}

/**
 * The movements of wallets also where they were before, in the order of places: so running balances go on from one cell to the next. Whether
 * somebody may see them, the cell decides in which the wallet is.
 */
export function movementsEverywhere(
  { local, stays }: Readers,
  { former, log }: Pick<FormerPeers, 'former' | 'log'>,
): WalletMovements {
  const ask = async <Asked extends User, Row>(
    question: CellQuestion<Asked, FormerAnswer<readonly Row[]>>,
    asked: Asked,
  ): Promise<readonly Row[]> => (await former.ask(question, asked)).flat();

  return {
    page: async (wallet, page) => {
      if (!former.hasAny(wallet)) return local.page(wallet, page);
      const { rows, newest } = await stays.page(wallet, page);
      // Nothing of another cell is newer than what was booked since the wallet came here last.
      if (rows.length === page.most && rows.every(({ move }) => move === newest.move)) return rows;
      const before = await ask(USER_MOVEMENTS, { ...nameOf(wallet), ...page });
      return [...rows, ...before].toSorted(newestFirst).slice(0, page.most);
    },
    days: async (wallet, page) => {
      if (!former.hasAny(wallet)) return local.days(wallet, page);
      const { rows, newest } = await stays.days(wallet, page);
      const near = rows.filter(({ part }) => part.move === newest.move);
      if (near.length === page.most) return { days: daysOf(near), missingBeforeMs: undefined };
      try {
        const before = await ask(USER_DAYS, { ...nameOf(wallet), ...page });
        return { days: daysOf([...rows, ...before.map(withBalance)]).slice(0, page.most), missingBeforeMs: undefined };
      } catch (fault) {
        const isOlder = page.before !== undefined && page.before.move !== newest.move;
        if (!(fault instanceof CellAway) || isOlder || newest.sinceMs === undefined) throw fault;
        log.warn({ fault: describeFault(fault) }, 'a former cell does not answer: a wallet is shown in part');
        return { days: daysOf(near), missingBeforeMs: newest.sinceMs };
      }
    },
    others: async (wallet, days, most) => {
      if (!former.hasAny(wallet)) return local.others(wallet, days, most);
      const parts = days.filter(({ others }) => others > 0).flatMap((day) => day.parts);
      if (parts.length === 0) return [];
      const { rows, newest } = await stays.others(wallet, parts, most);
      const far = parts
        .filter(({ move }) => move !== newest.move)
        .map(({ move, first, last }) => ({ move, first, last }));
      const before = far.length === 0 ? [] : await ask(USER_OTHERS, { ...nameOf(wallet), parts: far, most });
      const byDay = Map.groupBy([...rows, ...before].toSorted(newestFirst), ({ atMs }) => isoOf(atMs).slice(0, 10));
      return [...byDay.values()].flatMap((ofDay) => ofDay.slice(0, most));
    },
  };
}

function nameOf({ appId, userId }: User): User {
  return { appId, userId };
}

/** Where a cell does not say the balance before a day, it is that of a day on which only calls were booked. */
function withBalance(day: ToldDay): StayDay {
  return { ...day, balanceBefore: day.balanceBefore ?? micros(day.balanceAfter + day.charged) };
}

/** One day for all stays that had it, the newest first. A wallet that moves is in two cells that day. */
function daysOf(rows: readonly StayDay[]): readonly WalletDay[] {
  const days: WalletDay[] = [];
  for (const { part, ...figures } of rows.toSorted((one, other) => newestFirst(placeOf(one), placeOf(other)))) {
    const newer = days.at(-1);
    if (newer?.day === figures.day) days[days.length - 1] = bothOf(newer, figures, part);
    else days.push(dayOf(figures, part));
  }
  return days;
}

function placeOf({ part }: StayDay) {
  return { move: part.move, seq: part.last };
}

function bothOf(newer: WalletDay, older: Omit<StayDay, 'part'>, part: DayPart): WalletDay {
  return {
    ...newer,
    calls: newer.calls + older.calls,
    charged: micros(newer.charged + older.charged),
    others: newer.others + older.others,
    balanceBefore: older.balanceBefore,
    parts: [...newer.parts, ...dayOf(older, part).parts],
  };
}
