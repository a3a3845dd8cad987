-- The id of an event: it comes from the type and the one change that it tells of, so a repeated change gives the same one
-- (WH-04). The key keeps apps from finding the number of a wallet by trying all: numbers are given in turn, so two of them
-- would tell how many wallets there are.
create or replace function webhooks.event_id(p_type text, p_cause text) returns text
language sql stable parallel safe as $$
  select 'evt_' || left(encode(sha256(k.key || convert_to(p_type || ':' || p_cause, 'UTF8')), 'hex'), 32)
  from webhooks.event_key k
$$;

revoke all on function webhooks.event_id from public;
