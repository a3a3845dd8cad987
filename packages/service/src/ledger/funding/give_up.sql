-- Books what is left in a wallet as given up by its owner (CP-12), all of it or nothing: 'booked'. 'changed' where the balance is another
-- one than its owner gave up, or calls hold some of it; 'no_wallet'.
create or replace function ledger.give_up(p_app text, p_user text, p_amount bigint) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet ledger.wallets;
begin
  perform ledger.refuse_amount(p_amount);
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return 'no_wallet';
  end if;
  if wallet.balance_micros <> p_amount or wallet.held_micros > 0 then
    return 'changed';
  end if;
  -- The version tells what one owner gave up from what a later one does.
  perform ledger.move(wallet.wallet_id, 'given_up', ledger.cause_of(wallet.wallet_id, 'given_up', wallet.version::text), p_amount);
  return 'booked';
end $$;

revoke all on function ledger.give_up from public;
grant execute on function ledger.give_up to purser_live;
