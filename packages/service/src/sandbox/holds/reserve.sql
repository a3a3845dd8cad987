-- As ledger.reserve, over sandbox wallets. A user's first call makes the wallet with the grant (SB-01), and so does the
-- first one after 30 idle days (SB-08).
--
-- The batch is judged in rounds of one statement each. A round judges every call that is left against its wallet as the
-- round finds it, and decides those for which that is right. These are the first calls of each wallet, as many as can all
-- get what they ask for. If the first one cannot, they are those up to the first that changes something. Nearly always one
-- round decides the whole batch. The monthly budget of an API key (CP-08) is judged in the same way, over the calls with that
-- key. In a batch that has one, a call is decided once every call before it is: one that its budget keeps waiting would
-- otherwise find its wallet, or one that its wallet keeps waiting its budget, taken by a call behind it.
create or replace function sandbox.reserve(p_instance bigint, p_grant bigint, p_requests db.hold_request[])
returns table (call_id uuid, outcome text, granted bigint, earlier uuid)
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  this_month constant date := db.current_month();
  wallets bigint[]; -- Of each call, in the order of the batch; null once the call is decided.
  locked int;
  is_idle boolean; -- Some wallet of these starts anew.
  is_live boolean;
  is_repeat boolean; -- Some call of these holds already.
  is_retry boolean; -- Some call of these may be a retry (CC-14).
  earlier_calls uuid[]; earlier_outcomes text[]; -- What this round found for retries, in the order of the batch.
  is_left boolean;
  has_budget constant boolean := exists (select from unnest(p_requests) q where q.budget_key is not null);
  judged record;
begin
  perform set_config('synchronous_commit', 'off', true); -- play money may be lost with the power.
  loop
    -- `offset 0` keeps look-ups by key, as in ledger.reserve.
    wallets := array(
      select w.wallet_id from unnest(p_requests) q
      left join lateral (
        select v.wallet_id from sandbox.wallets v where v.app_id = q.app_id and v.user_id = q.user_id offset 0
      ) w on true
    );
    if array_position(wallets, null) is not null then
      -- In one order, and before any wallet is locked, unless one was removed meanwhile. Then two processes may wait for each
      -- other, which ends with the lock timeout.
      insert into sandbox.wallets (app_id, user_id, balance_micros)
      select q.app_id, q.user_id, p_grant from unnest(p_requests) q
      order by q.app_id collate "C", q.user_id collate "C"
      on conflict do nothing;
      continue;
    end if;
    -- Every writer locks in this order. A statement that follows sees what the locks protect.
    select count(*), bool_or(l.held_micros = 0 and l.last_used_at < clock_timestamp() - interval '30 days')
    into locked, is_idle
    from (
      select w.held_micros, w.last_used_at from sandbox.wallets w
      where w.wallet_id = any (wallets) order by w.wallet_id for no key update
    ) l;
    exit when locked = cardinality(wallets);
    exit when locked = (select count(distinct d) from unnest(wallets) d); -- Else one was removed meanwhile (SB-08).
  end loop;
  if has_budget then
    perform sandbox.lock_budgets(p_requests, wallets, this_month);
  end if;
  if is_idle then
    update sandbox.wallets w set
      balance_micros = p_grant, cap_micros = null, cap_spent_micros = 0, is_suspended = false, requests = 0, tokens = 0,
      next_outcome = null, last_used_at = clock_timestamp()
    where w.wallet_id = any (wallets) and w.held_micros = 0 and w.last_used_at < clock_timestamp() - interval '30 days';
  end if;
  select exists (select from db.instances i where i.instance_id = p_instance and i.state = 'live'),
    exists (select from sandbox.holds h where h.call_id = any (array(select q.call_id from unnest(p_requests) q))),
    exists (select from unnest(p_requests) q where q.joins)
  into is_live, is_repeat, is_retry;
  if not is_live then
    raise exception 'instance % is fenced', p_instance using errcode = '55000';
  end if;
  if is_repeat then
    for judged in
      select q.call_id, q.ordinality, h.amount_micros from unnest(p_requests) with ordinality q
      cross join lateral (select h.amount_micros from sandbox.holds h where h.call_id = q.call_id offset 0) h
    loop
      call_id := judged.call_id;
      outcome := 'granted';
      granted := judged.amount_micros;
      wallets[judged.ordinality] := null;
      return next;
    end loop;
  end if;
  loop
    if is_retry then
      -- A suspended wallet gets no earlier answer, and no wallet one from before its reset (CC-14, SB-05).
      select array_agg(e.call_id order by q.ordinality), array_agg(e.outcome order by q.ordinality)
      into earlier_calls, earlier_outcomes
      from unnest(p_requests) with ordinality q
      left join sandbox.wallets w on w.wallet_id = wallets[q.ordinality] and q.joins and not w.is_suspended
      left join lateral (
        select c.call_id, case when c.body_digest <> q.body_digest then 'attempt_conflict'
          when c.is_running then 'attempt_running' else 'attempt_kept' end as outcome
        from (
          select a.call_id, a.body_digest, false as is_running, false as is_joined, a.kept_at as since
          from idempotency.kept_answers a
          where a.key_digest = q.key_digest and a.expires_at > clock_timestamp() and a.charged_micros is not null
            and a.kept_at > coalesce(w.reset_at, '-infinity')
          union all
          select h.call_id, h.body_digest, true, h.is_joined, h.placed_at
          from sandbox.holds h where h.key_digest = q.key_digest and h.wallet_id = w.wallet_id
        ) c
        where w.wallet_id is not null
        order by c.call_id is distinct from q.joined_call, c.is_running, c.is_joined, c.since limit 1
      ) e on true;
    end if;
    is_left := false;
    for judged in
      with asked as (
        select q.call_id, q.ordinality, q.least_micros, q.most_micros, q.streams_max, q.calls_max, q.key_digest,
          q.body_digest, w.wallet_id, w.month, least(w.largest, b.room) as largest, w.open_streams, w.open_calls,
          q.budget_key, b.room,
          coalesce(earlier_outcomes[q.ordinality],
            db.budget_outcome(q.least_micros, q.budget_micros, b.spent_micros, b.held_micros),
            db.hold_outcome(w.largest, q.least_micros, true, w.is_suspended,
              w.balance_micros, w.cap_micros, w.spent, w.capped, w.open_streams, q.streams_max, w.open_calls, q.calls_max)
          ) as outcome,
          q.joins is true as is_retry,
          sum(q.most_micros) over turn as together,
          case when has_budget then sum(q.most_micros) over (partition by q.budget_key, w.month order by q.ordinality) end
            as by_key,
          count(*) filter (where q.streams_max > 0) over turn as streams,
          count(*) filter (where q.streams_max = 0) over turn as plain
        from unnest(p_requests) with ordinality q
        cross join lateral (
          -- A test user is always connected: there is nobody to consent.
          select m.*, db.largest_hold(
            true, m.is_suspended, m.balance_micros, m.held_micros, m.cap_micros, m.spent, m.capped) as largest
          from (
            select v.*, greatest(v.cap_month, this_month) as month,
              case when v.cap_month < this_month then 0 else v.cap_spent_micros end as spent,
              case when v.cap_month < this_month then 0 else v.cap_held_micros end as capped
            from sandbox.wallets v where v.wallet_id = wallets[q.ordinality] offset 0
          ) m
        ) w
        left join lateral (
          select k.spent_micros, k.held_micros, q.budget_micros - k.spent_micros - k.held_micros as room
          from sandbox.key_budgets k where k.key_id = q.budget_key and k.month = w.month offset 0
        ) b on has_budget
        window turn as (partition by w.wallet_id order by q.ordinality)
      ), considered as (
        -- Calls that fit together into the share of one call fit each into its own, as in ledger.turn.
        select a.*,
          case when a.outcome = 'granted' then db.granted_hold(a.largest, a.least_micros, a.most_micros) else 0 end as granted,
          (bool_and(not a.is_retry and a.together <= db.granted_hold(a.largest, 0, a.together::bigint)
            and (a.streams_max = 0 or a.open_streams + a.streams <= a.streams_max)
            and (a.calls_max = 0 or a.open_calls + a.plain <= a.calls_max)) over turn
          or count(*) filter (where a.outcome in ('granted', 'attempt_running')) over turn
            = (a.outcome in ('granted', 'attempt_running'))::int) -- Nothing has changed before it.
          and (a.budget_key is null
            or bool_and(not a.is_retry and a.by_key <= db.granted_hold(a.room, 0, a.by_key::bigint)) over line
            or count(*) filter (where a.outcome = 'granted') over line = (a.outcome = 'granted')::int) as is_certain
        from asked a
        window turn as (partition by a.wallet_id order by a.ordinality),
          line as (partition by a.budget_key, a.month order by a.ordinality)
      ), judged as (
        select c.*, case when has_budget then bool_and(c.is_certain) over (order by c.ordinality) else c.is_certain end as is_decided
        from considered c
      ), held as (
        update sandbox.wallets w set
          held_micros = w.held_micros + t.amount,
          open_streams = w.open_streams + t.streams,
          open_calls = w.open_calls + t.plain,
          cap_month = t.month,
          cap_spent_micros = case when w.cap_month = t.month then w.cap_spent_micros else 0 end,
          cap_held_micros = case when w.cap_month = t.month then w.cap_held_micros else 0 end + t.amount,
          last_used_at = clock_timestamp()
        from (
          select j.wallet_id, j.month, sum(j.granted)::bigint as amount,
            count(*) filter (where j.granted > 0 and j.streams_max > 0) as streams,
            count(*) filter (where j.granted > 0 and j.streams_max = 0) as plain
          from judged j where j.is_decided and earlier_outcomes[j.ordinality] is null group by j.wallet_id, j.month
        ) t
        where w.wallet_id = t.wallet_id
      ), budgets as (
        update sandbox.key_budgets b set held_micros = b.held_micros + t.amount
        from (
          select j.budget_key, j.month, sum(j.granted)::bigint as amount
          from judged j where has_budget and j.budget_key is not null and j.is_decided and j.granted > 0
          group by j.budget_key, j.month
        ) t
        where b.key_id = t.budget_key and b.month = t.month
      ), placed as (
        insert into sandbox.holds (
          call_id, wallet_id, amount_micros, month, is_stream, instance_id, key_digest, body_digest, budget_key)
        select j.call_id, j.wallet_id, j.granted, j.month, j.streams_max > 0, p_instance, j.key_digest, j.body_digest, j.budget_key
        from judged j where j.is_decided and j.granted > 0
      )
      select j.call_id, j.ordinality, j.outcome, j.granted, j.is_decided from judged j
    loop
      if not judged.is_decided then
        is_left := true;
        continue;
      end if;
      call_id := judged.call_id;
      outcome := judged.outcome;
      granted := judged.granted;
      earlier := earlier_calls[judged.ordinality];
      wallets[judged.ordinality] := null;
      return next;
      if outcome = 'attempt_running' then
        update sandbox.holds h set is_joined = true where h.call_id = earlier and not h.is_joined;
      end if;
    end loop;
    exit when not is_left;
  end loop;
end $$;

revoke all on function sandbox.reserve from public;
grant execute on function sandbox.reserve to purser_sandbox;
