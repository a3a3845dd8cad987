import type { Pool } from '../../packages/service/src/db/pool/pool.ts';

interface Fill {
  /** The apps take the users in turn: `user-n` belongs to the app at the index n modulo the number of apps. */
  readonly appIds: readonly string[];
  /** The number of wallets, which belong to `user-0` and so on. */
  readonly wallets: number;
  /**
   * The finished calls of each wallet, with one entry and one receipt for each. 0 leaves the books empty but for the
   * credits.
   */
  readonly callsEach: number;
}

/** What comes into each wallet: more than any run can spend. */
const CREDIT_MICROS = 9_000_000_000_000;
const CHARGE_MICROS = 91;
/** Rows of one statement: enough to be quick, few enough that another round of them fits the memory of the server. */
const ROWS_PER_STATEMENT = 50_000;

/** Wallets as they are after their calls, and the credit that they began with. */
const WALLETS = `
  with opened as (
    insert into ledger.wallets (app_id, user_id, currency, balance_micros, entry_seq, version, cap_month, cap_spent_micros)
    select ($1::text[])[1 + n % cardinality($1)], 'user-' || n, 'EUR', $4::bigint - $5::bigint * $6::int, 1 + $6::int, 1 + $6::int,
      db.current_month(), $5::bigint * $6::int
    from generate_series($2::int, $3::int) n
    returning wallet_id
  )
  insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
  select wallet_id, 1, 'contract_credit', ledger.cause_of(wallet_id, 'contract_credit', 'first'), 'contract', 'wallet', $4, $4
  from opened`;

/** One call of each wallet, whose receipt is its entry, named in order of time as calls are. */
const CALLS = `
  with charge as materialized (
    select w.wallet_id, uuidv7() as call_id, 'cor_' || substr(md5(random()::text), 1, 22) as correlation_id
    from generate_series($2::int, $3::int) n
    join ledger.wallets w on w.app_id = ($1::text[])[1 + n % cardinality($1)] and w.user_id = 'user-' || n
  )
  insert into usage.calls (call_id, wallet_id, month, model, price_id, outcome, is_estimated, prompt_tokens, cached_tokens,
    completion_tokens, reasoning_tokens, held_micros, charged_micros, correlation_id, seq, balance_after_micros)
  select call_id, wallet_id, db.current_month(), 'bench.model-1', 1, 'answered', false, 8, 0, 47, 0, 1000, $5::bigint,
    correlation_id, 1 + $6::int, $4::bigint - $5::bigint * $6::int
  from charge`;

/** Marks every wallet as found right, as the service would do by itself within a minute, while it is measured. */
const CHECKED = `
  insert into ledger.checkpoints (wallet_id, version, entry_seq, balance_micros, shortfall_micros, held_micros, cap_month,
    cap_spent_micros)
  select wallet_id, version, entry_seq, balance_micros, 0, 0, cap_month, cap_spent_micros from ledger.wallets`;

/**
 * Fills the books through every constraint and index, in the order in which calls would have come: the first of each
 * wallet, then the second of each. `owner` acts as the owner of the schema, without time limits.
 */
export async function fillLedger(owner: Pool, { appIds, wallets, callsEach }: Fill): Promise<void> {
  await inPages(wallets, (first, last) =>
    owner.query(WALLETS, [appIds, first, last, CREDIT_MICROS, CHARGE_MICROS, callsEach]),
  );
  await owner.query('analyze ledger.wallets');
  for (let call = 1; call <= callsEach; call += 1) {
    await inPages(wallets, (first, last) =>
      owner.query(CALLS, [appIds, first, last, CREDIT_MICROS, CHARGE_MICROS, call]),
    );
  }
  await owner.query(CHECKED);
  // What a database does by itself sooner or later, so that it does not do it while something is measured.
  await owner.query('vacuum (analyze)');
  await owner.query('checkpoint');
}

/** Two pages at a time: one statement uses one core. */
async function inPages(rows: number, run: (first: number, last: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < rows) {
      const first = next;
      next += ROWS_PER_STATEMENT;
      await run(first, Math.min(rows, next) - 1);
    }
  };
  await Promise.all([work(), work()]);
}
