-- Ends an attempt, once. `p_is_over` false: it was given up and counts for nothing; with a reason, it is due in 10 s. A success ends the event; a failure makes
-- it due again, 10 s later and twice as long each time, counted from here; the sixth drops it, and the fifth event in a row
-- that is dropped so disables the subscription: 'disabled' (WH-11, WH-12). Without a subscription nothing is due again.
create or replace function webhooks.record(
  p_event text, p_claim uuid, p_is_over boolean, p_at timestamptz, p_status int, p_duration_ms int, p_error text
) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  event webhooks.events;
  subscription webhooks.subscriptions;
  is_delivered constant boolean := p_is_over and coalesce(p_status between 200 and 299, false);
  is_dropped boolean;
begin
  -- Everything locks a subscription before its events.
  select s.* into subscription from webhooks.events e join webhooks.subscriptions s on s.subscription_id = e.subscription_id
  where e.event_id = p_event for no key update of s;
  select * into event from webhooks.events e where e.event_id = p_event and e.claim = p_claim for no key update;
  if event.event_id is null then
    return 'not_ours';
  end if;
  if p_is_over then
    insert into webhooks.attempts (event_id, attempt, at, status, duration_ms, error)
    values (p_event, event.attempt, p_at, p_status, p_duration_ms, p_error);
  end if;
  is_dropped := not is_delivered
    and (subscription.status is distinct from 'active' or (p_is_over and event.attempt = 6));
  update webhooks.events e set
    state = case when is_delivered then 'delivered' when is_dropped then 'dropped' else 'pending' end,
    body = case when is_delivered or is_dropped then null else e.body end,
    ended_at = case when is_delivered or is_dropped then clock_timestamp() end,
    attempt = case when p_is_over and not is_delivered and not is_dropped then e.attempt + 1 else e.attempt end,
    due_at = clock_timestamp() + interval '10 s' * case when p_is_over then 2 ^ (e.attempt - 1) when p_error is null then 0 else 1 end,
    claim = null, lease_until = null
  where e.event_id = p_event;
  if not p_is_over then
    return 'given_up';
  end if;
  update webhooks.subscriptions s set
    failures_in_row = case when is_delivered then 0 else s.failures_in_row + 1 end,
    exhausted_in_row = case when is_delivered then 0 else s.exhausted_in_row + (event.attempt = 6)::int end,
    status = case when not is_delivered and event.attempt = 6 and s.exhausted_in_row >= 4 then 'disabled' else s.status end,
    disabled_reason = case
      when not is_delivered and event.attempt = 6 and s.exhausted_in_row >= 4 then 'delivery_failures'
      else s.disabled_reason end
  where s.subscription_id = subscription.subscription_id and s.status = 'active'
    and not (is_delivered and s.failures_in_row = 0 and s.exhausted_in_row = 0)
  returning s.status into subscription.status;
  return case when is_delivered then 'delivered' when subscription.status = 'disabled' then 'disabled'
    when is_dropped then 'dropped' else 'failed' end;
end $$;

revoke all on function webhooks.record from public;
grant execute on function webhooks.record to purser_live;
