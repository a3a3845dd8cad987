-- Removes listeners that look no more, and copies that nobody has fetched for five minutes.
create or replace function webhooks.drop_listeners() returns void
language sql volatile security definer set search_path = pg_catalog as $$
  delete from webhooks.subscriptions s where s.subscription_id in (
    select o.subscription_id from webhooks.subscriptions o where o.listening_until < clock_timestamp()
    for update skip locked
  );
  delete from webhooks.copies c where c.created_at < now() - interval '5 minutes';
$$;

revoke all on function webhooks.drop_listeners from public;
grant execute on function webhooks.drop_listeners to purser_live;
