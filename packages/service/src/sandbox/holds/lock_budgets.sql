-- As ledger.lock_budgets: makes and locks the budgets that a batch of calls asks, after their wallets and in one order.
-- `p_wallets` has the wallet of each call in its place.
create or replace function sandbox.lock_budgets(p_requests db.hold_request[], p_wallets bigint[], p_month date) returns void
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  keys text[];
  months date[];
begin
  select array_agg(d.key_id order by d.key_id collate "C", d.month), array_agg(d.month order by d.key_id collate "C", d.month)
  into keys, months
  from (
    select distinct q.budget_key as key_id, greatest(w.cap_month, p_month) as month
    from unnest(p_requests) with ordinality q
    left join sandbox.wallets w on w.wallet_id = p_wallets[q.ordinality]
    where q.budget_key is not null
  ) d;
  insert into sandbox.key_budgets (key_id, month)
  select d.key_id, d.month from unnest(keys, months) with ordinality d (key_id, month, place) order by d.place
  on conflict do nothing;
  perform from unnest(keys, months) with ordinality d (key_id, month, place)
  join sandbox.key_budgets b on b.key_id = d.key_id and b.month = d.month
  order by d.place for no key update of b;
end $$;

revoke all on function sandbox.lock_budgets from public;
