-- The ordinary call in one statement: what nothing stands in the way of is not judged call by call.
-- Locks: usage.calls against writing, for as long as one index of it takes: about a second for a million calls.
--
-- Nearly every batch holds nothing but calls that their wallets afford, and settlements that their holds cover. Each of the
-- functions below does such a batch in one statement, which locks the wallets as it changes them, in order of wallet_id. What
-- is not ordinary it leaves as it is, wallet by wallet, and the caller asks `ledger.reserve` or `ledger.settle` for that.
-- Nothing is decided here that they would decide otherwise.
--
-- The statement sees holds as they were when it began, and waits for wallets. What became otherwise meanwhile is looked
-- for afterwards, under the locks, and undoes the batch with 40001, unless a constraint undid it before (23505, 23514); all of
-- it is then for `ledger.reserve` or `ledger.settle`.
--
-- Plans must be right for tables of every size, see 0034. Rows are matched by a full join where both sides are as large as the
-- batch: it is made by hashing or sorting, whatever the planner expects, and never by comparing all with all. A condition in
-- a `case` is not taken apart to guess how many rows it leaves: the guess would be nearly none.

-- Places a hold of `max` for each call of a wallet that affords all of its calls in this batch. Gives null when that is every
-- call, else those that hold. For calls that join nothing (CC-14).
create function ledger.reserve_fitting(
  p_instance bigint, p_call uuid[], p_app text[], p_user text[], p_max bigint[], p_streams_max int[], p_attempt bytea[],
  p_attempt_body bytea[]
) returns uuid[]
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  month date := db.current_month();
  held uuid[];
begin
  with asked as (
    select q.call_id, q.amount, q.streams_max, q.attempt, q.attempt_body, w.wallet_id
    from unnest(p_call, p_app, p_user, p_max, p_streams_max, p_attempt, p_attempt_body)
      as q (call_id, app_id, user_id, amount, streams_max, attempt, attempt_body)
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
    insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, attempt, attempt_body, instance_id)
    select a.call_id, f.wallet_id, a.amount, month, a.streams_max > 0, a.attempt, a.attempt_body, p_instance
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

-- Ends each call that still holds and whose wallet needs nothing but its charges taken: they are within their holds, the
-- wallet is not clawed, and its month is that of the holds. Gives null when that is every call, else those that have ended:
-- each was charged its `charge`. A call named in `p_unkept` that a retry has joined is for `ledger.settle`.
create function ledger.settle_covered(
  p_call uuid[], p_charge bigint[], p_model text[], p_price bigint[], p_outcome text[], p_estimated boolean[],
  p_clamped boolean[], p_prompt bigint[], p_cached bigint[], p_completion bigint[], p_reasoning bigint[], p_correlation text[],
  p_unkept uuid[]
) returns uuid[]
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  settled uuid[];
  is_torn boolean; -- A hold went, was joined or lost its slot before its wallet was locked.
begin
  with asked as (
    select q.*, h.wallet_id, h.amount_micros as held, h.month, h.is_stream,
      sum(q.charge) over in_turn as charge_so_far, count(*) filter (where q.charge > 0) over in_turn as entries_so_far
    from unnest(p_call, p_charge, p_model, p_price, p_outcome, p_estimated, p_clamped, p_prompt, p_cached, p_completion,
      p_reasoning, p_correlation) with ordinality
      as q (call_id, charge, model, price_id, outcome, is_estimated, is_clamped, prompt, cached, completion, reasoning,
        correlation, place)
    cross join lateral (
      select h.wallet_id, h.amount_micros, h.month, h.is_stream from ledger.holds h
      where h.call_id = q.call_id and not (h.is_joined and h.call_id = any (p_unkept)) offset 0
    ) h
    window in_turn as (partition by h.wallet_id order by q.place rows unbounded preceding)
  ), paid as (
    update ledger.wallets w set
      balance_micros = w.balance_micros - t.charge,
      held_micros = w.held_micros - t.held,
      open_streams = w.open_streams - t.streams,
      cap_spent_micros = w.cap_spent_micros + t.charge,
      cap_held_micros = w.cap_held_micros - t.held,
      entry_seq = w.entry_seq + t.entries,
      version = w.version + t.calls
    from (
      select a.wallet_id, count(*) as calls, count(*) filter (where a.is_stream) as streams,
        count(*) filter (where a.charge > 0) as entries, sum(a.held)::bigint as held, sum(a.charge)::bigint as charge,
        min(a.month) as first_month, max(a.month) as last_month, bool_and(a.charge <= a.held) as is_covered
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
    delete from ledger.holds h
    where h.call_id = any (array(select e.call_id from ending e))
      and case when h.is_joined and h.call_id = any (p_unkept) then false else true end
    returning h.is_stream
  ), entries as (
    insert into ledger.entries (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
    select e.wallet_id, e.seq, 'charge', e.call_id::text, 'wallet', 'earned', e.charge, e.balance_after
    from ending e where e.charge > 0
  ), receipts as (
    insert into usage.calls (call_id, wallet_id, month, model, price_id, outcome, is_estimated, is_usage_clamped,
      prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, held_micros, charged_micros, correlation_id)
    select e.call_id, e.wallet_id, e.month, e.model, e.price_id, e.outcome, e.is_estimated, e.is_clamped,
      e.prompt, e.cached, e.completion, e.reasoning, e.held, e.charge, e.correlation
    from ending e
  )
  select case when count(*) < cardinality(p_call) then coalesce(array_agg(e.call_id), '{}') end,
    count(*) <> (select count(*) from ended)
      or count(*) filter (where e.is_stream) <> (select count(*) from ended d where d.is_stream)
  into settled, is_torn
  from ending e;

  if is_torn then
    raise exception 'a hold has changed' using errcode = '40001';
  end if;
  return settled;
end $$;

revoke all on function ledger.reserve_fitting, ledger.settle_covered from public;
grant execute on function ledger.reserve_fitting, ledger.settle_covered to purser_live;

-- Planned on an empty table, a look for many calls went through this index, whose second column they are: all of it, for each
-- batch, for as long as the connection lived. Now it serves those who ask for a correlation id alone.
drop index usage.calls_correlation;
create index calls_correlation on usage.calls (correlation_id, call_id) where correlation_id is not null;
