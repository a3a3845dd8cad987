-- Opens a connected wallet for a user who has agreed elsewhere. False where the user has one already.
create or replace function ledger.open_wallet(p_app text, p_user text, p_currency text, p_cap bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin
  insert into ledger.wallets (app_id, user_id, currency, cap_micros) values (p_app, p_user, p_currency, p_cap)
  on conflict do nothing; -- No index is named: there are two unique ones, and the second of two simultaneous inserts may meet either first.
  return found;
end $$;

revoke all on function ledger.open_wallet from public;
grant execute on function ledger.open_wallet to purser_live;
