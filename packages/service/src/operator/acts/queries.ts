import { type Facts, openFacts, storedFacts } from '#audit/entry.ts';
import { emailsOf, type Queryable } from '#db/pool/pool.ts';
import type { Micros } from '#kernel/values/micros.ts';

/** What an operator has moved within 24 hours. Lock the operator's account first. */
export async function selectMoved(tx: Queryable, accountId: string): Promise<bigint> {
  const { rows } = await tx.query<{ moved: bigint }>(
    `select least(coalesce(sum(amount_micros), 0), 9223372036854775807)::bigint as moved from operator.movements
     where account_id = $1 and at > clock_timestamp() - interval '24 hours'`,
    [accountId],
  );
  return rows[0]?.moved ?? 0n;
}

/** Counts a movement, and removes those of this operator that count no more. */
export async function insertMovement(tx: Queryable, accountId: string, amount: Micros): Promise<void> {
  await tx.query(
    `with gone as (
       delete from operator.movements where account_id = $1 and at <= clock_timestamp() - interval '24 hours'
     )
     insert into operator.movements (account_id, amount_micros) values ($1, $2)`,
    [accountId, amount],
  );
}

/** Begins an act. From here, `undoAct` takes back what the transaction has done. */
export async function beginAct(tx: Queryable): Promise<void> {
  await tx.query('savepoint act');
}

export async function undoAct(tx: Queryable): Promise<void> {
  await tx.query('rollback to savepoint act');
}

/** How many acts wait for a second person, at most `most`. */
export async function countWaiting(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ waiting: number }>(
    `select count(*)::int as waiting from (
       select from operator.pending_acts where state = 'waiting' and expires_at > clock_timestamp() limit $1
     ) w`,
    [most],
  );
  return rows[0]?.waiting ?? 0;
}

export type PendingState = 'waiting' | 'done' | 'rejected' | 'expired';

export interface PendingRow {
  readonly seq: bigint;
  readonly pending_id: string;
  readonly action: string;
  readonly subject: string;
  readonly act: unknown;
  readonly amount_micros: bigint;
  readonly reason: string;
  readonly before: Facts | null;
  readonly after: Facts | null;
  readonly requested_by: string;
  readonly requested_email: string;
  readonly requested_at: Date;
  readonly expires_at: Date;
  readonly state: PendingState;
  readonly decided_email: string | null;
  readonly decided_at: Date | null;
  readonly decided_reason: string | null;
}

/** An act that waits too long reads as expired, whether or not its row says so yet. */
const COLUMNS = `seq, pending_id, action, subject, act, amount_micros, reason, before, after, requested_by, requested_email,
  requested_at, expires_at,
  case when state = 'waiting' and expires_at <= clock_timestamp() then 'expired' else state end as state,
  decided_email, decided_at, decided_reason`;

interface NewPending {
  readonly pendingId: string;
  readonly action: string;
  readonly subject: string;
  readonly key: string;
  /** The act as JSON. */
  readonly act: string;
  readonly amount: Micros;
  readonly reason: string;
  readonly before: Facts | undefined;
  readonly after: Facts | undefined;
  readonly requestedBy: string;
  readonly requestedEmail: string;
  readonly lifetimeMs: number;
}

/** Keeps an act for a second person. Undefined if the same act waits already. */
export async function insertPending(tx: Queryable, act: NewPending): Promise<PendingRow | undefined> {
  const emails = emailsOf(tx);
  await tx.query(
    `update operator.pending_acts set state = 'expired'
     where action = $1 and subject = $2 and key = $3 and state = 'waiting' and expires_at <= clock_timestamp()`,
    [act.action, act.subject, act.key],
  );
  const { rows } = await tx.query<PendingRow>(
    `insert into operator.pending_acts
       (pending_id, action, subject, key, act, amount_micros, reason, before, after, requested_by, requested_email, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp() + $12 * interval '1 millisecond')
     on conflict (action, subject, key) where state = 'waiting' do nothing
     returning ${COLUMNS}`,
    [
      act.pendingId,
      act.action,
      act.subject,
      act.key,
      act.act,
      act.amount,
      emails.conceal(act.reason),
      storedFacts(act.before, emails),
      storedFacts(act.after, emails),
      act.requestedBy,
      emails.seal(act.requestedEmail),
      act.lifetimeMs,
    ],
  );
  return rows[0] && opened(tx, rows[0]);
}

/** The act that waits under a key. */
export async function selectWaiting(
  tx: Queryable,
  { action, subject, key }: Pick<NewPending, 'action' | 'subject' | 'key'>,
): Promise<PendingRow | undefined> {
  const { rows } = await tx.query<PendingRow>(
    `select ${COLUMNS} from operator.pending_acts where action = $1 and subject = $2 and key = $3 and state = 'waiting'`,
    [action, subject, key],
  );
  return rows[0] && opened(tx, rows[0]);
}

/** Whether an act on this wallet, or on a payment of it, waits for a second person. */
export async function hasWaitingAct(
  db: Queryable,
  { appId, userId }: { readonly appId: string; readonly userId: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from operator.pending_acts
     where (subject = $1 or starts_with(subject, $1 || ' ')) and state = 'waiting' and expires_at > clock_timestamp() limit 1`,
    [`${appId} ${userId}`],
  );
  return rowCount === 1;
}

export async function selectPending(db: Queryable, pendingId: string): Promise<PendingRow | undefined> {
  const { rows } = await db.query<PendingRow>(`select ${COLUMNS} from operator.pending_acts where pending_id = $1`, [
    pendingId,
  ]);
  return rows[0] && opened(db, rows[0]);
}

/** Locks an act, so that of two decisions at once the second one sees the first. */
export async function lockPending(tx: Queryable, pendingId: string): Promise<PendingRow | undefined> {
  const { rows } = await tx.query<PendingRow>(
    `select ${COLUMNS} from operator.pending_acts where pending_id = $1 for update`,
    [pendingId],
  );
  return rows[0] && opened(tx, rows[0]);
}

/** Lists acts, the newest first, from the one before `before` when it is given. */
export async function selectPendingActs(
  db: Queryable,
  page: { readonly before: bigint | undefined; readonly most: number; readonly isWaiting: boolean },
): Promise<readonly PendingRow[]> {
  const waiting = page.isWaiting ? `and state = 'waiting' and expires_at > clock_timestamp()` : '';
  const { rows } = await db.query<PendingRow>(
    `select ${COLUMNS} from operator.pending_acts where ($1::bigint is null or seq < $1) ${waiting}
     order by seq desc limit $2`,
    [page.before ?? null, page.most],
  );
  return rows.map((row) => opened(db, row));
}

/** Ends the wait of an act. Lock it first. */
export async function updatePending(
  tx: Queryable,
  pendingId: string,
  decision: {
    readonly state: 'done' | 'rejected';
    readonly by: string;
    readonly email: string;
    readonly reason: string;
  },
): Promise<void> {
  await tx.query(
    `update operator.pending_acts set state = $2, decided_by = $3, decided_email = $4, decided_reason = $5,
       decided_at = clock_timestamp()
     where pending_id = $1`,
    [pendingId, decision.state, decision.by, emailsOf(tx).seal(decision.email), emailsOf(tx).conceal(decision.reason)],
  );
}

function opened(db: Queryable, row: PendingRow): PendingRow {
  const { open } = emailsOf(db);
  return {
    ...row,
    reason: open(row.reason),
    before: openFacts(row.before, open),
    after: openFacts(row.after, open),
    requested_email: open(row.requested_email),
    decided_email: row.decided_email === null ? null : open(row.decided_email),
    decided_reason: row.decided_reason === null ? null : open(row.decided_reason),
  };
}
