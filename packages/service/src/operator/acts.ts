import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool.ts';
import { waitForLocks } from '#db/queries.ts';
import { Refusal } from '#kernel/refusal.ts';

/** Who acts, and why. */
export interface Act {
  /** The account, `command-line`, or `settings` for the operator whom those name. */
  readonly actor: string;
  readonly reason: string | undefined;
}

interface NamedAct extends Act {
  readonly action: string;
  readonly subject: string;
}

/** A refusal in a transaction: thrown so that what was done before it is undone, and given back as a value. */
class Undone extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** What an act gives that was done before, under the same key: nothing happened, so nothing is written down. */
export class Repeated<Result> {
  readonly result: Result;

  constructor(result: Result) {
    this.result = result;
  }
}

/**
 * Does one act and writes it down, both or neither. A refusal undoes it and is not written down (CP-05). Acts that meet
 * wait for each other.
 */
export async function audited<Result>(
  pool: Pool,
  { actor, action, subject, reason }: NamedAct,
  run: (tx: Queryable) => Promise<Result | Repeated<Result>>,
): Promise<Result> {
  try {
    return await inTransaction(pool, async (tx) => {
      await waitForLocks(tx);
      const result = await run(tx);
      if (result instanceof Repeated) return result.result;
      if (result instanceof Refusal) throw new Undone(result);
      await insertAuditEntry(tx, { actor, action, subject, reason });
      return result;
    });
  } catch (fault) {
    if (fault instanceof Undone) return fault.refusal as Result;
    throw fault;
  }
}
