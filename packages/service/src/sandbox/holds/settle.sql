-- As ledger.settle, over sandbox wallets: ends each call that still holds, once. It counts what was answered, and tells the
-- kept answer what the call cost: play money has no receipts, and without its charge an answer is given to nobody.
create or replace function sandbox.settle(p_settlements sandbox.settlement[], p_sessions db.named_session[] default null)
returns table (call_id uuid, is_settled boolean, charged bigint, is_joined boolean)
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  calls constant uuid[] := array(select q.call_id from unnest(p_settlements) q);
  unkept constant uuid[] := array(select q.call_id from unnest(p_settlements) q where q.is_unkept);
  has_budget constant boolean := sandbox.lock_held(calls);
begin
  perform set_config('synchronous_commit', 'off', true);
  if cardinality(unkept) < cardinality(calls) then -- Else no answer was kept.
    update idempotency.kept_answers a set charged_micros = least(q.charge_micros, h.amount_micros)
    from unnest(p_settlements) q join sandbox.holds h on h.call_id = q.call_id
    where a.call_id = q.call_id and q.tokens > 0 and not q.is_unkept;
  end if;

  if p_sessions is not null then -- As usage.note_sessions, without receipts to count by.
    insert into sandbox.sessions as s (wallet_id, name, client, calls, charged_micros)
    select h.wallet_id, n.name, max(n.client), count(*), sum(least(q.charge_micros, h.amount_micros))::bigint
    from unnest(p_sessions) n
    join unnest(p_settlements) q on q.call_id = n.call_id
    join sandbox.holds h on h.call_id = n.call_id
    where q.tokens > 0 and not (h.is_joined and q.is_unkept)
    group by h.wallet_id, n.name order by h.wallet_id, n.name
    on conflict (wallet_id, name) do update set
      client = coalesce(s.client, excluded.client), last_at = excluded.last_at,
      calls = s.calls + excluded.calls, charged_micros = s.charged_micros + excluded.charged_micros;
  end if;

  return query
  with ended as (
    delete from sandbox.holds h
    where h.call_id = any (calls) and not (h.is_joined and h.call_id = any (unkept)) returning h.*
  ), asked as (
    select q.call_id, q.tokens, e.wallet_id, e.month, e.is_stream, e.budget_key, e.amount_micros as held,
      case when e.call_id is null then 0 else least(q.charge_micros, e.amount_micros) end as charged
    from unnest(p_settlements) q left join ended e on e.call_id = q.call_id
  ), paid as (
    update sandbox.wallets w set
      balance_micros = w.balance_micros - t.charged,
      held_micros = w.held_micros - t.held,
      open_streams = w.open_streams - t.streams,
      open_calls = w.open_calls - t.plain,
      cap_spent_micros = w.cap_spent_micros + t.month_charged,
      cap_held_micros = w.cap_held_micros - t.month_held,
      requests = w.requests + t.requests,
      tokens = w.tokens + t.tokens
    from (
      select a.wallet_id, sum(a.charged)::bigint as charged, sum(a.held)::bigint as held,
        count(*) filter (where a.is_stream) as streams, count(*) filter (where not a.is_stream) as plain,
        coalesce(sum(a.charged) filter (where a.month = w.cap_month), 0)::bigint as month_charged,
        coalesce(sum(a.held) filter (where a.month = w.cap_month), 0)::bigint as month_held,
        count(*) filter (where a.tokens > 0) as requests, sum(a.tokens)::bigint as tokens
      from asked a
      cross join lateral (select v.cap_month from sandbox.wallets v where v.wallet_id = a.wallet_id offset 0) w
      group by a.wallet_id
    ) t
    where w.wallet_id = t.wallet_id
  ), budgets as (
    update sandbox.key_budgets b set
      spent_micros = b.spent_micros + t.charged,
      held_micros = b.held_micros - t.held
    from (
      select a.budget_key, a.month, sum(a.charged)::bigint as charged, sum(a.held)::bigint as held
      from asked a where has_budget and a.budget_key is not null group by a.budget_key, a.month
    ) t
    where b.key_id = t.budget_key and b.month = t.month
  )
  select a.call_id, a.wallet_id is not null, a.charged,
    a.wallet_id is null and exists (select from sandbox.holds h where h.call_id = a.call_id)
  from asked a;
end $$;

revoke all on function sandbox.settle from public;
grant execute on function sandbox.settle to purser_sandbox;
