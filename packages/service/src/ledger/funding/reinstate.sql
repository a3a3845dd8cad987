-- Lifts a suspension: 'reinstated'. What is owed is first recovered from the balance that no call holds, all of it or
-- nothing, or given up where `p_write_off` says so. 'shortfall' where the balance does not cover it; 'no_wallet'. A
-- wallet that is not suspended stays as it is (WA-06, WA-11).
create or replace function ledger.reinstate(p_app text, p_user text, p_write_off boolean) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet ledger.wallets;
  kind constant ledger.entry_kind := case when p_write_off then 'write_off' else 'recovery' end;
begin
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return 'no_wallet';
  end if;
  if wallet.shortfall_micros > 0 then
    if not p_write_off and wallet.balance_micros - wallet.held_micros < wallet.shortfall_micros then
      return 'shortfall';
    end if;
    -- The version tells one reinstatement from the next.
    perform ledger.move(wallet.wallet_id, kind, ledger.cause_of(wallet.wallet_id, kind, wallet.version::text),
      wallet.shortfall_micros);
  end if;
  update ledger.wallets w set is_suspended = false, version = w.version + 1
  where w.wallet_id = wallet.wallet_id and w.is_suspended;
  return 'reinstated';
end $$;

revoke all on function ledger.reinstate from public;
grant execute on function ledger.reinstate to purser_live;
