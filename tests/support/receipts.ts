import type { TestDatabase } from './database.ts';
import { sql, sqlRow, sqlValue } from './sql.ts';

/** The stored record of an ended call. */
export interface Receipt {
  readonly outcome: string;
  readonly charged: number;
  readonly held: number;
  readonly isEstimated: boolean;
  readonly prompt: number;
  readonly completion: number;
}

const RECEIPT = `select outcome, charged_micros::float8 as charged, held_micros::float8 as held,
  is_estimated as "isEstimated", prompt_tokens::float8 as prompt, completion_tokens::float8 as completion
  from usage.calls`;

/** The receipt of a call, or undefined if it has not ended. */
export async function receiptOf({ owner }: TestDatabase, callId: string): Promise<Receipt | undefined> {
  return (await owner.query<Receipt>(`${RECEIPT} where call_id = $1`, [callId])).rows[0];
}

/** The receipt of the call that its caller gave this name, or undefined if none has ended. */
export async function receiptNamed({ owner }: TestDatabase, correlationId: string): Promise<Receipt | undefined> {
  return (await owner.query<Receipt>(`${RECEIPT} where correlation_id = $1`, [correlationId])).rows[0];
}

/** What a call was charged for. */
export interface Bill {
  readonly outcome: string;
  readonly charged: number;
  readonly held: number;
  readonly isEstimated: boolean;
  readonly isClamped: boolean;
  readonly tokens: {
    readonly prompt: number;
    readonly cached: number;
    readonly cacheWrite: number;
    readonly completion: number;
    readonly reasoning: number;
  };
}

/** The bill of the call that its caller gave this name, or undefined if none has ended. */
export async function billNamed({ owner }: TestDatabase, correlationId: string): Promise<Bill | undefined> {
  return sqlRow<Bill>(owner)`
    select outcome, charged_micros::float8 as charged, held_micros::float8 as held, is_estimated as "isEstimated",
      is_usage_clamped as "isClamped", json_build_object('prompt', prompt_tokens, 'cached', cached_tokens,
        'cacheWrite', cache_write_tokens,
        'completion', completion_tokens, 'reasoning', reasoning_tokens) as tokens
    from usage.calls where correlation_id = ${correlationId}`;
}

export interface Movement {
  readonly seq: number;
  readonly kind: string;
  readonly books: string;
  readonly amount: number;
  readonly after: number;
}

/** The entries of a user's wallet, the oldest first. */
export async function movementsOf({ owner }: TestDatabase, user: string): Promise<readonly Movement[]> {
  return sql<Movement>(owner)`select e.seq::int as seq, e.kind::text as kind, e.debit || ' to ' || e.credit as books,
      e.amount_micros::float8 as amount, e.balance_after_micros::float8 as after
    from ledger.entries e join ledger.wallets w on w.wallet_id = e.wallet_id
    where w.user_id = ${user} order by e.seq`;
}

/** How many answers of this user's charged calls are kept. */
export async function keptCount(asked: { readonly database: TestDatabase }, user: string): Promise<number> {
  const count = await sqlValue<number>(asked)`select count(*)::int from idempotency.kept_answers a
    join usage.calls c using (call_id) join ledger.wallets w using (wallet_id) where w.user_id = ${user}`;
  return count ?? 0;
}
