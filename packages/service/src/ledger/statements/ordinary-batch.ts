import { type Queryable, sqlStateOf } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import type { CallId } from '#kernel/ids.ts';

/**
 * The SQLSTATEs of a batch that did nothing, because a call was repeated or a hold changed while the statement waited for
 * its wallet. 40001 is raised by our function; class 23 is a constraint that noticed first. The slower statement decides.
 */
const UNDONE = /^(40001|23)/;

/** What became of a batch. Nothing has changed for the items in `left`. */
export interface Tried<Item> {
  readonly done: readonly Item[];
  readonly left: readonly Item[];
}

interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Runs a statement that does what it can for a batch, and returns the calls that it has done. `all` is the usual case:
 * the server then answers null, which saves sending back the ids.
 */
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

/** Splits a batch, in its order. Copies nothing for the items that are done if all are, which is nearly always. */
export function split<Item>(items: readonly Item[], isDone: (item: Item) => boolean): Tried<Item> {
  const left = items.filter((item) => !isDone(item));
  return { done: left.length === 0 ? items : items.filter(isDone), left };
}
