/** Something that can be in an indexed set, in one at a time. */
export interface Indexed {
  /** Where the item is in the set, or -1 if it is in none. The set keeps this field. */
  place: number;
}

/**
 * What is under way now: a set for the path of calls, which iterates in no particular order. Adding and deleting take no
 * look-up.
 *
 * A `Set` or `Map` there costs memory. V8 links each table that one has outgrown to the next. As soon as one of those tables is in
 * the old generation, no later one is collected with the young: all of them are promoted, and with each the calls that were under
 * way when it was made.
 */
export class IndexedSet<Item extends Indexed> {
  readonly #items: Item[] = [];

  add(item: Item): void {
    item.place = this.#items.push(item) - 1;
  }

  /** Returns false if the item was not here. */
  delete(item: Item): boolean {
    const { place } = item;
    if (place === -1) return false;
    const last = this.#items.pop();
    if (last !== undefined && last !== item) {
      this.#items[place] = last;
      last.place = place;
    }
    item.place = -1;
    return true;
  }

  /** A copy, so that items may be deleted meanwhile. */
  all(): readonly Item[] {
    return this.#items.slice();
  }
}
