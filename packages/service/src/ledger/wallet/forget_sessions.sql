-- Removes what names the sessions of a wallet whose owner is leaving it (CP-19, WA-15): they were of that person alone.
create or replace function ledger.forget_sessions(p_app text, p_user text) returns void
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet constant ledger.wallets := ledger.lock_wallet(p_app, p_user); -- First, as those do who count calls in sessions.
begin
  perform usage.forget_sessions(wallet.wallet_id);
  perform traces.forget_sessions(p_app, p_user);
end $$;

revoke all on function ledger.forget_sessions from public;
grant execute on function ledger.forget_sessions to purser_live;
