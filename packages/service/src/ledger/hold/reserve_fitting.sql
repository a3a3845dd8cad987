-- Places the whole of `most_micros` for each call of a wallet that affords all of its calls in this batch and more. Gives
-- null when that is every call, else those that hold now. For calls that join nothing (CC-14).
--
-- Nearly every batch holds nothing but calls that their wallets afford. This function does such a batch in one statement,
-- which locks the wallets as it changes them, in the order of wallet_id. A wallet that is not ordinary it leaves as it is,
-- and the caller asks ledger.reserve. Nothing is decided here that ledger.reserve would decide otherwise.
--
-- The statement sees holds as they were when it began, and then waits for wallets. What changed meanwhile is looked for
-- afterwards, under the locks, and undoes the batch with 40001, unless a constraint has undone it before (23505, 23514).
-- All of the batch is then for ledger.reserve.
create or replace function ledger.reserve_fitting(p_instance bigint, p_requests db.hold_request[]) returns uuid[]
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  month date := db.current_month();
  held uuid[];
begin
  -- A plan is made once for each connection and must be right for tables of every size. So each wallet is looked up by its
  -- key (`offset 0`: never by a pass over all of them), and rows are matched by a full join where both sides are as large
  -- as the batch: that is made by hashing or sorting, never by comparing all with all. A condition inside a `case` is not
  -- taken apart to guess how many rows it leaves: the guess would be nearly none.
  --
  -- If all calls of a wallet together fit into the share that one call may have of what is left (WA-13), each call fits
  -- into its own share of what those before it leave. So they are compared as one.
  with asked as (
    select q.call_id, q.most_micros as amount, q.streams_max, q.calls_max, q.key_digest, q.body_digest, w.wallet_id
    from unnest(p_requests) q
    cross join lateral (
      -- Read only if it is connected, as in ledger.reserve. Whether it still is under its lock, largest_hold sees below.
      select v.wallet_id from ledger.wallets v
      where v.app_id || ' ' || v.user_id = q.app_id || ' ' || q.user_id and v.is_connected offset 0
    ) w
  ), fitting as (
    update ledger.wallets w set
      held_micros = w.held_micros + t.amount,
      open_streams = w.open_streams + t.streams,
      open_calls = w.open_calls + t.plain,
      cap_month = month,
      cap_spent_micros = case when w.cap_month = month then w.cap_spent_micros else 0 end,
      cap_held_micros = case when w.cap_month = month then w.cap_held_micros else 0 end + t.amount,
      version = w.version + t.holds
    from (
      select a.wallet_id, sum(a.amount)::bigint as amount, count(*) as holds,
        count(*) filter (where a.streams_max > 0) as streams, min(a.streams_max) filter (where a.streams_max > 0) as streams_max,
        count(*) filter (where a.streams_max = 0) as plain, min(a.calls_max) filter (where a.calls_max > 0) as calls_max
      from asked a group by a.wallet_id order by a.wallet_id offset 0
    ) t
    where w.wallet_id = t.wallet_id and case when
        w.cap_month <= month -- Never back.
        and t.amount <= db.granted_hold(
          db.largest_hold(w.is_connected, w.is_suspended, w.balance_micros, w.held_micros, w.cap_micros,
            case when w.cap_month = month then w.cap_spent_micros else 0 end,
            case when w.cap_month = month then w.cap_held_micros else 0 end), 0, t.amount)
        and (t.streams = 0 or w.open_streams + t.streams <= t.streams_max)
        and (t.calls_max is null or w.open_calls + t.plain <= t.calls_max)
      then true else false end
    returning w.wallet_id
  ), placed as (
    insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, key_digest, body_digest, instance_id)
    select a.call_id, f.wallet_id, a.amount, month, a.streams_max > 0, a.key_digest, a.body_digest, p_instance
    from asked a full join fitting f on f.wallet_id = a.wallet_id
    where coalesce(f.wallet_id, 0) > 0
    returning call_id
  )
  select case when count(*) < cardinality(p_requests) then coalesce(array_agg(p.call_id), '{}') end into held from placed p;

  if not exists (select from db.instances i where i.instance_id = p_instance and i.state = 'live') then
    raise exception 'instance % is fenced', p_instance using errcode = '55000';
  end if;
  if exists (
    select from usage.calls c where c.call_id = any (array(select q.call_id from unnest(p_requests) q))
  ) then
    raise exception 'a call has ended' using errcode = '40001';
  end if;
  return held;
end $$;

revoke all on function ledger.reserve_fitting from public;
grant execute on function ledger.reserve_fitting to purser_live;
