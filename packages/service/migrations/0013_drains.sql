-- Drains: streams that are read on although their caller has left (CC-11). A new stream ends the oldest of its user's rather
-- than being refused for it (LI-02). Locks: ledger.holds for the moment of a new column and an index; it holds open calls only.

-- Since when; null for a call whose caller is there.
alter table ledger.holds add drained_since timestamptz;
create index holds_drained on ledger.holds (wallet_id, drained_since) where drained_since is not null;

-- Says of calls that their callers have left and they are read on. Locks the wallets first, as every function that changes
-- holds does; a call that has ended, and one that has been said of before, stays as it is.
create function ledger.begin_drains(p_calls uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform from ledger.wallets w
  where w.wallet_id in (select h.wallet_id from ledger.holds h where h.call_id = any (p_calls))
  order by w.wallet_id for no key update;
  update ledger.holds h set drained_since = clock_timestamp()
  where h.call_id = any (p_calls) and h.is_stream and h.drained_since is null;
end $$;
revoke all on function ledger.begin_drains from public;
grant execute on function ledger.begin_drains to purser_live;

-- Places a hold for each call that status, cap and balance allow, as much of `max` as they allow and no less than `min`.
-- Calls are judged one after the other, so that a large one that is refused never costs a small one behind it its hold.
-- Repeating a call that holds already (its first answer was lost) gives the same answer, and the hold to the instance that
-- asks. A call that has ended holds nothing again: 'call_ended'.
--
-- A stream for which every slot is taken gets those of the wallet's oldest drains, as many as it takes, and only if nothing
-- else refuses it (LI-02). Such a drain keeps its hold until its process settles it, but is no stream any more.
create or replace function ledger.reserve(
  p_instance bigint, p_call uuid[], p_app text[], p_user text[], p_min bigint[], p_max bigint[], p_streams_max int[]
) returns table (call_id uuid, outcome text, wallet_id bigint, granted bigint)
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  locked bigint[];
  asked record;
  wallet bigint; -- The wallet that the running figures below are of.
  month date;
  available bigint; spent bigint; capped bigint; streams int;
  held_calls uuid[] := '{}'; held_wallets bigint[] := '{}'; held_amounts bigint[] := '{}';
  held_months date[] := '{}'; held_streams boolean[] := '{}'; held_freed int[] := '{}';
  drains uuid[]; -- Whose slots the call would take.
begin
  select array_agg(l.wallet_id) into locked from (
    select w.wallet_id from unnest(p_app, p_user) as q (app_id, user_id)
    join ledger.wallets w on w.app_id = q.app_id and w.user_id = q.user_id
    order by w.wallet_id for no key update of w
  ) l;
  if not exists (select from db.instances i where i.instance_id = p_instance and i.state = 'live') then
    raise exception 'instance % is fenced', p_instance using errcode = '55000';
  end if;
  for asked in
    select q.*, w.*, h.amount_micros as placed, h.instance_id as holder, c.call_id as ended
    from unnest(p_call, p_app, p_user, p_min, p_max, p_streams_max) with ordinality
      as q (q_call, q_app, q_user, q_min, q_max, q_streams_max, q_order)
    left join ledger.wallets w on w.app_id = q.q_app and w.user_id = q.q_user and w.wallet_id = any (locked)
    left join ledger.holds h on h.call_id = q.q_call
    left join usage.calls c on c.call_id = q.q_call
    order by w.wallet_id, q.q_order
  loop
    call_id := asked.q_call;
    wallet_id := asked.wallet_id;
    granted := 0;
    if asked.wallet_id is distinct from wallet then
      wallet := asked.wallet_id;
      month := greatest(asked.cap_month, db.current_month());
      available := greatest(0, asked.balance_micros - asked.held_micros);
      spent := case when asked.cap_month = month then asked.cap_spent_micros else 0 end;
      capped := case when asked.cap_month = month then asked.cap_held_micros else 0 end;
      streams := asked.open_streams;
    end if;
    if asked.ended is not null then
      outcome := 'call_ended';
    elsif asked.placed is not null then
      outcome := 'granted';
      granted := asked.placed;
      if asked.holder <> p_instance then
        update ledger.holds h set instance_id = p_instance where h.call_id = asked.q_call;
      end if;
    elsif asked.wallet_id is null then
      outcome := 'payment_required';
    else
      drains := '{}';
      if asked.q_streams_max > 0 and streams >= asked.q_streams_max then
        select coalesce(array_agg(d.call_id), '{}') into drains from (
          select h.call_id from ledger.holds h
          where h.wallet_id = wallet and h.is_stream and h.drained_since is not null
          order by h.drained_since, h.call_id limit streams - asked.q_streams_max + 1
        ) d;
      end if;
      outcome := db.hold_outcome(asked.is_connected, asked.is_suspended, available, asked.cap_micros, spent, capped,
        streams - cardinality(drains), asked.q_streams_max, asked.q_min);
      if outcome = 'granted' then
        granted := least(asked.q_max, available, coalesce(asked.cap_micros - spent - capped, asked.q_max));
        available := available - granted;
        capped := capped + granted;
        if drains <> '{}' then
          update ledger.holds h set is_stream = false where h.call_id = any (drains);
          streams := streams - cardinality(drains);
        end if;
        streams := streams + (asked.q_streams_max > 0)::int;
        held_calls := held_calls || asked.q_call;
        held_wallets := held_wallets || asked.wallet_id;
        held_amounts := held_amounts || granted;
        held_months := held_months || month;
        held_streams := held_streams || (asked.q_streams_max > 0);
        held_freed := held_freed || cardinality(drains);
      end if;
    end if;
    return next;
  end loop;
  if held_calls <> '{}' then
    update ledger.wallets w set
      held_micros = w.held_micros + g.amount,
      open_streams = w.open_streams + g.streams,
      cap_month = g.month,
      cap_spent_micros = case when w.cap_month = g.month then w.cap_spent_micros else 0 end,
      cap_held_micros = case when w.cap_month = g.month then w.cap_held_micros else 0 end + g.amount,
      version = w.version + g.holds
    from (
      select h.wallet_id, h.month, sum(h.amount)::bigint as amount, count(*) as holds,
        count(*) filter (where h.is_stream) - sum(h.freed) as streams
      from unnest(held_wallets, held_amounts, held_months, held_streams, held_freed)
        as h (wallet_id, amount, month, is_stream, freed)
      group by h.wallet_id, h.month
    ) g
    where w.wallet_id = g.wallet_id;
    insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
    select h.*, p_instance
    from unnest(held_calls, held_wallets, held_amounts, held_months, held_streams) as h;
  end if;
end $$;
