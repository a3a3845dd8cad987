-- Connects or disconnects a user. A suspension is another fact and stays (WA-11). The app receives an event for
-- the first connection alone (WH-07). False where there is no wallet.
create or replace function ledger.set_connected(p_app text, p_user text, p_connected boolean) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet ledger.wallets;
  at constant timestamptz := clock_timestamp();
begin
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return false;
  end if;
  update ledger.wallets w set is_connected = p_connected, version = w.version + 1,
    first_connected_at = case when p_connected then coalesce(w.first_connected_at, at) else w.first_connected_at end
  where w.wallet_id = wallet.wallet_id;
  if p_connected and wallet.first_connected_at is null then
    perform webhooks.tell(p_app, 'connection.created', wallet.wallet_id::text, webhooks.connection_created(p_user, at));
  end if;
  return true;
end $$;

revoke all on function ledger.set_connected from public;
grant execute on function ledger.set_connected to purser_live;
