-- Rules of single entries: what is not right of those in the journal, and of the balances that all entries carry. Receipts
-- of detached months are in archives, so the balances begin again at the closing balance: up to it, an entry is compared
-- with the one before only if that one is here. A part of ledger.wallet_differences, in its snapshot.
create or replace function ledger.entry_differences() returns table (rule text, wallet_id bigint, expected bigint, found bigint)
language sql stable as $$
  with detached as (
    select s.* from ledger.months m join ledger.month_wallets s on s.month = m.month where m.detached_at is not null
  ), closing as (
    select d.wallet_id, max(d.last_seq) as last_seq from detached d group by d.wallet_id
  )
  select f.rule, c.wallet_id, f.expected, f.found
  from (
    select e.wallet_id, e.seq, e.balance_after_micros as after,
      lag(e.balance_after_micros, 1, 0::bigint) over in_turn as before, lag(e.seq, 1, 0::bigint) over in_turn as previous,
      e.change, e.is_closing
    from (
      select n.wallet_id, n.seq, n.balance_after_micros, ledger.added_to_wallet(n.debit, n.credit, n.amount_micros) as change,
        false as is_closing
      from ledger.entries n
      union all
      select d.wallet_id, d.last_seq, d.closing_micros, 0, true from detached d where d.last_seq is not null
    ) e window in_turn as (partition by e.wallet_id order by e.seq)
  ) c
  left join closing l on l.wallet_id = c.wallet_id
  cross join lateral (values
    ('each entry carries the balance after it',
      case when c.is_closing or c.seq <= l.last_seq and c.previous <> c.seq - 1 then c.after else c.before + c.change end, c.after),
    ('each entry has a number of its own', case when c.seq = c.previous then c.seq + 1 else c.seq end, c.seq)
  ) f (rule, expected, found)
  where f.expected <> f.found
  union all
  select f.rule, j.wallet_id, f.expected, j.amount_micros
  from ledger.journal j
  cross join lateral (values
    ('an entry moves money between the books of its kind', 0,
      j.debit is distinct from ledger.debit_of(j.kind) or j.credit is distinct from ledger.credit_of(j.kind)),
    ('an entry moves more than nothing', 1, j.amount_micros < 1)
  ) f (rule, expected, is_broken)
  where f.is_broken
  union all
  select 'a cause counts once for each kind', min(j.wallet_id), 1, count(*)
  from ledger.journal j group by j.cause, j.kind having count(*) > 1
$$;

revoke all on function ledger.entry_differences from public;
