-- Locks a wallet and gives its row as it is under the lock. Null where there is none. Refuses one that is leaving this cell.
create or replace function ledger.lock_wallet(p_app text, p_user text) returns ledger.wallets
language plpgsql set search_path = pg_catalog as $$
declare
  locked ledger.wallets;
begin
  select w.* into locked from ledger.wallets w where w.app_id = p_app and w.user_id = p_user for no key update;
  perform ledger.refuse_leaving(p_app, p_user);
  return locked;
end $$;

revoke all on function ledger.lock_wallet from public;
