-- Takes up to `p_most` events that are due, and is fair (WH-11). Endpoints whose last attempt failed come last. An endpoint
-- that has nothing under way comes before one that has. The last `p_reserved` places are for the first attempt of an
-- endpoint that does not fail, so that those that stall cannot have them all. An endpoint has at most 16 attempts under
-- way, and 2 while its last one failed. Of one endpoint those events come first that were tried most often: they end,
-- however many new ones wait behind them. What a worker that died had under way is due again, as the same attempt.
--
-- The plan must be right whenever it was made. An index has what is due in this order, endpoint by endpoint, and reading it
-- ends where an endpoint has its share. That is the plan as long as sorting counts as dear. Planned while next to nothing
-- was due, a connection read and sorted all that was due of every endpoint: fifty thousand rows for eight events.
create or replace function webhooks.claim(p_claim uuid, p_most int, p_reserved int, p_lease_ms int) returns table (
  event_id text, app_id text, type text, body bytea, attempt smallint, endpoint_url text, sealed_secret bytea, generation bigint
)
language plpgsql security definer set search_path = pg_catalog set enable_sort = off set jit = off as $$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp(); -- One moment, which an index can be asked for.
begin
  update webhooks.events e set state = 'pending', claim = null, lease_until = null
  where e.event_id in (
    select o.event_id from webhooks.events o where o.state = 'sending' and o.lease_until < at
    for update skip locked
  );
  if not exists (select from webhooks.events e where e.state = 'pending' and e.due_at <= at) then
    return;
  end if;
  return query
  with due as (
    select x.event_id, x.place, s.failures_in_row > 0 as is_failing,
      row_number() over (order by s.failures_in_row > 0, x.place, x.due_at) as turn
    from webhooks.subscriptions s
    cross join lateral (
      select count(*) as number from webhooks.events e where e.subscription_id = s.subscription_id and e.state = 'sending'
    ) sending
    cross join lateral (
      select e.event_id, e.due_at,
        sending.number + row_number() over (order by e.attempt desc, e.due_at, e.event_id) as place
      from webhooks.events e
      where e.subscription_id = s.subscription_id and e.state = 'pending' and e.due_at <= at and e.type = any (s.events)
      order by e.attempt desc, e.due_at, e.event_id
      limit greatest(0, case when s.failures_in_row > 0 then 2 else 16 end - sending.number)
    ) x
    where s.status = 'active'
  ), chosen as (
    select e.event_id from webhooks.events e join due d on d.event_id = e.event_id
    where e.state = 'pending' and d.turn <= p_most
      and ((d.place = 1 and not d.is_failing) or d.turn <= p_most - p_reserved)
    for update of e skip locked
  )
  update webhooks.events e set state = 'sending', claim = p_claim, claimed_generation = s.generation,
    lease_until = at + p_lease_ms * interval '1 ms'
  from chosen c, webhooks.subscriptions s
  where e.event_id = c.event_id and s.subscription_id = e.subscription_id
  returning e.event_id, e.app_id, e.type, e.body, e.attempt, s.endpoint_url, s.sealed_secret, s.generation;
end $$;

revoke all on function webhooks.claim from public;
grant execute on function webhooks.claim to purser_live;
