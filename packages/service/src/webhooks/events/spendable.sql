-- What can be spent of a wallet, as events show it: less than nothing is nothing.
create or replace function webhooks.spendable(p_balance bigint, p_held bigint) returns bigint
language sql immutable parallel safe as $$
  select greatest(0, p_balance - p_held)
$$;

revoke all on function webhooks.spendable from public;
