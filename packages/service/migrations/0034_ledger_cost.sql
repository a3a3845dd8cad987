-- What a call costs the database: the same rules in cheaper statements, and plans that do not come to cost more as tables grow.
-- Locks: short ones on functions; webhooks.subscriptions against writing, for as long as a small index takes.
--
-- A connection plans a statement once. When it did so while a table was nearly empty, the plan must still be right once
-- there are millions of rows: what looks rows up by their key does it in a lateral subquery with `offset 0`, which PostgreSQL
-- can only run as a look-up for each row, and never as a pass over the table.

-- The cases are written in the type itself: as text that is cast they would not be immutable, and PostgreSQL would call
-- the functions for every entry rather than taking them into the check.
create or replace function ledger.debit_of(p_kind ledger.entry_kind) returns ledger.book
language sql immutable parallel safe
return case
  when p_kind in ('charge', 'refund', 'claw_back', 'recovery', 'refund_set_aside') then 'wallet'::ledger.book
  when p_kind in ('charge_receivable', 'refund_receivable', 'claw_back_receivable') then 'receivable'
  when p_kind in ('top_up', 'funds_reinstated') then 'processor'
  when p_kind in ('refund_paid', 'refund_released') then 'outgoing'
  when p_kind = 'contract_credit' then 'contract'
  when p_kind in ('write_off', 'charge_overrun') then 'loss'
end;

create or replace function ledger.credit_of(p_kind ledger.entry_kind) returns ledger.book
language sql immutable parallel safe
return case
  when p_kind in ('charge', 'charge_receivable', 'charge_overrun') then 'earned'::ledger.book
  when p_kind in ('refund', 'refund_receivable', 'claw_back', 'claw_back_receivable', 'refund_paid') then 'processor'
  when p_kind in ('recovery', 'write_off') then 'receivable'
  when p_kind in ('top_up', 'funds_reinstated', 'contract_credit', 'refund_released') then 'wallet'
  when p_kind = 'refund_set_aside' then 'outgoing'
end;

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
  p_attempt bytea[] default null, p_attempt_body bytea[] default null, p_joins boolean[] default null,
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
    from unnest(p_call, p_app, p_user, p_min, p_max, p_streams_max, p_attempt, p_attempt_body, p_joins, p_joined)
      with ordinality as q (q_call, q_app, q_user, q_min, q_max, q_streams_max, q_attempt, q_attempt_body, q_joins, q_joined,
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
      select e.call_id, case when e.body <> asked.q_attempt_body then 'attempt_conflict'
        when e.is_running then 'attempt_running' else 'attempt_kept' end
      into earlier, outcome
      from (
        select a.call_id, a.body, false as is_running, false as is_joined, a.kept_at as since
        from attempts.answers a join usage.calls c on c.call_id = a.call_id and c.outcome = 'answered'
        where a.attempt = asked.q_attempt and a.expires_at > clock_timestamp()
        union all
        select h.call_id, h.attempt_body, true, h.is_joined or h.call_id = any (joined_calls), h.placed_at
        from ledger.holds h where h.attempt = asked.q_attempt and h.wallet_id = asked.wallet_id
        union all
        select b.call_id, b.body, true, b.call_id = any (joined_calls), null
        from unnest(p_call, p_attempt, p_attempt_body, held_amounts) as b (call_id, attempt, body, granted)
        where b.attempt = asked.q_attempt and b.granted is not null
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
    insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, attempt, attempt_body, instance_id)
    select h.call_id, h.wallet_id, h.amount, h.month, h.streams_max > 0, h.attempt, h.attempt_body, p_instance
    from unnest(p_call, held_wallets, held_amounts, held_months, p_streams_max, p_attempt, p_attempt_body)
      as h (call_id, wallet_id, amount, month, streams_max, attempt, attempt_body)
    where h.amount is not null;
  end if;
  if joined_calls <> '{}' then
    update ledger.holds h set is_joined = true where h.call_id = any (joined_calls) and not h.is_joined;
  end if;
end $$;

-- Ends each call that still holds: takes its charge, at most its hold and at most the balance, gives the rest back, and
-- keeps the receipt. What the balance cannot cover after a claw-back is booked as a receivable and suspends the wallet
-- (WA-12); what a provider reported above the hold, as our loss (WA-07). A charge of 0 releases. A call that no longer
-- holds is answered with what it was charged when it ended, and nothing changes: settling twice, or after the reaper, is
-- the same as once. A call named in `p_unkept` is left as it is when a retry has joined it ('is_joined'): its answer must
-- be kept first.
create or replace function ledger.settle(
  p_call uuid[], p_charge bigint[], p_model text[], p_price bigint[], p_outcome text[], p_estimated boolean[],
  p_clamped boolean[], p_prompt bigint[], p_cached bigint[], p_completion bigint[], p_reasoning bigint[], p_correlation text[],
  p_unkept uuid[] default '{}'
) returns table (call_id uuid, is_settled boolean, charged bigint, is_joined boolean)
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
begin
  perform from ledger.wallets w
  where w.wallet_id in (select h.wallet_id from ledger.holds h where h.call_id = any (p_call))
  order by w.wallet_id for no key update;

  return query
  with asked as (
    select * from unnest(p_call, p_charge, p_model, p_price, p_outcome, p_estimated, p_clamped, p_prompt, p_cached,
      p_completion, p_reasoning, p_correlation) with ordinality
      as q (call_id, charge, model, price_id, outcome, is_estimated, is_clamped, prompt, cached, completion, reasoning,
        correlation, place)
  ), ended as (
    delete from ledger.holds h
    where h.call_id = any (p_call) and not (h.is_joined and h.call_id = any (p_unkept)) returning h.*
  ), owed as (
    select a.*, e.wallet_id, e.amount_micros as held, e.month, e.is_stream, least(a.charge, e.amount_micros) as owed,
      case when a.is_estimated then 0 else greatest(0, a.charge - e.amount_micros) end as overrun,
      sum(least(a.charge, e.amount_micros)) over (partition by e.wallet_id order by a.place)::bigint as owed_so_far
    from asked a join ended e on e.call_id = a.call_id
  ), taken as (
    -- The balance is spent in order of the batch until it is gone: what is taken is the growth of least(owed, balance).
    select o.*, w.balance_micros, w.entry_seq, w.cap_month,
      least(o.owed_so_far, w.balance_micros) - least(o.owed_so_far - o.owed, w.balance_micros) as taken
    from owed o
    cross join lateral (
      select v.balance_micros, v.entry_seq, v.cap_month from ledger.wallets v where v.wallet_id = o.wallet_id offset 0
    ) w
  ), moves as (
    select t.wallet_id, t.entry_seq, t.place, t.call_id, 'charge'::ledger.entry_kind as kind,
      'wallet'::ledger.book as debit, t.taken as amount, t.balance_micros - least(t.owed_so_far, t.balance_micros) as balance_after
    from taken t where t.taken > 0
    union all
    select t.wallet_id, t.entry_seq, t.place, t.call_id, 'charge_receivable', 'receivable', t.owed - t.taken, 0
    from taken t where t.owed > t.taken
    union all
    select t.wallet_id, t.entry_seq, t.place, t.call_id, 'charge_overrun', 'loss', t.overrun,
      t.balance_micros - least(t.owed_so_far, t.balance_micros)
    from taken t where t.overrun > 0
  ), entries as (
    insert into ledger.entries (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
    select m.wallet_id, m.entry_seq + row_number() over (partition by m.wallet_id order by m.place, m.kind), m.kind,
      m.call_id::text, m.debit, 'earned', m.amount, m.balance_after
    from moves m
  ), totals as (
    select t.wallet_id, count(*) as calls, count(*) filter (where t.is_stream) as streams,
      sum(t.held)::bigint as held, sum(t.taken)::bigint as taken, sum(t.owed - t.taken)::bigint as missing,
      count(*) filter (where t.taken > 0) + count(*) filter (where t.owed > t.taken)
        + count(*) filter (where t.overrun > 0) as entries,
      -- A hold of an earlier month settles without touching the month that has begun (WA-08).
      coalesce(sum(t.owed) filter (where t.month = t.cap_month), 0)::bigint as month_owed,
      coalesce(sum(t.held) filter (where t.month = t.cap_month), 0)::bigint as month_held
    from taken t group by t.wallet_id
  ), wallets as (
    update ledger.wallets w set
      balance_micros = w.balance_micros - t.taken,
      held_micros = w.held_micros - t.held,
      open_streams = w.open_streams - t.streams,
      cap_spent_micros = w.cap_spent_micros + t.month_owed,
      cap_held_micros = w.cap_held_micros - t.month_held,
      is_suspended = w.is_suspended or t.missing > 0,
      shortfall_micros = w.shortfall_micros + t.missing,
      is_clawed = w.is_clawed and w.held_micros - t.held > w.balance_micros - t.taken,
      entry_seq = w.entry_seq + t.entries,
      version = w.version + t.calls
    from totals t where w.wallet_id = t.wallet_id
  ), receipts as (
    insert into usage.calls (call_id, wallet_id, month, model, price_id, outcome, is_estimated, is_usage_clamped,
      prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, held_micros, charged_micros, correlation_id)
    select t.call_id, t.wallet_id, t.month, t.model, t.price_id, t.outcome, t.is_estimated, t.is_clamped,
      t.prompt, t.cached, t.completion, t.reasoning, t.held, t.owed, t.correlation
    from taken t
  )
  select a.call_id, t.call_id is not null, coalesce(t.owed, c.charged_micros, 0),
    t.call_id is null and exists (select from ledger.holds h where h.call_id = a.call_id)
  from asked a
  left join taken t on t.call_id = a.call_id
  left join lateral (
    select c.charged_micros from usage.calls c where t.call_id is null and c.call_id = a.call_id offset 0
  ) c on true;
end $$;

-- The highest threshold that anybody has is one look.
create index subscriptions_low on webhooks.subscriptions (low_balance_threshold_micros)
  where status = 'active' and low_balance_threshold_micros is not null;

-- Whatever changes a wallet: when what can be spent falls below the threshold, by a hold or otherwise, its app is told, once a
-- crossing (WH-05). A statement changes a wallet once, and only ever one way, so that no crossing hides between two. Nearly
-- always no wallet that changed has less than the highest threshold, and that is all that is looked at. Otherwise what was
-- is found by hash: one by one it would be compared with all.
create or replace function webhooks.tell_low_balances() returns trigger
language plpgsql security definer set search_path = pg_catalog
set enable_seqscan = off set enable_nestloop = off set enable_mergejoin = off set jit = off as $$
begin
  if not exists (
    select from changed c
    where webhooks.spendable(c.balance_micros, c.held_micros) < (
      select max(s.low_balance_threshold_micros) from webhooks.subscriptions s
      where s.status = 'active' and s.low_balance_threshold_micros is not null
    )
  ) then
    return null;
  end if;
  with fallen as materialized (
    select c.wallet_id, c.version, c.app_id, c.user_id, c.currency,
      webhooks.spendable(b.balance_micros, b.held_micros) as available_before,
      webhooks.spendable(c.balance_micros, c.held_micros) as available
    from changed c join before b on b.wallet_id = c.wallet_id
    where webhooks.spendable(c.balance_micros, c.held_micros) < webhooks.spendable(b.balance_micros, b.held_micros)
  ), crossed as (
    select webhooks.event_id('balance.low', f.wallet_id || ':' || f.version) as event_id, f.app_id, s.subscription_id,
      s.listener_id, f.user_id, f.currency, f.available, s.low_balance_threshold_micros as threshold, clock_timestamp() as at
    from fallen f
    cross join lateral (
      select t.* from webhooks.subscriptions t
      where t.app_id = f.app_id and t.status = 'active' and (t.listening_until is null or t.listening_until > clock_timestamp())
        and f.available_before >= t.low_balance_threshold_micros and f.available < t.low_balance_threshold_micros
      for key share skip locked
    ) s
  ), told as (
    select l.*, webhooks.body(l.event_id, 'balance.low', l.at, l.app_id,
      format('{"userId":%s,"availableMicros":%s,"thresholdMicros":%s,"currency":%s}', to_json(l.user_id), l.available,
        l.threshold, to_json(l.currency))) as body
    from crossed l
  ), copied as (
    insert into webhooks.copies (subscription_id, event_id, type, body, created_at)
    select t.subscription_id, t.event_id, 'balance.low', t.body, t.at from told t where t.listener_id is not null
  )
  insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at)
  select t.event_id, t.app_id, t.subscription_id, 'balance.low', t.body, t.at from told t where t.listener_id is null
  on conflict do nothing;
  return null;
end $$;
