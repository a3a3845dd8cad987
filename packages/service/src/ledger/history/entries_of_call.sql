-- The entries that a call made in its wallet, in their order. Most calls made one: the charge, which is the receipt itself. A
-- call that was charged late (WA-10) has them under the id of its late receipt.
create or replace function ledger.entries_of_call(p_call uuid) returns setof ledger.entries
language sql stable set search_path = pg_catalog as $$
  with named as (
    select coalesce((select l.receipt_id from usage.late_receipts l where l.call_id = p_call), p_call) as call_id
  )
  select e.* from (
    select j.wallet_id, j.seq, j.kind, j.cause, j.debit, j.credit, j.amount_micros, j.balance_after_micros, j.at
    from ledger.journal j where j.cause = (select n.call_id::text from named n)
    union all
    select c.wallet_id, c.seq, 'charge', c.call_id::text, 'wallet', 'earned', c.charged_micros, c.balance_after_micros,
      c.settled_at
    from usage.calls c where c.call_id = (select n.call_id from named n) and c.seq is not null
  ) e
  order by e.seq
$$;

revoke all on function ledger.entries_of_call from public;
grant execute on function ledger.entries_of_call to purser_live;
