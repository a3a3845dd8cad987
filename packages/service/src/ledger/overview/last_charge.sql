-- When the newest call of a wallet was charged; null if none was. If its receipt is in an archive, when the last call of that month ended.
-- One probe of the index of receipts. The journal has the charges
-- that a wallet could not pay in full, so what is in it after that receipt is read too.
create or replace function ledger.last_charge(p_wallet bigint) returns timestamptz
language sql stable set search_path = pg_catalog as $$
  with receipt as (
    select c.seq, c.settled_at from usage.calls c
    where c.wallet_id = p_wallet and c.seq is not null order by c.seq desc limit 1
  )
  select coalesce(
    (
      select j.at from ledger.journal j
      where j.wallet_id = p_wallet and j.seq > coalesce((select r.seq from receipt r), 0)
        and j.kind in ('charge', 'charge_receivable')
      order by j.seq desc limit 1
    ),
    (select r.settled_at from receipt r),
    (select max(s.last_settled_at) from ledger.month_wallets s where s.wallet_id = p_wallet and s.last_seq is not null))
$$;

revoke all on function ledger.last_charge from public;
grant execute on function ledger.last_charge to purser_live;
