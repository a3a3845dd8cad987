-- Books money that came in: 'top_up' by a payment, 'contract_credit' by contract, 'funds_reinstated' by a dispute that
-- was won. Answers 'booked'; 'repeated' where the key is known, with the same amount, and 'conflict' with another;
-- 'too_much' where the balance would pass 2^53 - 1; 'no_wallet'.
--
-- It lifts no suspension (WA-04). The app receives an event for a payment, if the wallet is connected (WH-06): without a
-- connection, an app must not learn that there is a wallet.
create or replace function ledger.credit(p_app text, p_user text, p_kind text, p_amount bigint, p_key text) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  kind constant ledger.entry_kind := p_kind;
  wallet ledger.wallets;
  entry_cause text;
  before text;
begin
  perform ledger.refuse_amount(p_amount);
  if ledger.credit_of(kind) <> 'wallet' then
    raise exception '% is no credit', p_kind using errcode = '22023';
  end if;
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return 'no_wallet';
  end if;
  entry_cause := ledger.cause_of(wallet.wallet_id, kind, p_key);
  before := ledger.booked_before(entry_cause, array[kind], p_amount);
  if before is not null then
    return before;
  end if;
  if p_amount > 9007199254740991 - wallet.balance_micros then
    return 'too_much';
  end if;
  perform ledger.move(wallet.wallet_id, kind, entry_cause, p_amount);
  if kind = 'top_up' and wallet.is_connected then
    perform webhooks.tell(p_app, 'topup.completed', entry_cause,
      webhooks.topup_completed(p_user, wallet.balance_micros + p_amount, wallet.held_micros, wallet.currency));
  end if;
  return 'booked';
end $$;

revoke all on function ledger.credit from public;
grant execute on function ledger.credit to purser_live;
