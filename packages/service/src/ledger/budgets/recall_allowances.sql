-- In the home of a budget: begins to take back what other cells do not use of what they were lent, and gives the message for each. It has a number of
-- its own, so an answer of `lend_budget` that is still on its way comes too late in the cell. Null for `p_month`: this one. Nothing is asked of
-- `p_except`, nor of a cell that is known to have spent all.
create or replace function ledger.recall_allowances(p_key text, p_month date, p_except text)
returns table (cell text, month date, number bigint)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  its_month constant date := coalesce(p_month, db.current_month());
begin
  perform from ledger.key_budgets b
  where b.key_id = p_key and b.month = its_month and b.lent_micros > b.lent_spent_micros for no key update;
  if not found then return; end if;
  return query
  update ledger.allowances a set number = a.number + 1
  where a.key_id = p_key and a.month = its_month and a.cell <> coalesce(p_except, '') and a.lent_micros > a.spent_micros
  returning a.cell, a.month, a.number;
end $$;

revoke all on function ledger.recall_allowances from public;
grant execute on function ledger.recall_allowances to purser_live;
