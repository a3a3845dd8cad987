-- Whether users of these slots have wallets in this database. Those that have left do not count.
create or replace function ledger.has_wallets_in(p_least integer, p_most integer) returns boolean
language sql stable set search_path = pg_catalog as $$
  select exists (
    select from ledger.wallets w
    where cells.slot_of(w.app_id, w.user_id) between p_least and p_most
      and not exists (select from ledger.leaving l where l.wallet_id = w.wallet_id and l.left_at is not null)
  )
$$;

revoke all on function ledger.has_wallets_in from public;
