/** The first pause of a group. It doubles with each try that fails. */
const FIRST_PAUSE_MS = 100;
const PAUSE_MS_MAX = 2_000;

/**
 * Items that need something that another statement holds, such as a locked wallet. Each resource has a group of its own,
 * which is tried apart from everything else and less and less often. Each try may wait for a lock timeout, and nothing else
 * runs meanwhile.
 */
export interface StuckItems<Item> {
  readonly isEmpty: () => boolean;
  readonly isStuck: (resource: string) => boolean;
  /** Adds an item to the group of its resource. The first one begins the group, and its pause. */
  readonly add: (resource: string, item: Item) => void;
  /** Takes the items of a group whose pause is over. The resource stays stuck until it is released. */
  readonly takeDue: () => DueItems<Item> | undefined;
  /** Puts items back after another try. Without any, the group ends. */
  readonly again: (resource: string, items: readonly Item[]) => void;
  /** Ends the group. Returns the items that came while it was tried. */
  readonly release: (resource: string) => readonly Item[];
}

export interface DueItems<Item> {
  readonly resource: string;
  readonly items: readonly Item[];
  /** How often they would have been tried again in this pause, had it not grown. */
  readonly retries: number;
}

interface Group<Item> {
  items: Item[];
  pauseMs: number;
  isDue: boolean;
}

/** `onDue` is called when the pause of a group is over. */
export function createStuckItems<Item>(onDue: () => void): StuckItems<Item> {
  const groups = new Map<string, Group<Item>>();

  function rest(group: Group<Item>): void {
    setTimeout(() => {
      group.isDue = true;
      onDue();
    }, group.pauseMs);
  }

  return {
    isEmpty: () => groups.size === 0,
    isStuck: (resource) => groups.has(resource),
    add: (resource, item) => {
      const known = groups.get(resource);
      if (known !== undefined) return void known.items.push(item);
      const group = { items: [item], pauseMs: FIRST_PAUSE_MS, isDue: false };
      groups.set(resource, group);
      rest(group);
    },
    takeDue: () => {
      for (const [resource, group] of groups) {
        if (!group.isDue) continue;
        const { items } = group;
        group.items = [];
        group.isDue = false;
        return { resource, items, retries: group.pauseMs / FIRST_PAUSE_MS };
      }
      return undefined;
    },
    again: (resource, items) => {
      const group = groups.get(resource);
      if (group === undefined) return;
      group.items = [...items, ...group.items];
      if (group.items.length === 0) return void groups.delete(resource);
      group.pauseMs = Math.min(2 * group.pauseMs, PAUSE_MS_MAX);
      rest(group);
    },
    release: (resource) => {
      const items = groups.get(resource)?.items ?? [];
      groups.delete(resource);
      return items;
    },
  };
}
