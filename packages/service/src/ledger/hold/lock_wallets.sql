-- Locks the wallets of a batch of calls, in one order, as every function that changes wallets, so that two never wait for
-- each other in a circle. Gives the wallet of each call in its place.
--
-- A wallet that is not connected is neither read nor locked: for a user who has disconnected, a call costs the database
-- exactly what it costs for a stranger, so its time tells nothing (WA-02). Its retries find no earlier call, and its streams
-- are not counted (CC-10).
create or replace function ledger.lock_wallets(p_requests db.hold_request[]) returns bigint[]
language plpgsql as $$
declare
  wallets bigint[];
begin
  -- The index `wallets_connected` is the only one that has this expression, and has no wallet that is not connected.
  wallets := array(
    select w.wallet_id from unnest(p_requests) with ordinality q
    left join lateral (
      select v.wallet_id from ledger.wallets v
      where v.app_id || ' ' || v.user_id = q.app_id || ' ' || q.user_id and v.is_connected offset 0
    ) w on true
    order by q.ordinality
  );
  -- A wallet that was disconnected meanwhile is left out.
  return array(
    select l.wallet_id from unnest(wallets) with ordinality a (wallet_id, place)
    left join (
      select w.wallet_id from ledger.wallets w
      where w.wallet_id = any (wallets) and w.is_connected
      order by w.wallet_id for no key update of w
    ) l on l.wallet_id = a.wallet_id
    order by a.place
  );
end $$;

revoke all on function ledger.lock_wallets from public;
