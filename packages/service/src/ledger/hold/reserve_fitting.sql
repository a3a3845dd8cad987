-- Places a hold of `max` for each call of a wallet that affords all of its calls in this batch. Gives null when that is every
-- call, else those that hold. For calls that join nothing (CC-14).
create or replace function ledger.reserve_fitting(
  p_instance bigint, p_call uuid[], p_app text[], p_user text[], p_max bigint[], p_streams_max int[], p_key_digest bytea[],
  p_body_digest bytea[]
) returns uuid[]
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  month date := db.current_month();
  held uuid[];
begin
  with asked as (
    select q.call_id, q.amount, q.streams_max, q.key_digest, q.body_digest, w.wallet_id
    from unnest(p_call, p_app, p_user, p_max, p_streams_max, p_key_digest, p_body_digest)
      as q (call_id, app_id, user_id, amount, streams_max, key_digest, body_digest)
    cross join lateral (
      select v.wallet_id from ledger.wallets v where v.app_id = q.app_id and v.user_id = q.user_id offset 0
    ) w
  ), fitting as (
    update ledger.wallets w set
      held_micros = w.held_micros + t.amount,
      open_streams = w.open_streams + t.streams,
      cap_month = month,
      cap_spent_micros = case when w.cap_month = month then w.cap_spent_micros else 0 end,
      cap_held_micros = case when w.cap_month = month then w.cap_held_micros else 0 end + t.amount,
      version = w.version + t.holds
    from (
      select a.wallet_id, sum(a.amount)::bigint as amount, count(*) as holds,
        count(*) filter (where a.streams_max > 0) as streams, min(a.streams_max) filter (where a.streams_max > 0) as streams_max
      from asked a group by a.wallet_id order by a.wallet_id offset 0
    ) t
    where w.wallet_id = t.wallet_id and case when
        w.is_connected and not w.is_suspended
        and w.held_micros + t.amount <= w.balance_micros
        and w.cap_month <= month -- Never back.
        and (w.cap_micros is null or t.amount <= w.cap_micros
          - case when w.cap_month = month then w.cap_spent_micros + w.cap_held_micros else 0 end)
        and (t.streams = 0 or w.open_streams + t.streams <= t.streams_max)
      then true else false end
    returning w.wallet_id
  ), placed as (
    insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, key_digest, body_digest, instance_id)
    select a.call_id, f.wallet_id, a.amount, month, a.streams_max > 0, a.key_digest, a.body_digest, p_instance
    from asked a full join fitting f on f.wallet_id = a.wallet_id
    where coalesce(f.wallet_id, 0) > 0
    returning call_id
  )
  select case when count(*) < cardinality(p_call) then coalesce(array_agg(p.call_id), '{}') end into held from placed p;

  if not exists (select from db.instances i where i.instance_id = p_instance and i.state = 'live') then
    raise exception 'instance % is fenced', p_instance using errcode = '55000';
  end if;
  if exists (select from usage.calls c where c.call_id = any (p_call)) then
    raise exception 'a call has ended' using errcode = '40001';
  end if;
  return held;
end $$;

revoke all on function ledger.reserve_fitting from public;
grant execute on function ledger.reserve_fitting to purser_live;
