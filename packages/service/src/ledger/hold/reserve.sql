-- Places a hold for each call that status, cap and balance allow: as much of `most_micros` as db.granted_hold gives of
-- that, and no less than `least_micros`. Calls are judged one after the other, so that a large one that is refused never
-- costs a small one behind it its hold.
--
-- A wallet that is not connected is neither read nor locked: for a user who has disconnected, a call costs the database
-- exactly what it costs for a stranger, so its time tells nothing (WA-02). Its retries find no earlier call, and its streams
-- are not counted (CC-10).
--
-- A call that holds already is a repeat, because the first answer was lost. It gets the same answer, and its hold goes to
-- the process that asks. A call that has ended gets no second hold: 'call_ended'.
--
-- When all slots of a user are taken, a stream gets those of the wallet's oldest drains, as many as it takes, if nothing
-- else refuses it (LI-02). Such a drain keeps its hold until its process settles it, but is no stream any more. A drain that a
-- retry waits for has a caller again, and keeps its slot.
--
-- A call that joins may be a retry (CC-14). If its wallet is connected and not suspended, it first looks for an earlier
-- call with its idempotency key: a hold that runs, or an answer that is kept and whose charge is on the books. If there is
-- one, the call holds nothing and is told which: 'attempt_running', 'attempt_kept', or 'attempt_conflict' when the earlier
-- one had another body. Among several, the one that it has joined before (`joined_call`) comes first, then a kept answer,
-- then a running one that nobody has joined. A running one is marked as joined.
--
-- A call whose API key has a monthly budget is also judged by that (CP-08), before the user's money: nobody is sent to pay for
-- a call that its key would refuse. Rows of budgets are locked after all wallets, in one order, so two statements never wait
-- for each other in a circle.
--
-- With cells, a part of the budget may be in other cells (decision 102). Then a call whose hold that would refuse or lower is refused with 'budget_race_lost', so
-- that its gateway asks for more. Once it is known that there is no more, it gets what there is.
create or replace function ledger.reserve(p_instance bigint, p_requests db.hold_request[])
returns table (call_id uuid, outcome text, wallet_id bigint, granted bigint, earlier uuid)
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  calls constant uuid[] := array(select q.call_id from unnest(p_requests) q);
  locked bigint[];
  is_repeat boolean; -- Some call of these holds already, or has ended.
  asked record;
  wallet bigint; -- The wallet that the running figures below are of.
  this_month date;
  month date;
  held bigint; spent bigint; capped bigint; streams int; plain int;
  largest bigint;
  whole bigint; -- The same, as if this cell had all of the budget of the API key.
  -- Of the calls that are granted, each in its place in the batch; null in the places of the others.
  held_wallets bigint[]; held_amounts bigint[]; held_months date[]; held_freed int[];
  drains uuid[]; -- Whose slots the call would take; null: it needs none.
  freed int; -- How many they are.
  is_granted boolean := false; -- To any call.
  joined_calls uuid[] := '{}';
  -- Of each key with a budget and each month. Null if no call of the batch has one.
  budgets text[]; budget_spent bigint[]; budget_held bigint[];
  budget_lent_spent bigint[]; budget_elsewhere bigint[]; budget_allowance bigint[]; budget_allowance_limit bigint[]; budget_is_all boolean[];
  budget_limit bigint[]; -- What the last call that was granted came with, for charges that come late.
  at int; -- The place of the call's budget in these; null: it has none.
  is_parted boolean; -- Other cells may have a part of that.
  budget bigint; -- What this cell may spend and hold of it.
  left_here bigint; -- Of that.
begin
  held_wallets := array_fill(null::bigint, array[cardinality(calls)]);
  held_amounts := held_wallets;
  held_months := array_fill(null::date, array[cardinality(calls)]);
  held_freed := array_fill(null::int, array[cardinality(calls)]);
  -- `offset 0` keeps a lateral subquery from being turned into a join. It stays a look-up by the key, even when the planner
  -- expects few rows, and never becomes a pass over a table that has grown since the plan was made. The index
  -- `wallets_connected` is the only one that has this expression: a wallet that is not connected is not read.
  select array_agg(w.wallet_id) into locked
  from unnest(p_requests) q
  cross join lateral (
    select v.wallet_id from ledger.wallets v
    where v.app_id || ' ' || v.user_id = q.app_id || ' ' || q.user_id and v.is_connected offset 0
  ) w;
  -- In one order, as every function that changes wallets, so that two never wait for each other in a circle. A statement
  -- that follows sees what the locks protect. A wallet that was disconnected meanwhile is left out.
  select array_agg(l.wallet_id) into locked from (
    select w.wallet_id from ledger.wallets w
    where w.wallet_id = any (locked) and w.is_connected
    order by w.wallet_id for no key update of w
  ) l;
  if not exists (select from db.instances i where i.instance_id = p_instance and i.state = 'live') then
    raise exception 'instance % is fenced', p_instance using errcode = '55000';
  end if;
  this_month := db.current_month(); -- Once: what is judged below is locked here.
  if exists (select from unnest(p_requests) q where q.budget_key is not null) then
    select l.* into budgets, budget_spent, budget_held, budget_lent_spent, budget_elsewhere, budget_allowance, budget_allowance_limit,
      budget_is_all
    from ledger.lock_budgets(p_requests, locked, this_month) l;
    budget_limit := array_fill(null::bigint, array[cardinality(budgets)]);
  end if;
  -- Nearly never. Looked up once for the batch, so that an ordinary call looks for neither its hold nor its receipt.
  is_repeat := exists (select from ledger.holds h where h.call_id = any (calls))
    -- By the first and the last of them too: only the months between those are looked at.
    or exists (
      select from usage.calls c where c.call_id = any (calls)
        and c.call_id >= (select q from unnest(calls) q order by q limit 1)
        and c.call_id <= (select q from unnest(calls) q order by q desc limit 1)
    );
  for asked in
    select q.*, w.wallet_id, w.is_connected, w.is_suspended, w.balance_micros, w.held_micros, w.cap_micros, w.cap_month,
      w.cap_spent_micros, w.cap_held_micros, w.open_streams, w.open_calls, h.amount_micros as placed, h.instance_id as holder, c.call_id as ended
    from unnest(p_requests) with ordinality q
    left join ledger.wallets w on w.wallet_id = any (locked) and w.app_id = q.app_id and w.user_id = q.user_id
    left join lateral (
      select h.amount_micros, h.instance_id from ledger.holds h where is_repeat and h.call_id = q.call_id offset 0
    ) h on true
    left join lateral (select c.call_id from usage.calls c where is_repeat and c.call_id = q.call_id offset 0) c on true
    order by w.wallet_id, q.ordinality
  loop
    call_id := asked.call_id;
    wallet_id := asked.wallet_id;
    granted := 0;
    earlier := null;
    outcome := null;
    at := null;
    is_parted := false;
    left_here := null;
    if asked.wallet_id is distinct from wallet then
      wallet := asked.wallet_id;
      -- A month never goes back: the clock of another server may be ahead (WA-08).
      month := greatest(asked.cap_month, this_month);
      held := asked.held_micros;
      spent := case when asked.cap_month = month then asked.cap_spent_micros else 0 end;
      capped := case when asked.cap_month = month then asked.cap_held_micros else 0 end;
      streams := asked.open_streams;
      plain := asked.open_calls;
    end if;
    if asked.ended is not null then
      outcome := 'call_ended';
    elsif asked.placed is not null then
      outcome := 'granted';
      granted := asked.placed;
      if asked.holder <> p_instance then
        update ledger.holds h set instance_id = p_instance where h.call_id = asked.call_id;
      end if;
    elsif asked.joins and not asked.is_suspended then
      select e.call_id, case when e.body_digest <> asked.body_digest then 'attempt_conflict'
        when e.is_running then 'attempt_running' else 'attempt_kept' end
      into earlier, outcome
      from (
        select a.call_id, a.body_digest, false as is_running, false as is_joined, a.kept_at as since
        from idempotency.kept_answers a
        cross join lateral (
          select from usage.calls c where c.call_id = a.call_id and c.outcome = 'answered'
          union all
          select where a.charged_micros is not null -- In another cell.
          offset 0
        ) c
        where a.key_digest = asked.key_digest and a.expires_at > clock_timestamp()
        union all
        select h.call_id, h.body_digest, true, h.is_joined or h.call_id = any (joined_calls), h.placed_at
        from ledger.holds h where h.key_digest = asked.key_digest and h.wallet_id = asked.wallet_id
        union all
        -- Calls of this batch that were granted before this one: their holds are not stored yet.
        select b.call_id, b.body_digest, true, b.call_id = any (joined_calls), null
        from unnest(p_requests) with ordinality b
        where b.key_digest = asked.key_digest and held_amounts[b.ordinality] is not null
      ) e
      order by e.call_id is distinct from asked.joined_call, e.is_running, e.is_joined, e.since limit 1;
      if outcome = 'attempt_running' then
        joined_calls := joined_calls || earlier;
      end if;
    end if;
    if outcome is null and asked.budget_key is not null then
      at := array_position(budgets, asked.budget_key || ' ' || coalesce(month, this_month));
      is_parted := budget_allowance[at] is not null or budget_elsewhere[at] > 0;
      budget := case when budget_allowance[at] is null then asked.budget_micros
        else ledger.budget_here(asked.budget_micros, budget_allowance[at], budget_allowance_limit[at]) end;
      left_here := budget - budget_spent[at] - budget_lent_spent[at] - budget_held[at] - budget_elsewhere[at];
      outcome := db.budget_outcome(asked.least_micros, budget, budget_spent[at] + budget_lent_spent[at],
        budget_held[at] + budget_elsewhere[at]);
      if outcome is not null and budget_allowance[at] is not null then
        outcome := 'budget_race_lost'; -- This cell knows its own part alone.
      end if;
    end if;
    if outcome is null and asked.wallet_id is null then
      outcome := case when exists (select from ledger.leaving l where l.app_id = asked.app_id and l.user_id = asked.user_id)
        then 'user_elsewhere' else 'payment_required' end;
    elsif outcome is null then
      drains := null;
      freed := 0;
      if asked.streams_max > 0 and streams >= asked.streams_max then
        select array_agg(d.call_id), count(*) into drains, freed from (
          select h.call_id from ledger.holds h
          where h.wallet_id = wallet and h.is_stream and h.drained_since is not null
            and not h.is_joined and h.call_id <> all (joined_calls)
          order by h.drained_since, h.call_id limit streams - asked.streams_max + 1
        ) d;
      end if;
      largest := db.largest_hold(
        asked.is_connected, asked.is_suspended, asked.balance_micros, held, asked.cap_micros, spent, capped);
      whole := least(largest, asked.budget_micros - budget_spent[at] - budget_lent_spent[at] - budget_held[at]); -- Null is passed over.
      largest := least(largest, left_here);
      outcome := db.hold_outcome(largest, asked.least_micros, asked.is_connected, asked.is_suspended,
        asked.balance_micros, asked.cap_micros, spent, capped, streams - freed, asked.streams_max, plain, asked.calls_max);
      if outcome = 'granted' then
        granted := db.granted_hold(largest, asked.least_micros, asked.most_micros);
        if is_parted then
          -- No share of a part: the home judges what is left of the whole.
          whole := db.granted_hold(whole, asked.least_micros, asked.most_micros);
          if whole <= left_here then
            granted := whole;
          elsif not budget_is_all[at] then
            outcome := 'budget_race_lost';
            granted := 0;
          end if;
        end if;
      end if;
      if outcome = 'granted' then
        held := held + granted;
        capped := capped + granted;
        if at is not null then
          budget_held[at] := budget_held[at] + granted;
          budget_limit[at] := asked.budget_micros;
        end if;
        if freed > 0 then
          update ledger.holds h set is_stream = false where h.call_id = any (drains);
          streams := streams - freed;
          held_freed[asked.ordinality] := freed;
        end if;
        streams := streams + (asked.streams_max > 0)::int;
        plain := plain + (asked.streams_max = 0)::int;
        held_wallets[asked.ordinality] := asked.wallet_id;
        held_amounts[asked.ordinality] := granted;
        held_months[asked.ordinality] := month;
        is_granted := true;
      end if;
    end if;
    return next;
  end loop;
  if is_granted then
    update ledger.wallets w set
      held_micros = w.held_micros + g.amount,
      open_streams = w.open_streams + g.streams,
      open_calls = w.open_calls + g.plain,
      cap_month = g.month,
      cap_spent_micros = case when w.cap_month = g.month then w.cap_spent_micros else 0 end,
      cap_held_micros = case when w.cap_month = g.month then w.cap_held_micros else 0 end + g.amount,
      version = w.version + g.holds
    from (
      select h.wallet_id, h.month, sum(h.amount)::bigint as amount, count(*) as holds,
        count(*) filter (where (p_requests[h.place]).streams_max > 0) - coalesce(sum(h.freed), 0) as streams,
        count(*) filter (where (p_requests[h.place]).streams_max = 0) as plain
      from unnest(held_wallets, held_amounts, held_months, held_freed) with ordinality
        as h (wallet_id, amount, month, freed, place)
      where h.amount is not null
      group by h.wallet_id, h.month
    ) g
    where w.wallet_id = g.wallet_id;
    insert into ledger.holds (
      call_id, wallet_id, amount_micros, month, is_stream, key_digest, body_digest, instance_id, budget_key)
    select q.call_id, h.wallet_id, h.amount, h.month, q.streams_max > 0, q.key_digest, q.body_digest, p_instance, q.budget_key
    from unnest(held_wallets, held_amounts, held_months) with ordinality as h (wallet_id, amount, month, place)
    cross join lateral (select (p_requests[h.place]).*) q
    where h.amount is not null;
    if budgets is not null then
      update ledger.key_budgets b set held_micros = u.held, limit_micros = u.most
      from unnest(budgets, budget_held, budget_limit) u (budget, held, most)
      where b.key_id = split_part(u.budget, ' ', 1) and b.month = split_part(u.budget, ' ', 2)::date
        and b.held_micros <> u.held;
    end if;
  end if;
  if joined_calls <> '{}' then
    update ledger.holds h set is_joined = true where h.call_id = any (joined_calls) and not h.is_joined;
  end if;
end $$;

revoke all on function ledger.reserve from public;
grant execute on function ledger.reserve to purser_live;
