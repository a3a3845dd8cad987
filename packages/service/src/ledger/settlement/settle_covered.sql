-- Ends each call that still holds and whose wallet needs nothing but its charges taken: they are within their holds, the
-- wallet is not clawed, and its month is that of the holds. Gives null when that is every call, else those that have ended:
-- each was charged what its settlement says. The others stay as they are, for ledger.settle: nothing is decided here that
-- ledger.settle would decide otherwise. So does a call whose answer is not kept and that a retry has joined (CC-14).
--
-- One statement, as ledger.reserve_fitting, whose notes on plans hold here too. It sees holds as they were when it began,
-- and then waits for wallets. A hold that changed meanwhile undoes the batch with 40001; all of it is then for
-- ledger.settle.
create or replace function ledger.settle_covered(p_settlements ledger.settlement[]) returns uuid[]
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  settled uuid[];
  is_torn boolean; -- A hold went, was joined or lost its slot before its wallet was locked.
begin
  with asked as (
    select q.*, h.wallet_id, h.amount_micros as held, h.month, h.is_stream, h.is_plain,
      sum(q.charge_micros) over in_turn as charge_so_far,
      count(*) filter (where q.charge_micros > 0) over in_turn as entries_so_far
    from unnest(p_settlements) with ordinality q
    cross join lateral (
      select h.wallet_id, h.amount_micros, h.month, h.is_stream,
        not h.is_stream and h.drained_since is null as is_plain
      from ledger.holds h
      where h.call_id = q.call_id and not (h.is_joined and q.is_unkept) offset 0
    ) h
    window in_turn as (partition by h.wallet_id order by q.ordinality rows unbounded preceding)
  ), paid as (
    update ledger.wallets w set
      balance_micros = w.balance_micros - t.charge,
      held_micros = w.held_micros - t.held,
      open_streams = w.open_streams - t.streams,
      open_calls = w.open_calls - t.plain,
      cap_spent_micros = w.cap_spent_micros + t.charge,
      cap_held_micros = w.cap_held_micros - t.held,
      entry_seq = w.entry_seq + t.entries,
      version = w.version + t.calls
    from (
      select a.wallet_id, count(*) as calls, count(*) filter (where a.is_stream) as streams,
        count(*) filter (where a.is_plain) as plain,
        count(*) filter (where a.charge_micros > 0) as entries, sum(a.held)::bigint as held,
        sum(a.charge_micros)::bigint as charge, min(a.month) as first_month, max(a.month) as last_month,
        bool_and(a.charge_micros <= a.held) as is_covered
      from asked a group by a.wallet_id order by a.wallet_id offset 0
    ) t
    where w.wallet_id = t.wallet_id and case when
        t.is_covered and not w.is_clawed and w.cap_month = t.first_month and w.cap_month = t.last_month
      then true else false end
    returning w.wallet_id, w.balance_micros + t.charge as balance_before, w.entry_seq - t.entries as entries_before
  ), ending as (
    select a.*, p.balance_before - a.charge_so_far as balance_after, p.entries_before + a.entries_so_far as seq
    from asked a full join paid p on p.wallet_id = a.wallet_id
    where coalesce(p.wallet_id, 0) > 0
  ), ended as (
    -- The row is read again here, as it is under the lock: a retry may have joined the call since.
    delete from ledger.holds h
    where h.call_id = any (array(select e.call_id from ending e))
      and case when h.is_joined and h.call_id = any (array(select e.call_id from ending e where e.is_unkept))
        then false else true end
    returning h.is_stream
  ), receipts as (
    insert into usage.calls (call_id, wallet_id, month, model, price_id, outcome, is_estimated, is_usage_clamped,
      prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, held_micros, charged_micros,
      correlation_id, seq, balance_after_micros)
    select e.call_id, e.wallet_id, e.month, e.model, e.price_id, e.outcome, e.is_estimated, e.is_usage_clamped,
      e.prompt_tokens, e.cached_tokens, e.cache_write_tokens, e.completion_tokens, e.reasoning_tokens, e.held,
      e.charge_micros, e.correlation_id, case when e.charge_micros > 0 then e.seq end,
      case when e.charge_micros > 0 then e.balance_after end
    from ending e
  )
  select case when count(*) < cardinality(p_settlements) then coalesce(array_agg(e.call_id), '{}') end,
    count(*) <> (select count(*) from ended)
      or count(*) filter (where e.is_stream) <> (select count(*) from ended d where d.is_stream)
  into settled, is_torn
  from ending e;

  if is_torn then
    raise exception 'a hold has changed' using errcode = '40001';
  end if;
  return settled;
end $$;

revoke all on function ledger.settle_covered from public;
grant execute on function ledger.settle_covered to purser_live;
