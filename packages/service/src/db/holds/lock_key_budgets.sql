-- Locks the budgets that a batch of calls asks, after their wallets and in one order, so that two statements never wait for
-- each other in a circle (CP-08). A budget is named by its line of keys and the month of the hold. Its first call in a month
-- makes the row.
create or replace function money.lock_key_budgets(p_requests db.hold_request[], p_wallets bigint[], p_month date)
returns money.key_budgets[]
language plpgsql as $$
declare
  borrows constant boolean := (select o.borrows_budgets from cells.own o); -- Null: there are no cells. -- Real money.
  keys text[];
  months date[];
  budget money.key_budgets;
  budgets money.key_budgets[];
begin
  select array_agg(d.key_id order by d.key_id collate "C", d.month), array_agg(d.month order by d.key_id collate "C", d.month)
  into keys, months
  from (
    select distinct q.budget_key as key_id, greatest(w.cap_month, p_month) as month
    from unnest(p_requests) with ordinality q
    left join lateral (
      select v.cap_month from money.wallets v where v.wallet_id = p_wallets[q.ordinality] offset 0
    ) w on true
    where q.budget_key is not null
  ) d;
  insert into money.key_budgets (key_id, month)
  select d.key_id, d.month from unnest(keys, months) with ordinality d (key_id, month, place) order by d.place
  on conflict do nothing;
  for budget in
    select b.* from unnest(keys, months) with ordinality d (key_id, month, place)
    join money.key_budgets b on b.key_id = d.key_id and b.month = d.month
    order by d.place for no key update of b
  loop
    -- What this cell has of it. Null where all of it is: at its home, and without cells. -- Real money.
    budget.allowance_micros := case when borrows then coalesce(budget.allowance_micros, 0) end; -- Real money.
    budgets := array_append(budgets, budget);
  end loop;
  return budgets;
end $$;

revoke all on function money.lock_key_budgets from public;
