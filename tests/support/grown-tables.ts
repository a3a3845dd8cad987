/** How many unrelated rows each statement below makes: many times what a look-up of a row or two reads. */
const ROWS_GROWN = 5_000;

const SERIES = `generate_series(1, ${ROWS_GROWN}) n`;

/** One statement per table that makes unrelated rows, as a table has them after a while. */
export const GROWTH = {
  'ledger.wallets': `insert into ledger.wallets (app_id, user_id, currency) select 'app_other', 'user-' || n, 'EUR' from ${SERIES}`,
  'ledger.journal': `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
    select -n, 1, 'top_up', 'other-' || n, 'processor', 'wallet', 1, 1 from ${SERIES}`,
  'usage.calls': `insert into usage.calls (call_id, wallet_id, month, outcome, is_estimated, prompt_tokens, cached_tokens,
      completion_tokens, reasoning_tokens, held_micros, charged_micros, correlation_id)
    select gen_random_uuid(), -n, '2020-01-01', 'failed', false, 0, 0, 0, 0, 1, 0, gen_random_uuid()::text from ${SERIES}`,
  'usage.sessions': `insert into usage.sessions (wallet_id, name, begun_at, last_at, calls, charged_micros)
    select -n, 'other', now(), now(), 1, 1 from ${SERIES}`,
  'usage.session_calls': `insert into usage.session_calls (call_id, session_id) select gen_random_uuid(), -n from ${SERIES}`,
  'ledger.holds': `insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
    select gen_random_uuid(), -n, 1, '2020-01-01', false, 0 from ${SERIES}`,
  'webhooks.subscriptions': `insert into webhooks.subscriptions (app_id, listener_id, listening_until, events,
      low_balance_threshold_micros)
    select 'app_other_' || n, 'listener', now() + interval '1 day', '{balance.low}', 1000000000 from ${SERIES}`,
  'webhooks.events': `insert into webhooks.events (event_id, app_id, subscription_id, type, created_at, state, ended_at)
    select 'evt_other_' || n, 'app_other_' || n, -n, 'topup.completed', now(), 'delivered', now() from ${SERIES}`,
  'webhooks.attempts': `insert into webhooks.attempts (event_id, attempt, at, duration_ms)
    select 'evt_other_' || n, 1, now(), 1 from ${SERIES}`,
  'limits.buckets': `insert into limits.buckets (app_id, units, refilled_at_us) select 'app_other_' || n, 0, 0 from ${SERIES}`,
  'idempotency.kept_answers': `insert into idempotency.kept_answers (call_id, key_digest, body_digest, sealed, charged_micros, expires_at)
    select gen_random_uuid(), decode(md5(n::text), 'hex'), '', '', 0, now() + interval '1 day' from ${SERIES}`,
  'sandbox.wallets': `insert into sandbox.wallets (app_id, user_id, balance_micros) select 'app_other', 'user-' || n, 2 from ${SERIES}`,
  'sandbox.holds': `insert into sandbox.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
    select gen_random_uuid(), -n, 1, '2020-01-01', false, 0 from ${SERIES}`,
} as const;

export type GrownTable = keyof typeof GROWTH;
