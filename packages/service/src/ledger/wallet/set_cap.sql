-- Sets the monthly cap, null for none. It binds the next call: calls that hold keep what they hold (AU-10, WA-03). False
-- where there is no wallet.
create or replace function ledger.set_cap(p_app text, p_user text, p_cap bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform ledger.refuse_leaving(p_app, p_user);
  update ledger.wallets w set cap_micros = p_cap, version = w.version + 1
  where w.app_id = p_app and w.user_id = p_user;
  return found;
end $$;

revoke all on function ledger.set_cap from public;
grant execute on function ledger.set_cap to purser_live;
