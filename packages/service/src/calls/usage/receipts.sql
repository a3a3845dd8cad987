-- Receipts of an app, or of all apps if p_app is null, by call or by correlation id, newest first, with the price that each was charged by (CP-04). A
-- client may give one correlation id to all its calls: the index has them in the order that is asked for, so that they
-- are not read to the end.
--
-- A call that was charged late (WA-10) has two receipts: by its id it is shown with the second, under the id that its caller
-- knows. The id of the second receipt finds it too: movements have it.
create or replace function usage.receipts(p_app text, p_call uuid, p_correlation text, p_most int) returns table (
  app_id text, call_id uuid, correlation_id text, user_id text, model text, settled_at timestamptz, outcome text, is_estimated boolean,
  prompt_tokens bigint, cached_tokens bigint, cache_write_tokens bigint, completion_tokens bigint, reasoning_tokens bigint,
  held_micros bigint, charged_micros bigint, price_id bigint,
  input_micros_per_million bigint, cached_input_micros_per_million bigint, cache_write_micros_per_million bigint,
  output_micros_per_million bigint, margin_basis_points int, margin_micros_per_call bigint, details jsonb,
  provider text, provider_model text, rare_counts jsonb, is_late boolean, session text, wire text
)
language sql stable security definer set search_path = pg_catalog set enable_seqscan = off as $$
  select w.app_id, coalesce(l.call_id, c.call_id), c.correlation_id, w.user_id, c.model, c.settled_at, c.outcome, c.is_estimated,
    c.prompt_tokens, c.cached_tokens, c.cache_write_tokens, c.completion_tokens, c.reasoning_tokens,
    c.held_micros, c.charged_micros, c.price_id, p.input_micros_per_million, p.cached_input_micros_per_million,
    p.cache_write_micros_per_million, p.output_micros_per_million, p.margin_basis_points, p.margin_micros_per_call, p.details,
    p.provider, p.provider_model, c.rare_counts, l.call_id is not null, n.name, n.wire
  from (
    select k.* from usage.calls k
    where k.call_id = coalesce((select t.receipt_id from usage.late_receipts t where t.call_id = p_call), p_call)
    union all
    (
      select k.* from usage.calls k
      where k.correlation_id = p_correlation
        and exists (select from ledger.wallets v where v.wallet_id = k.wallet_id and (p_app is null or v.app_id = p_app))
      order by k.call_id desc limit p_most
    )
  ) c
  left join usage.late_receipts l on l.receipt_id = c.call_id
  join ledger.wallets w on w.wallet_id = c.wallet_id
  left join catalogue.prices p on p.price_id = c.price_id
  left join lateral (
    select s.name, m.wire from usage.session_calls m join usage.sessions s on s.session_id = m.session_id where m.call_id = c.call_id
  ) n on true
  where p_app is null or w.app_id = p_app
  order by c.call_id desc
  limit p_most;
$$;

revoke all on function usage.receipts from public;
grant execute on function usage.receipts to purser_live;
