-- The bytes of an event, as they are signed and sent: the envelope around `p_data`, the text of a JSON object. What each
-- type of event says is in topup_completed, balance_low and connection_created, and nowhere else.
create or replace function webhooks.body(p_id text, p_type text, p_at timestamptz, p_app text, p_data text) returns bytea
language sql immutable parallel safe as $$
  select convert_to(format('{"id":%s,"type":%s,"createdAt":%s,"appId":%s,"data":%s}', to_json(p_id), to_json(p_type),
    to_json(webhooks.instant(p_at)), to_json(p_app), p_data), 'UTF8')
$$;

revoke all on function webhooks.body from public;
