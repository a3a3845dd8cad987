-- Drops at most `p_most` of the events whose subscription is gone or disabled, or wants their type no more: none of them is
-- sent, now or later. With `p_app`, only of that app.
create or replace function webhooks.drop_stale(p_app text, p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  dropped int;
begin
  update webhooks.events e set state = 'dropped', ended_at = clock_timestamp()
  where e.event_id in (
    select o.event_id from webhooks.events o
    where o.state = 'pending' and (p_app is null or o.app_id = p_app) and not exists (
      select from webhooks.subscriptions s
      where s.subscription_id = o.subscription_id and s.status = 'active' and o.type = any (s.events)
    )
    limit p_most for update skip locked
  );
  get diagnostics dropped = row_count;
  return dropped;
end $$;

revoke all on function webhooks.drop_stale from public;
grant execute on function webhooks.drop_stale to purser_live;
