-- A page of a month's receipts after a call, as lines of CSV in the order of their ids (RFC 4180, with LF). Numbers and ids are
-- plain, times are of UTC with microseconds, texts are in quotes, and what is null is empty. The hash of a month is taken over
-- exactly this text, after the line of names: it must never change. A column that receipts gain later belongs to a second form.
create or replace function ledger.month_page(p_month date, p_after uuid, p_most int)
returns table (lines text, rows int, last_call uuid)
language plpgsql stable set search_path = pg_catalog set plan_cache_mode = force_custom_plan set enable_seqscan = off as $$
begin
  return query execute format($text$
    select string_agg(l.line, '' order by l.call_id), count(*)::int, (array_agg(l.call_id order by l.call_id desc))[1]
    from (
      select c.call_id, concat_ws(',', c.call_id, c.wallet_id, c.month, coalesce('"' || replace(c.model, '"', '""') || '"', ''),
        coalesce(c.price_id::text, ''), '"' || c.outcome || '"', c.is_estimated, c.is_usage_clamped, c.prompt_tokens,
        c.cached_tokens, c.cache_write_tokens, c.completion_tokens, c.reasoning_tokens,
        coalesce('"' || replace(c.rare_counts::text, '"', '""') || '"', ''), c.held_micros, c.charged_micros,
        coalesce('"' || replace(c.correlation_id, '"', '""') || '"', ''), coalesce('"' || replace(c.budget_key, '"', '""') || '"', ''),
        coalesce(c.seq::text, ''), coalesce(c.balance_after_micros::text, ''),
        to_char(c.settled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || E'\n' as line
      from %s c where c.call_id > $1 order by c.call_id limit $2
    ) l$text$, ledger.receipts_of(p_month)) using p_after, p_most;
end $$;

revoke all on function ledger.month_page from public;
