import { selectCells, selectSlots } from '#cells/queries.ts';
import { slotOf } from '#cells/slot.ts';
import { inSnapshot, type Pool } from '#db/pool.ts';
import type { AppId, EndUserId } from '#kernel/ids.ts';

/** Another cell, as a gateway reaches it. Immutable. */
export interface OtherCell {
  readonly name: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

/** Keeps in memory which cell has which users, so that a call reads nothing. */
export interface CellMap {
  /** The other cell that has this user of an app. Undefined: this one has. */
  readonly otherOf: (appId: AppId, userId: EndUserId) => OtherCell | undefined;
  /** Loads what the database holds now. Never call it twice at once. */
  readonly refresh: () => Promise<void>;
}

/** Until the first refresh, this cell has all users. */
export function createCellMap(pool: Pool, own: string): CellMap {
  let bySlot: readonly (OtherCell | undefined)[] = [];
  return {
    otherOf: (appId, userId) => bySlot[slotOf(appId, userId)],
    refresh: async () => {
      bySlot = await inSnapshot(pool, async (tx) => {
        const cells = (await selectCells(tx)).map(({ name, base_url: baseUrl }) => ({ name, baseUrl }));
        const others = new Map(cells.filter(({ name }) => name !== own).map((cell) => [cell.name, cell]));
        return (await selectSlots(tx)).map((name) => others.get(name));
      });
    },
  };
}
