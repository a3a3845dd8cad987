-- Real money: wallets, holds and the ledger. Locks: none that matter, everything is new.
--
-- Who may write: nobody but the functions below, which run with the owner's rights. The role of the gateway reads, and
-- calls them. Every function that changes wallets first locks all of them in order of wallet_id, in one statement; the
-- statements after it see what the locks protect.

create schema ledger;
grant usage on schema ledger to purser_live;

-- The ledger's own books. `wallet` is what we owe end users; the others say where it came from or went.
create type ledger.book as enum ('wallet', 'earned', 'processor', 'receivable', 'contract', 'loss');

-- Why an entry was made. Each moves money between one fixed pair of books, see the constraint of the entries.
create type ledger.entry_kind as enum (
  'charge', 'charge_receivable', -- A call's price, and the part of it that a claw-back left nothing to pay with.
  'top_up', 'contract_credit', 'funds_reinstated', -- In: by a payment, by contract, by a dispute that was won.
  'refund', 'refund_receivable', 'claw_back', 'claw_back_receivable', -- Out: by us, by a bank, and what was not there.
  'recovery', 'write_off' -- A receivable paid from the balance later, or given up.
);

create table ledger.wallets (
  wallet_id bigint generated always as identity primary key,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  currency char(3) not null,
  -- Two facts that never touch each other: what the user allowed, and what a claw-back blocked (WA-11).
  is_connected boolean not null default true,
  is_suspended boolean not null default false,
  balance_micros bigint not null default 0 check (balance_micros between 0 and 9007199254740991),
  held_micros bigint not null default 0 check (held_micros >= 0),
  -- Set by a claw-back that takes what holds had counted on; only then may holds exceed the balance.
  is_clawed boolean not null default false,
  -- What went out and was not there: receivables booked, less those recovered and written off (WA-06).
  shortfall_micros bigint not null default 0 check (shortfall_micros >= 0),
  cap_micros bigint check (cap_micros between 0 and 9007199254740991),
  cap_month date not null default '1970-01-01', -- The month that the two sums below are of. Never moves back.
  cap_spent_micros bigint not null default 0 check (cap_spent_micros >= 0),
  cap_held_micros bigint not null default 0 check (cap_held_micros >= 0),
  open_streams int not null default 0 check (open_streams >= 0), -- Holds that belong to streams (LI-02).
  entry_seq bigint not null default 0, -- Entries of this wallet so far.
  version bigint not null default 0, -- Changes of this wallet so far.
  created_at timestamptz not null default clock_timestamp(),
  unique (app_id, user_id),
  constraint holds_are_covered check (is_clawed or held_micros <= balance_micros)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01); -- No index on a column that changes: updates stay in their page.

-- Money set aside for calls that run. A row is deleted when its call ends: whoever deletes it ends the call. The table
-- holds open calls only, so it stays small and needs no second index. Neither this table nor the entries have foreign
-- keys: their only writers take the ids from rows that they have locked, and the ledger check looks for strays.
create table ledger.holds (
  call_id uuid primary key,
  wallet_id bigint not null,
  amount_micros bigint not null check (amount_micros > 0),
  month date not null,
  is_stream boolean not null,
  instance_id bigint not null,
  placed_at timestamptz not null default clock_timestamp()
);

-- Every movement, once: `amount` out of the debited book into the credited one, so that debits equal credits by
-- construction (WA-09). Rows of one wallet are numbered without a gap and carry the balance after them.
create table ledger.entries (
  wallet_id bigint not null,
  seq bigint not null check (seq > 0),
  kind ledger.entry_kind not null,
  cause text collate "C" not null, -- The call, payment, refund ... that it is for: each counts once for each kind.
  debit ledger.book not null,
  credit ledger.book not null check (credit <> debit),
  amount_micros bigint not null check (amount_micros > 0),
  balance_after_micros bigint not null check (balance_after_micros >= 0),
  at timestamptz not null default clock_timestamp(),
  primary key (wallet_id, seq),
  unique (cause, kind),
  constraint kind_moves_between_its_books check (debit = case
    when kind in ('charge', 'refund', 'claw_back', 'recovery') then 'wallet'::ledger.book
    when kind in ('charge_receivable', 'refund_receivable', 'claw_back_receivable') then 'receivable'
    when kind in ('top_up', 'funds_reinstated') then 'processor'
    when kind = 'contract_credit' then 'contract'
    when kind = 'write_off' then 'loss'
  end and credit = case
    when kind in ('charge', 'charge_receivable') then 'earned'::ledger.book
    when kind in ('refund', 'refund_receivable', 'claw_back', 'claw_back_receivable') then 'processor'
    when kind in ('recovery', 'write_off') then 'receivable'
    when kind in ('top_up', 'funds_reinstated', 'contract_credit') then 'wallet'
  end)
);

-- Append-only, for the owner of the tables too. The gateway's role has no right to write at all.
create function ledger.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'ledger entries are never changed or removed';
end $$;
create trigger entries_append_only before update or delete on ledger.entries
  for each row execute function ledger.refuse_change();
create trigger entries_not_truncated before truncate on ledger.entries
  for each statement execute function ledger.refuse_change();

-- Places a hold for each call that status, cap and balance allow, as much of `max` as they allow and no less than `min`.
-- Calls are judged one after the other, so that a large one that is refused never costs a small one behind it its hold.
-- Repeating a call that holds already (its first answer was lost) gives the same answer, and the hold to the instance that
-- asks. A call that has ended holds nothing again: 'call_ended'.
create function ledger.reserve(
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
  held_months date[] := '{}'; held_streams boolean[] := '{}';
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
      outcome := db.hold_outcome(asked.is_connected, asked.is_suspended, available, asked.cap_micros, spent, capped,
        streams, asked.q_streams_max, asked.q_min);
      if outcome = 'granted' then
        granted := least(asked.q_max, available, coalesce(asked.cap_micros - spent - capped, asked.q_max));
        available := available - granted;
        capped := capped + granted;
        streams := streams + (asked.q_streams_max > 0)::int;
        held_calls := held_calls || asked.q_call;
        held_wallets := held_wallets || asked.wallet_id;
        held_amounts := held_amounts || granted;
        held_months := held_months || month;
        held_streams := held_streams || (asked.q_streams_max > 0);
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
        count(*) filter (where h.is_stream) as streams
      from unnest(held_wallets, held_amounts, held_months, held_streams) as h (wallet_id, amount, month, is_stream)
      group by h.wallet_id, h.month
    ) g
    where w.wallet_id = g.wallet_id;
    insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
    select h.*, p_instance
    from unnest(held_calls, held_wallets, held_amounts, held_months, held_streams) as h;
  end if;
end $$;

-- Ends each call that still holds: takes its charge, at most its hold and at most the balance, gives the rest back, and
-- keeps the receipt. What the balance cannot cover after a claw-back is booked as a receivable and suspends the wallet
-- (WA-12). A charge of 0 releases. A call that no longer holds is answered with what it was charged when it ended, and
-- nothing changes: settling twice, or after the reaper, is the same as once.
create function ledger.settle(
  p_call uuid[], p_charge bigint[], p_model text[], p_price bigint[], p_outcome text[], p_estimated boolean[],
  p_prompt bigint[], p_cached bigint[], p_completion bigint[], p_reasoning bigint[], p_correlation text[]
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
    select * from unnest(p_call, p_charge, p_model, p_price, p_outcome, p_estimated, p_prompt, p_cached, p_completion,
      p_reasoning, p_correlation) with ordinality
      as q (call_id, charge, model, price_id, outcome, is_estimated, prompt, cached, completion, reasoning, correlation, place)
  ), ended as (
    delete from ledger.holds h where h.call_id = any (p_call) returning h.*
  ), owed as (
    select a.*, e.wallet_id, e.amount_micros as held, e.month, e.is_stream, least(a.charge, e.amount_micros) as owed,
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
  ), entries as (
    insert into ledger.entries (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
    select m.wallet_id, m.entry_seq + row_number() over (partition by m.wallet_id order by m.place, m.kind), m.kind,
      m.call_id::text, m.debit, 'earned', m.amount, m.balance_after
    from moves m
  ), totals as (
    select t.wallet_id, count(*) as calls, count(*) filter (where t.is_stream) as streams,
      sum(t.held)::bigint as held, sum(t.taken)::bigint as taken, sum(t.owed - t.taken)::bigint as missing,
      count(*) filter (where t.taken > 0) + count(*) filter (where t.owed > t.taken) as entries,
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
    insert into usage.calls (call_id, wallet_id, month, model, price_id, outcome, is_estimated, prompt_tokens,
      cached_tokens, completion_tokens, reasoning_tokens, held_micros, charged_micros, correlation_id)
    select t.call_id, t.wallet_id, t.month, t.model, t.price_id, t.outcome, t.is_estimated, t.prompt, t.cached,
      t.completion, t.reasoning, t.held, t.owed, t.correlation
    from taken t
  )
  select a.call_id, t.call_id is not null, coalesce(t.owed, c.charged_micros, 0)
  from asked a
  left join taken t on t.call_id = a.call_id
  left join usage.calls c on c.call_id = a.call_id;
end $$;

-- Fences every process whose lease has run out and releases the holds of fenced ones, `p_most` at a time (WA-10). With 0
-- it fences nothing: a reaper that has just reached the database asks only whether it answers.
create function ledger.reap(p_most int) returns int
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
  ) a, lateral ledger.settle(a.calls, a.zero, a.no_text, a.no_price, a.outcome, a.no, a.zero, a.zero, a.zero, a.zero,
    a.no_text) s;
  return released;
end $$;

-- Opens a connected wallet for a user who agreed elsewhere. False where the user has one already.
create function ledger.open_wallet(p_app text, p_user text, p_currency text, p_cap bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin
  insert into ledger.wallets (app_id, user_id, currency, cap_micros) values (p_app, p_user, p_currency, p_cap)
  on conflict (app_id, user_id) do nothing;
  return found;
end $$;

-- Books money that the operator received by contract. `p_key` counts once for each wallet: the same key with the same
-- amount is 'repeated' and changes nothing, with another amount 'conflict'. 'no_wallet' where there is none.
create function ledger.credit_contract(p_app text, p_user text, p_amount bigint, p_key text) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet ledger.wallets;
  booked bigint;
  entry_cause text;
begin
  select * into wallet from ledger.wallets w where w.app_id = p_app and w.user_id = p_user for no key update;
  if not found then
    return 'no_wallet';
  end if;
  entry_cause := 'contract:' || wallet.wallet_id || ':' || p_key;
  select e.amount_micros into booked from ledger.entries e where e.cause = entry_cause and e.kind = 'contract_credit';
  if found then
    return case when booked = p_amount then 'repeated' else 'conflict' end;
  end if;
  insert into ledger.entries (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
  values (wallet.wallet_id, wallet.entry_seq + 1, 'contract_credit', entry_cause, 'contract', 'wallet', p_amount,
    wallet.balance_micros + p_amount);
  update ledger.wallets w set
    balance_micros = w.balance_micros + p_amount,
    is_clawed = w.is_clawed and w.held_micros > w.balance_micros + p_amount,
    entry_seq = w.entry_seq + 1,
    version = w.version + 1
  where w.wallet_id = wallet.wallet_id;
  return 'booked';
end $$;

-- Derives every figure of every wallet anew, in one snapshot, and gives a row for each that is not what it should be.
-- No row: the books are right to the micro (WA-09). One grouped pass over entries, holds and receipts.
create function ledger.differences() returns table (rule text, wallet_id bigint, expected bigint, found bigint)
language sql stable security definer set search_path = pg_catalog as $$
  with entry_sums as (
    select e.wallet_id, count(*) as entries, max(e.seq) as last_seq,
      sum(case when e.credit = 'wallet' then e.amount_micros when e.debit = 'wallet' then -e.amount_micros else 0 end)::bigint as balance,
      sum(case when e.debit = 'receivable' then e.amount_micros when e.credit = 'receivable' then -e.amount_micros else 0 end)::bigint as shortfall
    from ledger.entries e group by e.wallet_id
  ), hold_sums as (
    select h.wallet_id, sum(h.amount_micros)::bigint as held, count(*) filter (where h.is_stream) as streams
    from ledger.holds h group by h.wallet_id
  ), month_holds as (
    select h.wallet_id, h.month, sum(h.amount_micros)::bigint as held from ledger.holds h group by h.wallet_id, h.month
  ), month_calls as (
    select c.wallet_id, c.month, sum(c.charged_micros)::bigint as charged from usage.calls c group by c.wallet_id, c.month
  ), call_entries as (
    select e.cause, min(e.wallet_id) as wallet_id, sum(e.amount_micros)::bigint as charged
    from ledger.entries e where e.kind in ('charge', 'charge_receivable') group by e.cause
  ), figures as (
    select w.wallet_id, f.rule, f.expected, f.found
    from ledger.wallets w
    left join entry_sums e on e.wallet_id = w.wallet_id
    left join hold_sums h on h.wallet_id = w.wallet_id
    left join month_holds mh on mh.wallet_id = w.wallet_id and mh.month = w.cap_month
    left join month_calls mc on mc.wallet_id = w.wallet_id and mc.month = w.cap_month
    cross join lateral (values
      ('the balance is the sum of the entries', coalesce(e.balance, 0), w.balance_micros),
      ('the shortfall is the sum of the receivables', coalesce(e.shortfall, 0), w.shortfall_micros),
      ('entries are numbered without a gap', coalesce(e.entries, 0), w.entry_seq),
      ('the last entry has the last number', coalesce(e.last_seq, 0), w.entry_seq),
      ('held is the sum of the holds', coalesce(h.held, 0), w.held_micros),
      ('open streams are the holds of streams', coalesce(h.streams, 0), w.open_streams),
      ('spent this month is the sum of its charges', coalesce(mc.charged, 0), w.cap_spent_micros),
      ('held this month is the sum of its holds', coalesce(mh.held, 0), w.cap_held_micros),
      ('held is at most the balance', least(w.held_micros, w.balance_micros),
        case when w.is_clawed then least(w.held_micros, w.balance_micros) else w.held_micros end)
    ) f (rule, expected, found)
  )
  select f.rule, f.wallet_id, f.expected, f.found from figures f where f.expected <> f.found
  union all
  select 'each entry carries the balance after it', c.wallet_id, c.before + c.change, c.after
  from (
    select e.wallet_id, e.balance_after_micros as after,
      lag(e.balance_after_micros, 1, 0::bigint) over (partition by e.wallet_id order by e.seq) as before,
      case when e.credit = 'wallet' then e.amount_micros when e.debit = 'wallet' then -e.amount_micros else 0 end as change
    from ledger.entries e
  ) c where c.after <> c.before + c.change
  union all
  select 'a call is charged what its receipt says', coalesce(c.wallet_id, e.wallet_id), coalesce(c.charged_micros, 0), coalesce(e.charged, 0)
  from usage.calls c full join call_entries e on e.cause = c.call_id::text and e.wallet_id = c.wallet_id
  where coalesce(c.charged_micros, 0) <> coalesce(e.charged, 0)
  union all
  select 'a call that has ended holds nothing', h.wallet_id, 0, h.amount_micros
  from ledger.holds h join usage.calls c on c.call_id = h.call_id
  union all
  select 'every row belongs to a wallet', s.wallet_id, 0, 1
  from (
    select wallet_id from entry_sums union select wallet_id from hold_sums union select wallet_id from month_calls
  ) s
  where not exists (select from ledger.wallets w where w.wallet_id = s.wallet_id)
$$;

revoke all on all functions in schema ledger from public;
grant select on all tables in schema ledger to purser_live;
grant execute on function ledger.reserve, ledger.settle, ledger.reap, ledger.open_wallet, ledger.credit_contract,
  ledger.differences to purser_live;
