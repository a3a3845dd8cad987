-- Why the monthly budget of its API key refuses a hold of at least `least_amount` (CP-08). Null if it does not: there is room,
-- or the key has no budget. `budget_reached`: what is spent leaves too little. `budget_race_lost`: only the holds of calls
-- that run stand in the way. That passes, and may be retried. For real and play money.
create or replace function db.budget_outcome(least_amount bigint, budget bigint, spent bigint, held bigint) returns text
language sql immutable parallel safe as $$
  select case
    when spent + least_amount > budget then 'budget_reached'
    when spent + held + least_amount > budget then 'budget_race_lost'
  end
$$;

revoke all on function db.budget_outcome from public;
