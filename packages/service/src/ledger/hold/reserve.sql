-- Places a hold for each call that status, cap and balance allow, as much of `max` as they allow and no less than `min`.
-- Calls are judged one after the other, so that a large one that is refused never costs a small one behind it its hold.
-- Repeating a call that holds already (its first answer was lost) gives the same answer, and the hold to the instance that
-- asks. A call that has ended holds nothing again: 'call_ended'.
--
-- A stream for which every slot is taken gets those of the wallet's oldest drains, as many as it takes, and only if nothing
-- else refuses it (LI-02). Such a drain keeps its hold until its process settles it, but is no stream any more.
--
-- A call that joins looks for an earlier attempt first: a hold that runs, or an answer that is kept and whose charge is on
-- the books. It then holds nothing and is told which: 'attempt_running', 'attempt_kept', 'attempt_conflict' when the
-- earlier one had another body. Among equals the one that it has joined before (`p_joined`) comes first, then a kept
-- answer, then a running one that nobody has joined; a running one is marked as joined.
create or replace function ledger.reserve(
  p_instance bigint, p_call uuid[], p_app text[], p_user text[], p_min bigint[], p_max bigint[], p_streams_max int[],
  p_key_digest bytea[] default null, p_body_digest bytea[] default null, p_joins boolean[] default null,
  p_joined uuid[] default null
) returns table (call_id uuid, outcome text, wallet_id bigint, granted bigint, earlier uuid)
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  locked bigint[];
  is_repeat boolean; -- Some call of these holds already, or has ended.
  asked record;
  wallet bigint; -- The wallet that the running figures below are of.
  month date;
  available bigint; spent bigint; capped bigint; streams int;
  -- Of the calls that are granted, each in its place in the batch; null in the places of the others.
  held_wallets bigint[]; held_amounts bigint[]; held_months date[]; held_freed int[];
  drains uuid[]; -- Whose slots the call would take; null without any.
  freed int; -- How many they are.
  is_granted boolean := false; -- To any call.
  joined_calls uuid[] := '{}';
begin
  held_wallets := array_fill(null::bigint, array[cardinality(p_call)]);
  held_amounts := held_wallets;
  held_months := array_fill(null::date, array[cardinality(p_call)]);
  held_freed := array_fill(null::int, array[cardinality(p_call)]);
  select array_agg(l.wallet_id) into locked from (
    select w.wallet_id from ledger.wallets w
    where (w.app_id, w.user_id) in (select q.app_id, q.user_id from unnest(p_app, p_user) as q (app_id, user_id))
    order by w.wallet_id for no key update of w
  ) l;
  if not exists (select from db.instances i where i.instance_id = p_instance and i.state = 'live') then
    raise exception 'instance % is fenced', p_instance using errcode = '55000';
  end if;
  is_repeat := exists (select from ledger.holds h where h.call_id = any (p_call))
    or exists (select from usage.calls c where c.call_id = any (p_call));
  for asked in
    select q.*, w.wallet_id, w.is_connected, w.is_suspended, w.balance_micros, w.held_micros, w.cap_micros, w.cap_month,
      w.cap_spent_micros, w.cap_held_micros, w.open_streams, h.amount_micros as placed, h.instance_id as holder, c.call_id as ended
    from unnest(p_call, p_app, p_user, p_min, p_max, p_streams_max, p_key_digest, p_body_digest, p_joins, p_joined)
      with ordinality as q (q_call, q_app, q_user, q_min, q_max, q_streams_max, q_key_digest, q_body_digest, q_joins, q_joined,
        q_order)
    left join ledger.wallets w on w.app_id = q.q_app and w.user_id = q.q_user and w.wallet_id = any (locked)
    left join lateral (
      select h.amount_micros, h.instance_id from ledger.holds h where is_repeat and h.call_id = q.q_call offset 0
    ) h on true
    left join lateral (select c.call_id from usage.calls c where is_repeat and c.call_id = q.q_call offset 0) c on true
    order by w.wallet_id, q.q_order
  loop
    call_id := asked.q_call;
    wallet_id := asked.wallet_id;
    granted := 0;
    earlier := null;
    outcome := null;
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
    elsif asked.q_joins then
      select e.call_id, case when e.body_digest <> asked.q_body_digest then 'attempt_conflict'
        when e.is_running then 'attempt_running' else 'attempt_kept' end
      into earlier, outcome
      from (
        select a.call_id, a.body_digest, false as is_running, false as is_joined, a.kept_at as since
        from idempotency.kept_answers a join usage.calls c on c.call_id = a.call_id and c.outcome = 'answered'
        where a.key_digest = asked.q_key_digest and a.expires_at > clock_timestamp()
        union all
        select h.call_id, h.body_digest, true, h.is_joined or h.call_id = any (joined_calls), h.placed_at
        from ledger.holds h where h.key_digest = asked.q_key_digest and h.wallet_id = asked.wallet_id
        union all
        select b.call_id, b.body_digest, true, b.call_id = any (joined_calls), null
        from unnest(p_call, p_key_digest, p_body_digest, held_amounts) as b (call_id, key_digest, body_digest, granted)
        where b.key_digest = asked.q_key_digest and b.granted is not null
      ) e
      order by e.call_id is distinct from asked.q_joined, e.is_running, e.is_joined, e.since limit 1;
      if outcome = 'attempt_running' then
        joined_calls := joined_calls || earlier;
      end if;
    end if;
    if outcome is null then
      drains := null;
      freed := 0;
      if asked.q_streams_max > 0 and streams >= asked.q_streams_max then
        select array_agg(d.call_id), count(*) into drains, freed from (
          select h.call_id from ledger.holds h
          where h.wallet_id = wallet and h.is_stream and h.drained_since is not null
          order by h.drained_since, h.call_id limit streams - asked.q_streams_max + 1
        ) d;
      end if;
      outcome := db.hold_outcome(asked.is_connected, asked.is_suspended, available, asked.cap_micros, spent, capped,
        streams - freed, asked.q_streams_max, asked.q_min);
      if outcome = 'granted' then
        granted := least(asked.q_max, available, coalesce(asked.cap_micros - spent - capped, asked.q_max));
        available := available - granted;
        capped := capped + granted;
        if freed > 0 then
          update ledger.holds h set is_stream = false where h.call_id = any (drains);
          streams := streams - freed;
          held_freed[asked.q_order] := freed;
        end if;
        streams := streams + (asked.q_streams_max > 0)::int;
        held_wallets[asked.q_order] := asked.wallet_id;
        held_amounts[asked.q_order] := granted;
        held_months[asked.q_order] := month;
        is_granted := true;
      end if;
    end if;
    return next;
  end loop;
  if is_granted then
    update ledger.wallets w set
      held_micros = w.held_micros + g.amount,
      open_streams = w.open_streams + g.streams,
      cap_month = g.month,
      cap_spent_micros = case when w.cap_month = g.month then w.cap_spent_micros else 0 end,
      cap_held_micros = case when w.cap_month = g.month then w.cap_held_micros else 0 end + g.amount,
      version = w.version + g.holds
    from (
      select h.wallet_id, h.month, sum(h.amount)::bigint as amount, count(*) as holds,
        count(*) filter (where h.streams_max > 0) - coalesce(sum(h.freed), 0) as streams
      from unnest(held_wallets, held_amounts, held_months, held_freed, p_streams_max)
        as h (wallet_id, amount, month, freed, streams_max)
      where h.amount is not null
      group by h.wallet_id, h.month
    ) g
    where w.wallet_id = g.wallet_id;
    insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, key_digest, body_digest, instance_id)
    select h.call_id, h.wallet_id, h.amount, h.month, h.streams_max > 0, h.key_digest, h.body_digest, p_instance
    from unnest(p_call, held_wallets, held_amounts, held_months, p_streams_max, p_key_digest, p_body_digest)
      as h (call_id, wallet_id, amount, month, streams_max, key_digest, body_digest)
    where h.amount is not null;
  end if;
  if joined_calls <> '{}' then
    update ledger.holds h set is_joined = true where h.call_id = any (joined_calls) and not h.is_joined;
  end if;
end $$;

revoke all on function ledger.reserve from public;
grant execute on function ledger.reserve to purser_live;
