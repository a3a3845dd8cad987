-- What the locked budget of an API key leaves to calls in this cell (CP-08): without what its home has lent to other cells, or
-- of what the home has lent to this one (decision 102). PostgreSQL takes this function into the expressions that ask it.
create or replace function ledger.room_in_budget(b ledger.key_budgets, budget bigint) returns bigint
language sql immutable parallel safe as $$
  select case when b.allowance_micros is null then budget
    else ledger.budget_here(budget, b.allowance_micros, b.allowance_limit) end - b.spent_micros - b.held_micros - b.lent_micros
$$;

revoke all on function ledger.room_in_budget from public;
