-- What `balance.low` says (WH-05).
create or replace function webhooks.balance_low(p_user text, p_available bigint, p_threshold bigint, p_currency text) returns text
language sql immutable parallel safe as $$
  select format('{"userId":%s,"availableMicros":%s,"thresholdMicros":%s,"currency":%s}',
    to_json(p_user), p_available, p_threshold, to_json(p_currency))
$$;

revoke all on function webhooks.balance_low from public;
