-- A page of a wallet's entries before a number, the newest first; null begins with the newest. An owner is shown those that
-- move their balance, and the payout of a refund that was set aside.
--
-- The view ledger.entries gives the same rows, but PostgreSQL reads every receipt of the wallet for it. Here it reads a
-- page of each table by its index.
create or replace function ledger.history(p_wallet bigint, p_before bigint, p_most int, p_is_for_owner boolean)
returns setof ledger.entries
language sql stable set search_path = pg_catalog as $$
  select e.* from (
    (
      select j.wallet_id, j.seq, j.kind, j.cause, j.debit, j.credit, j.amount_micros, j.balance_after_micros, j.at
      from ledger.journal j
      where j.wallet_id = p_wallet and j.seq < coalesce(p_before, 9223372036854775807)
        and (not p_is_for_owner or 'wallet' in (j.debit, j.credit) or j.kind = 'refund_paid')
      order by j.seq desc limit p_most
    )
    union all
    (
      select c.wallet_id, c.seq, 'charge', c.call_id::text, 'wallet', 'earned', c.charged_micros, c.balance_after_micros,
        c.settled_at
      from usage.calls c
      where c.wallet_id = p_wallet and c.seq < coalesce(p_before, 9223372036854775807)
      order by c.seq desc limit p_most
    )
  ) e
  order by e.seq desc limit p_most
$$;

revoke all on function ledger.history from public;
grant execute on function ledger.history to purser_live;
