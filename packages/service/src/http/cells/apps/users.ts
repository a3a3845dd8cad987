import { z } from 'zod';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import {
  appIdSchema,
  bigintSchema,
  listOf,
  textSchema,
  timeSchema,
  userIdSchema,
} from '#http/cells/questions/schemas.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import type { AppUserRows, UsersPage } from '#ledger/overview/app-users.ts';
import type { AppUserRow, SpentRow } from '#ledger/overview/queries.ts';

/** A person waits for a page. */
const WAIT_MS = 5_000;
const PAGE_MAX = 1_000;
/** A page of users by their ids. */
const BYTES_MAX = 262_144;

const userShape = {
  user_id: userIdSchema,
  connected_at: timeSchema,
  cap_micros: bigintSchema.nullable(),
  spent_this_month_micros: bigintSchema,
  is_cap_reached: z.boolean(),
  last_charged_at: timeSchema.nullable(),
};

/** `POST /cells/users` asks for a page of the users who have a connected wallet in that cell. */
const USERS: CellQuestion<UsersPage, readonly AppUserRow[]> = {
  path: '/cells/users',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({
    appId: appIdSchema,
    beginsWith: textSchema,
    after: textSchema,
    most: z.int().min(1).max(PAGE_MAX),
  }),
  answer: listOf(z.object(userShape)),
};

/** `POST /cells/spent` asks what users spent in that cell, also before they left it. */
const SPENT: CellQuestion<{ readonly appId: AppId; readonly users: readonly EndUserId[] }, readonly SpentRow[]> = {
  path: '/cells/spent',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({ appId: appIdSchema, users: z.array(userIdSchema).max(PAGE_MAX).readonly() }),
  answer: listOf(
    z.object({ user_id: userIdSchema, last_charged_at: timeSchema.nullable(), spent_micros: bigintSchema }),
  ),
};

/**
 * The users of an app in all cells. Each has a connected wallet in one of them, and may have spent in others. `spentHere` reads what users
 * spent in this cell.
 */
export function appUsersEverywhere(
  local: AppUserRows,
  spentHere: (appId: AppId, users: readonly EndUserId[]) => Promise<readonly SpentRow[]>,
  { reader }: EveryCell,
): AppUserRows {
  const pages = reader(USERS, local.list);
  const spent = reader(SPENT, ({ appId, users }) => spentHere(appId, users));

  async function spentBy(appId: AppId, users: readonly EndUserId[]): Promise<ReadonlyMap<EndUserId, SpentRow>> {
    const rows = users.length === 0 ? [] : (await spent({ appId, users })).flat();
    return new Map(
      Array.from(
        Map.groupBy(rows, (row) => row.user_id),
        ([user, its]) => [user, sumOf(user, its)],
      ),
    );
  }

  return {
    list: async (page) => {
      const { appId, most } = page;
      const rows = (await pages(page)).flat().toSorted((one, other) => (one.user_id < other.user_id ? -1 : 1));
      const shown = rows.slice(0, most);
      // Who has moved and not called since was charged elsewhere. A charge in the cell where they are is newer than all others.
      const silent = shown.flatMap((row) => (row.last_charged_at === null ? [row.user_id] : []));
      const before = await spentBy(appId, silent);
      return shown.map((row) => ({
        ...row,
        last_charged_at: row.last_charged_at ?? before.get(row.user_id)?.last_charged_at ?? null,
      }));
    },
    find: async (appId, userId) => {
      // The page that begins with a user has them first, if they have a connected wallet.
      const found = (await pages({ appId, beginsWith: userId, after: '', most: 1 })).flat();
      const row = found.find((one) => one.user_id === userId);
      return row && { ...row, spent_micros: 0n, ...(await spentBy(appId, [userId])).get(userId) };
    },
  };
}

function sumOf(user_id: EndUserId, rows: readonly SpentRow[]): SpentRow {
  const times = rows.flatMap((row) => row.last_charged_at ?? []);
  return {
    user_id,
    last_charged_at: times.toSorted((one, other) => other.getTime() - one.getTime())[0] ?? null,
    spent_micros: rows.reduce((sum, row) => sum + row.spent_micros, 0n),
  };
}
