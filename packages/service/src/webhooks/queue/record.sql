-- Ends an attempt, once. `p_is_over` false: it was given up and counts for nothing. It is then due at once or, where a
-- reason is given, after the first delay.
--
-- A success ends the event. A failure makes it due again after the next of `p_delays_s`, counted from here, and when there
-- is no delay left, drops it. When `p_dropped_max` events in a row have been dropped so, the subscription is disabled:
-- 'disabled' (WH-11, WH-12). Without a subscription nothing is due again.
--
-- 'first_drop' is the first event dropped since one was delivered: the caller mails the owner in this transaction. It is
-- answered at most once an hour for a subscription, so that an endpoint that only some events fail sends no flood of mails.
create or replace function webhooks.record(
  p_event text, p_claim uuid, p_is_over boolean, p_at timestamptz, p_status int, p_duration_ms int, p_error text,
  p_delays_s int[], p_dropped_max int
) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  event webhooks.events;
  subscription webhooks.subscriptions;
  is_delivered constant boolean := p_is_over and coalesce(p_status between 200 and 299, false);
  is_last boolean; -- There is no delay after this attempt.
  is_dropped boolean;
  is_first_drop boolean;
  wait_s int;
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
  is_last := event.attempt > cardinality(p_delays_s);
  is_dropped := not is_delivered and (subscription.status is distinct from 'active' or (p_is_over and is_last));
  is_first_drop := is_dropped and subscription.status = 'active' and subscription.exhausted_in_row = 0
    and coalesce(subscription.drop_told_at < clock_timestamp() - interval '1 hour', true);
  wait_s := case when p_is_over then p_delays_s[event.attempt] when p_error is null then 0 else p_delays_s[1] end;
  update webhooks.events e set
    state = case when is_delivered then 'delivered' when is_dropped then 'dropped' else 'pending' end,
    ended_at = case when is_delivered or is_dropped then clock_timestamp() end,
    attempt = case when p_is_over and not is_delivered and not is_dropped then e.attempt + 1 else e.attempt end,
    due_at = case when is_delivered or is_dropped then e.due_at else clock_timestamp() + wait_s * interval '1 s' end,
    claim = null, lease_until = null
  where e.event_id = p_event;
  if not p_is_over then
    return 'given_up';
  end if;
  -- A subscription whose counts would stay as they are is not written: most attempts succeed.
  update webhooks.subscriptions s set
    failures_in_row = case when is_delivered then 0 else s.failures_in_row + 1 end,
    exhausted_in_row = case when is_delivered then 0 else s.exhausted_in_row + is_last::int end,
    drop_told_at = case when is_first_drop then clock_timestamp() else s.drop_told_at end,
    last_failed_at = case when is_delivered then s.last_failed_at else p_at end,
    last_failed_status = case when is_delivered then s.last_failed_status else p_status end,
    last_failed_error = case when is_delivered then s.last_failed_error else p_error end,
    status = case when not is_delivered and is_last and s.exhausted_in_row + 1 >= p_dropped_max then 'disabled' else s.status end,
    disabled_reason = case
      when not is_delivered and is_last and s.exhausted_in_row + 1 >= p_dropped_max then 'delivery_failures'
      else s.disabled_reason end
  where s.subscription_id = subscription.subscription_id and s.status = 'active'
    and not (is_delivered and s.failures_in_row = 0 and s.exhausted_in_row = 0)
  returning s.status into subscription.status;
  return case when is_delivered then 'delivered' when subscription.status = 'disabled' then 'disabled'
    when is_first_drop then 'first_drop' when is_dropped then 'dropped' else 'failed' end;
end $$;

revoke all on function webhooks.record from public;
grant execute on function webhooks.record to purser_live;
