-- The rest of the ledger: refunds and claw-backs, what they leave owed, caps and connections, and a provider's overrun.
-- Locks: ledger.wallets and ledger.entries, each for one pass over its rows, to check the new constraints.

-- The books that an entry of a kind moves between: the one table of it, for the writers and for the constraint.
create function ledger.debit_of(p_kind ledger.entry_kind) returns ledger.book
language sql immutable parallel safe
return case
  when p_kind in ('charge', 'refund', 'claw_back', 'recovery') then 'wallet'
  when p_kind in ('charge_receivable', 'refund_receivable', 'claw_back_receivable') then 'receivable'
  when p_kind in ('top_up', 'funds_reinstated') then 'processor'
  when p_kind = 'contract_credit' then 'contract'
  when p_kind in ('write_off', 'charge_overrun') then 'loss'
end::ledger.book;

create function ledger.credit_of(p_kind ledger.entry_kind) returns ledger.book
language sql immutable parallel safe
return case
  when p_kind in ('charge', 'charge_receivable', 'charge_overrun') then 'earned'
  when p_kind in ('refund', 'refund_receivable', 'claw_back', 'claw_back_receivable') then 'processor'
  when p_kind in ('recovery', 'write_off') then 'receivable'
  when p_kind in ('top_up', 'funds_reinstated', 'contract_credit') then 'wallet'
end::ledger.book;

alter table ledger.entries drop constraint kind_moves_between_its_books;
alter table ledger.entries add constraint kind_moves_between_its_books
  check (debit = ledger.debit_of(kind) and credit = ledger.credit_of(kind));

-- Overspending cannot be written: a wallet is clawed just while its holds exceed its balance, only a movement out of it
-- says so, and placing a hold does not (WA-07).
alter table ledger.wallets drop constraint holds_are_covered;
alter table ledger.wallets add constraint holds_are_covered check (is_clawed = (held_micros > balance_micros));
-- Nobody spends who owes (WA-05).
alter table ledger.wallets add constraint a_shortfall_suspends check (shortfall_micros = 0 or is_suspended);

alter table usage.calls add column is_usage_clamped boolean not null default false; -- The provider's count contradicted itself.

-- One movement of a wallet that the caller has locked: the entry, and what it does to the wallet. All money but the
-- charges of calls moves here; those are booked in batches, by ledger.settle.
create function ledger.move(p_wallet bigint, p_kind ledger.entry_kind, p_cause text, p_amount bigint) returns void
language plpgsql set search_path = pg_catalog as $$
declare
  debit constant ledger.book := ledger.debit_of(p_kind);
  credit constant ledger.book := ledger.credit_of(p_kind);
  change constant bigint := case when credit = 'wallet' then p_amount when debit = 'wallet' then -p_amount else 0 end;
  owed constant bigint := case when debit = 'receivable' then p_amount when credit = 'receivable' then -p_amount else 0 end;
  moved ledger.wallets;
begin
  update ledger.wallets w set
    balance_micros = w.balance_micros + change,
    shortfall_micros = w.shortfall_micros + owed,
    is_suspended = w.is_suspended or owed > 0,
    is_clawed = w.held_micros > w.balance_micros + change,
    entry_seq = w.entry_seq + 1,
    version = w.version + 1
  where w.wallet_id = p_wallet
  returning * into strict moved;
  insert into ledger.entries (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
  values (p_wallet, moved.entry_seq, p_kind, p_cause, debit, credit, p_amount, moved.balance_micros);
end $$;

-- Locks a wallet. Null where there is none.
create function ledger.lock_wallet(p_app text, p_user text) returns ledger.wallets
language sql set search_path = pg_catalog
begin atomic
  select w from ledger.wallets w where w.app_id = p_app and w.user_id = p_user for no key update;
end;

-- What an act is booked for. `p_key` counts once for each wallet and action, so that no two acts share a cause.
create function ledger.cause_of(p_wallet bigint, p_kind ledger.entry_kind, p_key text) returns text
language sql immutable parallel safe
return case p_kind when 'contract_credit' then 'contract' else p_kind::text end || ':' || p_wallet || ':' || p_key;

-- Whether an act was booked before: 'repeated', or 'conflict' where its key stood for another amount; null where not.
create function ledger.booked_before(p_cause text, p_kinds ledger.entry_kind[], p_amount bigint) returns text
language sql stable set search_path = pg_catalog
return (
  select case when sum(e.amount_micros) = p_amount then 'repeated' else 'conflict' end
  from ledger.entries e where e.cause = p_cause and e.kind = any (p_kinds)
  having count(*) > 0
);

create function ledger.refuse_amount(p_amount bigint) returns void language plpgsql as $$
begin
  if p_amount is null or p_amount <= 0 then
    raise exception 'an amount is above zero' using errcode = '23514';
  end if;
end $$;

drop function ledger.credit_contract;

-- Books money that came in: 'top_up' by a payment, 'contract_credit' by contract, 'funds_reinstated' by a dispute that
-- was won. Answers 'booked'; 'repeated' where the key is known, with the same amount, and 'conflict' with another;
-- 'too_much' where the balance would pass 2^53 - 1; 'no_wallet'. Lifts no suspension (WA-04).
create function ledger.credit(p_app text, p_user text, p_kind text, p_amount bigint, p_key text) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  kind constant ledger.entry_kind := p_kind;
  wallet ledger.wallets;
  entry_cause text;
  before text;
begin
  perform ledger.refuse_amount(p_amount);
  if ledger.credit_of(kind) <> 'wallet' then
    raise exception '% is no credit', p_kind using errcode = '22023';
  end if;
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return 'no_wallet';
  end if;
  entry_cause := ledger.cause_of(wallet.wallet_id, kind, p_key);
  before := ledger.booked_before(entry_cause, array[kind], p_amount);
  if before is not null then
    return before;
  end if;
  if p_amount > 9007199254740991 - wallet.balance_micros then
    return 'too_much';
  end if;
  perform ledger.move(wallet.wallet_id, kind, entry_cause, p_amount);
  return 'booked';
end $$;

-- Books money that went out: a 'refund' by us, a 'claw_back' by a bank. Takes what is there, also what calls hold; the
-- rest is owed and suspends the wallet (WA-05, WA-06). Answers as ledger.credit does.
create function ledger.take_back(p_app text, p_user text, p_kind text, p_amount bigint, p_key text) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  kind constant ledger.entry_kind := p_kind;
  owed_kind constant ledger.entry_kind := p_kind || '_receivable';
  wallet ledger.wallets;
  entry_cause text;
  before text;
  there bigint;
begin
  perform ledger.refuse_amount(p_amount);
  if kind not in ('refund', 'claw_back') then
    raise exception '% takes nothing back', p_kind using errcode = '22023';
  end if;
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return 'no_wallet';
  end if;
  entry_cause := ledger.cause_of(wallet.wallet_id, kind, p_key);
  before := ledger.booked_before(entry_cause, array[kind, owed_kind], p_amount);
  if before is not null then
    return before;
  end if;
  there := least(p_amount, wallet.balance_micros);
  if there > 0 then
    perform ledger.move(wallet.wallet_id, kind, entry_cause, there);
  end if;
  if p_amount > there then
    perform ledger.move(wallet.wallet_id, owed_kind, entry_cause, p_amount - there);
  end if;
  return 'booked';
end $$;

-- Lifts a suspension: 'reinstated'. What is owed is first recovered from the balance that no call holds, all of it or
-- nothing, or given up where `p_write_off` says so; 'shortfall' where the balance does not cover it; 'no_wallet'. A
-- wallet that is not suspended stays as it is (WA-06, WA-11).
create function ledger.reinstate(p_app text, p_user text, p_write_off boolean) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet ledger.wallets;
  kind constant ledger.entry_kind := case when p_write_off then 'write_off' else 'recovery' end;
begin
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return 'no_wallet';
  end if;
  if wallet.shortfall_micros > 0 then
    if not p_write_off and wallet.balance_micros - wallet.held_micros < wallet.shortfall_micros then
      return 'shortfall';
    end if;
    -- The version tells one reinstatement from the next.
    perform ledger.move(wallet.wallet_id, kind, ledger.cause_of(wallet.wallet_id, kind, wallet.version::text),
      wallet.shortfall_micros);
  end if;
  update ledger.wallets w set is_suspended = false, version = w.version + 1
  where w.wallet_id = wallet.wallet_id and w.is_suspended;
  return 'reinstated';
end $$;

-- Sets the monthly cap, null for none. It binds the next call; calls that hold keep what they hold (AU-10, WA-03). False
-- where there is no wallet.
create function ledger.set_cap(p_app text, p_user text, p_cap bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin
  update ledger.wallets w set cap_micros = p_cap, version = w.version + 1
  where w.app_id = p_app and w.user_id = p_user;
  return found;
end $$;

-- Connects or disconnects a user: a suspension is another fact and stays (WA-11). False where there is no wallet.
create function ledger.set_connected(p_app text, p_user text, p_connected boolean) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin
  update ledger.wallets w set is_connected = p_connected, version = w.version + 1
  where w.app_id = p_app and w.user_id = p_user;
  return found;
end $$;

drop function ledger.settle;

-- Ends each call that still holds: takes its charge, at most its hold and at most the balance, gives the rest back, and
-- keeps the receipt. What the balance cannot cover after a claw-back is booked as a receivable and suspends the wallet
-- (WA-12); what a provider reported above the hold, as our loss (WA-07). A charge of 0 releases. A call that no longer
-- holds is answered with what it was charged when it ended, and nothing changes: settling twice, or after the reaper, is
-- the same as once.
create function ledger.settle(
  p_call uuid[], p_charge bigint[], p_model text[], p_price bigint[], p_outcome text[], p_estimated boolean[],
  p_clamped boolean[], p_prompt bigint[], p_cached bigint[], p_completion bigint[], p_reasoning bigint[], p_correlation text[]
) returns table (call_id uuid, is_settled boolean, charged bigint)
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
    delete from ledger.holds h where h.call_id = any (p_call) returning h.*
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
  select a.call_id, t.call_id is not null, coalesce(t.owed, c.charged_micros, 0)
  from asked a
  left join taken t on t.call_id = a.call_id
  left join usage.calls c on c.call_id = a.call_id;
end $$;

-- Fences every process whose lease has run out and releases the holds of fenced ones, `p_most` at a time (WA-10). With 0
-- it fences nothing: a reaper that has just reached the database asks only whether it answers.
create or replace function ledger.reap(p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  released int;
begin
  update db.instances i set state = 'dead'
  where p_most > 0 and i.state = 'live' and i.lease_until < clock_timestamp();
  select count(*) filter (where s.is_settled) into released
  from (
    select array_agg(o.call_id) as calls, array_agg(0::bigint) as zero, array_agg(null::bigint) as no_price,
      array_agg(null::text) as no_text, array_agg('expired'::text) as outcome, array_agg(false) as no
    from (
      select h.call_id from ledger.holds h join db.instances i on i.instance_id = h.instance_id
      where i.state = 'dead'
        -- A hold beside the receipt of its call cannot be, and if it is, it must not keep the others from coming back.
        and not exists (select from usage.calls c where c.call_id = h.call_id)
      limit p_most
    ) o
  ) a, lateral ledger.settle(a.calls, a.zero, a.no_text, a.no_price, a.outcome, a.no, a.no, a.zero, a.zero, a.zero,
    a.zero, a.no_text) s;
  return released;
end $$;

revoke all on all functions in schema ledger from public;
grant execute on function ledger.settle, ledger.credit, ledger.take_back, ledger.reinstate, ledger.set_cap,
  ledger.set_connected to purser_live;
