-- The newest entry of a wallet below a number: of its own books, or the receipt of a call. One probe of each index.
create or replace function ledger.entry_below(p_wallet bigint, p_seq bigint, out seq bigint, out at timestamptz, out balance_after bigint)
language sql stable set search_path = pg_catalog as $$
  select e.* from (
    (
      select j.seq, j.at, j.balance_after_micros from ledger.journal j
      where j.wallet_id = p_wallet and j.seq < p_seq order by j.seq desc limit 1
    )
    union all
    (
      select c.seq, c.settled_at, c.balance_after_micros from usage.calls c
      where c.wallet_id = p_wallet and c.seq < p_seq order by c.seq desc limit 1
    )
  ) e
  order by e.seq desc limit 1
$$;

revoke all on function ledger.entry_below from public;
grant execute on function ledger.entry_below to purser_live;
