-- Derives every figure of every wallet anew, in one snapshot, and gives a row for each that is not what it should be. No
-- row means that the books are right to the micro (WA-09). One grouped pass over journal, holds and receipts, which is
-- why it may use more memory than other statements. A receipt is the entry of its charge. Only the charges in the journal,
-- from before or paid in part, are compared with their receipts.
--
-- Receipts of detached months are in archives. What they added up to when they were closed counts in their place.
create or replace function ledger.wallet_differences() returns table (rule text, wallet_id bigint, expected bigint, found bigint)
language sql stable security definer set search_path = pg_catalog set work_mem = '64MB' set jit = off as $$
  with detached as (
    select s.* from ledger.months m join ledger.month_wallets s on s.month = m.month where m.detached_at is not null
  ), journal_sums as (
    select j.wallet_id, count(*) as entries, max(j.seq) as last_seq,
      sum(ledger.added_to_wallet(j.debit, j.credit, j.amount_micros))::bigint as balance,
      sum(ledger.added_to_receivable(j.debit, j.credit, j.amount_micros))::bigint as shortfall
    from ledger.journal j group by j.wallet_id
  ), hold_sums as (
    select h.wallet_id, count(*) as holds, sum(h.amount_micros)::bigint as held,
      count(*) filter (where h.is_stream) as streams,
      count(*) filter (where not h.is_stream and h.drained_since is null) as plain
    from ledger.holds h group by h.wallet_id
  ), month_holds as (
    select h.wallet_id, h.month, sum(h.amount_micros)::bigint as held from ledger.holds h group by h.wallet_id, h.month
  ), month_calls as (
    select p.wallet_id, p.month, sum(p.calls) as calls, sum(p.charged)::bigint as charged, sum(p.entries) as entries,
      max(p.last_seq) as last_seq, sum(p.booked) as booked
    from (
      select c.wallet_id, c.month, count(*) as calls, sum(c.charged_micros) as charged, count(c.seq) as entries,
        max(c.seq) as last_seq, sum(c.charged_micros) filter (where c.seq is not null) as booked
      from usage.calls c group by c.wallet_id, c.month
      union all
      select d.wallet_id, d.spent_month, d.receipts, d.charged_micros, d.entries, d.last_seq, d.booked_micros from detached d
      union all
      select s.wallet_id, s.month, 0, s.spent_micros, 0, null, null from ledger.spent_elsewhere s
    ) p group by p.wallet_id, p.month
  ), call_sums as (
    select m.wallet_id, sum(m.entries)::bigint as entries, max(m.last_seq) as last_seq, sum(m.booked)::bigint as booked
    from month_calls m group by m.wallet_id
  ), journal_charges as (
    select j.wallet_id, j.cause, sum(j.amount_micros)::bigint as charged, exists (
        select from ledger.months m where m.detached_at is not null
          and j.cause >= coalesce(m.from_call::text, '') and j.cause < m.before_call::text
      ) as is_detached
    from ledger.journal j where j.kind in ('charge', 'charge_receivable') group by j.wallet_id, j.cause
  )
  select f.rule, w.wallet_id, f.expected, f.found
  from ledger.wallets w
  left join journal_sums e on e.wallet_id = w.wallet_id
  left join call_sums c on c.wallet_id = w.wallet_id
  left join hold_sums h on h.wallet_id = w.wallet_id
  left join month_holds mh on mh.wallet_id = w.wallet_id and mh.month = w.cap_month
  left join month_calls mc on mc.wallet_id = w.wallet_id and mc.month = w.cap_month
  cross join lateral ledger.broken_rules(w, coalesce(e.entries, 0) + coalesce(c.entries, 0),
    greatest(e.last_seq, c.last_seq, 0), coalesce(e.balance, 0) - coalesce(c.booked, 0), coalesce(e.shortfall, 0),
    coalesce(h.held, 0), coalesce(h.streams, 0), coalesce(h.plain, 0),
    coalesce(mc.charged, 0), coalesce(mh.held, 0)) f
  union all
  select * from ledger.entry_differences()
  union all
  select 'a call is charged what its receipt says', coalesce(c.wallet_id, e.wallet_id), coalesce(c.charged_micros, 0), coalesce(e.charged, 0)
  from (
    select k.call_id::text as cause, k.wallet_id, k.charged_micros from usage.calls k where k.seq is null and k.charged_micros <> 0
  ) c
  full join (select * from journal_charges j where not j.is_detached) e on e.cause = c.cause and e.wallet_id = c.wallet_id
  where coalesce(c.charged_micros, 0) <> coalesce(e.charged, 0)
  union all
  select 'a call is charged what its receipt says', a.wallet_id, sum(a.receipts)::bigint, sum(a.charged)::bigint
  from (
    select d.wallet_id, d.charged_micros - d.booked_micros as receipts, 0 as charged from detached d
    union all
    select j.wallet_id, 0, j.charged from journal_charges j where j.is_detached
  ) a group by a.wallet_id having sum(a.receipts) <> sum(a.charged)
  union all
  select f.rule, c.wallet_id, f.expected, f.found
  from usage.calls c
  cross join lateral (values
    ('a charge is at most its hold', c.held_micros, greatest(c.charged_micros, c.held_micros)),
    ('a call that was not served costs nothing', 0,
      case when c.outcome in ('answered', 'abandoned') then 0 else c.charged_micros end),
    ('an entry moves more than nothing', case when c.seq is null then c.charged_micros else greatest(c.charged_micros, 1) end,
      c.charged_micros)
  ) f (rule, expected, found)
  -- Nearly every receipt is right, and is looked at once.
  where (c.charged_micros > c.held_micros or c.outcome not in ('answered', 'abandoned') and c.charged_micros <> 0
      or c.seq is not null and c.charged_micros < 1) and f.expected <> f.found
  union all
  select * from ledger.late_differences()
  union all
  select 'a call that has ended holds nothing', h.wallet_id, 0, h.amount_micros
  from ledger.holds h join usage.calls c on c.call_id = h.call_id
  union all
  -- The reaper finds holds by their process: this one would never come back.
  select 'a hold belongs to a process', h.wallet_id, 0, h.amount_micros
  from ledger.holds h where not exists (select from db.instances i where i.instance_id = h.instance_id)
  union all
  select 'every row belongs to a wallet', s.wallet_id, 0, sum(s.rows)::bigint
  from (
    select e.wallet_id, e.entries as rows from journal_sums e
    union all select h.wallet_id, h.holds from hold_sums h
    union all select c.wallet_id, c.calls from month_calls c
  ) s
  where not exists (select from ledger.wallets w where w.wallet_id = s.wallet_id)
  group by s.wallet_id
$$;

revoke all on function ledger.wallet_differences from public;
grant execute on function ledger.wallet_differences to purser_live;
