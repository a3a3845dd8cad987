-- What calls with keys of these lines have spent and hold this month, in play money.
create or replace function sandbox.budgets_of(p_keys text[]) returns table (key_id text, spent_micros bigint, held_micros bigint)
language sql security definer set search_path = pg_catalog as $$
  select b.key_id, b.spent_micros, b.held_micros from sandbox.key_budgets b
  where b.key_id = any (p_keys) and b.month = db.current_month()
$$;

revoke all on function sandbox.budgets_of from public;
grant execute on function sandbox.budgets_of to purser_sandbox;
