import { selectCells, selectMovingSlots, selectSlots } from '#cells/queries.ts';
import { homeSlotOf, slotOf } from '#cells/slot.ts';
import { inSnapshot, type Pool } from '#db/pool.ts';
import type { AppId, EndUserId, KeyId } from '#kernel/ids.ts';

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
  /** The other cell that has the bucket of an app's or a key's rate limit. Undefined: this one has. */
  readonly homeOf: (id: AppId | KeyId) => OtherCell | undefined;
  /** The number of cells, with or without slots. */
  readonly count: () => number;
  /** Whether this user's money is just moving between cells, so that nobody may spend it. */
  readonly isMoving: (appId: AppId, userId: EndUserId) => boolean;
  /** Loads what the database holds now. Never call it twice at once. */
  readonly refresh: () => Promise<void>;
}

/** Until the first refresh, this cell has all users. */
export function createCellMap(pool: Pool, own: string): CellMap {
  let bySlot: readonly (OtherCell | undefined)[] = [];
  let count = 1;
  let moving: ReadonlySet<number> = new Set();
  return {
    otherOf: (appId, userId) => bySlot[slotOf(appId, userId)],
    isMoving: (appId, userId) => moving.size > 0 && moving.has(slotOf(appId, userId)),
    homeOf: (id) => bySlot[homeSlotOf(id)],
    count: () => count,
    refresh: async () => {
      [bySlot, count, moving] = await inSnapshot(pool, async (tx) => {
        const cells = (await selectCells(tx)).map(({ name, base_url: baseUrl }) => ({ name, baseUrl }));
        const others = new Map(cells.filter(({ name }) => name !== own).map((cell) => [cell.name, cell]));
        const slots = (await selectSlots(tx)).map((name) => others.get(name));
        return [slots, cells.length, new Set(await selectMovingSlots(tx))];
      });
    },
  };
}
