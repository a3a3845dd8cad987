import { z } from 'zod';
import { CellAway } from '#kernel/faults/cell-away.ts';
import type { FormerAnswer } from '#http/cells/wallets/former-cells.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import { fromFormer, type Paged, type FormerPeers, userPage } from '#http/cells/wallets/movements.ts';
import { bigintSchema, timeSchema } from '#http/cells/questions/schemas.ts';
import { describeFault } from '#kernel/log.ts';
import { newestFirst } from '#ledger/history/place.ts';
import type { StayEntry, StayReader } from '#ledger/history/stays.ts';
import type { EntriesElsewhere } from '#operator/money/wallets.ts';

/** An entry of the ledger, with the cell that booked it. */
type EntryOfCell = StayEntry & { readonly cell: string };

/** `POST /cells/user-entries` asks for entries of this user in that cell. */
export const USER_ENTRIES: CellQuestion<Paged, FormerAnswer<readonly EntryOfCell[]>> = {
  ...userPage,
  path: '/cells/user-entries',
  answer: fromFormer(
    z.object({
      move: z.int().min(0),
      seq: bigintSchema,
      kind: z.string(),
      cause: z.string(),
      debit: z.string(),
      credit: z.string(),
      amount_micros: bigintSchema,
      balance_after_micros: bigintSchema,
      at: timeSchema,
      cell: z.string(),
    }),
  ),
};

/**
 * The entries of wallets that are in this cell, also where they were before. If a former cell is away, those of this cell are a page, and
 * what is older is another one, which is refused until it answers.
 */
export function entriesEverywhere({ entries }: StayReader, { own, map, former, log }: FormerPeers): EntriesElsewhere {
  return async (wallet, { before, most }) => {
    const { appId, userId } = wallet;
    if (!former.hasAny(wallet) || map.otherOf(appId, userId) !== undefined) return undefined;
    const page = { before, most: most + 1 };
    const { rows, newest } = await entries(wallet, page);
    const here = rows.map((row): EntryOfCell => ({ ...row, cell: own }));
    const near = here.filter(({ move }) => move === newest.move);
    if (near.length > most) return pageOf(near, most);
    try {
      const there = await former.ask(USER_ENTRIES, { appId, userId, ...page });
      return pageOf([...here, ...there.flat()], most);
    } catch (fault) {
      const isOlder = before !== undefined && (before.move !== newest.move || near.length === 0);
      if (!(fault instanceof CellAway) || isOlder) throw fault;
      log.warn({ fault: describeFault(fault) }, 'a former cell does not answer: a wallet is shown in part');
      return { entries: near, next: near.at(-1) ?? { move: newest.move, seq: 1n } };
    }
  };
}

function pageOf(rows: readonly EntryOfCell[], most: number) {
  const found = rows.toSorted(newestFirst).slice(0, most);
  return { entries: found, next: rows.length > most ? found.at(-1) : undefined };
}
