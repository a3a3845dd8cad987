-- Locks a wallet and gives its row as it is under the lock. Null where there is none.
create or replace function ledger.lock_wallet(p_app text, p_user text) returns ledger.wallets
language sql set search_path = pg_catalog as $$
  select w from ledger.wallets w where w.app_id = p_app and w.user_id = p_user for no key update
$$;

revoke all on function ledger.lock_wallet from public;
