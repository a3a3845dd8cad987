import { type Queryable, sqlStateOf } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import type { CallId } from '#kernel/ids.ts';

/** A call was repeated, or a hold changed while its wallet was waited for (maybe a constraint noticed): nothing was done. */
const UNDONE = /^(40001|23)/;

/** What became of a batch: `left` is as it was. */
export interface Tried<Item> {
  readonly done: readonly Item[];
  readonly left: readonly Item[];
}

interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

export async function doneBy(db: Queryable, { name, text, values }: Statement): Promise<'all' | ReadonlySet<CallId>> {
  try {
    const { rows } = await db.query<{ done: readonly CallId[] | null }>({ name, text, values: [...values] });
    const done = rows[0]?.done;
    assert(done !== undefined, 'a function answers with one row');
    return done === null ? 'all' : new Set(done);
  } catch (fault) {
    if (UNDONE.test(sqlStateOf(fault) ?? '')) return new Set();
    throw fault;
  }
}

export function split<Item>(items: readonly Item[], isDone: (item: Item) => boolean): Tried<Item> {
  const left = items.filter((item) => !isDone(item));
  return { done: left.length === 0 ? items : items.filter(isDone), left };
}
