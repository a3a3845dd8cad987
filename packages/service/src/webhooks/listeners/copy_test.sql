-- Gives every listener of an app a copy of a test event, of any type: somebody asked for it. Answers how many there are. A
-- listener that is just being removed is passed over.
create or replace function webhooks.copy_test(p_app text, p_event text, p_type text, p_body bytea) returns int
language sql volatile security definer set search_path = pg_catalog as $$
  with listening as (
    select s.subscription_id from webhooks.subscriptions s
    where s.app_id = p_app and s.listening_until > clock_timestamp()
    for key share skip locked
  ), copied as (
    insert into webhooks.copies (subscription_id, event_id, type, body, created_at)
    select l.subscription_id, p_event, p_type, p_body, clock_timestamp() from listening l
    returning 1
  )
  select count(*)::int from copied;
$$;

revoke all on function webhooks.copy_test from public;
grant execute on function webhooks.copy_test to purser_live;
