-- Lets a developer's machine listen to the events of an app, until the time that it answers. Null where five listen
-- already.
create or replace function webhooks.listen(p_app text, p_listener text, p_events text[], p_threshold bigint, p_lease_ms int)
returns timestamptz
language plpgsql security definer set search_path = pg_catalog as $$
declare
  until constant timestamptz := clock_timestamp() + p_lease_ms * interval '1 ms';
begin
  perform pg_advisory_xact_lock(hashtextextended('webhooks.listen ' || p_app, 0));
  if (
    select count(*) from webhooks.subscriptions s where s.app_id = p_app and s.listening_until > clock_timestamp()
  ) >= 5 then
    return null;
  end if;
  insert into webhooks.subscriptions (app_id, listener_id, listening_until, events, low_balance_threshold_micros)
  values (p_app, p_listener, until, p_events, p_threshold);
  return until;
end $$;

revoke all on function webhooks.listen from public;
grant execute on function webhooks.listen to purser_live;
