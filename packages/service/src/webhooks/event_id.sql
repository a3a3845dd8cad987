-- The id of an event: it comes from the type and the one change that it tells of, so a repeated change gives the same one
-- (WH-04).
create or replace function webhooks.event_id(p_type text, p_cause text) returns text
language sql immutable parallel safe as $$
  select 'evt_' || left(encode(sha256(convert_to(p_type || ':' || p_cause, 'UTF8')), 'hex'), 32)
$$;

revoke all on function webhooks.event_id from public;
