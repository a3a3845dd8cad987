import { selectCells, selectGivers, selectMovingSlots, selectSlots } from '#cells/topology/queries.ts';
import { homeSlotOf, type OtherCell, slotOf } from '#kernel/values/slot.ts';
import { inSnapshot, type Pool } from '#db/pool/pool.ts';
import type { AppId, EndUserId, KeyId } from '#kernel/values/ids.ts';

/** Keeps in memory which cell has which users, so that a call reads nothing. */
export interface CellMap {
  /** The other cell that has this user of an app. Undefined if this one has. */
  readonly otherOf: (appId: AppId, userId: EndUserId) => OtherCell | undefined;
  /** The other cell that has the bucket of an app's or a key's rate limit. Undefined if this one has. */
  readonly homeOf: (id: AppId | KeyId) => OtherCell | undefined;
  /** The cell that lends of the budgets of API keys: the first one, which never changes. Undefined if this is it. */
  readonly budgetHome: () => OtherCell | undefined;
  /** The cells that have given this user's slot to this one, by their names. Empty if it was never elsewhere, or nobody in it had a wallet. */
  readonly giversOf: (appId: AppId, userId: EndUserId) => readonly string[];
  /** All cells but this one. */
  readonly others: () => readonly OtherCell[];
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
  let others: ReadonlyMap<string, OtherCell> = new Map();
  let first: OtherCell | undefined;
  let moving: ReadonlySet<number> = new Set();
  let givers: ReadonlyMap<number, readonly string[]> = new Map();
  return {
    otherOf: (appId, userId) => bySlot[slotOf(appId, userId)],
    isMoving: (appId, userId) => moving.size > 0 && moving.has(slotOf(appId, userId)),
    homeOf: (id) => bySlot[homeSlotOf(id)],
    budgetHome: () => first,
    giversOf: (appId, userId) => (givers.size > 0 ? givers.get(slotOf(appId, userId)) : undefined) ?? [],
    others: () => Array.from(others.values()),
    count: () => others.size + 1,
    refresh: async () => {
      [bySlot, others, first, moving, givers] = await inSnapshot(pool, async (tx) => {
        const cells = (await selectCells(tx)).map(({ name, base_url: baseUrl }) => ({ name, baseUrl }));
        const found = new Map(cells.filter(({ name }) => name !== own).map((cell) => [cell.name, cell]));
        const slots = (await selectSlots(tx)).map((name) => found.get(name));
        return [
          slots,
          found,
          found.get(cells[0]?.name ?? own),
          new Set(await selectMovingSlots(tx)),
          bySlotOf(await selectGivers(tx)),
        ];
      });
    },
  };
}

function bySlotOf(
  arrived: readonly { readonly slot: number; readonly cell: string }[],
): ReadonlyMap<number, readonly string[]> {
  const bySlot = Map.groupBy(arrived, ({ slot }) => slot);
  return new Map(Array.from(bySlot, ([slot, rows]) => [slot, rows.map(({ cell }) => cell)]));
}
