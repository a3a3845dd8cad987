-- Retries are not charged twice (CC-14): holds know which attempt they are, and answers are kept for a while. Locks: holds
-- are locked for as long as two columns and an empty index take.

create schema attempts;
grant usage on schema attempts to purser_live;

-- Answers that a retry may get instead of a call of its own, sealed: nothing here can be read without the secret of the
-- service. `attempt` and `body` are keyed digests. Stored before the hold of its call is ended, so that at no moment a
-- retry finds neither; it counts only once the call is charged, so that what a crash left behind replays nothing.
create table attempts.answers (
  call_id uuid primary key,
  attempt bytea not null,
  body bytea not null,
  sealed bytea not null,
  charged_micros bigint check (charged_micros >= 0), -- Of play money, set by its settlement. Real money has receipts.
  kept_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index answers_attempt on attempts.answers (attempt);
create index answers_expiry on attempts.answers (expires_at);
grant select, insert, delete on attempts.answers to purser_live;

-- The answer of a call that was charged: real money by its receipt, play money by its settlement.
create function attempts.find(p_call uuid) returns table (sealed bytea, charged bigint)
language sql volatile security definer set search_path = pg_catalog as $$
  select a.sealed, coalesce(c.charged_micros, a.charged_micros)
  from attempts.answers a
  left join usage.calls c on c.call_id = a.call_id and c.outcome = 'answered'
  where a.call_id = p_call and a.expires_at > clock_timestamp()
    and coalesce(c.charged_micros, a.charged_micros) is not null
$$;

alter table ledger.holds add column attempt bytea, add column attempt_body bytea,
  add column is_joined boolean not null default false; -- A retry waits for its answer.
create index holds_attempt on ledger.holds (attempt) where attempt is not null;

alter table sandbox.holds add column attempt bytea, add column attempt_body bytea,
  add column is_joined boolean not null default false;
create index holds_attempt on sandbox.holds (attempt) where attempt is not null;

drop function ledger.reserve;

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
create function ledger.reserve(
  p_instance bigint, p_call uuid[], p_app text[], p_user text[], p_min bigint[], p_max bigint[], p_streams_max int[],
  p_attempt bytea[] default null, p_attempt_body bytea[] default null, p_joins boolean[] default null,
  p_joined uuid[] default null
) returns table (call_id uuid, outcome text, wallet_id bigint, granted bigint, earlier uuid)
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
  held_attempts bytea[] := '{}'; held_bodies bytea[] := '{}'; joined_calls uuid[] := '{}';
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
    from unnest(p_call, p_app, p_user, p_min, p_max, p_streams_max, p_attempt, p_attempt_body, p_joins, p_joined)
      with ordinality as q (q_call, q_app, q_user, q_min, q_max, q_streams_max, q_attempt, q_attempt_body, q_joins, q_joined,
        q_order)
    left join ledger.wallets w on w.app_id = q.q_app and w.user_id = q.q_user and w.wallet_id = any (locked)
    left join ledger.holds h on h.call_id = q.q_call
    left join usage.calls c on c.call_id = q.q_call
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
        from unnest(held_calls, held_attempts, held_bodies) as b (call_id, attempt, body)
        where b.attempt = asked.q_attempt
      ) e
      order by e.call_id is distinct from asked.q_joined, e.is_running, e.is_joined, e.since limit 1;
      if outcome = 'attempt_running' then
        joined_calls := joined_calls || earlier;
      end if;
    end if;
    if outcome is null then
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
        held_attempts := array_append(held_attempts, asked.q_attempt);
        held_bodies := array_append(held_bodies, asked.q_attempt_body);
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
    insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, attempt, attempt_body, instance_id)
    select h.*, p_instance
    from unnest(held_calls, held_wallets, held_amounts, held_months, held_streams, held_attempts, held_bodies) as h;
  end if;
  if joined_calls <> '{}' then
    update ledger.holds h set is_joined = true where h.call_id = any (joined_calls) and not h.is_joined;
  end if;
end $$;

drop function ledger.settle;

-- Ends each call that still holds: takes its charge, at most its hold and at most the balance, gives the rest back, and
-- keeps the receipt. What the balance cannot cover after a claw-back is booked as a receivable and suspends the wallet
-- (WA-12); what a provider reported above the hold, as our loss (WA-07). A charge of 0 releases. A call that no longer
-- holds is answered with what it was charged when it ended, and nothing changes: settling twice, or after the reaper, is
-- the same as once. A call named in `p_unkept` is left as it is when a retry has joined it ('is_joined'): its answer must
-- be kept first.
create function ledger.settle(
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
    from owed o join ledger.wallets w on w.wallet_id = o.wallet_id
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
  left join usage.calls c on c.call_id = a.call_id;
end $$;

drop function sandbox.reserve;

-- As ledger.reserve, over fake wallets. A user's first call makes the wallet with the grant (SB-01), and so does the
-- first one after 30 idle days (SB-08).
create function sandbox.reserve(
  p_instance bigint, p_call uuid[], p_app text[], p_user text[], p_min bigint[], p_max bigint[], p_streams_max int[], p_grant bigint,
  p_attempt bytea[] default null, p_attempt_body bytea[] default null, p_joins boolean[] default null,
  p_joined uuid[] default null
) returns table (call_id uuid, outcome text, wallet_id bigint, granted bigint, earlier uuid)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  asked record;
  wallet sandbox.wallets;
  month date;
begin
  perform set_config('synchronous_commit', 'off', true); -- Fake money may be lost with the power.
  if not exists (select from db.instances i where i.instance_id = p_instance and i.state = 'live') then
    raise exception 'instance % is fenced', p_instance using errcode = '55000';
  end if;
  for asked in
    select q.* from unnest(p_call, p_app, p_user, p_min, p_max, p_streams_max, p_attempt, p_attempt_body, p_joins, p_joined)
      with ordinality as q (call_id, app_id, user_id, least_amount, most_amount, streams_max, attempt, attempt_body, joins,
        joined, place)
    order by q.app_id collate "C", q.user_id collate "C", q.place -- Every writer locks in this order, the columns' own.
  loop
    insert into sandbox.wallets (app_id, user_id, balance_micros) values (asked.app_id, asked.user_id, p_grant)
    on conflict (app_id, user_id) do update set
      balance_micros = p_grant, cap_micros = null, cap_spent_micros = 0, is_suspended = false, requests = 0, tokens = 0
      where wallets.last_used_at < clock_timestamp() - interval '30 days' and wallets.held_micros = 0;
    select * into wallet from sandbox.wallets w where w.app_id = asked.app_id and w.user_id = asked.user_id for update;
    month := greatest(wallet.cap_month, db.current_month());
    if wallet.cap_month < month then
      wallet.cap_spent_micros := 0;
      wallet.cap_held_micros := 0;
    end if;
    call_id := asked.call_id;
    wallet_id := wallet.wallet_id;
    earlier := null;
    select h.amount_micros into granted from sandbox.holds h where h.call_id = asked.call_id;
    if found then
      outcome := 'granted';
      return next;
      continue;
    end if;
    if asked.joins then
      select e.call_id, case when e.body <> asked.attempt_body then 'attempt_conflict'
        when e.is_running then 'attempt_running' else 'attempt_kept' end
      into earlier, outcome
      from (
        select a.call_id, a.body, false as is_running, false as is_joined, a.kept_at as since
        from attempts.answers a
        where a.attempt = asked.attempt and a.expires_at > clock_timestamp() and a.charged_micros is not null
        union all
        select h.call_id, h.attempt_body, true, h.is_joined, h.placed_at
        from sandbox.holds h where h.attempt = asked.attempt and h.wallet_id = wallet.wallet_id
      ) e
      order by e.call_id is distinct from asked.joined, e.is_running, e.is_joined, e.since limit 1;
      if found then
        granted := 0;
        update sandbox.holds h set is_joined = true
        where outcome = 'attempt_running' and h.call_id = earlier and not h.is_joined;
        return next;
        continue;
      end if;
    end if;
    outcome := db.hold_outcome(true, wallet.is_suspended, wallet.balance_micros - wallet.held_micros, wallet.cap_micros,
      wallet.cap_spent_micros, wallet.cap_held_micros, wallet.open_streams, asked.streams_max, asked.least_amount);
    granted := case when outcome = 'granted' then least(asked.most_amount, wallet.balance_micros - wallet.held_micros,
      coalesce(wallet.cap_micros - wallet.cap_spent_micros - wallet.cap_held_micros, asked.most_amount)) else 0 end;
    return next;
    if outcome = 'granted' then
      insert into sandbox.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id, attempt, attempt_body)
      values (asked.call_id, wallet.wallet_id, granted, month, asked.streams_max > 0, p_instance, asked.attempt,
        asked.attempt_body);
    end if;
    update sandbox.wallets w set
      held_micros = w.held_micros + granted,
      open_streams = w.open_streams + (outcome = 'granted' and asked.streams_max > 0)::int,
      cap_month = month,
      cap_spent_micros = wallet.cap_spent_micros,
      cap_held_micros = wallet.cap_held_micros + granted,
      last_used_at = clock_timestamp()
    where w.wallet_id = wallet.wallet_id;
  end loop;
end $$;

drop function sandbox.settle;

-- As ledger.settle, over fake wallets: ends each call that still holds, once. Counts what was answered, and tells the kept
-- answer what it cost, without which it is answered to nobody: play money has no receipts.
create function sandbox.settle(p_call uuid[], p_charge bigint[], p_tokens bigint[], p_unkept uuid[] default '{}')
returns table (call_id uuid, is_settled boolean, charged bigint, is_joined boolean)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  ended record;
  hold sandbox.holds;
begin
  perform set_config('synchronous_commit', 'off', true);
  perform from sandbox.wallets w
  where w.wallet_id in (select h.wallet_id from sandbox.holds h where h.call_id = any (p_call))
  order by w.app_id, w.user_id for update;
  for ended in select * from unnest(p_call, p_charge, p_tokens) as q (call_id, charge, tokens) loop
    delete from sandbox.holds h
    where h.call_id = ended.call_id and not (h.is_joined and h.call_id = any (p_unkept)) returning h.* into hold;
    call_id := ended.call_id;
    is_settled := found;
    is_joined := not is_settled and exists (select from sandbox.holds h where h.call_id = ended.call_id);
    charged := case when is_settled then least(ended.charge, hold.amount_micros) else 0 end;
    return next;
    update attempts.answers a set charged_micros = charged
    where is_settled and hold.attempt is not null and ended.tokens > 0 and a.call_id = ended.call_id;
    update sandbox.wallets w set
      balance_micros = w.balance_micros - charged,
      held_micros = w.held_micros - hold.amount_micros,
      open_streams = w.open_streams - hold.is_stream::int,
      cap_spent_micros = w.cap_spent_micros + case when w.cap_month = hold.month then charged else 0 end,
      cap_held_micros = w.cap_held_micros - case when w.cap_month = hold.month then hold.amount_micros else 0 end,
      requests = w.requests + (ended.tokens > 0)::int,
      tokens = w.tokens + ended.tokens
    where is_settled and w.wallet_id = hold.wallet_id;
  end loop;
end $$;

revoke all on function attempts.find, ledger.reserve, ledger.settle, sandbox.reserve, sandbox.settle from public;
grant execute on function attempts.find, ledger.reserve, ledger.settle to purser_live;
grant execute on function sandbox.reserve, sandbox.settle to purser_sandbox;
