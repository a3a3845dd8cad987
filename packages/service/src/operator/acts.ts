import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable, sqlStateOf } from '#db/pool.ts';
import { waitForLocks } from '#db/queries.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';

/** Who acts, and why. */
export interface Act {
  /** The account, `command-line`, or `settings` for the operator whom those name. */
  readonly actor: string;
  readonly reason: string | undefined;
}

export interface NamedAct extends Act {
  readonly action: string;
  readonly subject: string;
}

/** What an act gives that changed nothing, such as a repeat under the same key: there is nothing to write down. */
export class Repeated<Result> {
  readonly result: Result;

  constructor(result: Result) {
    this.result = result;
  }
}

/** An answer in a transaction: thrown so that what was done before it is undone, and given back as a value. */
class Undone extends Error {
  readonly answer: unknown;

  constructor(answer: unknown) {
    super('An act was undone.');
    this.answer = answer;
  }
}

const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Does one act and writes it down, both or neither. A refusal undoes it and is not written down (CP-05). Acts that meet
 * wait for each other, for seconds; after that the act is refused and may be repeated. The line is written first, so that
 * what `run` locks is locked no longer than it must be: calls of the same wallet wait for it.
 */
export async function audited<Result>(
  pool: Pool,
  { actor, action, subject, reason }: NamedAct,
  run: (tx: Queryable) => Promise<Result | Repeated<Result>>,
): Promise<Result | Refusal<'CONFLICT'>> {
  try {
    return await inTransaction(pool, async (tx) => {
      await waitForLocks(tx);
      await insertAuditEntry(tx, { actor, action, subject, reason });
      const result = await run(tx);
      if (result instanceof Repeated) throw new Undone(result.result);
      if (result instanceof Refusal) throw new Undone(result);
      return result;
    });
  } catch (fault) {
    if (fault instanceof Undone) return fault.answer as Result;
    if (sqlStateOf(fault) === LOCK_NOT_AVAILABLE) return busy();
    throw fault;
  }
}

function busy(): Refusal<'CONFLICT'> {
  return refuse('CONFLICT', 'Somebody else is changing the same at this moment, and nothing was done. Try again.', {
    retryAfterSeconds: 1,
  });
}
