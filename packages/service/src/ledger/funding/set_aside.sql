-- Sets an amount aside for a refund, before the processor is asked for it, so that no call can spend it meanwhile:
-- 'booked'; 'repeated' and 'conflict' as ledger.credit; 'too_little' where less than this is there that no call holds;
-- 'suspended' where the wallet is; 'no_wallet'.
create or replace function ledger.set_aside(p_app text, p_user text, p_amount bigint, p_key text) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet ledger.wallets;
  entry_cause text;
  before text;
begin
  perform ledger.refuse_amount(p_amount);
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return 'no_wallet';
  end if;
  entry_cause := ledger.cause_of(wallet.wallet_id, 'refund_set_aside', p_key);
  before := ledger.booked_before(entry_cause, array['refund_set_aside']::ledger.entry_kind[], p_amount);
  if before is not null then
    return before;
  end if;
  if wallet.is_suspended then
    return 'suspended';
  end if;
  if wallet.balance_micros - wallet.held_micros < p_amount then
    return 'too_little';
  end if;
  perform ledger.move(wallet.wallet_id, 'refund_set_aside', entry_cause, p_amount);
  return 'booked';
end $$;

revoke all on function ledger.set_aside from public;
grant execute on function ledger.set_aside to purser_live;
