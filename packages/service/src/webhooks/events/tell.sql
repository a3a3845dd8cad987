-- Stores an event for the app's endpoint, if it wants this type, and a copy for each listener. It is called in the
-- transaction of the change, so that there is an event if and only if the change happened (WH-03, WH-13). A subscription
-- that is just being removed is passed over: it receives nothing, and makes nothing fail.
create or replace function webhooks.tell(p_app text, p_type text, p_cause text, p_data text) returns void
language plpgsql security definer set search_path = pg_catalog as $$
declare
  at constant timestamptz := clock_timestamp();
  id constant text := webhooks.event_id(p_type, p_cause);
begin
  with told as (
    select s.subscription_id, s.listener_id, webhooks.body(id, p_type, at, p_app, p_data) as body
    from webhooks.subscriptions s
    where s.app_id = p_app and s.status = 'active' and p_type = any (s.events)
      and (s.listening_until is null or s.listening_until > at)
    for key share skip locked
  ), copied as (
    insert into webhooks.copies (subscription_id, event_id, type, body, created_at)
    select t.subscription_id, id, p_type, t.body, at from told t where t.listener_id is not null
  )
  insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at)
  select id, p_app, t.subscription_id, p_type, t.body, at from told t where t.listener_id is null
  on conflict do nothing;
end $$;

revoke all on function webhooks.tell from public;
