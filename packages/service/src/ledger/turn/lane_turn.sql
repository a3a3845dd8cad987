-- One turn of the ledger: ends calls and places holds, in one statement and one commit. It does what is ordinary, which is
-- nearly everything, and gives null if that was all of it, else the calls that are done. The others stay as they are, for
-- ledger.settle and ledger.reserve, in this order. Nothing is decided here that those two would decide otherwise.
--
-- p_instances names the process of each request: several share a lane. A wallet is ordinary if all that the turn asks of it
-- is, by db.are_ordinary_holds and ledger.are_ordinary_ends. A call of a key with a budget is not (CP-08), nor is one that
-- joins an earlier call, or that ends unkept and that a retry has joined (CC-14).
create or replace function ledger.lane_turn(
  p_instances bigint[], p_settlements ledger.settlement[], p_requests db.hold_request[], p_sessions db.named_session[] default null
) returns uuid[]
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  month constant date := case when cardinality(p_requests) > 0 then db.current_month() end;
  done uuid[];
  is_torn boolean; -- A hold went, was joined or lost its slot before its wallet was locked.
begin
  -- Locks the wallets as it changes them, in the order of wallet_id. It sees holds as they were when it began, and then waits for
  -- wallets. What changed meanwhile undoes the turn with 40001, unless a constraint has undone it before (23505, 23514).
  with ending as (
    select q.*, h.ctid, h.wallet_id, h.amount_micros as held, h.month, h.is_stream, h.is_plain,
      sum(q.charge_micros) over in_turn as charge_so_far,
      count(*) filter (where q.charge_micros > 0) over in_turn as entries_so_far
    from unnest(p_settlements) with ordinality q
    cross join lateral (
      select h.ctid, h.wallet_id, h.amount_micros, h.month, h.is_stream,
        not h.is_stream and h.drained_since is null as is_plain from ledger.holds h
      where h.call_id = q.call_id and h.budget_key is null and not (h.is_joined and q.is_unkept) offset 0
    ) h
    window in_turn as (partition by h.wallet_id order by q.ordinality rows unbounded preceding)
  ), asked as (select * from ledger.asked_holds(p_requests, p_instances)
  ), turned as (
    update ledger.wallets w set
      balance_micros = w.balance_micros - t.charge,
      held_micros = w.held_micros - t.freed + t.amount,
      open_streams = w.open_streams - t.streams_freed + t.streams,
      open_calls = w.open_calls - t.calls_freed + t.calls,
      cap_month = case when t.holds > 0 then month else w.cap_month end,
      cap_spent_micros = case when t.holds = 0 or w.cap_month = month then w.cap_spent_micros else 0 end + t.charge,
      cap_held_micros = case when t.holds = 0 or w.cap_month = month then w.cap_held_micros else 0 end - t.freed + t.amount,
      entry_seq = w.entry_seq + t.entries,
      version = w.version + t.ends + t.holds
    from (
      select d.wallet_id, sum(d.ends) as ends, sum(d.charge)::bigint as charge, sum(d.freed)::bigint as freed,
        sum(d.entries) as entries, sum(d.streams_freed) as streams_freed, sum(d.calls_freed) as calls_freed,
        min(d.month) as first_month, max(d.month) as last_month, bool_and(d.charge <= d.freed) as are_covered,
        sum(d.holds) as holds, sum(d.amount)::bigint as amount, sum(d.streams) as streams, sum(d.calls) as calls,
        min(d.streams_max) as streams_max, min(d.calls_max) as calls_max
      from (
        select e.wallet_id, 1 as ends, e.charge_micros as charge, e.held as freed, (e.charge_micros > 0)::int as entries,
          e.is_stream::int as streams_freed, e.is_plain::int as calls_freed, e.month,
          0 as holds, 0::bigint as amount, 0 as streams, 0 as calls, null::int as streams_max, null::int as calls_max
        from ending e
        union all
        select a.wallet_id, 0, 0, 0, 0, 0, 0, null,
          1, a.amount, (a.streams_max > 0)::int, (a.streams_max = 0)::int, nullif(a.streams_max, 0), nullif(a.calls_max, 0)
        from asked a
      ) d
      group by d.wallet_id order by d.wallet_id offset 0
    ) t
    where w.wallet_id = any (array[t.wallet_id, t.wallet_id]) and case when
        (t.ends = 0 or ledger.are_ordinary_ends(t.are_covered, w.is_clawed, w.cap_month, t.first_month, t.last_month))
        and (t.holds = 0 or (
          case when t.ends = 0 then w.cap_month <= month else w.cap_month = month end -- Never back.
          and db.are_ordinary_holds(
            db.largest_hold(w.is_connected, w.is_suspended, w.balance_micros - t.charge, w.held_micros - t.freed, w.cap_micros,
              db.in_month(w.cap_spent_micros, w.cap_month, month) + t.charge,
              db.in_month(w.cap_held_micros, w.cap_month, month) - t.freed),
            t.amount, w.open_streams - t.streams_freed + t.streams, t.streams_max,
            w.open_calls - t.calls_freed + t.calls, t.calls_max)
        ))
      then true else false end
    returning w.wallet_id, w.balance_micros + t.charge as balance_before, w.entry_seq - t.entries as entries_before
  ), ended as (
    select e.*, t.balance_before - e.charge_so_far as balance_after, t.entries_before + e.entries_so_far as seq
    from ending e full join turned t on t.wallet_id = e.wallet_id
    where coalesce(t.wallet_id, 0) > 0 and e.call_id is not null
  ), freed as (
    -- A hold that has changed since the statement began has another ctid, and is not found: the turn is undone below. Older
    -- minor versions of PostgreSQL find it as it is now, so whether a retry has joined it is asked again.
    delete from ledger.holds h
    where h.ctid = any (array(select e.ctid from ended e))
      and case when h.is_joined and h.call_id = any (array(select e.call_id from ended e where e.is_unkept))
        then false else true end
    returning h.is_stream
  ), receipts as (
    -- The receipt is the entry of the charge, if there is one.
    insert into usage.calls (call_id, wallet_id, month, model, price_id, outcome, is_estimated, is_usage_clamped,
      prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, held_micros, charged_micros,
      correlation_id, seq, balance_after_micros, rare_counts)
    select e.call_id, e.wallet_id, e.month, e.model, e.price_id, e.outcome, e.is_estimated, e.is_usage_clamped,
      e.prompt_tokens, e.cached_tokens, e.cache_write_tokens, e.completion_tokens, e.reasoning_tokens, e.held,
      e.charge_micros, e.correlation_id, case when e.charge_micros > 0 then e.seq end,
      case when e.charge_micros > 0 then e.balance_after end, e.rare_counts
    from ended e
  ), placed as (
    insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, key_digest, body_digest, instance_id)
    select a.call_id, t.wallet_id, a.amount, month, a.streams_max > 0, a.key_digest, a.body_digest, a.instance_id
    from asked a full join turned t on t.wallet_id = a.wallet_id
    where coalesce(t.wallet_id, 0) > 0 and a.call_id is not null
    returning call_id
  )
  select case when count(*) + (select count(*) from placed) < cardinality(p_settlements) + cardinality(p_requests)
      then array(select e.call_id from ended e union all select p.call_id from placed p) end,
    count(*) <> (select count(*) from freed)
      or count(*) filter (where e.is_stream) <> (select count(*) from freed f where f.is_stream)
  into done, is_torn from ended e;
  if is_torn then
    raise exception 'a hold has changed' using errcode = '40001';
  end if;
  if cardinality(p_requests) > 0 then perform ledger.refuse_holds(p_instances, p_requests); end if;
  if p_sessions is not null then -- Under the locks of their wallets, and never of a call that is left for later.
    perform usage.note_sessions(array(select s from unnest(p_sessions) s where done is null or s.call_id = any (done)));
  end if;
  return done;
end $$;

revoke all on function ledger.lane_turn from public;
grant execute on function ledger.lane_turn to purser_live;
