-- Of the attempts that a worker has under way, those whose endpoint or secret is not what it was when they began.
create or replace function webhooks.outdated(p_events text[]) returns setof text
language sql stable security definer set search_path = pg_catalog as $$
  select e.event_id from webhooks.events e
  left join webhooks.subscriptions s on s.app_id = e.app_id and s.subscription_id = e.subscription_id
  where e.event_id = any (p_events) and (s.generation is distinct from e.claimed_generation or s.status <> 'active');
$$;

revoke all on function webhooks.outdated from public;
grant execute on function webhooks.outdated to purser_live;
