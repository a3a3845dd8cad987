import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool.ts';
import { Refusal } from '#kernel/refusal.ts';

/** Who acts, and why. */
export interface Act {
  /** The account, or `command-line`. */
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

/** Does one act and writes it down, both or neither. A refusal undoes it and is not written down (CP-05). */
export async function audited<Result>(
  pool: Pool,
  { actor, action, subject, reason }: NamedAct,
  run: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  try {
    return await inTransaction(pool, async (tx) => {
      const result = await run(tx);
      if (result instanceof Refusal) throw new Undone(result);
      await insertAuditEntry(tx, { actor, action, subject, reason });
      return result;
    });
  } catch (fault) {
    if (fault instanceof Undone) return fault.refusal as Result;
    throw fault;
  }
}
