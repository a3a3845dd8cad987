-- Locks the budgets that a batch of calls asks, after their wallets (`p_locked`), in one order, and gives what is spent and
-- held of each. A budget is named by its line of keys and the month of the hold. Its first call in a month makes the row.
--
-- With cells (decision 102), `elsewhere` is what its home has lent to others, `allowance` what another cell has of it, which is null at home and without cells.
-- `is_all`: other cells are known to have no more.
create or replace function ledger.lock_budgets(p_requests db.hold_request[], p_locked bigint[], p_month date)
returns table (budgets text[], spent bigint[], held bigint[], lent_spent bigint[], elsewhere bigint[],
  allowance bigint[], allowance_limit bigint[], is_all boolean[])
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  keys text[];
  months date[];
  borrows boolean; -- Null: there are no cells.
begin
  select array_agg(d.key_id order by d.key_id collate "C", d.month), array_agg(d.month order by d.key_id collate "C", d.month)
  into keys, months
  from (
    select distinct q.budget_key as key_id, greatest(w.cap_month, p_month) as month
    from unnest(p_requests) q
    left join ledger.wallets w on w.wallet_id = any (p_locked) and w.app_id = q.app_id and w.user_id = q.user_id
    where q.budget_key is not null
  ) d;
  insert into ledger.key_budgets (key_id, month)
  select d.key_id, d.month from unnest(keys, months) with ordinality d (key_id, month, place) order by d.place
  on conflict do nothing;
  borrows := (select o.borrows_budgets from cells.own o);
  return query
  select array_agg(l.key_id || ' ' || l.month), array_agg(l.spent_micros), array_agg(l.held_micros), array_agg(l.lent_spent_micros),
    array_agg(l.lent_micros - l.lent_spent_micros), array_agg(case when borrows then coalesce(l.allowance_micros, 0) end),
    array_agg(l.allowance_limit), array_agg(coalesce(l.no_more_until > clock_timestamp(), false))
  from (
    select b.* from unnest(keys, months) with ordinality d (key_id, month, place)
    join ledger.key_budgets b on b.key_id = d.key_id and b.month = d.month
    order by d.place for no key update of b
  ) l;
end $$;

revoke all on function ledger.lock_budgets from public;
