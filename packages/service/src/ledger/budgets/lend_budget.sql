-- In the home of a budget: lends another cell as much of what is left as it wants, or what there is of that, or nothing if that is less
-- than `p_least`, which the cell needs beside what it has. It counts as spent here from now on, so only what the cell gives back can be used elsewhere. The answer says what the cell has in all, so one
-- that is lost, late or comes twice creates nothing.
--
-- The cell says what it has spent and held, and was lent (`p_used`, `p_spent`, `p_allowance`). It counts even if it was never lent: this database was restored, or the cell had an older
-- build. That is not so in a question of before the message that `lent_number` names: what the cell had may have been taken back and lent to others since. Recalls that nobody has
-- answered took nothing back, so they do not matter. The answer has a number of its own, unless the cell knows all of it: then it has that of the question, and the cell does not take it.
--
-- `refused` is why nothing was lent, by all that is known of other cells. `limit_micros` is the budget up to which the allowance may be spent: not this
-- one, if more than all of it is spent or lent already.
create or replace function ledger.lend_budget(
  p_key text, p_month date, p_cell text, p_budget bigint, p_least bigint, p_wanted bigint,
  p_used bigint, p_spent bigint, p_allowance bigint, p_number bigint
)
returns table (lent bigint, number bigint, limit_micros bigint, granted bigint, refused text)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  budget ledger.key_budgets;
  part ledger.allowances;
  room bigint;
  left_there bigint;
  spent bigint;
begin
  insert into ledger.key_budgets (key_id, month) values (p_key, p_month) on conflict do nothing;
  select b.* into strict budget from ledger.key_budgets b where b.key_id = p_key and b.month = p_month for no key update;
  insert into ledger.allowances (key_id, month, cell) values (p_key, p_month, p_cell) on conflict do nothing;
  select a.* into strict part from ledger.allowances a where a.key_id = p_key and a.month = p_month and a.cell = p_cell;
  lent := greatest(part.lent_micros, case when p_number >= part.lent_number then greatest(p_used, p_allowance) end);
  room := p_budget - budget.spent_micros - budget.held_micros - (budget.lent_micros - part.lent_micros + lent);
  granted := case when room >= p_wanted then p_wanted when room >= p_least then room else 0 end;
  lent := lent + granted;
  spent := least(lent, greatest(part.spent_micros, p_spent));
  limit_micros := case when room >= 0 then p_budget else coalesce(part.limit_micros, ledger.no_limit()) end;
  number := p_number;
  if p_number not between part.lent_number and part.number or p_allowance < lent or lent <> part.lent_micros or spent <> part.spent_micros
    or limit_micros is distinct from part.limit_micros then
    number := greatest(part.number, p_number) + 1;
    update ledger.allowances a set lent_micros = lent, spent_micros = spent, limit_micros = lend_budget.limit_micros,
      number = lend_budget.number, lent_number = lend_budget.number
    where a.key_id = p_key and a.month = p_month and a.cell = p_cell;
    update ledger.key_budgets b set lent_micros = b.lent_micros - part.lent_micros + lent,
      lent_spent_micros = b.lent_spent_micros - part.spent_micros + spent
    where b.key_id = p_key and b.month = p_month
    returning b.* into budget;
  end if;
  if granted = 0 then
    -- What the cell has left itself is neither spent nor held.
    left_there := greatest(0, lent - p_used);
    refused := db.budget_outcome(p_least + left_there, p_budget, budget.spent_micros + budget.lent_spent_micros,
      budget.held_micros + budget.lent_micros - budget.lent_spent_micros - left_there);
  end if;
  return next;
end $$;

revoke all on function ledger.lend_budget from public;
grant execute on function ledger.lend_budget to purser_live;
