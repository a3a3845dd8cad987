-- Locks a wallet until the transaction ends, for an act that must find it as it then changes it: a write-off is judged by what is
-- owed. False where there is none.
create or replace function ledger.lock_for_act(p_app text, p_user text) returns boolean
language sql security definer set search_path = pg_catalog as $$
  select (ledger.lock_wallet(p_app, p_user)).wallet_id is not null
$$;

revoke all on function ledger.lock_for_act from public;
grant execute on function ledger.lock_for_act to purser_live;
