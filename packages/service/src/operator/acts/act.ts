import type { Actor, AuditEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable, sqlStateOf } from '#db/pool/pool.ts';
import { waitForLocks } from '#db/processes/queries.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { MoneyLimits } from '#operator/acts/money-limits.ts';

/** Who acts, from where, and why. */
export interface Act extends Actor {
  readonly reason: string | undefined;
  /** What the actor may move, by their role. Undefined if nothing bounds them, as in development and on the command line. */
  readonly limits: MoneyLimits | undefined;
}

/** What an act has changed, for the audit trail. An act that moves money says how much: see `movingMoney`. */
type Changed = Pick<AuditEntry, 'before' | 'after'>;

export interface NamedAct extends Act {
  readonly action: string;
  readonly subject: string;
}

/** The result of an act that changed nothing, such as a repeat with the same key. It leaves no line in the audit trail. */
export class Repeated<Result> {
  readonly result: Result;

  constructor(result: Result) {
    this.result = result;
  }
}

/** Carries an answer out of a transaction by an exception, which rolls back everything done so far. */
class Undone extends Error {
  readonly answer: unknown;

  constructor(answer: unknown) {
    super('An act was undone.');
    this.answer = answer;
  }
}

const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';

/**
 * Does one act that moves no money and records it in the audit trail, both or neither. A refusal rolls both back (CP-05). Acts
 * that meet wait for each other for some seconds; then the act is refused with `CONFLICT` and may be repeated. `run` says with
 * `note` what it has changed.
 */
export function audited<Result>(
  pool: Pool,
  act: NamedAct,
  run: (tx: Queryable, note: (changed: Changed) => void) => Promise<Result | Repeated<Result>>,
): Promise<Result | Refusal<'CONFLICT'>> {
  return recorded<Result>(pool, async (tx) => {
    let changed: Changed = {};
    const result = await run(tx, (said) => (changed = said));
    return { result, lines: [lineOf(act, changed)] };
  });
}

/** What was done in a transaction, and what the audit trail says of it. */
export interface Recorded<Result> {
  readonly result: Result | Repeated<Result>;
  readonly lines: readonly AuditEntry[];
}

/** Runs a transaction and adds its lines to the audit trail. A refusal, and a repeat, roll back everything and leave no line. */
export async function recorded<Result, Refused extends Refusal = never>(
  pool: Pool,
  run: (tx: Queryable) => Promise<Recorded<Result> | Refused>,
): Promise<Result | Refused | Refusal<'CONFLICT'>> {
  try {
    return await inTransaction(pool, async (tx) => {
      await waitForLocks(tx);
      const done = await run(tx);
      if (done instanceof Refusal) throw new Undone(done);
      const { result, lines } = done;
      if (result instanceof Repeated) throw new Undone(result.result);
      if (result instanceof Refusal) throw new Undone(result);
      for (const line of lines) await insertAuditEntry(tx, line);
      return result;
    });
  } catch (fault) {
    if (fault instanceof Undone) return fault.answer as Result;
    if ([LOCK_NOT_AVAILABLE, DEADLOCK].includes(sqlStateOf(fault) ?? ''))
      return refuse('CONFLICT', BUSY, { retryAfterSeconds: 1 });
    throw fault;
  }
}

/** The line of an act in the audit trail. */
export function lineOf(
  { actor, actorName, from, action, subject, reason }: NamedAct,
  changed: Pick<AuditEntry, 'amount' | 'before' | 'after'>,
): AuditEntry {
  return { actor, actorName, from, action, subject, reason, ...changed };
}

const BUSY = 'Somebody else is changing the same thing at this moment. Nothing was changed. Try again.';
