-- Derives every figure of every wallet anew, in one snapshot, and gives a row for each that is not what it should be. No
-- row means that the books are right to the micro (WA-09). One grouped pass over entries, holds and receipts, which is
-- why it may use more memory than other statements.
create or replace function ledger.wallet_differences() returns table (rule text, wallet_id bigint, expected bigint, found bigint)
language sql stable security definer set search_path = pg_catalog set work_mem = '64MB' set jit = off as $$
  with entry_sums as (
    select e.wallet_id, count(*) as entries, max(e.seq) as last_seq,
      sum(ledger.added_to_wallet(e.debit, e.credit, e.amount_micros))::bigint as balance,
      sum(ledger.added_to_receivable(e.debit, e.credit, e.amount_micros))::bigint as shortfall
    from ledger.entries e group by e.wallet_id
  ), hold_sums as (
    select h.wallet_id, count(*) as holds, sum(h.amount_micros)::bigint as held,
      count(*) filter (where h.is_stream) as streams,
      count(*) filter (where not h.is_stream and h.drained_since is null) as plain
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
    coalesce(e.shortfall, 0), coalesce(h.held, 0), coalesce(h.streams, 0), coalesce(h.plain, 0),
    coalesce(mc.charged, 0), coalesce(mh.held, 0)) f
  union all
  select f.rule, c.wallet_id, f.expected, f.found
  from (
    select e.wallet_id, e.seq, e.balance_after_micros as after,
      lag(e.balance_after_micros, 1, 0::bigint) over in_turn as before, lag(e.seq) over in_turn as previous,
      ledger.added_to_wallet(e.debit, e.credit, e.amount_micros) as change
    from ledger.entries e window in_turn as (partition by e.wallet_id order by e.seq)
  ) c
  cross join lateral (values
    ('each entry carries the balance after it', c.before + c.change, c.after),
    ('each entry has a number of its own', case when c.seq = c.previous then c.seq + 1 else c.seq end, c.seq)
  ) f (rule, expected, found)
  where f.expected <> f.found
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
  select 'every row belongs to a wallet', s.wallet_id, 0, sum(s.rows)::bigint
  from (
    select e.wallet_id, e.entries as rows from entry_sums e
    union all select h.wallet_id, h.holds from hold_sums h
    union all select c.wallet_id, c.calls from month_calls c
  ) s
  where not exists (select from ledger.wallets w where w.wallet_id = s.wallet_id)
  group by s.wallet_id
$$;

revoke all on function ledger.wallet_differences from public;
grant execute on function ledger.wallet_differences to purser_live;
