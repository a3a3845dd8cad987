-- The entries that a call made in its wallet, in their order. Most calls made one: the charge, which is the receipt itself.
create or replace function ledger.entries_of_call(p_call uuid) returns setof ledger.entries
language sql stable set search_path = pg_catalog as $$
  select e.* from (
    select j.wallet_id, j.seq, j.kind, j.cause, j.debit, j.credit, j.amount_micros, j.balance_after_micros, j.at
    from ledger.journal j where j.cause = p_call::text
    union all
    select c.wallet_id, c.seq, 'charge', c.call_id::text, 'wallet', 'earned', c.charged_micros, c.balance_after_micros,
      c.settled_at
    from usage.calls c where c.call_id = p_call and c.seq is not null
  ) e
  order by e.seq
$$;

revoke all on function ledger.entries_of_call from public;
grant execute on function ledger.entries_of_call to purser_live;
