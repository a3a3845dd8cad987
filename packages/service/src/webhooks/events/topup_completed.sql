-- What `topup.completed` says (WH-06): the text of a JSON object, as every event's data.
create or replace function webhooks.topup_completed(p_user text, p_balance bigint, p_held bigint, p_currency text) returns text
language sql immutable parallel safe as $$
  select format('{"userId":%s,"balanceMicros":%s,"availableMicros":%s,"currency":%s}',
    to_json(p_user), p_balance, webhooks.spendable(p_balance, p_held), to_json(p_currency))
$$;

revoke all on function webhooks.topup_completed from public;
