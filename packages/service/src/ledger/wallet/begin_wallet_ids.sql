-- Lets the ids of new wallets begin at a million million times the number of the cell, so that no two cells have the same ids: causes
-- and events are named by them. False, with nothing changed, if a wallet has an id of another cell.
create or replace function ledger.begin_wallet_ids(p_cell integer) returns boolean
language plpgsql set search_path = pg_catalog as $$
declare
  first constant bigint := p_cell * 1000000000000 + 1;
  ids constant regclass := pg_get_serial_sequence('ledger.wallets', 'wallet_id');
begin
  lock table ledger.wallets in share row exclusive mode;
  if exists (select from ledger.wallets w where w.wallet_id < first or w.wallet_id >= first + 1000000000000) then
    return false;
  end if;
  perform setval(ids, greatest(first, nextval(ids)), false);
  return true;
end $$;

revoke all on function ledger.begin_wallet_ids from public;
