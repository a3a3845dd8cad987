-- Whether a hold may be placed, and if not, why: the order of CC-10 from the stream slots on. One rule for real and
-- play money, so that a sandbox call is refused just where a live one is. The smallest hold over the cap with what is
-- spent alone: the cap is reached. Only with other calls' holds: the race for it is lost (WA-03).
create or replace function db.hold_outcome(
  is_connected boolean, is_suspended boolean, available bigint,
  cap bigint, cap_spent bigint, cap_held bigint,
  open_streams int, streams_max int, least_amount bigint
) returns text
language sql immutable parallel safe as $$
  select case
    when streams_max > 0 and open_streams >= streams_max then 'stream_limit'
    when not is_connected then 'payment_required'
    when is_suspended then 'wallet_suspended'
    when cap is not null and cap_spent + least_amount > cap then 'cap_reached'
    when cap is not null and cap_spent + cap_held + least_amount > cap then 'cap_race_lost'
    when available < least_amount then 'payment_required'
    else 'granted'
  end
$$;

revoke all on function db.hold_outcome from public;
