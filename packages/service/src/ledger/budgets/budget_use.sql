-- What this cell has spent and holds of a key's budget in this month, and what its home has lent it, for a question to the home. A
-- budget without a row has nothing of all that. An allowance that is barred does not count beyond what is used of it.
create or replace function ledger.budget_use(p_key text)
returns table (month date, spent bigint, held bigint, allowance bigint, number bigint)
language plpgsql stable security definer set search_path = pg_catalog as $$
declare
  this_month constant date := db.current_month();
begin
  return query
  select this_month, coalesce(b.spent_micros, 0), coalesce(b.held_micros, 0),
    coalesce(case when b.allowance_limit = ledger.no_limit() then least(b.allowance_micros, b.spent_micros + b.held_micros) else b.allowance_micros end, 0),
    coalesce(b.allowance_number, 0)
  from (select) one left join ledger.key_budgets b on b.key_id = p_key and b.month = this_month;
end $$;

revoke all on function ledger.budget_use from public;
grant execute on function ledger.budget_use to purser_live;
