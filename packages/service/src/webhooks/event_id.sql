-- The name of an event: of its type and of the one change that it tells of, whatever is repeated (WH-04).
create or replace function webhooks.event_id(p_type text, p_cause text) returns text
language sql immutable parallel safe as $$
  select 'evt_' || left(encode(sha256(convert_to(p_type || ':' || p_cause, 'UTF8')), 'hex'), 32)
$$;

revoke all on function webhooks.event_id from public;
