-- Whether a hold of at least `least_amount` may be placed, and if not, why, in the order of CC-10. `largest` is what
-- db.largest_hold says of the wallet: the conditions below only name the reason.
--
-- `cap_reached`: the smallest hold would pass the cap with what is spent alone. `cap_race_lost`: it would only do so with
-- the holds of other calls that run (WA-03). `balance_race_lost`: the balance covers it, but calls that run hold too much of
-- it. The two races pass, and may be retried (WA-13).
create or replace function db.hold_outcome(
  largest bigint, least_amount bigint, is_connected boolean, is_suspended boolean,
  balance bigint, cap bigint, cap_spent bigint, cap_held bigint, open_streams int, streams_max int,
  open_calls int, calls_max int
) returns text
language sql immutable parallel safe as $$
  select case
    when streams_max > 0 and open_streams >= streams_max then 'stream_limit'
    when calls_max > 0 and open_calls >= calls_max then 'call_limit'
    when least_amount <= largest then 'granted'
    when not is_connected then 'payment_required'
    when is_suspended then 'wallet_suspended'
    when cap_spent + least_amount > cap then 'cap_reached'
    when cap_spent + cap_held + least_amount > cap then 'cap_race_lost'
    when least_amount > balance then 'payment_required'
    else 'balance_race_lost'
  end
$$;

revoke all on function db.hold_outcome from public;
