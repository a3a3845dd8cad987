-- In the home of a budget: takes back what other cells have given up, by their answers to `recall_allowances`. An answer is no use if more may have been lent since its recall, or
-- if the answer to a later one is known. From then on it is known for a second that there is no more to be had. Gives what has become free. Null: an answer was no use.
create or replace function ledger.end_recall(
  p_key text, p_month date, p_cells text[], p_numbers bigint[], p_used bigint[], p_spent bigint[]
) returns bigint
language plpgsql security definer set search_path = pg_catalog as $$
declare
  before bigint;
  lent bigint;
  counted int;
begin
  select b.lent_micros into strict before from ledger.key_budgets b where b.key_id = p_key and b.month = p_month for no key update;
  update ledger.allowances a set lent_micros = g.used, spent_micros = g.spent, lent_number = g.number
  from unnest(p_cells, p_numbers, p_used, p_spent) g (cell, number, used, spent)
  where a.key_id = p_key and a.month = p_month and a.cell = g.cell and g.number > a.lent_number;
  get diagnostics counted = row_count;
  update ledger.key_budgets b set lent_micros = s.lent, lent_spent_micros = s.spent, no_more_until = clock_timestamp() + interval '1 second'
  from (
    select coalesce(sum(a.lent_micros), 0)::bigint as lent, coalesce(sum(a.spent_micros), 0)::bigint as spent
    from ledger.allowances a where a.key_id = p_key and a.month = p_month
  ) s
  where b.key_id = p_key and b.month = p_month
  returning b.lent_micros into lent;
  return case when counted = cardinality(p_cells) then before - lent end;
end $$;

revoke all on function ledger.end_recall from public;
grant execute on function ledger.end_recall to purser_live;
