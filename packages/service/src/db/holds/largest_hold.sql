-- The largest hold that a wallet may have now: the rule of what a hold may be, for real and play money. It is at most what
-- the balance has beside other holds, and at most what the monthly cap leaves beside what is spent and held of it (WA-03,
-- WA-07, WA-08). Nothing while the wallet is disconnected or suspended (WA-05, WA-11).
--
-- `cap_spent` and `cap_held` are those of the month that the hold counts for. `least` passes over a null: a wallet
-- without a cap is bounded by its balance alone. PostgreSQL takes this function into the statements that call it.
create or replace function db.largest_hold(
  is_connected boolean, is_suspended boolean, balance bigint, held bigint, cap bigint, cap_spent bigint, cap_held bigint
) returns bigint
language sql immutable parallel safe as $$
  select case when is_connected and not is_suspended
    then greatest(0, least(balance - held, cap - cap_spent - cap_held)) else 0 end
$$;

revoke all on function db.largest_hold from public;
