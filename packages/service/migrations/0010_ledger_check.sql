-- The ledger check: what it looks for, in full and since the last time. Locks: none that matter, one new table.

-- What an entry adds to a book, the receivable's debit being the positive side.
create function ledger.added_to_wallet(debit ledger.book, credit ledger.book, amount bigint) returns bigint
language sql immutable parallel safe
return case when credit = 'wallet' then amount when debit = 'wallet' then -amount else 0 end;

create function ledger.added_to_receivable(debit ledger.book, credit ledger.book, amount bigint) returns bigint
language sql immutable parallel safe
return case when debit = 'receivable' then amount when credit = 'receivable' then -amount else 0 end;

-- The rules of one wallet's row, given what its entries, holds and receipts add up to. A row for each that is broken. Both
-- checks share it; it is inlined into them, which is why it is neither strict nor run with the owner's rights.
create function ledger.broken_rules(
  w ledger.wallets, entries bigint, last_seq bigint, balance bigint, shortfall bigint,
  held bigint, streams bigint, spent bigint, month_held bigint
) returns table (rule text, expected bigint, found bigint)
language sql immutable parallel safe as $$
  select f.rule, f.expected, f.found from (values
    ('the balance is the sum of the entries', balance, w.balance_micros),
    ('the shortfall is the sum of the receivables', shortfall, w.shortfall_micros),
    ('entries are numbered without a gap', entries, w.entry_seq),
    ('the last entry has the last number', last_seq, w.entry_seq),
    ('held is the sum of the holds', held, w.held_micros),
    ('open streams are the holds of streams', streams, w.open_streams),
    ('spent this month is the sum of its charges', spent, w.cap_spent_micros),
    ('held this month is the sum of its holds', month_held, w.cap_held_micros),
    ('held is at most the balance', least(w.held_micros, w.balance_micros),
      case when w.is_clawed then least(w.held_micros, w.balance_micros) else w.held_micros end),
    ('a wallet is clawed only while holds exceed its balance', 0,
      (w.is_clawed and w.held_micros <= w.balance_micros)::int),
    ('a wallet with a shortfall is suspended', 0, case when w.is_suspended then 0 else w.shortfall_micros end),
    ('the currency of a wallet is a code', 1, (w.currency ~ '^[A-Z]{3}$')::int)
  ) f (rule, expected, found)
  where f.expected <> f.found
$$;

-- Derives every figure of every wallet anew, in one snapshot, and gives a row for each that is not what it should be.
-- No row: the books are right to the micro (WA-09). One grouped pass over entries, holds and receipts.
create or replace function ledger.differences() returns table (rule text, wallet_id bigint, expected bigint, found bigint)
language sql stable security definer set search_path = pg_catalog set work_mem = '64MB' set jit = off as $$
  with entry_sums as (
    select e.wallet_id, count(*) as entries, max(e.seq) as last_seq,
      sum(ledger.added_to_wallet(e.debit, e.credit, e.amount_micros))::bigint as balance,
      sum(ledger.added_to_receivable(e.debit, e.credit, e.amount_micros))::bigint as shortfall
    from ledger.entries e group by e.wallet_id
  ), hold_sums as (
    select h.wallet_id, count(*) as holds, sum(h.amount_micros)::bigint as held,
      count(*) filter (where h.is_stream) as streams
    from ledger.holds h group by h.wallet_id
  ), month_holds as (
    select h.wallet_id, h.month, sum(h.amount_micros)::bigint as held from ledger.holds h group by h.wallet_id, h.month
  ), month_calls as (
    select c.wallet_id, c.month, count(*) as calls, sum(c.charged_micros)::bigint as charged
    from usage.calls c group by c.wallet_id, c.month
  ), call_entries as (
    select e.wallet_id, e.cause, sum(e.amount_micros)::bigint as charged
    from ledger.entries e where e.kind in ('charge', 'charge_receivable') group by e.wallet_id, e.cause
  )
  select f.rule, w.wallet_id, f.expected, f.found
  from ledger.wallets w
  left join entry_sums e on e.wallet_id = w.wallet_id
  left join hold_sums h on h.wallet_id = w.wallet_id
  left join month_holds mh on mh.wallet_id = w.wallet_id and mh.month = w.cap_month
  left join month_calls mc on mc.wallet_id = w.wallet_id and mc.month = w.cap_month
  cross join lateral ledger.broken_rules(w, coalesce(e.entries, 0), coalesce(e.last_seq, 0), coalesce(e.balance, 0),
    coalesce(e.shortfall, 0), coalesce(h.held, 0), coalesce(h.streams, 0), coalesce(mc.charged, 0),
    coalesce(mh.held, 0)) f
  union all
  select 'each entry carries the balance after it', c.wallet_id, c.before + c.change, c.after
  from (
    select e.wallet_id, e.balance_after_micros as after,
      lag(e.balance_after_micros, 1, 0::bigint) over (partition by e.wallet_id order by e.seq) as before,
      ledger.added_to_wallet(e.debit, e.credit, e.amount_micros) as change
    from ledger.entries e
  ) c where c.after <> c.before + c.change
  union all
  select 'an entry moves money between the books of its kind', e.wallet_id, 0, e.amount_micros
  from ledger.entries e where e.debit is distinct from ledger.debit_of(e.kind) or e.credit is distinct from ledger.credit_of(e.kind)
  union all
  select 'an entry moves more than nothing', e.wallet_id, 1, e.amount_micros
  from ledger.entries e where e.amount_micros < 1
  union all
  select 'a cause counts once for each kind', min(e.wallet_id), 1, count(*)
  from ledger.entries e group by e.cause, e.kind having count(*) > 1
  union all
  select 'a call is charged what its receipt says', coalesce(c.wallet_id, e.wallet_id), coalesce(c.charged_micros, 0), coalesce(e.charged, 0)
  from usage.calls c full join call_entries e on e.cause = c.call_id::text and e.wallet_id = c.wallet_id
  where coalesce(c.charged_micros, 0) <> coalesce(e.charged, 0)
  union all
  select 'a charge is at most its hold', c.wallet_id, c.held_micros, c.charged_micros
  from usage.calls c where c.charged_micros > c.held_micros
  union all
  select 'a call that was not served costs nothing', c.wallet_id, 0, c.charged_micros
  from usage.calls c where c.outcome not in ('answered', 'abandoned') and c.charged_micros <> 0
  union all
  select 'a call that has ended holds nothing', h.wallet_id, 0, h.amount_micros
  from ledger.holds h join usage.calls c on c.call_id = h.call_id
  union all
  -- The reaper finds holds by their process: this one would never come back.
  select 'a hold belongs to a process', h.wallet_id, 0, h.amount_micros
  from ledger.holds h where not exists (select from db.instances i where i.instance_id = h.instance_id)
  union all
  select 'every row belongs to a wallet', s.wallet_id, 0, sum(s.strays)::bigint
  from (
    select e.wallet_id, e.entries as strays from entry_sums e
    union all select h.wallet_id, h.holds from hold_sums h
    union all select c.wallet_id, c.calls from month_calls c
  ) s
  where not exists (select from ledger.wallets w where w.wallet_id = s.wallet_id)
  group by s.wallet_id
$$;

-- The last state of each wallet that the check found right, to which the next one adds what is new. Written by the
-- function below alone.
create table ledger.checkpoints (
  wallet_id bigint primary key,
  version bigint not null,
  entry_seq bigint not null,
  balance_micros bigint not null,
  shortfall_micros bigint not null,
  held_micros bigint not null,
  cap_month date not null,
  cap_spent_micros bigint not null
) with (fillfactor = 50);

-- The check by what is new: takes, in order from the wallet after `p_after` on, up to `p_most` wallets that are not as their
-- checkpoint says, and derives their figures from the checkpoint and the entries after it. One statement, so one
-- snapshot; it locks no wallet. A wallet that is right gets a new checkpoint; one that is not keeps the old one and is
-- reported again at every pass. At least one row, with the last wallet looked at, null when none is left.
create function ledger.check_changes(p_after bigint, p_most int)
returns table (last_wallet bigint, wallets int, entries bigint, rule text, wallet_id bigint, expected bigint, found bigint)
language sql volatile security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
  with page as materialized (
    select w as wallet, p as verified
    from ledger.wallets w left join ledger.checkpoints p on p.wallet_id = w.wallet_id
    where w.wallet_id > p_after order by w.wallet_id limit 20 * p_most
  ), changed as materialized (
    select g.wallet, (g.wallet).wallet_id as wallet_id, coalesce((g.verified).entry_seq, 0) as entry_seq,
      coalesce((g.verified).balance_micros, 0) as balance, coalesce((g.verified).shortfall_micros, 0) as shortfall,
      case when (g.verified).cap_month = (g.wallet).cap_month then (g.verified).cap_spent_micros else 0 end as spent
    from page g
    where ((g.wallet).version, (g.wallet).entry_seq, (g.wallet).balance_micros, (g.wallet).shortfall_micros,
        (g.wallet).held_micros, (g.wallet).cap_month, (g.wallet).cap_spent_micros)
      is distinct from ((g.verified).version, (g.verified).entry_seq, (g.verified).balance_micros,
        (g.verified).shortfall_micros, (g.verified).held_micros, (g.verified).cap_month, (g.verified).cap_spent_micros)
    order by (g.wallet).wallet_id limit p_most
  ), news as materialized (
    select c.wallet_id, e.seq, e.kind, e.cause, e.debit, e.credit, e.amount_micros, e.balance_after_micros as after,
      lag(e.balance_after_micros, 1, c.balance) over (partition by c.wallet_id order by e.seq) as before,
      ledger.added_to_wallet(e.debit, e.credit, e.amount_micros) as change
    from changed c
    cross join lateral ( -- Not flattened, so that each wallet's new rows are found by the index, whatever the planner guesses.
      select * from ledger.entries e where e.wallet_id = c.wallet_id and e.seq > c.entry_seq offset 0
    ) e
  ), charges as materialized (
    select n.wallet_id, r.month, r.charged_micros as receipt, sum(n.amount_micros)::bigint as charged
    from news n
    left join lateral (
      select k.month, k.charged_micros from usage.calls k
      where k.call_id = case when n.cause ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then n.cause::uuid end
        and k.wallet_id = n.wallet_id
      offset 0
    ) r on true
    where n.kind in ('charge', 'charge_receivable')
    group by n.wallet_id, n.cause, r.month, r.charged_micros
  ), new_sums as (
    select n.wallet_id, count(*) as entries, max(n.seq) as last_seq, sum(n.change)::bigint as balance,
      sum(ledger.added_to_receivable(n.debit, n.credit, n.amount_micros))::bigint as shortfall
    from news n group by n.wallet_id
  ), new_charges as (
    select h.wallet_id, h.month, sum(h.receipt)::bigint as charged from charges h group by h.wallet_id, h.month
  ), hold_sums as (
    select c.wallet_id, sum(h.amount_micros)::bigint as held, count(*) filter (where h.is_stream) as streams,
      sum(h.amount_micros) filter (where h.month = (c.wallet).cap_month)::bigint as month_held
    from changed c join ledger.holds h on h.wallet_id = c.wallet_id group by c.wallet_id
  ), differences as materialized (
    select f.rule, c.wallet_id, f.expected, f.found
    from changed c
    left join new_sums s on s.wallet_id = c.wallet_id
    left join new_charges h on h.wallet_id = c.wallet_id and h.month = (c.wallet).cap_month
    left join hold_sums o on o.wallet_id = c.wallet_id
    cross join lateral ledger.broken_rules(c.wallet, c.entry_seq + coalesce(s.entries, 0),
      coalesce(s.last_seq, c.entry_seq), c.balance + coalesce(s.balance, 0), c.shortfall + coalesce(s.shortfall, 0),
      coalesce(o.held, 0), coalesce(o.streams, 0), c.spent + coalesce(h.charged, 0), coalesce(o.month_held, 0)) f
    union all
    select 'each entry carries the balance after it', n.wallet_id, n.before + n.change, n.after
    from news n where n.after <> n.before + n.change
    union all
    select 'an entry moves money between the books of its kind', n.wallet_id, 0, n.amount_micros
    from news n
    where n.debit is distinct from ledger.debit_of(n.kind) or n.credit is distinct from ledger.credit_of(n.kind)
    union all
    select 'an entry moves more than nothing', n.wallet_id, 1, n.amount_micros from news n where n.amount_micros < 1
    union all
    select 'a call is charged what its receipt says', h.wallet_id, coalesce(h.receipt, 0), h.charged
    from charges h where h.charged is distinct from h.receipt
    union all
    select 'a call that has ended holds nothing', c.wallet_id, 0, h.amount_micros
    from changed c join ledger.holds h on h.wallet_id = c.wallet_id join usage.calls k on k.call_id = h.call_id
    union all
    select 'a hold belongs to a process', c.wallet_id, 0, h.amount_micros
    from changed c join ledger.holds h on h.wallet_id = c.wallet_id
    where not exists (select from db.instances i where i.instance_id = h.instance_id)
  ), kept as (
    insert into ledger.checkpoints as p (wallet_id, version, entry_seq, balance_micros, shortfall_micros, held_micros,
      cap_month, cap_spent_micros)
    select c.wallet_id, (c.wallet).version, (c.wallet).entry_seq, (c.wallet).balance_micros, (c.wallet).shortfall_micros,
      (c.wallet).held_micros, (c.wallet).cap_month, (c.wallet).cap_spent_micros
    from changed c where not exists (select from differences d where d.wallet_id = c.wallet_id)
    order by c.wallet_id -- Two passes at a time are useless and harmless: neither waits for the other in a circle.
    on conflict (wallet_id) do update set version = excluded.version, entry_seq = excluded.entry_seq,
      balance_micros = excluded.balance_micros, shortfall_micros = excluded.shortfall_micros,
      held_micros = excluded.held_micros, cap_month = excluded.cap_month, cap_spent_micros = excluded.cap_spent_micros
  )
  select s.last_wallet, s.wallets, s.entries, d.rule, d.wallet_id, d.expected, d.found
  from (
    select case when (select count(*) from changed) = p_most then (select max(c.wallet_id) from changed c)
        else (select max((g.wallet).wallet_id) from page g) end as last_wallet,
      (select count(*)::int from changed) as wallets, (select count(*) from news) as entries
  ) s left join differences d on true
$$;

-- Whose turn it is to check what is new, over all processes, and what the last pass found.
create table ledger.last_check (
  is_only boolean primary key default true check (is_only),
  begun_at timestamptz not null default 'epoch',
  ended_at timestamptz not null default 'epoch',
  differences bigint not null default 0
);
insert into ledger.last_check default values;

-- True for one process in each period: the others have nothing to do but to read what it found.
create function ledger.begin_check(p_period_ms int) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin
  update ledger.last_check l set begun_at = clock_timestamp()
  where l.begun_at <= clock_timestamp() - p_period_ms * interval '1 millisecond';
  return found;
end $$;

create function ledger.end_check(p_differences bigint) returns void
language sql security definer set search_path = pg_catalog as $$
  update ledger.last_check set ended_at = clock_timestamp(), differences = p_differences
$$;

revoke all on all functions in schema ledger from public;
grant select on ledger.checkpoints, ledger.last_check to purser_live;
grant execute on function ledger.check_changes, ledger.begin_check, ledger.end_check to purser_live;
