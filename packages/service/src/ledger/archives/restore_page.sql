-- Adds receipts to the table of a detached month that ledger.begin_restore has made: an array of objects with the columns of
-- ledger.month_page as texts, or null.
create or replace function ledger.restore_page(p_month date, p_rows json) returns void
language plpgsql set search_path = pg_catalog as $$
begin
  execute format($text$
    insert into %s (call_id, wallet_id, month, model, price_id, outcome, is_estimated, is_usage_clamped, prompt_tokens,
      cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, rare_counts, held_micros, charged_micros,
      correlation_id, budget_key, seq, balance_after_micros, settled_at)
    select r.call_id, r.wallet_id, r.month, r.model, r.price_id, r.outcome, r.is_estimated, r.is_usage_clamped, r.prompt_tokens,
      r.cached_tokens, r.cache_write_tokens, r.completion_tokens, r.reasoning_tokens, r.rare_counts::jsonb, r.held_micros,
      r.charged_micros, r.correlation_id, r.budget_key, r.seq, r.balance_after_micros, r.settled_at
    from json_to_recordset($1) as r (call_id uuid, wallet_id bigint, month date, model text, price_id bigint, outcome text,
      is_estimated boolean, is_usage_clamped boolean, prompt_tokens bigint, cached_tokens bigint, cache_write_tokens bigint,
      completion_tokens bigint, reasoning_tokens bigint, rare_counts text, held_micros bigint, charged_micros bigint,
      correlation_id text, budget_key text, seq bigint, balance_after_micros bigint, settled_at timestamptz)
    $text$, ledger.receipts_of(p_month)) using p_rows;
end $$;

revoke all on function ledger.restore_page from public;
