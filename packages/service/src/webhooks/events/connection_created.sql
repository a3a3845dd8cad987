-- What `connection.created` says (WH-07).
create or replace function webhooks.connection_created(p_user text, p_at timestamptz) returns text
language sql immutable parallel safe as $$
  select format('{"userId":%s,"connectedAt":%s}', to_json(p_user), to_json(webhooks.instant(p_at)))
$$;

revoke all on function webhooks.connection_created from public;
