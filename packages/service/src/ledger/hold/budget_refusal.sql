-- Why the locked budget of an API key refuses a hold of at least `least_amount`, as db.budget_outcome says it (CP-08). A cell that
-- borrows knows its own part alone, so there a call may always be tried again (decision 102).
create or replace function ledger.budget_refusal(b ledger.key_budgets, least_amount bigint, budget bigint) returns text
language sql immutable parallel safe as $$
  select case
    when b.allowance_micros is null then db.budget_outcome(
      least_amount, budget, b.spent_micros + b.lent_spent_micros, b.held_micros + b.lent_micros - b.lent_spent_micros)
    when ledger.room_in_budget(b, budget) < least_amount then 'budget_race_lost'
  end
$$;

revoke all on function ledger.budget_refusal from public;
